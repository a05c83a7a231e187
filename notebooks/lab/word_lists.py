"""The lists of stop words that bm25s comes with.

A module of its own: whoever imports lab.stop_words puts that module in the place of the function lab.stop_words.
"""

from importlib.util import find_spec
from pathlib import Path
from runpy import run_path


def word_lists() -> dict[str, tuple[str, ...]]:
    """The stop words of bm25s as they stand there, by the name of each list, such as "STOPWORDS_FRENCH"."""
    # The file with the lists alone: the package around it brings numpy and scipy, which take a quarter of a second.
    return run_path(str(Path(find_spec("bm25s").origin).with_name("stopwords.py")))
