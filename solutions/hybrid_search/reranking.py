"""Unit 07: the pool that a search finds, put in a better order by a model that reads query and text together."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from queue import Empty, SimpleQueue

from .documents import check_count

Rerank = Callable[[str, list[str]], Sequence[float]]


class Reranked(list):
    """Results of a RerankingRetriever: a list of pairs (document, value), best first.

    ``reranked`` says whether the reranker ordered them: the values are then its scores, otherwise those of the fused
    search. ``reason`` says why it did not, in one sentence, and is empty where it did. ``timings`` are the seconds
    of each stage, "search" and "rerank".
    """

    def __init__(
        self, pairs: Iterable[tuple[dict, float]], reason: str, timings: Mapping[str, float]
    ) -> None:
        super().__init__(pairs)
        self.reranked = not reason
        self.reason = reason
        self.timings = dict(timings)


class RerankingRetriever:
    """Searches with a retriever, and lets a reranker put what it found in order.

    ``rerank(query, texts)`` gives one float a text, in the order of the texts; higher is better. It is loaded once, by
    whoever makes it, and used for every search. The pool holds at most ``pool`` documents: each index of the
    retriever gives an equal part of them (10 and 10 for a pool of 20), and a document that both give counts once.

    If the reranker raises an error, answers with anything but one finite number a text, or takes longer than
    ``deadline`` seconds (None waits for as long as it takes), the results come in fused order, marked as not
    reranked. A call that is late is not stopped: it ends in a thread of its own, and its answer is dropped.

    ``timings`` holds the seconds of each stage of the last search: "search" and "rerank". Raises ValueError for a
    pool below 1 or a deadline that is no positive number, TypeError for a retriever without search() or a rerank that
    cannot be called.
    """

    def __init__(self, retriever, rerank: Rerank, pool: int = 20, deadline: float | None = None) -> None:
        if isinstance(retriever, type) or not callable(getattr(retriever, "search", None)):
            raise TypeError(f"a RerankingRetriever needs a retriever with a method search: got {retriever!r}")
        if not callable(rerank):
            raise TypeError(f"rerank must be a function rerank(query, texts): got {rerank!r}")
        if deadline is not None and not (math.isfinite(deadline) and deadline > 0):
            raise ValueError(f"deadline must be a number of seconds above 0, or None: got {deadline!r}")
        self.retriever = retriever
        self.rerank = rerank
        self.pool = check_count(pool, "pool")
        self.deadline = deadline
        self.timings: dict[str, float] = {}

    def search(self, query: str, k: int = 3) -> Reranked:
        """The best k documents of the pool, as pairs (document, the reranker's score), best first.

        Equal scores keep the fused order. Where nothing is found the reranker is not asked. A k above the size of the
        pool gives all of it. Raises what the retriever's search raises, and ValueError for k below 1.
        """
        k = check_count(k, "k")
        started = time.perf_counter()
        found = self._find(query)
        timings = {"search": time.perf_counter() - started, "rerank": 0.0}
        scores, reason = None, "the search found nothing to rerank"
        if found:
            started = time.perf_counter()
            scores, reason = self._scores(query, [document["content"] for document, _ in found])
            timings["rerank"] = time.perf_counter() - started
        self.timings = timings
        if scores is not None:
            documents = [document for document, _ in found]
            found = sorted(zip(documents, scores, strict=True), key=lambda pair: -pair[1])
        return Reranked(found[:k], reason, timings)

    def _find(self, query: str) -> list[tuple[dict, float]]:
        """The pool in fused order. An index or another retriever can stand in for a Retriever."""
        indexes = getattr(self.retriever, "indexes", None)
        # Where the pool cannot be shared out equally, each index gives one more and the last of all are cut.
        share = {"candidates": math.ceil(self.pool / len(indexes))} if indexes else {}
        return list(self.retriever.search(query, k=self.pool, **share))

    def _scores(self, query: str, texts: list[str]) -> tuple[list[float] | None, str]:
        """One score a text, or None and the reason. A text that several documents have is scored once."""
        distinct = list(dict.fromkeys(texts))
        try:
            scores = [float(score) for score in self._in_time(query, distinct)]
        except Exception as error:
            return None, str(error) or type(error).__name__
        if len(scores) != len(distinct):
            return None, f"the reranker gave {len(scores)} scores for {len(distinct)} texts"
        if not all(map(math.isfinite, scores)):
            return None, "the reranker gave a score that is no finite number"
        score_of = dict(zip(distinct, scores, strict=True))
        return [score_of[text] for text in texts], ""

    def _in_time(self, query: str, texts: list[str]) -> Sequence[float]:
        if self.deadline is None:
            return self.rerank(query, texts)
        outcome: SimpleQueue = SimpleQueue()

        def ask() -> None:
            try:
                outcome.put((self.rerank(query, texts), None))
            except Exception as error:
                outcome.put((None, error))

        # A daemon, so that a service that never answers does not keep the program from ending.
        threading.Thread(target=ask, daemon=True).start()
        try:
            answer, error = outcome.get(timeout=self.deadline)
        except Empty:
            raise TimeoutError(f"the reranker took longer than {self.deadline:g} seconds") from None
        if error is not None:
            raise error
        return answer


def latency_budget(runs: Sequence[Mapping[str, float]], budget: float) -> int:
    """The largest number of candidates with which 95 of 100 queries are answered within the budget.

    ``runs`` are measured queries: "search" and "rerank" in seconds, "candidates" the number that were reranked, at
    least 1. ``budget`` is in milliseconds. The time of the search, and the time of one candidate, are taken at their
    95th percentile (nearest rank). 0 where not even the search fits. Raises ValueError without a run, or for a run
    without a candidate or with a time below 0.
    """
    runs = list(runs)
    if not runs:
        raise ValueError("latency_budget needs at least one measured query")
    for run in runs:
        if not (run["candidates"] >= 1 and run["search"] >= 0 and run["rerank"] >= 0):
            raise ValueError(f"a run needs candidates of at least 1 and no time below 0: got {dict(run)}")
    search = _percentile([run["search"] for run in runs])
    candidate = _percentile([run["rerank"] / run["candidates"] for run in runs])
    left = budget / 1000 - search
    if left < 0:
        return 0
    if candidate == 0:
        raise ValueError("the time of a candidate is 0, so any number of them would fit: measure it first")
    return math.floor(left / candidate)


def _percentile(values: Sequence[float], percent: int = 95) -> float:
    """The nearest-rank percentile: the smallest value that ``percent`` of 100 values do not exceed."""
    # In whole numbers, so that no rounding moves the rank.
    return sorted(values)[-(-percent * len(values) // 100) - 1]
