"""Who has handed in what: nbgrader's folders, a folder of notebooks named after learners, or a zip of either.

Which of the two it is, the folder itself decides:

- Where a folder in it has an entry named after the unit, it is nbgrader's: ``STUDENT/UNIT/NOTEBOOK.ipynb``. Each
  folder is a learner; one without the unit's folder has handed in nothing.
- Where notebooks lie in it, or anything named as Moodle or Canvas name what they export, each notebook is a
  learner's, whose name is the file's: ``maria.ipynb``. Moodle's is ``Full Name_NUMBER_assignsubmission_file_``,
  a folder or the start of a file's name, and Canvas' ``name_NUMBER_NUMBER_FILE`` or
  ``name_LATE_NUMBER_NUMBER_FILE``, with ``anon_CODE`` for name and number where it is anonymous.
- Where it is neither and holds one folder and nothing else, the same is asked of that folder.
- Where it is both, it is refused.
"""

import re
import shutil
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..grades import GradeState
from ..language import translate as _
from ..units import UNITS, Unit, unit_named
from .archive import unpack
from .entries import CannotRead, Entry, entries_in, shown, told, visible
from .learners import Found, learners

NOTEBOOK = ".ipynb"
_MOST_WRAPPERS = 3  # folders around the submissions
_MOST_NESTED, _DEEPEST = 1_000, 5  # what is looked at in the folders of a submission
# What nbgrader's exchange puts beside a notebook.
TIMESTAMP = "timestamp.txt"
OF_THE_EXCHANGE = (TIMESTAMP, "submission_secret.txt")

_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assign(?:submission|feedback)_[a-z]+(?:_(?P<file>.*))?", re.S
)
_CANVAS = re.compile(
    r"(?:(?P<late_too>LATE_)?anon_(?P<code>[A-Za-z0-9]+)|(?P<name>\w+?)_(?P<late>LATE_)?(?P<number>\d+))"
    r"_(?:\d+_(?P<file>.+)|(?P<text>(?:text|link)\.html))",
    re.S,
)


class NoSubmissions(ValueError):
    """There is nothing to grade, or no telling whose it is; the message is a sentence that says so."""


@dataclass(frozen=True)
class Submission:
    """What a learner handed in for one unit.

    ``learner`` is the name in the gradebook, ``found_as`` the one in the folder, ``number`` the platform's for
    this learner (Moodle's of the participant, Canvas' of the user), where one exported it. ``notebook`` lies
    below ``root``. A ``state`` says that there is nothing to run, and ``reason`` why; ``notes`` are sentences.
    ``files`` are all others, by their names in the submission. ``of_exchange`` are those that nbgrader's exchange puts
    into its own folders; in a platform's download, where only the learner can have put them, there are none.
    """

    learner: str
    notebook: Path | None = None
    notebook_name: str = ""
    files: tuple[Entry, ...] = ()
    of_exchange: tuple[Entry, ...] = ()
    state: GradeState | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    root: Path = Path()
    found_as: str = ""
    number: str = ""


class Submissions(list[Submission]):
    """The submissions of a class, by learner. ``ignored`` names what belongs to no learner.

    Closing them, or leaving the ``with``, removes what was unpacked from a zip.
    """

    def __init__(self, submissions: Iterable[Submission], ignored: Sequence[str] = ()) -> None:
        super().__init__(submissions)
        self.ignored = tuple(ignored)
        self._clean = lambda: None

    def close(self) -> None:
        self._clean()

    def __enter__(self) -> "Submissions":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def find_submissions(path: Path | str, unit: Unit | str, scratch: Path | None = None) -> Submissions:
    """What lies in a folder or a zip for a unit, one submission a learner, sorted by learner.

    A zip is unpacked into a folder of its own in ``scratch``, or where temporary files go. Raises
    NoSubmissions, and UnknownUnit.
    """
    unit = unit if isinstance(unit, Unit) else unit_named(unit)
    path = Path(path)
    if path.is_dir():
        whole = path.resolve()
        return _found(Entry(str(path), "folder", whole, whole), unit)
    if not path.exists():
        raise NoSubmissions(_("There is no folder or zip {path}.").format(path=path))
    if not path.is_file() or path.suffix.lower() == NOTEBOOK:
        raise NoSubmissions(
            _("{path} is neither a folder of submissions nor a zip of them.").format(path=path)
        )
    return _in_zip(path, unit, scratch)


def _in_zip(path: Path, unit: Unit, scratch: Path | None) -> Submissions:
    folder = Path(tempfile.mkdtemp(prefix="submissions-", dir=scratch)).resolve()
    try:
        found = _found(unpack(path, (NOTEBOOK, *unit.files), folder), unit)
    except CannotRead as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoSubmissions(_("{path} is refused: {reason}.").format(path=path, reason=error)) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    found._clean = weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _found(top: Entry, unit: Unit) -> Submissions:
    here = top
    for _wrapper in range(_MOST_WRAPPERS + 1):
        entries = _look(here)
        of_unit = [entry.name for entry in entries if entry.kind == "folder" and _child(entry, unit.name)]
        named = [entry.name for entry in entries if _names_a_learner(entry)]
        if of_unit and named:
            raise NoSubmissions(
                _(
                    "{path} is two things at once: {folder} holds a folder {unit}, as nbgrader's do, and {file} "
                    "lies beside it, as in a folder of notebooks named after learners. Keep the one or the other."
                ).format(path=top.name, folder=shown(of_unit[0]), unit=unit.name, file=shown(named[0]))
            )
        if of_unit:
            return _of_nbgrader(entries, unit)
        if named:
            return _by_name(top, entries, unit)
        if not _is_wrapper(entries):
            break
        here = entries[0]
    raise NoSubmissions(
        _(
            "Nobody has handed in {unit} in {path}. A submission is STUDENT/{unit}/NOTEBOOK.ipynb in it, or a "
            "notebook named after its learner; links are not followed."
        ).format(unit=unit.name, path=top.name)
    )


def _look(folder: Entry) -> list[Entry]:
    try:
        return visible(entries_in(folder))
    except CannotRead as error:
        raise NoSubmissions(_("The submissions cannot be read: {reason}.").format(reason=error)) from error


def _child(folder: Entry, name: str) -> list[Entry]:
    """The entries of this name in a folder: one, or several in a zip."""
    try:
        return [entry for entry in entries_in(folder) if entry.name == name]
    except CannotRead:
        return []


def _is_wrapper(entries: list[Entry]) -> bool:
    """One folder and nothing else, which is no learner's folder of units and no unit's."""
    return (
        len(entries) == 1
        and entries[0].kind == "folder"
        and entries[0].name not in UNITS
        and not any(_child(entries[0], unit) for unit in UNITS)
    )


def _names_a_learner(entry: Entry) -> bool:
    return (entry.kind != "folder" and _is_notebook(entry.name)) or _platform(entry) is not None


def _is_notebook(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() == NOTEBOOK


# nbgrader's folders


def _of_nbgrader(entries: list[Entry], unit: Unit) -> Submissions:
    people = [entry for entry in entries if entry.kind != "file"]
    names = learners(Found(entry.name) for entry in people)
    found = []
    for entry in people:
        learner, notes = names[Found(entry.name)]
        submission = _of_folder(entry, unit)
        found.append(
            replace(submission, learner=learner, found_as=entry.name, notes=notes + submission.notes)
        )
    return _sorted(found, [entry.name for entry in entries if entry.kind == "file"])


def _of_folder(learner: Entry, unit: Unit) -> Submission:
    if problem := told(learner):
        return _refused(learner, problem)
    try:
        inside = entries_in(learner)
        outside = next((entry for entry in inside if entry.kind == "outside"), None)
        folders = [entry for entry in inside if entry.name == unit.name]
        if outside:
            return _refused(learner, told(outside))
        for folder in folders:
            if folder.kind != "folder":
                return _refused(
                    learner, told(folder) or _("{name} is a file and no folder").format(name=unit.name)
                )
        files = [entry for folder in folders for entry in visible(entries_in(folder))]
    except CannotRead as error:
        return _refused(learner, str(error))
    own = [entry for entry in files if entry.name not in OF_THE_EXCHANGE]
    return replace(
        _submission(learner, own, unit, renamed=True),
        of_exchange=tuple(entry for entry in files if entry not in own),
    )


# Notebooks named after learners


@dataclass(frozen=True)
class _Named:
    """How a platform named a file or a folder: whose it is, and the file's own name."""

    learner: Found
    file: str = ""
    late: bool = False


def _platform(entry: Entry) -> _Named | None:
    if entry.kind == "folder":
        match = _MOODLE.fullmatch(entry.name)
        if match and not match["file"]:
            return _Named(Found(match["name"], match["number"]))
        return None
    if (match := _MOODLE.fullmatch(entry.name)) and match["file"]:
        return _Named(Found(match["name"], match["number"]), match["file"])
    if match := _CANVAS.fullmatch(entry.name):
        late = bool(match["late"] or match["late_too"])
        name = match["name"] or f"anon_{match['code']}"
        return _Named(Found(name, match["number"] or ""), match["file"] or match["text"], late)
    return None


def _by_name(top: Entry, entries: list[Entry], unit: Unit) -> Submissions:
    handed_in: dict[Found, list[Entry]] = defaultdict(list)
    unreadable: dict[Found, str] = {}
    late, platforms, others = set(), set(), []
    for entry in entries:
        if named := _platform(entry):
            platforms.add(named.learner)
            if named.late:
                late.add(named.learner)
            if entry.kind != "folder":
                handed_in[named.learner].append(replace(entry, name=named.file))
                continue
            try:
                handed_in[named.learner] += visible(entries_in(entry))
            except CannotRead as error:
                unreadable[named.learner] = str(error)
                handed_in[named.learner] += []
        elif entry.kind != "folder" and _is_notebook(entry.name):
            stem = PurePosixPath(entry.name).stem
            if stem in UNITS:
                raise NoSubmissions(
                    _(
                        "{path} holds {name} itself, which says not whose it is. Name the notebook after its "
                        "learner, or put it into STUDENT/{unit}/."
                    ).format(path=top.name, name=entry.name, unit=unit.name)
                )
            handed_in[Found(stem)].append(entry)
        else:
            others.append(entry)
    ignored = []
    for entry in others:  # a file goes with the notebook of the same name
        owner = Found(PurePosixPath(entry.name).stem)
        if entry.kind != "folder" and owner in handed_in:
            handed_in[owner].append(entry)
        else:
            ignored.append(entry.name)
    names = learners(handed_in)
    found = []
    for learner, files in handed_in.items():
        if problem := unreadable.get(learner):
            submission = _refused(top, problem)
        else:
            submission = _submission(top, files, unit, renamed=learner in platforms)
        name, notes = names[learner]
        if learner in late:
            notes += (_("Canvas marks this submission as late."),)
        found.append(
            replace(
                submission,
                learner=name,
                found_as=learner.name,
                number=learner.number,
                notes=notes + submission.notes,
            )
        )
    return _sorted(found, ignored)


# One submission


def _submission(owner: Entry, entries: list[Entry], unit: Unit, renamed: bool) -> Submission:
    """What these files come to. ``renamed``: the notebook's name should be the unit's."""
    if problem := next(
        (told(entry) for entry in entries if entry.kind in ("link", "special", "outside")), ""
    ):
        return _refused(owner, problem, entries)
    notebooks = [entry for entry in entries if entry.kind == "file" and _is_notebook(entry.name)]
    nested, more = _nested(entries)
    if not notebooks:
        notebooks = [entry for entry in nested if _is_notebook(entry.name)]
    files = tuple(entry for entry in (*entries, *nested) if entry.kind != "folder" and entry not in notebooks)
    submission = Submission("", files=files, root=owner.root)
    if len(notebooks) > 1:
        names = ", ".join(shown(entry.name) for entry in notebooks[:3])
        reason = (
            _("two notebooks for this unit, {names}: hand in one")
            if len(notebooks) == 2
            else _("more than two notebooks for this unit, {names} and others: hand in one")
        )
        return replace(submission, state="refused", reason=reason.format(names=names))
    if not notebooks:
        reason = _("no notebook among the files that were handed in") if files else _("nothing was handed in")
        if more:
            reason = _("no notebook, and more files than are looked through")
        return replace(submission, state="missing", reason=reason)
    notebook = notebooks[0]
    if problem := told(notebook):
        return replace(submission, state="refused", reason=problem)
    notes = ()
    if renamed and not _as_released(notebook.name, unit):
        notes = (
            _("The notebook is named {name} and not {unit}.ipynb. It is graded all the same.").format(
                name=shown(notebook.name), unit=unit.name
            ),
        )
    return replace(
        submission, notebook=notebook.path, notebook_name=notebook.name, root=notebook.root, notes=notes
    )


def _nested(entries: list[Entry]) -> tuple[list[Entry], bool]:
    """What lies in the folders of a submission, named with its folders; and whether there is more of it."""
    todo = [(entry, entry.name, 1) for entry in reversed(entries) if entry.kind == "folder"]
    found: list[Entry] = []
    while todo:
        folder, name, depth = todo.pop()
        try:
            inside = visible(entries_in(folder))
        except CannotRead:
            continue
        for entry in inside:
            if len(found) == _MOST_NESTED:
                return found, True
            named = replace(entry, name=f"{name}/{entry.name}")
            if entry.kind != "folder":
                found.append(named)
            elif depth < _DEEPEST:
                todo.append((entry, named.name, depth + 1))
    return found, False


def _as_released(name: str, unit: Unit) -> bool:
    # Canvas numbers what is handed in again: 04_retriever-1.ipynb.
    return bool(re.fullmatch(rf"(?:.*/)?{re.escape(unit.name)}(?:-\d+)?\.ipynb", name, re.S))


def _refused(owner: Entry, reason: str, entries: Sequence[Entry] = ()) -> Submission:
    return Submission("", files=tuple(entries), state="refused", reason=reason, root=owner.root)


def _sorted(found: list[Submission], ignored: list[str]) -> Submissions:
    return Submissions(sorted(found, key=lambda submission: submission.learner), sorted(ignored))
