"""``python -m tests.bench.grading_parts SUBMISSIONS OUT``: grade a class, and print as JSON where the time went.

For each part: how often, the seconds on the clock from its first beginning to its last end, and the processor's
seconds in this process. Sandboxes run beside this process: of theirs the seconds on the clock are added up.
"""

import json
import sys
import time

_BEGAN = time.perf_counter()

import functools  # noqa: E402 - what comes before the clock is not counted
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

SEED = 20_231_004
_parts: dict[str, list[tuple[float, float, float]]] = {}


def main(submissions: Path, out: Path) -> dict[str, dict[str, float]]:
    from grader.classroom import run
    from grader.light_imports import without_grammars

    with without_grammars():
        import nbgrader.converters  # noqa: F401

        import grader.exam
        import grader.nbgrader_course
        import grader.notebooks
        import grader.scoring
        from grader.classroom import gradebook, intake, pages, tables  # noqa: F401 - run loads pages, too
        from grader.sandbox import fork_engine
    _note("imports", _BEGAN, time.perf_counter(), time.process_time())
    _watch("start of the sandboxes", fork_engine.ForkRunner, "__init__")
    _watch("questions and their answers", grader.exam, "Exam")
    _watch("intake", intake, "take_in")
    _watch("isolate", fork_engine.ForkRunner, "_isolated")
    _watch("isolate", fork_engine._Notebook, "prepare")
    _watch("cells", fork_engine._Notebook, "_run")
    _watch("end of a notebook", fork_engine._Notebook, "close")
    _watch("judge", run._Run, "_judge")
    _watch("gradebook", gradebook, "_enter_assignment")
    _watch("gradebook", gradebook, "_enter")
    _watch("gradebook", gradebook, "_scores")
    _watch("notebooks and feedback pages", run._Run, "_write_notebooks")
    _watch("tables", tables, "write_tables")
    _watch("tables", tables, "write_nbgrader_table")
    run.grade("04_retriever", submissions, out, seed=SEED, say=lambda line: None)
    _note("all", _BEGAN, time.perf_counter(), time.process_time())
    return {
        name: {
            "times": len(spans),
            "span": max(end for _, end, _ in spans) - min(begin for begin, _, _ in spans),
            "sum": sum(end - begin for begin, end, _ in spans),
            "processor": sum(cpu for _, _, cpu in spans),
        }
        for name, spans in _parts.items()
    }


def _watch(part: str, owner: Any, name: str) -> None:
    """Note each call of a function from now on."""
    function = getattr(owner, name)

    @functools.wraps(function, updated=())
    def noted(*arguments: Any, **settings: Any) -> Any:
        begin, used = time.perf_counter(), time.thread_time()
        try:
            return function(*arguments, **settings)
        finally:
            _note(part, begin, time.perf_counter(), time.thread_time() - used)

    setattr(owner, name, noted)


def _note(part: str, begin: float, end: float, processor: float) -> None:
    _parts.setdefault(part, []).append((begin, end, processor))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
