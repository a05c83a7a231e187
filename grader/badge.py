"""Set the project's place on GitHub, OWNER/REPO, in README.md from the git remote."""

import re
import subprocess
from pathlib import Path

# The Binder link is where the value that now stands is read from.
BINDER_LINK = re.compile(r"https://mybinder\.org/v2/gh/([\w.-]+/[\w.-]+)/")
REMOTE = re.compile(
    r"(?:https?://(?:[^@/\s]+@)?|(?:ssh|git)://(?:[^@/\s]+@)?|[^@/\s]+@)"
    r"github\.com(?::\d+/|[:/])/*(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+?)(?:\.git)?/*"
)


def owner_and_repository(remote_url: str) -> str:
    """OWNER/REPO of a GitHub remote in its https or ssh form, with or without ``.git``.

    Raises ValueError for a remote elsewhere: the Binder link opens repositories on GitHub.
    """
    match = REMOTE.fullmatch(remote_url.strip())
    if not match:
        shown = re.sub(r"//[^@/]+@", "//", remote_url.strip())
        raise ValueError(
            f"The git remote {shown!r} is not a GitHub repository, so the Binder link stays as it is."
        )
    return f"{match['owner']}/{match['repository']}"


def set_badge(readme_path: Path, remote_url: str) -> str:
    """Write the remote's OWNER/REPO wherever the README links to the project; say what was done.

    The links are those to mybinder.org and github.com. Raises ValueError, and changes nothing, where the
    README has no Binder link or the remote is not on GitHub.
    """
    new = owner_and_repository(remote_url)
    text = readme_path.read_bytes().decode("utf-8")
    match = BINDER_LINK.search(text)
    if not match:
        raise ValueError(f"{readme_path} has no link to https://mybinder.org/v2/gh/OWNER/REPO/ to set.")
    old = match[1]
    link = re.compile(rf"(mybinder\.org/v2/gh/|github\.com[/:]){re.escape(old)}(?![\w-]|\.(?!git\b)\w)")
    changed, places = link.subn(lambda found: found[1] + new, text)
    if changed == text:
        return f"{readme_path.name} already says {new}."
    readme_path.write_bytes(changed.encode("utf-8"))
    return f"{readme_path.name} now says {new} (links changed: {places})."


def badge(root: Path) -> str:
    """Set OWNER/REPO in the README of the project at ``root`` from its git remote; say what was done.

    The remote is ``origin``, or the only one there is. Raises ValueError with a plain sentence.
    """
    readme = root / "README.md"
    if not readme.is_file():
        raise ValueError(f"There is no README.md in {root}.")
    return set_badge(readme, remote_url(root))


def remote_url(root: Path) -> str:
    names = _git(root, "remote").split()
    if not names:
        raise ValueError(
            f"The project in {root} has no git remote. Add one: git remote add origin https://github.com/OWNER/REPO"
        )
    if "origin" not in names and len(names) > 1:
        raise ValueError(f"None of the git remotes ({', '.join(names)}) is called origin. Rename one.")
    return _git(root, "remote", "get-url", "origin" if "origin" in names else names[0]).strip()


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ValueError("git is not installed, so the git remote cannot be read.") from None
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise ValueError(f"git cannot read the remotes of {root}: {reason[0]}")
    return done.stdout
