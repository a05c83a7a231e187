"""From a submission, whatever it is, to a notebook that can be run and judged, and what was found on the way."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from ..grades import GradeState
from ..language import translate as _
from ..units import Unit, unit_named
from .entries import MOST_FILE, CannotRead, Entry, read, shown, told
from .rebuilt import NotANotebook, rebuild, untouched
from .submissions import Submission

__all__ = ["Intake", "rebuild", "take_in"]

_MOST_FILES, _MOST_OF_A_FILE, _MOST_OF_ALL = 20, 1_000_000, 5_000_000  # that a unit takes beside the notebook
_LONGEST_NAME = 100
_MOST_NAMED = 10
_MOST_PARTS = 500_000  # lists and objects of a notebook's JSON, each of which costs memory


@dataclass(frozen=True)
class Intake:
    """What there is to run. ``notebook`` is the released one where ``state`` is not "graded".

    ``reason`` is a clause that explains the state, ``notes`` are sentences. ``files`` go into the working
    folder by their names.
    """

    notebook: Any
    state: GradeState
    reason: str = ""
    notes: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


def take_in(submission: Submission, release: Any, unit: Unit | str) -> Intake:
    """Rebuild a submission from the released notebook.

    A submission never raises. What the machine could not do (no memory, too many open files, a failing disk) is
    an OSError and no learner's fault.
    """
    unit = unit if isinstance(unit, Unit) else unit_named(unit)
    files, about_files = _files(submission, unit)
    notes = submission.notes + about_files
    if submission.state or submission.notebook is None:
        state, reason = submission.state or "missing", submission.reason or _("nothing was handed in")
        return Intake(untouched(release), state, reason, notes)
    try:
        data = read(submission.root, submission.notebook, MOST_FILE)
    except CannotRead as error:
        return Intake(untouched(release), "refused", str(error), notes)
    try:
        notebook, about_cells = rebuild(release, parse(data))
    except NotANotebook as error:
        return Intake(untouched(release), error.state, str(error), notes)
    except OSError:
        raise
    except Exception as error:  # whatever a broken notebook can come to, the others go on
        reason = _("it could not be taken apart ({error})").format(error=type(error).__name__)
        return Intake(untouched(release), "unreadable", reason, notes)
    return Intake(notebook, "graded", "", notes + tuple(about_cells), files)


def parse(data: bytes) -> dict[str, Any]:
    """A notebook's JSON. Raises NotANotebook with the reason."""
    if not data.strip():
        raise NotANotebook(_("the notebook's file is empty"))
    if data.count(b"[") + data.count(b"{") > _MOST_PARTS:
        raise NotANotebook(_("it has too many parts to be a notebook"), "refused")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NotANotebook(_("it is no notebook: its text is not in UTF-8")) from None
    except json.JSONDecodeError as error:
        raise NotANotebook(
            _("it is no notebook, or cut short: its JSON breaks in line {line}").format(line=error.lineno)
        ) from None
    except RecursionError:
        raise NotANotebook(_("it is no notebook: its JSON is nested too deeply")) from None
    except ValueError:
        raise NotANotebook(_("it is no notebook: a number in it is too long")) from None
    if not isinstance(notebook, dict):
        raise NotANotebook(_("it is no notebook: its JSON holds something else"))
    return notebook


def _files(submission: Submission, unit: Unit) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files that the unit takes, and sentences about those that it does not."""
    taken: dict[str, bytes] = {}
    ignored, zips, problems = [], [], []
    for file in submission.files:
        name = shown(file.name)
        if file.name.lower().endswith(".zip"):
            zips.append(name)
        elif not _wanted(file, unit):
            ignored.append(name)
        elif file.name in taken:
            problems.append(_("{name} is there twice. The first is kept.").format(name=name))
        elif len(taken) == _MOST_FILES:
            problems.append(
                _("{name} was left out: {most} files are taken.").format(name=name, most=_MOST_FILES)
            )
        else:
            try:
                if problem := told(file):
                    raise CannotRead(problem)
                left = _MOST_OF_ALL - sum(map(len, taken.values()))
                taken[file.name] = read(file.root, file.path, min(_MOST_OF_A_FILE, left))
            except CannotRead as error:
                problems.append(_("{name} was left out: {reason}.").format(name=name, reason=error))
    notes = [
        (_("Not the notebook, and ignored: {names}."), ignored),
        (_("A zip inside the submission is not opened: {names}."), zips),
    ]
    said = [sentence.format(names=_listed(names)) for sentence, names in notes if names]
    return taken, (*said, *problems[:_MOST_NAMED])


def _wanted(file: Entry, unit: Unit) -> bool:
    plain = file.name.isprintable() and "/" not in file.name and "\\" not in file.name
    fits = len(file.name.encode("utf-8", "replace")) <= _LONGEST_NAME
    return plain and fits and PurePosixPath(file.name).suffix.lower() in unit.files


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    if more <= 0:
        return ", ".join(names)
    return _("{names} and {more} more").format(names=", ".join(names[:_MOST_NAMED]), more=more)
