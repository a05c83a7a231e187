"""Vectors kept on disk between runs, by model and text, so that no text is embedded twice."""

import hashlib
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np

from lab.embedding_texts import checked_texts
from lab.language import _
from lab.paths import cache_folder
from lab.progress import progress

FILE_NAME = "vectors-1.sqlite3"
# Texts embedded between two writes: what an interrupted run loses at most.
STEP = 128
_IN_ONE_QUERY = 500
_BUSY_SECONDS = 5

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (
    space TEXT, text_sha256 TEXT, vector BLOB, checksum INTEGER, PRIMARY KEY (space, text_sha256))"""


class VectorCache:
    """A file of vectors that several notebooks may use at once.

    A cache is a convenience: no trouble with its file is ever an error. A broken file is moved aside, one
    that cannot be used is left out until the end of the process; either is said in one printed line. Texts
    themselves are not stored, only their hashes. What a service answers may be kept beside the vectors, as bytes.
    """

    def __init__(self, folder: Path | None = None):
        self.file = (folder or cache_folder()) / FILE_NAME
        self._usable = True

    def read(self, space: str, texts: Iterable[str]) -> dict[str, np.ndarray]:
        """The vectors known for some of the texts. ``space`` is the model, and what else they depend on."""
        blobs = self.read_bytes(space, texts)
        return {text: np.frombuffer(blob, dtype="<f4").astype(np.float32) for text, blob in blobs.items()}

    def write(self, space: str, vectors: Mapping[str, np.ndarray]) -> None:
        """Keep vectors, float32, by their texts."""
        self.write_bytes(
            space, {text: np.asarray(vector, dtype="<f4").tobytes() for text, vector in vectors.items()}
        )

    def read_bytes(self, space: str, texts: Iterable[str]) -> dict[str, bytes]:
        """What is known for some of the texts, as it was written."""
        texts_of = {_digest(text): text for text in texts}
        rows = self._run(lambda connection: _select(connection, space, list(texts_of)), create=False) or []
        return {
            texts_of[digest]: blob
            for digest, blob, checksum in rows
            if isinstance(blob, bytes) and zlib.crc32(blob) == checksum
        }

    def write_bytes(self, space: str, blobs: Mapping[str, bytes]) -> None:
        """Keep bytes by their texts."""
        rows = [(space, _digest(text), blob, zlib.crc32(blob)) for text, blob in blobs.items()]
        self._run(lambda connection: _insert(connection, rows), create=True)

    def _run(self, action: Callable, create: bool):
        """What ``action`` gives on an open file, or None where there is none and none can or may be made.

        The file is opened for each action: a connection must not live on in a forked process.
        """
        for _attempt in range(2):
            if not self._usable:
                return None
            try:
                if not create and not self.file.exists():
                    return None
                self.file.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.file, timeout=_BUSY_SECONDS, isolation_level=None)
                with closing(connection):
                    return action(connection)
            except (sqlite3.OperationalError, OSError) as error:
                self._leave_out(error)
            except sqlite3.DatabaseError as error:
                self._move_aside(error)
        return None

    def _move_aside(self, problem: Exception) -> None:
        aside = self.file.with_name(self.file.name + ".broken")
        try:
            # An unfinished transaction of the broken file must not be played back into a new one.
            journal = self.file.with_name(self.file.name + "-journal")
            journal.unlink(missing_ok=True)
            os.replace(self.file, aside)
        except OSError:
            self._leave_out(problem)
            return
        print(
            _("The cache of vectors was broken: it is now {aside}, and a new one begins.").format(aside=aside)
        )

    def _leave_out(self, problem: Exception) -> None:
        self._usable = False
        print(
            _(
                "Vectors will not be kept for the next run: the cache {file} cannot be used ({reason})."
            ).format(file=self.file, reason=problem)
        )


def _select(connection: sqlite3.Connection, space: str, digests: list[str]) -> list[tuple]:
    rows = []
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone():
        return rows
    for start in range(0, len(digests), _IN_ONE_QUERY):
        part = digests[start : start + _IN_ONE_QUERY]
        marks = ", ".join("?" * len(part))
        rows += connection.execute(
            f"SELECT text_sha256, vector, checksum FROM vectors WHERE space = ? AND text_sha256 IN ({marks})",
            (space, *part),
        )
    return rows


def _insert(connection: sqlite3.Connection, rows: list[tuple]) -> None:
    # Takes the right to write at once: of two connections that read first and then want to write, SQLite
    # refuses one without waiting.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_TABLE)
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
    connection.execute("COMMIT")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class CachedEmbedder:
    """An embedder whose vectors come from the cache where it has them.

    ``queries`` says whether queries are kept too: worth it for a service, not for a model that answers in
    milliseconds. ``stored`` gives the vectors, known beforehand, of some of the texts that it is given; they go
    before all others. ``step`` is the number of texts embedded between two writes.
    """

    def __init__(
        self,
        embedder,
        cache: VectorCache,
        queries: bool,
        stored: Callable[[Iterable[str]], dict[str, np.ndarray]] = lambda _texts: {},
        step: int = STEP,
    ):
        self.name = embedder.name
        self._embedder, self._cache, self._queries = embedder, cache, queries
        self._stored, self._step = stored, step

    def embed_documents(self, texts: Iterable[str]) -> np.ndarray:
        """Vectors of the texts: shape (n, d), float32. A text given twice is embedded once."""
        texts = checked_texts(texts)
        if not texts:
            return self._embedder.embed_documents([])
        vectors = self._cached(list(dict.fromkeys(texts)), "document", self._embedder.embed_documents)
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of a question: shape (d,), float32."""
        checked_texts([text])
        if found := self._stored([text]):
            return found[text].copy()
        if not self._queries:
            return self._embedder.embed_query(text)
        return self._cached([text], "query", lambda texts: [self._embedder.embed_query(texts[0])])[text]

    def _cached(self, texts: list[str], use: str, embed: Callable) -> dict[str, np.ndarray]:
        space = f"{self._embedder.cache_key} {use}"
        vectors = self._stored(texts)
        vectors |= self._cache.read(space, [text for text in texts if text not in vectors])
        missing, part = [text for text in texts if text not in vectors], []
        for done, text in enumerate(progress(missing, _("Embedding texts")), start=1):
            part.append(text)
            if len(part) == self._step or done == len(missing):
                fresh = dict(zip(part, embed(part), strict=True))
                self._cache.write(space, fresh)
                vectors |= fresh
                part = []
        return vectors
