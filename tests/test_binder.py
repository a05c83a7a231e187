"""Binder: what repo2docker would build from ``.binder``, and what opens there."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import ROOT, need, posix_only

pytestmark = posix_only

NEEDED = (".binder", "notebooks/lab/jupyter", "pyproject.toml", "requirements.txt", "README.md")


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory) -> str:
    """The Dockerfile that repo2docker makes of the project; nothing is built."""
    repo2docker = Path(sysconfig.get_path("scripts")) / "jupyter-repo2docker"
    need(repo2docker.is_file(), "jupyter-repo2docker (the extra 'binder')")
    copy = tmp_path_factory.mktemp("binder")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name)
        else:
            shutil.copy(source, copy / name)
    done = subprocess.run(
        [
            sys.executable,
            repo2docker,
            "--no-build",
            "--debug",
            "--user-id",
            "1000",
            "--user-name",
            "learner",
            ".",
        ],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_binder_takes_the_python_whose_language_reference_is_stored(dockerfile):
    assert "python=3.11\n" in dockerfile
    assert "environment-2epy-2d3-2e11" in dockerfile


def test_binder_installs_the_requirements_from_the_projects_root(dockerfile):
    install = dockerfile.index('pip install --no-cache-dir -r ".binder/requirements.txt"')
    before = dockerfile[:install]
    # The course installs itself (-e .), so its files must be there, in the folder pip runs in.
    assert re.findall(r"^WORKDIR (.*)", before, flags=re.M)[-1] == "${REPO_DIR}"
    assert re.search(r"^COPY .* src/ \$\{REPO_DIR\}/$", before, flags=re.M)
    assert (ROOT / ".binder" / "requirements.txt").read_text().split() == ["-r", "../requirements.txt"]
    assert (ROOT / "requirements.txt").read_text().splitlines()[-1] == "-e ."


def test_binder_starts_with_the_courses_settings(dockerfile, tmp_path):
    assert 'ENV R2D_ENTRYPOINT="${REPO_DIR}/.binder/start"' in dockerfile
    environment = {"PATH": os.environ["PATH"], "REPO_DIR": str(ROOT), "JUPYTER_CONFIG_PATH": "/elsewhere"}
    done = subprocess.run(
        [ROOT / ".binder" / "start", "printenv", "JUPYTER_CONFIG_PATH"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    course, elsewhere = done.stdout.strip().split(":")
    assert elsewhere == "/elsewhere"
    assert (Path(course) / "labconfig" / "page_config.json").is_file()


def test_the_readmes_badge_opens_unit_00():
    links = re.findall(
        r"https://mybinder\.org/v2/gh/[^)\s\"]+", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    need(links, "a Binder link in README.md")
    for link in links:
        opened = parse_qs(urlsplit(link).query)["urlpath"][0]
        assert opened == "lab/tree/notebooks/00_start/00_start.ipynb"
        assert (ROOT / opened.removeprefix("lab/tree/")).is_file()
