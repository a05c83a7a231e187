"""This course as nbgrader sees it, in the project's folder or in another one."""

import os
import sysconfig
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

HERE = Path(__file__).resolve().parent


def course_config(root: Path) -> Config:
    """The settings of nbgrader_config.py with the course's folders, gradebook and exchange below ``root``."""
    _tools_on_path()
    config = PyFileConfigLoader("nbgrader_config.py", path=str(HERE)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root / 'grader' / 'gradebook.db'}"
    config.Exchange.root = str(root / "grader" / "exchange")
    return config


def course_api(root: Path) -> NbGraderAPI:
    """nbgrader's own programming interface, on the course below ``root``."""
    (root / "grader" / "exchange").mkdir(parents=True, exist_ok=True)
    config = course_config(root)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def _tools_on_path() -> None:
    """nbgrader calls alembic by name, which an environment that is not activated does not find."""
    scripts = sysconfig.get_path("scripts")
    if scripts not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = scripts + os.pathsep + os.environ["PATH"]
