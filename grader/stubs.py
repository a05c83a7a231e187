"""Stand-ins that probes give to a learner's code: no model, no randomness, the same everywhere."""

from collections.abc import Iterable, Mapping


def make_documents(labels: Iterable[str], contents: Mapping[str, str] | None = None) -> dict[str, dict]:
    """A document for each label, its "id"; the text says which one it is unless ``contents`` has another."""
    contents = contents or {}
    return {label: {"id": label, "content": contents.get(label, f"The text of {label}.")} for label in labels}


def documents_of(pairs: Iterable[tuple[str, str]]) -> dict[str, dict]:
    """A document for each pair (label, text), by its label."""
    texts = dict(pairs)
    return make_documents(texts, texts)


def listed(pairs: Iterable[tuple[str, str]]) -> str:
    """The same pairs as a learner reads them below a probe's call, one a line."""
    return "\n".join(f"{label}: {text}" for label, text in pairs)


class StubIndex:
    """An index that gives the ranking it was told, whatever the query, and remembers what was added."""

    def __init__(self, results: list[tuple[dict, float]]) -> None:
        self.results = results
        self.added: list[dict] = []

    def add_document(self, document: dict) -> None:
        self.added.append(document)

    def search(self, query: str, k: int = 1) -> list[tuple[dict, float]]:
        return list(self.results[:k])


class StubSearch:
    """A search function that gives the documents it was told for a query's text; their values fall."""

    def __init__(self, found: Mapping[str, list[dict]]) -> None:
        self.found = found

    def __call__(self, query: str, k: int = 1) -> list[tuple[dict, float]]:
        if not isinstance(query, str):
            raise TypeError(f"search needs the text of a query, and got {type(query).__name__}")
        documents = self.found[query][:k]
        return [(document, 1 / rank) for rank, document in enumerate(documents, start=1)]


class StubEmbedder:
    """An embedder that knows a few texts; a text has one vector as a document and another as a query."""

    def __init__(self, document_vectors: Mapping[str, list[float]], query_vectors: Mapping[str, list[float]]):
        self.document_vectors = document_vectors
        self.query_vectors = query_vectors

    def embed_documents(self, texts: list[str]):
        import numpy as np

        if isinstance(texts, str):
            raise TypeError("embed_documents needs a list of texts, and got one string: put it in [ ]")
        return np.array([_known(self.document_vectors, text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str):
        import numpy as np

        return np.array(_known(self.query_vectors, text), dtype=np.float32)


def _known(vectors: Mapping[str, list[float]], text: object) -> list[float]:
    if not isinstance(text, str) or text not in vectors:
        raise ValueError(f"the embedder got neither a document's content nor the query, but {text!r}")
    return vectors[text]


class StubReranker:
    """A reranker that knows the scores of a few texts, or one that fails; it keeps the texts of each call."""

    def __init__(self, scores: Mapping[str, float], fails: bool = False) -> None:
        self.scores = scores
        self.fails = fails
        self.asked: list[list[str]] = []

    def __call__(self, query: str, texts: list[str]) -> list[float]:
        if not isinstance(query, str) or isinstance(texts, str):
            raise TypeError("rerank needs a query, which is one string, and a list of texts")
        texts = list(texts)
        self.asked.append(texts)
        if self.fails:
            raise RuntimeError("the service does not answer")
        if not texts or not all(isinstance(text, str) and text in self.scores for text in texts):
            raise ValueError(f"rerank needs the contents of documents, and got {texts!r}")
        return [self.scores[text] for text in texts]

    def __repr__(self) -> str:
        return f"StubReranker({self.scores!r}, fails={self.fails})"
