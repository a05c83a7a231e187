"""Where the course's files lie, in the project's folder or in an installed wheel."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A wheel carries the assets inside the package lab.
LOCALE = next(
    (ROOT / place for place in ("assets/locale", "lab/assets/locale") if (ROOT / place).is_dir()), ROOT
)


class NoProject(Exception):
    """This needs the project's own folder; the message says so."""


def need_project() -> None:
    """Raise NoProject where the course is installed without its sources."""
    if not (ROOT / "solutions" / "notebooks").is_dir():
        raise NoProject("This works from the project's own folder only: clone it and run the command there.")
