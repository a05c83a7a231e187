"""In a grading run: what the run asks, and the channel on which check() hands in the answers.

The kernel that runs a submission finds the questions in a file. It has no expected answer, so whatever code
there does with this module, it can only give answers, and they are judged elsewhere.
"""

import json
import os
from typing import Any

QUESTIONS_VARIABLE = "COURSE_QUESTIONS"  # the environment's name for the path of the file
ANSWERS = "application/vnd.hybrid-search-course.answers+json"


def questions() -> dict[str, list[dict[str, Any]]] | None:
    """The inputs of the run's probes by exercise, or None where nothing is being graded."""
    path = os.environ.get(QUESTIONS_VARIABLE)
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def hand_in(attempt: dict[str, Any]) -> None:
    """Put an attempt among the cell's outputs."""
    from IPython.display import publish_display_data

    publish_display_data({ANSWERS: attempt, "text/plain": f"answers of {attempt['exercise']}"})
