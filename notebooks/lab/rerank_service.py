"""What reranking services have in common: batches, the way back from their order, one sentence for each failure."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

from lab.errors import ServiceError
from lab.language import _
from lab.rerank_texts import batches, checked_question

TIMEOUT_SECONDS = 30
ATTEMPTS = 3


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
        for batch in batches(query, texts, self.most_texts, self.most_tokens):
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

    def _of_status(self, status: int) -> str:
        """The sentence for a status that HTTP counts as a failure; for any other, that the answer is malformed."""
        if status in (401, 403):
            return bad_key(self.service, self.variable)
        if status == 429:
            sentence = _(
                "{service}'s rate limit is reached: wait a minute and run the cell again, "
                'or use lab.reranker("local").'
            )
        elif 400 <= status < 500:
            sentence = _(
                "{service} refused the request (status {status}): check that {model} is one of its models, "
                'or use lab.reranker("local").'
            )
        elif status >= 500:
            sentence = _(
                "{service} has a fault of its own (status {status}): run the cell again in a minute, "
                'or use lab.reranker("local").'
            )
        else:
            sentence = _(
                "{service} answered with something that is no list of scores: run the cell again in a minute, "
                'or use lab.reranker("local").'
            )
        return sentence.format(service=self.service, status=status, model=self.name)

    def _late(self) -> str:
        return _(
            "{service} did not answer within {seconds:g} seconds: run the cell again in a minute, "
            'or use lab.reranker("local").'
        ).format(service=self.service, seconds=self.timeout)

    def _unreachable(self) -> str:
        return _(
            "{service} cannot be reached: check your network connection and run the cell again, "
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


def checked_key(key: str, service: str, variable: str) -> str:
    """The key without the spaces around it. Raises ServiceError where there is none, or where it cannot be one."""
    key = key.strip()
    if not key:
        raise ServiceError(
            _('{variable} is not set: set it to your {service} key, or use lab.reranker("local").').format(
                variable=variable, service=service
            )
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ServiceError(bad_key(service, variable))
    return key


def bad_key(service: str, variable: str) -> str:
    return _(
        '{service} does not accept the key in {variable}: check it, or use lab.reranker("local").'
    ).format(service=service, variable=variable)
