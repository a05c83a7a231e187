"""What every index asks of a document and a query, and what makes two documents the same."""

import operator
from collections.abc import Hashable, Iterable


def identity(document: dict) -> Hashable:
    """What a document is known by: its "id" where it has one, otherwise the object itself.

    Two documents with the same text and different ids are two documents.
    """
    explicit = document.get("id")
    if explicit is None:
        return _itself(document)
    try:
        hash(explicit)
    except TypeError:
        raise ValueError(
            f"the id of a document must be hashable, such as a string: got {explicit!r}"
        ) from None
    return ("id", explicit)


def _itself(document: dict) -> Hashable:
    return ("object", id(document))


def name_of(document: object) -> str:
    """How an error message names a document: its id or the beginning of its text."""
    if isinstance(document, dict):
        if document.get("id") is not None:
            return f"the document with id {document['id']!r}"
        if isinstance(document.get("content"), str):
            return f"the document that begins {document['content'][:40]!r}"
    return f"the document {str(document)[:60]!r}"


def check_document(document: object) -> None:
    """Refuse what cannot be indexed: TypeError for another type, ValueError for a missing or empty text."""
    if not isinstance(document, dict):
        raise TypeError(
            f'a document is a dict with at least "content", such as {{"content": "some text"}}: '
            f"got {type(document).__name__}"
        )
    if "content" not in document:
        raise ValueError(f'{name_of(document)} has no "content"; its keys are {sorted(map(str, document))}')
    if not isinstance(document["content"], str):
        raise TypeError(
            f'the "content" of {name_of(document)} must be text: got {type(document["content"]).__name__}'
        )
    if not document["content"].strip():
        raise ValueError(f'the "content" of {name_of(document)} is empty')


def check_query(query: object) -> None:
    """Refuse a query that is no text (TypeError) or has nothing in it (ValueError)."""
    if not isinstance(query, str):
        raise TypeError(f"a query must be text (str): got {type(query).__name__}")
    if not query.strip():
        raise ValueError("the query is empty: write a few words to search for")


def check_count(value: object, name: str, least: int = 1) -> int:
    """A whole number of at least 1 (or ``least``), such as k or candidates: TypeError or ValueError otherwise."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number: got {value!r}") from None
    if count < least:
        raise ValueError(f"{name} must be at least {least}: got {value!r}")
    return count


class DocumentList:
    """Documents in the order in which they were added, each once."""

    def __init__(self) -> None:
        self._documents: list[dict] = []
        self._known: set[Hashable] = set()

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, position: int) -> dict:
        return self._documents[position]

    def __iter__(self):
        return iter(self._documents)

    def new(self, documents: Iterable[dict]) -> list[dict]:
        """Those of ``documents`` that are not here yet; nothing is added.

        The same object given again is left out. Another object with an id that is already taken is a
        ValueError, so that a batch with one bad document changes nothing.
        """
        documents = list(documents)
        fresh, known = [], set()
        for position, document in enumerate(documents, start=1):
            try:
                check_document(document)
            except (TypeError, ValueError) as error:
                if len(documents) == 1:
                    raise
                raise type(error)(f"number {position} of {len(documents)} documents: {error}") from None
            itself, key = _itself(document), identity(document)
            if itself in self._known or itself in known:
                continue
            if key in self._known or key in known:
                raise ValueError(f"another document with id {document['id']!r} is already in the index")
            known |= {itself, key}
            fresh.append(document)
        return fresh

    def extend(self, documents: Iterable[dict]) -> None:
        """Add documents that ``new`` has let through."""
        for document in documents:
            self._known |= {_itself(document), identity(document)}
            self._documents.append(document)
