"""nbgrader's settings for this course: where the editions, the submissions and the gradebook lie.

nbgrader finds this file when JUPYTER_CONFIG_PATH names the folder it is in; ``python -m lab --instructor``
and the verbs of ``python -m grader`` set that themselves.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# On a JupyterHub, COURSE_EXCHANGE names the folder that everybody shares. Elsewhere the exchange is not used, but
# without such a folder the formgrader warns; python -m lab --instructor makes it.
EXCHANGE = Path(os.environ.get("COURSE_EXCHANGE") or ROOT / "grader" / "exchange")

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "hybrid-search"
c.CourseDirectory.root = str(ROOT)
c.CourseDirectory.source_directory = "solutions/notebooks"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "grader/submitted"
c.CourseDirectory.autograded_directory = "grader/autograded"
c.CourseDirectory.feedback_directory = "grader/feedback"
c.CourseDirectory.db_url = f"sqlite:///{ROOT / 'grader' / 'gradebook.db'}"
c.Exchange.root = str(EXCHANGE)

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}

# nbgrader's own lists with three steps of the course: the submission is rebuilt from the release, runs in a
# sandbox that holds no answer, and is judged outside of it.
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "grader.preprocessors.RebuildFromRelease",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.preprocessors.RunInSandbox",
    "grader.preprocessors.JudgeOutside",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# Validate runs the notebook of the person who presses it. The kernel's remarks about its own transport would
# stand between the lines of the report.
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--log-level=ERROR"]
