"""What the warm parent does once for all notebooks: imports, and lines whose first run takes long.

Everything here must leave it with one thread, since a process with several cannot fork safely.
"""

_IMPORTS = (
    "numpy",
    "pandas",
    "matplotlib.pyplot",
    "rank_bm25",
    "lab",
    "grader",
    "hybrid_search",
)
_LINES = (
    "1 + 1",
    "await __import__('asyncio').sleep(0)",
    "1 / 0",
    "display(1)",
)


def imports() -> list[str]:
    """Modules that the warm parent imports; one that is not there is left out."""
    return list(_IMPORTS)


def lines() -> list[str]:
    """Cells that the warm parent runs and forgets."""
    return list(_LINES)
