"""What the warm parent does once for all notebooks: imports, and lines whose first run takes long.

Everything here must leave it with one thread, since a process with several cannot fork safely. What it makes is
shared by all notebooks of a unit, so it is nothing but the course's own and cannot be changed by any of them.
"""

# onnxruntime starts threads unless it is told not to.
_LOAD_EMBEDDER = """
import functools, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession
onnxruntime.InferenceSession = functools.partial(session, sess_options=options)
try:
    lab.embedder().embed_query("The pump is leaking.")
finally:
    onnxruntime.InferenceSession = session
"""
_IMPORTS = ("numpy", "pandas", "matplotlib.pyplot", "rank_bm25", "bm25s", "ipywidgets", "anywidget")
# A line that fails, as where a unit's part is not revealed yet, is left out.
_LINES = (
    "1 + 1",
    "await __import__('asyncio').sleep(0)",
    "1 / 0",
    "import lab, grader, hybrid_search",
    "from grader import check, hint",
    # A package of the course loads a name when it is first used.
    "for package in (lab, grader, hybrid_search):\n"
    "    for name in dir(package):\n"
    "        try:\n"
    "            getattr(package, name)\n"
    "        except (ImportError, AttributeError):\n"
    "            pass",
    _LOAD_EMBEDDER,
    "lab.judged_queries('python'), lab.judged_queries('report'), lab.python_reference()",
    "import pandas\ndisplay(pandas.DataFrame({'a': [1.5, 2]}).round(1))",
    "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2], label='a')\naxes.legend()",
    "plt.close('all')",
    "one, two = ({'id': n, 'title': 'Section', 'content': 'pump leak'} for n in (1, 2))",
    "display(lab.plot_similarity([(one, 0.1), (two, 0.2)]))",
    "display(lab.plot_term_weights({'1': {'pump': 0.5, 'leak': 0.5}}))",
    "display(lab.plot_fusion({'a': ['1', '2'], 'b': ['2', '1']}, ['1', '2']))",
    "display(lab.plot_rrf_curve())",
)


def imports() -> list[str]:
    """Modules that the warm parent imports; one that is not there is left out."""
    return list(_IMPORTS)


def lines() -> list[str]:
    """Cells that the warm parent runs and forgets."""
    return list(_LINES)
