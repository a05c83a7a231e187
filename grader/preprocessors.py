"""The course's steps in nbgrader's autograding: rebuild, run in the sandbox, judge outside of it.

nbgrader_config.py puts them into nbgrader's lists, so that ``nbgrader autograde`` and the formgrader's button
grade as ``python -m grader grade`` does.
"""

import contextlib
import secrets
from functools import cache
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Integer, default

from . import notebooks
from .classroom.intake import rebuild
from .classroom.second_run import own_sources, unstable, with_other_seeds, worth_a_second_run
from .exam import Exam
from .sandbox.engines import execute
from .sandbox.execution import EngineFault
from .scoring import score
from .units import unit_named

_RUN = "hybrid_search_run"  # where one step leaves its result for the next, in nbgrader's resources


class RebuildFromRelease(NbGraderPreprocessor):
    """Take the released notebook, with the learner's solution cells and their own extra cells in it."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        rebuilt, notes = rebuild(_released(_unit(resources)), nb)
        for note in notes:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], note)
        return rebuilt, resources


class RunInSandbox(NbGraderPreprocessor):
    """Run the notebook's cells where they can harm nobody and read no answer.

    A notebook that was stopped is run once more before it counts. What the grader itself cannot do is an error
    of the run, and never a zero.
    """

    engine = Enum(
        ("fork", "kernel", "none"),
        default_value="fork",
        help='"fork" is fast, "kernel" a real Jupyter kernel; "none" has no sandbox: for people you trust.',
    ).tag(config=True)
    seed = Integer(help="Draws the fresh probes; without it each run draws others.").tag(config=True)

    @default("seed")
    def _a_fresh_seed(self) -> int:
        return secrets.randbelow(2**31)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        exam = Exam(_unit(resources), self.seed)
        job = exam.job(nb)
        execution = execute(job, self.engine)
        if execution.stopped:
            execution = execute(job, self.engine)
        resources[_RUN] = (exam, execution, lambda: execute(with_other_seeds(job), self.engine))
        return nb, resources


class JudgeOutside(NbGraderPreprocessor):
    """Put the trusted points and feedback in the place of whatever the notebook put out.

    Where its answers may change from run to run it runs once more, and the learner is told if they do.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        exam, execution, run_again = resources.pop(_RUN)
        grade = score(nb, execution, exam)
        own = own_sources(nb, _released(exam.unit.name))
        if not execution.stopped and worth_a_second_run(own, grade):
            with contextlib.suppress(EngineFault):  # the first run counts
                if differ := unstable(nb, exam.exercises, execution, run_again()):
                    score(nb, execution, exam, unstable=differ)
        return nb, resources


def _unit(resources: Any) -> str:
    """The unit that nbgrader's assignment is. Raises UnknownUnit for an assignment of another course."""
    return unit_named(resources["nbgrader"]["assignment"]).name


@cache
def _released(unit: str) -> Any:
    return notebooks.released(unit)
