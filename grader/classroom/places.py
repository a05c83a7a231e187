"""Where a class run reads and writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class Busy(RuntimeError):
    """Another run is writing to the same place."""


@dataclass(frozen=True)
class Places:
    """The folders and the gradebook of a run of ``unit``. ``results`` holds tables, record and executions."""

    unit: str
    gradebook: Path
    autograded: Path
    feedback: Path
    results: Path

    @classmethod
    def of_course(cls, root: Path, unit: str) -> "Places":
        """Where nbgrader and the formgrader look, in the course below ``root``."""
        grader = root / "grader"
        return cls(
            unit,
            grader / "gradebook.db",
            grader / "autograded",
            grader / "feedback",
            grader / "grades" / unit,
        )

    @classmethod
    def below(cls, folder: Path, unit: str) -> "Places":
        """All in one folder."""
        return cls(unit, folder / "gradebook.db", folder / "autograded", folder / "feedback", folder)

    @property
    def record(self) -> Path:
        return self.results / "run.json"

    @property
    def executed(self) -> Path:
        return self.results / "executed"

    def graded_folder(self, learner: str) -> Path:
        return self.autograded / learner / self.unit

    def page(self, learner: str) -> Path:
        return self.feedback / learner / self.unit / f"{self.unit}.html"

    def need_writable(self) -> None:
        """Make the folders. Raises OSError where one cannot be made or written to."""
        for folder in dict.fromkeys((self.gradebook.parent, self.autograded, self.feedback, self.executed)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                trial = folder / ".may_be_written"
                trial.touch()
                trial.unlink()
            except OSError as error:
                raise OSError(f"Cannot write to {folder}: {error.strerror or error}.") from error

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs away. The system lets go of the lock, whatever way this process ends.

        Raises Busy where another run is at work in the same place.
        """
        try:
            import fcntl
        except ImportError:  # Windows, where only submissions of people one trusts can be graded
            yield
            return
        with open(self.results / "run.lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy(
                    f"Another run is grading into {self.results}. Wait until it ends, or choose another --out."
                ) from None
            yield
