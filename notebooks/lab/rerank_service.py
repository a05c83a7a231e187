"""What reranking services have in common: batches, and the way back from their order to that of the texts."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

from lab.errors import ServiceError
from lab.language import _
from lab.rerank_texts import checked_question
from lab.service import Service, batches, estimated_tokens

INSTEAD = 'lab.reranker("local")'


class RerankService(ABC):
    """A reranker on the network: ``rerank(query, texts)`` gives one float a text, in their order, higher is better.

    Texts are sent in batches of at most ``most_texts`` and about ``most_tokens``. A service answers in an order of
    its own, best first, with an index into the texts sent: the scores are put back by that index. Whatever goes
    wrong is a ServiceError of one plain sentence, which never holds the key.
    """

    service: str
    variable: str
    name: str
    timeout: float
    most_texts = 1000
    most_tokens: float = math.inf

    def __call__(self, query: str, texts: Iterable[str]) -> list[float]:
        query, texts = checked_question(query, texts)
        scores = []
        # A cross-encoder reads the query again with each of the texts.
        for batch in batches(texts, self.most_texts, self.most_tokens, beside=estimated_tokens(query)):
            scores += self._scores(query, batch)
        return scores

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        # The sentence is raised outside the except block, so that no error hangs on to it whose text or
        # request could hold the key.
        answer, problem = None, ""
        try:
            answer = [(item.index, item.relevance_score) for item in self._ask(query, texts)]
        except Exception as error:
            problem = self._sentence(error)
        if answer is None:
            raise ServiceError(problem)
        scores = by_index(answer, len(texts))
        if scores is None:
            raise ServiceError(self._incomplete(len(answer), len(texts)))
        return scores

    @abstractmethod
    def _ask(self, query: str, texts: list[str]) -> Iterable:
        """The service's results for all of the texts: objects with ``index`` and ``relevance_score``."""

    @abstractmethod
    def _sentence(self, error: Exception) -> str:
        """What went wrong and what to do, in one sentence."""

    @property
    def _service(self) -> Service:
        return Service(self.service, self.variable, INSTEAD)

    def _of_status(self, status: int) -> str:
        """The sentence for a status; for one that is no failure, that the answer is malformed."""
        return self._service.of_status(status, self.name) or _(
            "{service} answered with something that is no list of scores: run the cell again in a minute, "
            'or use lab.reranker("local").'
        ).format(service=self.service)

    def _incomplete(self, results: int, asked: int) -> str:
        return _(
            "{service} answered with {results} results for {asked} texts, which do not name each text once: run "
            'the cell again in a minute, or use lab.reranker("local").'
        ).format(service=self.service, results=results, asked=asked)


def by_index(answer: list[tuple[int, float]], count: int) -> list[float] | None:
    """The scores in the order of the ``count`` texts sent, from pairs (index, score) in any order.

    None where the pairs do not name each text once, with a finite number.
    """
    for index, score in answer:
        if not (isinstance(index, int) and isinstance(score, int | float) and math.isfinite(score)):
            return None
    scores = dict(answer)
    if len(answer) != count or scores.keys() != set(range(count)):
        return None
    return [float(scores[index]) for index in range(count)]
