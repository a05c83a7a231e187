"""Unit 07: wrong reranking retrievers, and wrong answers to how many candidates fit a budget."""

import math
import statistics

import numpy as np


class _Reranking:
    """A right reranking retriever in small steps; each mistake below replaces one of them."""

    def __init__(self, retriever, rerank, pool=20):
        self.retriever = retriever
        self.rerank = rerank
        self.pool = pool

    def search(self, query, k=3):
        found = self.find(query, k)
        if self.nothing(found):
            return []
        try:
            scores = self.scores(query, [document["content"] for document, _ in found])
        except Exception:
            return self.fallback(found, k)
        return self.cut(self.order(self.pairs(found, scores)), k)

    def share(self):
        return math.ceil(self.pool / len(self.retriever.indexes))

    def find(self, query, k):
        return self.retriever.search(query, k=self.pool, candidates=self.share())

    def nothing(self, found):
        return not found

    def scores(self, query, texts):
        return self.rerank(query, texts)

    def fallback(self, found, k):
        return found[:k]

    def pairs(self, found, scores):
        return [(document, score) for (document, _), score in zip(found, scores, strict=False)]

    def order(self, pairs):
        return sorted(pairs, key=lambda pair: pair[1], reverse=True)

    def cut(self, results, k):
        return results[:k]


class TopKOnly(_Reranking):
    def find(self, query, k):
        return super().find(query, k)[:k]


class OneDocument(_Reranking):
    def find(self, query, k):
        return self.retriever.search(query, candidates=self.share())


class DefaultCandidates(_Reranking):
    def find(self, query, k):
        return self.retriever.search(query, k=self.pool)


class PoolFromEach(_Reranking):
    def find(self, query, k):
        return self.retriever.search(query, k=1000, candidates=self.pool)


class TwoIndexesAssumed(_Reranking):
    def share(self):
        return math.ceil(self.pool / 2)


class RoundedDown(_Reranking):
    def share(self):
        return self.pool // len(self.retriever.indexes)


class PoolIgnored(_Reranking):
    def find(self, query, k):
        return self.retriever.search(query, k=20, candidates=20 // len(self.retriever.indexes))


class DuplicatesScoredTwice(_Reranking):
    def find(self, query, k):
        return [pair for index in self.retriever.indexes for pair in index.search(query, self.share())]


class FirstIndexOnly(_Reranking):
    def find(self, query, k):
        return self.retriever.indexes[0].search(query, self.pool)


class NotSorted(_Reranking):
    def order(self, pairs):
        return pairs


class WorstFirst(_Reranking):
    def order(self, pairs):
        return sorted(pairs, key=lambda pair: pair[1])


class ScoresNotMappedBack(_Reranking):
    def pairs(self, found, scores):
        return super().pairs(found, sorted(scores, reverse=True))


class FusedScoresKept(_Reranking):
    def pairs(self, found, scores):
        return list(zip(found, scores, strict=True))

    def cut(self, results, k):
        return [pair for pair, _ in results[:k]]


class ScoresAdded(_Reranking):
    def pairs(self, found, scores):
        return [(document, fused + score) for (document, fused), score in zip(found, scores, strict=True)]


class ScoresMultiplied(_Reranking):
    def pairs(self, found, scores):
        return [(document, fused * score) for (document, fused), score in zip(found, scores, strict=True)]


class OneCallEach(_Reranking):
    def scores(self, query, texts):
        return [self.rerank(query, [text])[0] for text in texts]


class MergedByText(_Reranking):
    def pairs(self, found, scores):
        documents = {document["content"]: document for document, _ in found}
        by_text = dict(zip([document["content"] for document, _ in found], scores, strict=True))
        return [(documents[text], score) for text, score in by_text.items()]


class AskedWithoutTexts(_Reranking):
    def nothing(self, found):
        return False


class KIgnored(_Reranking):
    def cut(self, results, k):
        return results

    def fallback(self, found, k):
        return found


class LowScoresDropped(_Reranking):
    def cut(self, results, k):
        return [pair for pair in results if pair[1] >= 0.5][:k]


class NeverReranked(_Reranking):
    def scores(self, query, texts):
        return self.rerank(texts, query)


class FailureRaised(_Reranking):
    def fallback(self, found, k):
        raise RuntimeError("the service does not answer")


class FailureGivesNothing(_Reranking):
    def fallback(self, found, k):
        return []


class FailureNotCut(_Reranking):
    def fallback(self, found, k):
        return found


class FailureGivesZeros(_Reranking):
    def fallback(self, found, k):
        return [(document, 0) for document, _ in found[:k]]


class DocumentsOnly(_Reranking):
    def cut(self, results, k):
        return [document for document, _ in results[:k]]


class PairsWrongWayRound(_Reranking):
    def cut(self, results, k):
        return [(score, document) for document, score in results[:k]]


class _Budget:
    """A right budget in small steps."""

    def __call__(self, runs, budget):
        search = self.of_search([run["search"] for run in runs])
        candidate = self.of_candidates(runs)
        return self.whole(self.seconds(budget, search) / candidate)

    def of_search(self, times):
        return self.percentile(times)

    def of_candidates(self, runs):
        return self.percentile([run["rerank"] / run["candidates"] for run in runs])

    def percentile(self, times):
        return sorted(times)[math.ceil(0.95 * len(times)) - 1]

    def seconds(self, budget, search):
        return budget / 1000 - search

    def whole(self, candidates):
        return max(0, math.floor(candidates))


class MeanUsed(_Budget):
    def percentile(self, times):
        return statistics.mean(times)


class MedianUsed(_Budget):
    def percentile(self, times):
        return statistics.median(times)


class SlowestUsed(_Budget):
    def percentile(self, times):
        return max(times)


class Interpolated(_Budget):
    def percentile(self, times):
        return float(np.percentile(times, 95))


class TimesNotSorted(_Budget):
    def percentile(self, times):
        return times[math.ceil(0.95 * len(times)) - 1]


class FastestUsed(_Budget):
    def percentile(self, times):
        return sorted(times, reverse=True)[math.ceil(0.95 * len(times)) - 1]


class FirstRunOnly(_Budget):
    def percentile(self, times):
        return times[0]


class SearchMean(_Budget):
    def of_search(self, times):
        return statistics.mean(times)


class MillisecondsForgotten(_Budget):
    def seconds(self, budget, search):
        return budget - search


class SearchForgotten(_Budget):
    def seconds(self, budget, search):
        return budget / 1000


class NotDivided(_Budget):
    def of_candidates(self, runs):
        return self.percentile([run["rerank"] for run in runs])


class DividedAfter(_Budget):
    def of_candidates(self, runs):
        return self.percentile([run["rerank"] for run in runs]) / self.percentile(
            [run["candidates"] for run in runs]
        )


class RoundedUp(_Budget):
    def whole(self, candidates):
        return max(0, math.ceil(candidates))


class Rounded(_Budget):
    def whole(self, candidates):
        return max(0, round(candidates))


class NotWhole(_Budget):
    def whole(self, candidates):
        return max(0.0, candidates)


class Negative(_Budget):
    def whole(self, candidates):
        return math.floor(candidates)


class OneAtLeast(_Budget):
    def whole(self, candidates):
        return max(1, math.floor(candidates))


class HalfOfIt(_Budget):
    def whole(self, candidates):
        return super().whole(candidates) // 2


IMPLEMENTATIONS = {
    "rerank": {
        "top_k_only": (TopKOnly,),
        "one_document": (OneDocument,),
        "default_candidates": (DefaultCandidates,),
        "pool_from_each": (PoolFromEach,),
        "two_indexes_assumed": (TwoIndexesAssumed,),
        "rounded_down": (RoundedDown,),
        "pool_ignored": (PoolIgnored,),
        "duplicates_scored_twice": (DuplicatesScoredTwice,),
        "first_index_only": (FirstIndexOnly,),
        "not_sorted": (NotSorted,),
        "worst_first": (WorstFirst,),
        "scores_not_mapped_back": (ScoresNotMappedBack,),
        "fused_scores_kept": (FusedScoresKept,),
        "scores_added": (ScoresAdded,),
        "scores_multiplied": (ScoresMultiplied,),
        "one_call_each": (OneCallEach,),
        "merged_by_text": (MergedByText,),
        "asked_without_texts": (AskedWithoutTexts,),
        "k_ignored": (KIgnored,),
        "low_scores_dropped": (LowScoresDropped,),
        "never_reranked": (NeverReranked,),
        "failure_raised": (FailureRaised,),
        "failure_gives_nothing": (FailureGivesNothing,),
        "failure_not_cut": (FailureNotCut,),
        "failure_gives_zeros": (FailureGivesZeros,),
        "documents_only": (DocumentsOnly,),
        "pairs_wrong_way_round": (PairsWrongWayRound,),
    },
    "latency_budget": {
        "mean_used": (MeanUsed(),),
        "median_used": (MedianUsed(),),
        "slowest_used": (SlowestUsed(),),
        "interpolated": (Interpolated(),),
        "not_sorted": (TimesNotSorted(),),
        "fastest_used": (FastestUsed(),),
        "first_run_only": (FirstRunOnly(),),
        "search_mean": (SearchMean(),),
        "milliseconds_forgotten": (MillisecondsForgotten(),),
        "search_forgotten": (SearchForgotten(),),
        "not_divided": (NotDivided(),),
        "divided_after": (DividedAfter(),),
        "rounded_up": (RoundedUp(),),
        "rounded": (Rounded(),),
        "not_whole": (NotWhole(),),
        "negative": (Negative(),),
        "one_at_least": (OneAtLeast(),),
        "half_of_it": (HalfOfIt(),),
    },
}
