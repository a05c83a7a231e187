"""The install: seconds and megabytes of ``pip install -r requirements.txt`` into a new virtual environment.

The seconds are those of this machine's package index and network, with pip's cache as it stands. Megabytes are what
lies in the environment afterwards, pip itself left out. The largest packages are listed, and who asks for each.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from .results import Result, Table
from .timing import timed

ROOT = Path(__file__).resolve().parents[2]
# Of each installed package: its name, its bytes, and the names of what it requires here.
SIZES = """
import json, re
from importlib.metadata import distributions
found = {}
for one in distributions():
    size = sum(file.stat().st_size for path in one.files or () if (file := one.locate_file(path)).is_file())
    required = [re.match("[A-Za-z0-9._-]+", line)[0] for line in one.requires or () if "extra ==" not in line]
    found[one.name] = [size, required]
print(json.dumps(found))
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--requirements", type=Path, default=ROOT / "requirements.txt", help="(requirements.txt)"
    )
    parser.add_argument("--largest", type=int, default=15, help="packages listed (15)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if not options.requirements.is_file():
        raise ValueError(f"there is no file {options.requirements}")
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        seconds = timed(lambda: _run([*pip, "-r", str(options.requirements)]))
        packages = json.loads(_run([str(python), "-c", SIZES]))
    for own in ("pip", "setuptools"):
        packages.pop(own, None)
    whole = sum(size for size, _ in packages.values())
    yield Table(
        f"pip install -r {options.requirements.name}",
        ("packages", "seconds", "MB"),
        [(len(packages), seconds, whole / 1e6)],
    )
    largest = sorted(packages, key=lambda name: -packages[name][0])[: options.largest]
    rows = [
        (name, packages[name][0] / 1e6, ", ".join(_who_asks(name, packages)) or "requirements")
        for name in largest
    ]
    yield Table("The largest", ("package", "MB", "asked for by"), rows)


def _who_asks(name: str, packages: dict) -> list[str]:
    def plain(text: str) -> str:
        return text.lower().replace("_", "-").replace(".", "-")

    return sorted(asking for asking, (_, required) in packages.items() if plain(name) in map(plain, required))


def _run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(command[1:4])} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
