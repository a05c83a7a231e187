"""What nbgrader itself does with a submission, with its own settings and none of this course's."""

import logging
import os
import shutil
import sysconfig
import threading
import warnings
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from traitlets.config import Config

from .entry import Submission, write
from .world import World

FAILS = "fails"
_one_at_a_time = threading.Lock()  # nbgrader was not made to run twice in a process


class StockCourse:
    """A course in a folder, graded by nbgrader alone. Without ``execute`` the cells are not run.

    What breaks before a cell runs breaks all the same then, in a tenth of the time.
    """

    def __init__(self, folder: Path, world: World, execute: bool) -> None:
        self.folder, self.world = folder, world
        self._config = Config()
        self._config.CourseDirectory.root = str(folder)
        self._config.CourseDirectory.db_url = f"sqlite:///{folder / 'gradebook.db'}"
        self._config.CourseDirectory.submitted_directory = "submitted"
        if not execute:
            self._config.Autograde.autograde_preprocessors = [
                step for step in Autograde.autograde_preprocessors.default_args[0] if step is not Execute
            ]
        self._known: set[str] = set()
        scripts = sysconfig.get_path("scripts")  # nbgrader calls alembic by its name
        if scripts not in os.environ["PATH"].split(os.pathsep):
            os.environ["PATH"] = scripts + os.pathsep + os.environ["PATH"]
        logging.getLogger("traitlets").setLevel(logging.CRITICAL)

    def gives(self, submission: Submission) -> str | float:
        """The score that nbgrader gives; "fails" where it leaves none."""
        with _one_at_a_time, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            api = NbGraderAPI(CourseDirectory(config=self._config), config=self._config)
            if submission.unit not in self._known:
                self._known.add(submission.unit)
                source = self.folder / "source" / submission.unit
                shutil.copytree(self.world.course / "solutions" / "notebooks" / submission.unit, source)
                made = api.generate_assignment(submission.unit, force=True)
                assert made["success"], made
            write(
                submission.make(),
                self.folder / "submitted" / submission.id / submission.unit,
                lambda text: self.world.fill(text, submission.id),
            )
            result = api.autograde(submission.unit, submission.id)
            if not result["success"]:
                return FAILS
            with api.gradebook as gradebook:
                try:
                    graded = gradebook.find_submission(submission.unit, submission.id)
                except MissingEntry:
                    return FAILS
                return graded.score if graded.notebooks else FAILS
