"""Documents of many pages: Python's language reference as a shelf of manuals, and the report as a small one."""

from collections.abc import Iterable
from functools import cache

from lab.corpora import sections
from lab.paging import pages_from_text
from lab.python_corpus import without_drawings

# The topics of each document, in order. A topic that is not named here is a part of one that is, word for word: help()
# shows "while" also by itself, and here it stands in "compound".
DOCUMENTS: dict[str, tuple[str, ...]] = {
    "execution-model.txt": ("execmodel", "identifiers", "atom-identifiers"),
    "objects-and-types.txt": (
        "objects",
        "types",
        "typesmodules",
        "typesfunctions",
        "typesmethods",
        "bltin-code-objects",
        "bltin-type-objects",
        "bltin-null-object",
        "bltin-ellipsis-object",
    ),
    "special-methods.txt": ("specialnames", "specialattrs"),
    "literals.txt": ("atom-literals", "strings", "numbers", "integers", "floating", "imaginary"),
    "expressions.txt": (
        "conversions",
        "exprlists",
        "dict",
        "attribute-references",
        "subscriptions",
        "slicings",
        "calls",
        "await",
        "power",
        "unary",
        "binary",
        "shifting",
        "bitwise",
        "comparisons",
        "truth",
        "booleans",
        "lambda",
        "yield",
        "operator-summary",
    ),
    "simple-statements.txt": (
        "assignment",
        "assert",
        "pass",
        "del",
        "return",
        "raise",
        "break",
        "continue",
        "global",
        "nonlocal",
        "import",
    ),
    "compound-statements.txt": ("compound",),
    "string-methods.txt": ("string-methods",),
    "format-strings.txt": ("formatstrings",),
    "containers.txt": ("typesseq", "lists", "typesmapping"),
    "debugger.txt": ("debugger",),
}


def reference_documents() -> dict[str, list[str]]:
    """The language reference of the running interpreter as documents of many pages: file name -> texts of its pages.

    A topic begins a page of its own. The same interpreter always gives the same pages; another version of Python gives
    somewhat others.
    """
    from pydoc_data.topics import topics

    return {
        file_name: [
            page for name in names for page in pages_from_text(without_drawings(topics.get(name, "")))
        ]
        for file_name, names in DOCUMENTS.items()
    }


def pages_with(passages: Iterable[str]) -> frozenset[str]:
    """The pages of the reference documents that hold at least one of the passages, each as "file_name:page".

    Line ends, quotes and asterisks do not count: they are the layout of one version of Python.
    """
    wanted = [_words(passage) for passage in passages]
    return frozenset(page for page, text in _plain_pages().items() if any(words in text for words in wanted))


@cache
def _plain_pages() -> dict[str, str]:
    """Each page's text without its layout, by the page's id."""
    return {
        f"{file_name}:{number}": _words(page)
        for file_name, pages in reference_documents().items()
        for number, page in enumerate(pages, start=1)
    }


def _words(text: str) -> str:
    return " ".join(text.replace('"', "").replace("*", "").split())


def report_pages() -> list[str]:
    """The annual review as ten pages, one a section."""
    return [section["content"] for section in sections()]
