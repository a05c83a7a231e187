"""Embeddings from Voyage AI, for those who have set VOYAGE_API_KEY."""

import hashlib
import os
from collections.abc import Iterable

import numpy as np

from lab.embedding_texts import checked_texts
from lab.errors import ServiceError
from lab.language import _
from lab.service import ATTEMPTS, TIMEOUT_SECONDS, Service, batches

DEFAULT_MODEL = "voyage-3.5"
BATCH_TEXTS = 128
BATCH_TOKENS = 100_000
SERVICE = Service("Voyage AI", "VOYAGE_API_KEY", 'lab.embedder("local")')


class VoyageEmbedder:
    """Sentence vectors from Voyage AI: float32, the model's own dimension.

    Texts are sent over the network, in batches, marked as documents or as a query; overload and timeouts are
    tried again, ``ATTEMPTS`` times in all. VOYAGE_MODEL chooses another model, VOYAGE_BASE_URL another
    address.
    Whatever goes wrong is a ServiceError of one plain sentence, which never holds the key.
    """

    def __init__(
        self,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
    ):
        self.name = os.environ.get("VOYAGE_MODEL") or DEFAULT_MODEL
        self.base_url = os.environ.get("VOYAGE_BASE_URL") or None
        self._timeout = timeout
        key = SERVICE.checked_key(key or os.environ.get(SERVICE.variable) or "")
        voyageai = SERVICE.library("voyageai")
        self._client = voyageai.Client(key, max_retries=attempts, timeout=timeout, base_url=self.base_url)

    @property
    def cache_key(self) -> str:
        """What the vectors depend on, apart from the text."""
        if not self.base_url:
            return self.name
        # Hashed, since an address may hold a password, and this is kept on disk.
        return f"{self.name} {hashlib.sha256(self.base_url.encode()).hexdigest()}"

    def embed_documents(self, texts: Iterable[str]) -> np.ndarray:
        """Vectors of texts that will be searched: shape (n, d), float32."""
        texts = checked_texts(texts)
        parts = [self._embed(batch, "document") for batch in batches(texts, BATCH_TEXTS, BATCH_TOKENS)]
        return self._joined(parts)

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of a question: shape (d,), float32."""
        return self._embed(checked_texts([text]), "query")[0]

    def _joined(self, parts: list[np.ndarray]) -> np.ndarray:
        if len({part.shape[1] for part in parts}) > 1:
            raise ServiceError(_malformed())
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _embed(self, texts: list[str], input_type: str) -> np.ndarray:
        # The sentence is raised outside the except block, so that no error hangs on to it whose text or
        # request could hold the key.
        try:
            answer = self._client.embed(texts, model=self.name, input_type=input_type).embeddings
        except Exception as error:
            answer, problem = None, self._sentence(error)
        if answer is None:
            raise ServiceError(problem)
        vectors = _vectors(answer, len(texts))
        if vectors is None:
            raise ServiceError(_malformed())
        return vectors

    def _sentence(self, error: Exception) -> str:
        """What went wrong and what to do, in one sentence."""
        from voyageai.error import APIConnectionError, Timeout

        if isinstance(error, Timeout):
            return SERVICE.late(self._timeout)
        if isinstance(error, APIConnectionError):
            return SERVICE.unreachable()
        return SERVICE.of_status(getattr(error, "http_status", None) or 0, self.name) or _malformed()


def _vectors(answer: object, count: int) -> np.ndarray | None:
    """The answer as an array (count, d), or None where it is none: too few, ragged, not finite."""
    try:
        vectors = np.array(answer, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    if vectors.ndim != 2 or len(vectors) != count or vectors.shape[1] == 0:
        return None
    return vectors if np.isfinite(vectors).all() and vectors.any(axis=1).all() else None


def _malformed() -> str:
    return _(
        "Voyage AI answered with something that is no list of vectors: run the cell again in a minute, "
        'or use lab.embedder("local").'
    )
