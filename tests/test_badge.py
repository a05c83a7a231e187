"""``python -m grader badge``: OWNER/REPO in README.md comes from the git remote."""

import subprocess

import pytest

from grader.badge import badge, owner_and_repository, set_badge

README = """# Course
[![Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/OWNER/REPO/HEAD?urlpath=lab)
Clone it: git clone https://github.com/OWNER/REPO.git, or read https://github.com/OWNER/REPO-notes.
`OWNER/REPO` is set by a command.\r
"""


@pytest.fixture
def readme(tmp_path):
    path = tmp_path / "README.md"
    path.write_bytes(README.encode())
    return path


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/ada/search",
        "https://github.com/ada/search.git",
        "https://github.com/ada/search/",
        "https://ada:secret@github.com/ada/search.git",
        "git@github.com:ada/search.git",
        "git@github.com:ada/search",
        "ssh://git@github.com/ada/search.git",
        "ssh://git@github.com:22/ada/search.git",
        "git://github.com/ada/search.git",
        "  https://github.com/ada/search.git\n",
    ],
)
def test_every_form_of_a_github_remote_is_read(remote):
    assert owner_and_repository(remote) == "ada/search"


def test_a_dot_in_the_name_stays():
    assert owner_and_repository("https://github.com/ada/search.io.git") == "ada/search.io"


@pytest.mark.parametrize(
    "remote", ["", "/srv/git/search.git", "https://example.org/ada/search", "https://github.com/ada"]
)
def test_a_remote_elsewhere_changes_nothing(readme, remote):
    with pytest.raises(ValueError, match="is not a GitHub repository"):
        set_badge(readme, remote)
    assert readme.read_bytes() == README.encode()


def test_a_password_in_the_remote_is_not_shown():
    with pytest.raises(ValueError) as error:
        owner_and_repository("https://ada:secret@example.org/ada/search")
    assert "secret" not in str(error.value)


def test_links_are_set_and_nothing_else(readme):
    said = set_badge(readme, "git@github.com:ada/search.git")
    text = readme.read_bytes().decode()
    assert said == "README.md now says ada/search (links changed: 2)."
    assert "https://mybinder.org/v2/gh/ada/search/HEAD?urlpath=lab" in text
    assert "https://github.com/ada/search.git" in text
    assert "https://github.com/OWNER/REPO-notes" in text
    assert text.endswith("`OWNER/REPO` is set by a command.\r\n")


def test_setting_it_twice_is_setting_it_once(readme):
    set_badge(readme, "https://github.com/ada/search")
    once = readme.read_bytes()
    assert set_badge(readme, "https://github.com/ada/search.git") == "README.md already says ada/search."
    assert readme.read_bytes() == once


def test_a_project_that_moved_is_set_anew(readme):
    set_badge(readme, "https://github.com/ada/search")
    set_badge(readme, "https://github.com/grace/retrieval")
    text = readme.read_bytes().decode()
    assert "ada/search" not in text
    assert "https://mybinder.org/v2/gh/grace/retrieval/HEAD" in text


def test_a_readme_without_the_link_is_named(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# Course\n")
    with pytest.raises(ValueError, match="README.md has no link to https://mybinder.org"):
        set_badge(path, "https://github.com/ada/search")


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_the_remote_is_read_from_git(readme, tmp_path):
    git(tmp_path, "init")
    with pytest.raises(ValueError, match="has no git remote. Add one: git remote add origin"):
        badge(tmp_path)
    git(tmp_path, "remote", "add", "upstream", "https://github.com/ada/search.git")
    assert badge(tmp_path) == "README.md now says ada/search (links changed: 2)."
    git(tmp_path, "remote", "add", "fork", "https://github.com/grace/search.git")
    with pytest.raises(ValueError, match=r"\(fork, upstream\) is called origin"):
        badge(tmp_path)
    git(tmp_path, "remote", "rename", "fork", "origin")
    assert badge(tmp_path) == "README.md now says grace/search (links changed: 2)."


def test_a_folder_without_readme_or_git_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="There is no README.md"):
        badge(tmp_path)
    (tmp_path / "README.md").write_text(README)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ValueError, match="git cannot read the remotes"):
        badge(tmp_path)
