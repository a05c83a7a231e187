"""Reranking by Cohere, for those who have set COHERE_API_KEY (or CO_API_KEY) and installed the package cohere."""

import os
from collections.abc import Iterable

from lab.rerank_service import RerankService
from lab.service import ATTEMPTS, TIMEOUT_SECONDS

DEFAULT_MODEL = "rerank-v3.5"
ADDRESS = "https://api.cohere.com"
VARIABLES = ("COHERE_API_KEY", "CO_API_KEY")


class CohereReranker(RerankService):
    """Scores from Cohere's reranker, from 0 to 1, higher is better.

    Overload is tried again, ``attempts`` times in all. COHERE_RERANK_MODEL chooses another model, COHERE_BASE_URL
    another address.
    """

    service = "Cohere"

    def __init__(self, key: str | None = None, *, timeout: float = TIMEOUT_SECONDS, attempts: int = ATTEMPTS):
        self.name = os.environ.get("COHERE_RERANK_MODEL") or DEFAULT_MODEL
        self.timeout = timeout
        self.variable = next((name for name in VARIABLES if os.environ.get(name, "").strip()), VARIABLES[0])
        key = self._service.checked_key(key or os.environ.get(self.variable) or "")
        cohere = self._service.library("cohere")
        # The address is always given: otherwise the library takes one from a variable that it reads when imported.
        address = os.environ.get("COHERE_BASE_URL") or ADDRESS
        self._client = cohere.ClientV2(key, base_url=address, timeout=timeout)
        self._options = {"max_retries": attempts - 1}

    def _ask(self, query: str, texts: list[str]) -> Iterable:
        answer = self._client.rerank(
            model=self.name, query=query, documents=texts, request_options=self._options
        )
        return answer.results

    def _sentence(self, error: Exception) -> str:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            return self._service.late(self.timeout)
        if isinstance(error, httpx.TransportError):
            return self._service.unreachable()
        return self._of_status(getattr(error, "status_code", None) or 0)
