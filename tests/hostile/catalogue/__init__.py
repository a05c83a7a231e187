"""All submissions of the suite, in the order of their kinds."""

from ..entry import Submission
from .broken import BROKEN
from .cheating import CHEATING
from .running import RUNNING

SUBMISSIONS: tuple[Submission, ...] = (*BROKEN, *RUNNING, *CHEATING)
KINDS = range(1, 37)
