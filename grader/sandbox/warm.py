"""What the warm parent does once for all notebooks: imports, and lines whose first run takes long.

Everything here must leave it with one thread, since a process with several cannot fork safely. What it makes is
shared by all notebooks of a unit, so it is nothing but the course's own and cannot be changed by any of them.
"""

import re

from ..paths import ROOT

# In the order of import; and for some what a notebook says that needs them. Others take them in themselves.
_IMPORTS = {
    "numpy": "",
    "pandas": "",
    "matplotlib.pyplot": "",
    "rank_bm25": "",
    "bm25s": "FastBM25Index|bm25s",
    "ipywidgets": "TuningLab|WalkView|watch_search|DocumentUpload|ipywidgets",
    "anywidget": "TuningLab|WalkView|watch_search|DocumentUpload|anywidget",
}
# A line that fails, as where a unit's part is not revealed yet, is left out.
_LINES = (
    "1 + 1",
    "await __import__('asyncio').sleep(0)",
    "1 / 0",
    "import lab, grader, hybrid_search",
    "from grader import check, hint",
    "from course_sandbox.deferred import put_off\nwith put_off():\n    embedder = lab.embedder()",
    "embedder.embed_query(lab.judged_queries('report')[0].text)",  # whose vector is stored
    "import pandas\ndisplay(pandas.DataFrame({'a': [1.5, 2]}).round(1))",
    "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2], label='a')\naxes.legend()",
    "plt.close('all')",
    "one, two = ({'id': n, 'title': 'Section', 'content': 'pump leak'} for n in (1, 2))",
)
# Lines for what a unit's notebook names, by its name.
_OF_NAMES = {
    "tokenize": "hybrid_search.tokenize('The pump is leaking.')",
    "judged_queries": "lab.judged_queries('python'), lab.judged_queries('report')",
    "python_reference": "lab.python_reference()",
    "plot_similarity": "display(lab.plot_similarity([(one, 0.1), (two, 0.2)]))",
    "plot_term_weights": "display(lab.plot_term_weights({'1': {'pump': 0.5, 'leak': 0.5}}))",
    "plot_fusion": "two = [f'Section {n}' for n in range(1, 11)]\n"
    "display(lab.plot_fusion({'vector': two, 'BM25': two[::-1]}, two))",
    "plot_rrf_curve": "display(lab.plot_rrf_curve())",
}
# A package of the course loads a name when it is first used.
_LOAD_NAMES = """
for package in (lab, grader, hybrid_search):
    for name in set(dir(package)) & set({names!r}):
        try:
            getattr(package, name)
        except (ImportError, AttributeError):
            pass
"""


def imports(unit: str) -> list[str]:
    """Modules that the warm parent imports; one that is not there is left out."""
    named = _names(unit)
    return [module for module, needed in _IMPORTS.items() if not needed or named & set(needed.split("|"))]


def lines(unit: str) -> list[str]:
    """Cells that the warm parent runs and forgets."""
    named = _names(unit)
    own = [line for name, line in _OF_NAMES.items() if name in named]
    return [*_LINES, _LOAD_NAMES.format(names=sorted(named)), *own]


def _names(unit: str) -> set[str]:
    """The words of a unit's own notebook; of other names, few submissions use any."""
    notebook = ROOT / "notebooks" / unit / f"{unit}.ipynb"
    return (
        set(re.findall(r"[A-Za-z_]\w*", notebook.read_text(encoding="utf-8")))
        if notebook.is_file()
        else set()
    )
