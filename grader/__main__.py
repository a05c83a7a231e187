"""``python -m grader``: build the course, hand it out, grade a class, report on it, set the Binder badge."""

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path

from .light_imports import without_grammars
from .paths import ROOT, NoProject, need_project


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    build = verbs.add_parser("build", help="make the notebooks and reference answers from their sources")
    build.add_argument("--check", action="store_true", help="write nothing; fail where something has drifted")
    verbs.add_parser("demo", help="grade a small sample class of unit 04 and print the table")
    verbs.add_parser("badge", help="set OWNER/REPO in the README's Binder badge from the git remote")
    handout = verbs.add_parser("handout", help="make the folder to give to a class: the units up to UNIT")
    handout.add_argument(
        "unit", metavar="UNIT", help="the last unit in it, such as 04_retriever; or end, for everything"
    )
    handout.add_argument(
        "folder", metavar="DIR", type=Path, help="where to make it: a new or an empty folder"
    )
    report = verbs.add_parser("report", help="write a page on how a graded class did, and what it got wrong")
    report.add_argument("unit", metavar="UNIT", help="a unit that was graded, such as 04_retriever")
    report.add_argument(
        "--out", metavar="DIR", type=Path, help="the folder that grade --out DIR wrote to, for the page too"
    )
    _add_grade(verbs)
    options = parser.parse_args(arguments)
    # Each verb is imported when it is called: the parts that grade a class need more than those that check.
    try:
        need_project()
        if options.verb == "build":
            with without_grammars():
                from .build import build as run_build

            return run_build(check=options.check)
        if options.verb == "demo":
            from .demo import demo

            return demo()
        if options.verb == "grade":
            return _grade(options)
        if options.verb == "report":
            from .classroom.report import report as make_report

            return make_report(options.unit, options.out)
        if options.verb == "handout":
            from .handout import handout as make_handout

            units = make_handout(options.unit, options.folder)
            print(f"{options.folder} is ready to be given to the class. Units: {', '.join(units)}.")
            return 0
        from .badge import badge

        print(badge(ROOT))
        return 0
    except (NoProject, ValueError, OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1


def _add_grade(verbs: argparse._SubParsersAction) -> None:
    grade = verbs.add_parser("grade", help="grade a class in sandboxes: gradebook, feedback pages, tables")
    grade.add_argument("unit", metavar="UNIT", help="such as 04_retriever")
    grade.add_argument(
        "--submissions",
        metavar="PATH",
        type=Path,
        help="a folder LEARNER/UNIT/NOTEBOOK, a folder of notebooks named after learners, or a zip of either "
        "(grader/submitted)",
    )
    grade.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="write everything there, and nothing to the course's gradebook",
    )
    grade.add_argument(
        "--jobs",
        metavar="N",
        type=_from(1),
        help="how many run at once (as many as there are cores, and as 2 GB of memory are enough for)",
    )
    grade.add_argument(
        "--seed", metavar="S", type=_from(0), help="ask the same questions as the run with this seed"
    )
    grade.add_argument(
        "--engine",
        choices=("fork", "kernel"),
        default="fork",
        help="fork is fast; kernel is a real Jupyter kernel, for notebooks that need one (fork)",
    )
    grade.add_argument(
        "--no-sandbox", action="store_true", help="run the submissions unconfined: for people you trust"
    )
    grade.add_argument(
        "--scheduler", metavar="ADDRESS", default="", help="run them on a Dask cluster: tcp://HOST:8786"
    )


def _from(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError
        return value

    number.__name__ = f"whole number from {least}"
    return number


def _grade(options: argparse.Namespace) -> int:
    from .classroom.run import grade

    return grade(
        options.unit,
        options.submissions,
        options.out,
        options.jobs,
        options.seed,
        "none" if options.no_sandbox else options.engine,
        options.scheduler,
    )


if __name__ == "__main__":
    status = main()
    gc.freeze()  # else Python looks at its end through all that was imported, for a third of a second
    sys.exit(status)
