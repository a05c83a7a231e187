"""Stand-ins that probes give to a learner's code: no model, no randomness, the same everywhere."""

from collections.abc import Iterable, Mapping


def make_documents(labels: Iterable[str], contents: Mapping[str, str] | None = None) -> dict[str, dict]:
    """A document for each label, its "id"; the text says which one it is unless ``contents`` has another."""
    contents = contents or {}
    return {label: {"id": label, "content": contents.get(label, f"The text of {label}.")} for label in labels}


class StubIndex:
    """An index that gives the ranking it was told, whatever the query, and remembers what was added."""

    def __init__(self, results: list[tuple[dict, float]]) -> None:
        self.results = results
        self.added: list[dict] = []

    def add_document(self, document: dict) -> None:
        self.added.append(document)

    def search(self, query: str, k: int = 1) -> list[tuple[dict, float]]:
        return list(self.results[:k])
