"""What every index asks of a document and a query, and what makes two documents the same."""

import operator
from collections.abc import Container, Hashable, Iterable

_NO_ID = object()  # nobody has it in an id of their own


def identity(document: dict) -> Hashable:
    """What a document is known by: its "id" where it has one, otherwise the object itself.

    Two documents with the same text and different ids are two documents.
    """
    explicit = document.get("id")
    if explicit is None:
        return _NO_ID, id(document)
    try:
        hash(explicit)
    except TypeError:
        raise ValueError(
            f"the id of a document must be hashable, such as a string: got {explicit!r}"
        ) from None
    return explicit


def identities(documents: list[dict]) -> list[Hashable]:
    """``identity`` of each, in a third of the time where all have an id."""
    ids = [document.get("id") for document in documents]
    try:
        if None not in set(ids):
            return ids
    except TypeError:  # one cannot be hashed: identity says which
        pass
    return [identity(document) for document in documents]


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
        self._objects: set[int] = set()  # their id(): the list keeps them alive
        self._ids: set[Hashable] = set()  # None stands for those without one

    def __getstate__(self) -> dict:
        return {"documents": self._documents}

    def __setstate__(self, state: dict) -> None:
        """For a copy or a pickle: its documents are other objects, with an id() of their own."""
        self.__init__()
        self.extend(state["documents"])

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, position: int) -> dict:
        return self._documents[position]

    def __iter__(self):
        return iter(self._documents)

    def lacks(self, document: dict) -> bool:
        """Whether the document may be added: False where the same object is here already.

        Raises as check_document does, and ValueError for an id that another document has.
        """
        check_document(document)
        return self._lacks(document, (), ())

    def _lacks(self, document: dict, objects: Container[int], ids: Container[Hashable]) -> bool:
        key = identity(document)
        if id(document) in self._objects or id(document) in objects:
            return False
        if key in self._ids or key in ids:
            raise ValueError(f"another document with id {key!r} is already in the index")
        return True

    def new(self, documents: Iterable[dict]) -> list[dict]:
        """Those of ``documents`` that are not here yet; nothing is added.

        The same object given again is left out. Another object with an id that is already taken is a
        ValueError, so that a batch with one bad document changes nothing.
        """
        documents = list(documents)
        fresh: dict[int, dict] = {}
        ids: set[Hashable] = set()
        for position, document in enumerate(documents, start=1):
            try:
                check_document(document)
            except (TypeError, ValueError) as error:
                if len(documents) == 1:
                    raise
                raise type(error)(f"number {position} of {len(documents)} documents: {error}") from None
            if self._lacks(document, fresh, ids):
                fresh[id(document)] = document
                ids.add(document.get("id"))
        return list(fresh.values())

    def append(self, document: dict) -> None:
        """Add a document that is lacking."""
        self._objects.add(id(document))
        self._ids.add(document.get("id"))
        self._documents.append(document)

    def extend(self, documents: Iterable[dict]) -> None:
        """Add documents that ``new`` has let through."""
        documents = list(documents)
        self._objects.update(map(id, documents))
        self._ids.update([document.get("id") for document in documents])
        self._documents += documents
