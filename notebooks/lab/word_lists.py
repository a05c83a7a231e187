"""The lists of stop words that bm25s comes with.

A module of its own: whoever imports lab.stop_words puts that module in the place of the function lab.stop_words.
"""

from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path


def word_lists() -> dict[str, tuple[str, ...]]:
    """The stop words of bm25s as they stand there, by the name of each list, such as "STOPWORDS_FRENCH"."""
    # The file with the lists alone: the package around it brings numpy and scipy, which take a quarter of a second.
    package = find_spec("bm25s")
    if package is None:
        raise ModuleNotFoundError("No module named 'bm25s'", name="bm25s")
    spec = spec_from_file_location("stopwords", Path(package.origin).with_name("stopwords.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)
