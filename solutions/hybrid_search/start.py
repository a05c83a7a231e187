"""Unit 00: plain search, which finds a text that contains a term."""

from collections.abc import Iterable

from .documents import check_document


def find_term(term: str, documents: Iterable[dict]) -> list[dict]:
    """The documents whose "content" contains the term, in their order. Upper and lower case are the same.

    Raises ValueError for an empty term, and for a document without text.
    """
    wanted = term.strip().casefold()
    if not wanted:
        raise ValueError("the term is empty: write a word to look for")
    documents = list(documents)
    for document in documents:
        check_document(document)
    return [document for document in documents if wanted in document["content"].casefold()]
