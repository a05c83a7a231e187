"""What may lie beside a learner's code in a unit: lab, what check() needs, and the finished earlier units.

A kernel that grades gets these as a folder, and so does a class as its handout. No solution of the unit or a
later one is among them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from .exercises import EXERCISES
from .units import UNITS, unit_named

# In the place of a unit's name: after the last one, where everything has been revealed.
END = "end"
_HELPERS = ("documents",)  # modules of hybrid_search that solve no exercise and help others
# Modules with names that no exercise asks for, and the unit whose finished parts they come with.
_COMES_WITH = {
    "fast_bm25": "02_bm25",
    # What unit 08 searches with is there from its start.
    "nodes": "07_reranking",
    "trace": "07_reranking",
    "sparse": "07_reranking",
    "qdrant_queries": "07_reranking",
    "tree_index": "07_reranking",
}
# What check() and hint() need. Whatever judges, draws, builds or grades a class stays outside.
GRADER_MODULES = (
    "__init__",
    "answers",
    "asked",
    "checks",
    "compare",
    "display",
    "exercise",
    "feedback",
    "held_apart",
    "judge",
    "language",
    "notebook_errors",
    "outcome",
    "paths",
    "references",
    "stubs",
)
_HERE = Path(__file__).resolve().parent
_NOT_SOURCES = {"__pycache__", ".ipynb_checkpoints"}


def stage(unit: str, folder: Path) -> Path:
    """Write into ``folder`` what a kernel that grades ``unit`` imports; the folder to put on sys.path.

    ``unit`` is a unit's name, or END. The files are copies, readable by everybody, the same on every run.
    Raises UnknownUnit.
    """
    put_hybrid_search(unit, folder / "hybrid_search")
    put_grader(unit, folder / "grader")
    put_lab(folder / "lab", folder / "lab" / "assets", leave_out={"jupyter"})
    return folder


def units_before(unit: str) -> list[str]:
    """The names of the units before ``unit``. Raises UnknownUnit."""
    names = list(UNITS)
    return names if unit == END else names[: names.index(unit_named(unit).name)]


def unit_of_modules() -> dict[str, str]:
    """The unit of each module of hybrid_search: that of the exercises whose objects it holds finished.

    A module that no exercise asks for is of the unit that it comes with. One that is not among them belongs to no
    unit: it helps others.
    """
    import hybrid_search

    unit_of_object = {name: exercise.unit for exercise in EXERCISES.values() for name in exercise.objects}
    units = {}
    for module, names in hybrid_search._MODULES.items():
        found = {unit_of_object[name] for name in names if name in unit_of_object}
        if not found and module in _COMES_WITH:
            found = {_COMES_WITH[module]}
        if len(found) != 1:
            raise RuntimeError(f"hybrid_search.{module} belongs to {len(found)} units: {sorted(found)}")
        units[module] = found.pop()
    return units


def put_lab(folder: Path, assets: Path, leave_out: Iterable[str] = ()) -> None:
    """Copy the package lab, without the folders named in ``leave_out``, and its assets."""
    import lab
    from lab.paths import ASSETS

    # A wheel has the assets and the notebooks inside the package.
    _copy(Path(lab.__file__).parent, folder, {"assets", "notebooks", *leave_out})
    _copy(ASSETS, assets)


def put_grader(unit: str, folder: Path, references: bool = False) -> None:
    """Copy what check() and hint() need for the exercises up to ``unit``, on request with their references."""
    units = {*units_before(unit), unit}
    for name in GRADER_MODULES:
        put(folder / f"{name}.py", (_HERE / f"{name}.py").read_bytes())
    modules = _exercise_modules()
    kept = [name for name, declared in modules.items() if declared & units]
    for path in sorted((_HERE / "exercises").glob("*.py")):
        if path.stem in kept or path.stem not in modules:  # the latter help the others
            put(folder / "exercises" / path.name, path.read_bytes())
    put(folder / "exercises" / "__init__.py", _exercises_init(kept).encode())
    if references:
        for exercise in EXERCISES.values():
            if exercise.unit in units:
                path = Path("reference", f"{exercise.id}.json")
                put(folder / path, (_HERE / path).read_bytes())


def put_hybrid_search(unit: str, folder: Path) -> None:
    """Copy the modules of the units before ``unit``, and those that help others."""
    import hybrid_search

    before = units_before(unit)
    homes = unit_of_modules()
    later = {
        name: home
        for module, home in homes.items()
        if home not in before
        for name in (module, *hybrid_search._MODULES[module])
    }
    modules = {module: names for module, names in hybrid_search._MODULES.items() if homes[module] in before}
    for path in sorted(Path(hybrid_search.__file__).parent.glob("*.py")):
        if path.stem in {*modules, *_HELPERS}:
            put(folder / path.name, path.read_bytes())
    put(folder / "__init__.py", (_HERE / "handed_out" / "hybrid_search_init.py").read_bytes())
    put(folder / "_units.py", f"MODULES = {modules!r}\nLATER = {later!r}\n".encode())


def put(path: Path, content: bytes) -> None:
    """Write a file that everybody can read, whatever the umask is."""
    make_folder(path.parent)
    path.write_bytes(content)
    path.chmod(0o644)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, that everybody can read."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)


def _exercise_modules() -> dict[str, set[str]]:
    """The modules that declare exercises, in their order, and the units of each."""
    from .exercises import _MODULES

    return {
        module.__name__.rpartition(".")[2]: {exercise.unit for exercise in module.EXERCISES}
        for module in _MODULES
    }


def _exercises_init(modules: list[str]) -> str:
    return (
        '"""Every exercise up to this unit, by name, in the order of the units."""\n\n'
        "from ..exercise import Exercise\n"
        f"from . import {', '.join(sorted(modules))}\n\n"
        f"_MODULES = ({', '.join(modules)},)\n\n"
        "EXERCISES: dict[str, Exercise] = {\n"
        "    exercise.id: exercise for module in _MODULES for exercise in module.EXERCISES\n"
        "}\n"
    )


def _copy(source: Path, target: Path, leave_out: Iterable[str] = ()) -> None:
    for path in _files(source, {*leave_out, *_NOT_SOURCES}):
        put(target / path.relative_to(source), path.read_bytes())


def _files(folder: Path, leave_out: set[str]) -> Iterator[Path]:
    """The files below a folder, without the folders of these names directly in it or below."""
    for path in sorted(folder.iterdir()):
        if path.name in leave_out:
            continue
        if path.is_dir():
            yield from _files(path, leave_out)
        else:
            yield path
