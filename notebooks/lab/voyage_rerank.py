"""Reranking by Voyage AI, for those who have set VOYAGE_API_KEY."""

import os
from collections.abc import Iterable

from lab.rerank_service import RerankService
from lab.service import ATTEMPTS, TIMEOUT_SECONDS

DEFAULT_MODEL = "rerank-2.5"
# A request may hold 600,000 tokens; they are estimated here.
BATCH_TOKENS = 500_000


class VoyageReranker(RerankService):
    """Scores from Voyage AI's reranker, from 0 to 1, higher is better.

    Overload and timeouts are tried again, ``attempts`` times in all. VOYAGE_RERANK_MODEL chooses another model,
    VOYAGE_BASE_URL another address.
    """

    service, variable = "Voyage AI", "VOYAGE_API_KEY"
    most_tokens = BATCH_TOKENS

    def __init__(self, key: str | None = None, *, timeout: float = TIMEOUT_SECONDS, attempts: int = ATTEMPTS):
        self.name = os.environ.get("VOYAGE_RERANK_MODEL") or DEFAULT_MODEL
        self.timeout = timeout
        key = self._service.checked_key(key or os.environ.get(self.variable) or "")
        voyageai = self._service.library("voyageai")
        address = os.environ.get("VOYAGE_BASE_URL") or None
        self._client = voyageai.Client(key, max_retries=attempts, timeout=timeout, base_url=address)

    def _ask(self, query: str, texts: list[str]) -> Iterable:
        return self._client.rerank(query, texts, model=self.name).results

    def _sentence(self, error: Exception) -> str:
        from voyageai.error import APIConnectionError, Timeout

        if isinstance(error, Timeout):
            return self._service.late(self.timeout)
        if isinstance(error, APIConnectionError):
            return self._service.unreachable()
        return self._of_status(getattr(error, "http_status", None) or 0)
