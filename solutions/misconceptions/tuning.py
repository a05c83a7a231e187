"""Unit 05: wrong metrics by hand, wrong measurements, and settings that do not hold."""

import math

from hybrid_search import metrics
from lab import judged_ids


def _but(**wrong):
    """The right metrics with some wrong numbers; underscores stand for what a keyword cannot hold."""
    names = {
        "recall": "recall@3",
        "precision": "precision@3",
        "reciprocal_rank": "reciprocal rank",
        "mrr": "MRR",
        "ndcg": "nDCG@3",
    }
    return ({**metrics, **{names[name]: value for name, value in wrong.items()}},)


_DCG = 1 / math.log2(3) + 1 / math.log2(4)
_IDEAL = 1 / math.log2(2) + 1 / math.log2(3)

_METRICS = {
    "recall_divided_by_k": _but(recall=2 / 3),
    "precision_divided_by_relevant": _but(precision=2 / 2),
    "recall_and_precision_swapped": _but(recall=2 / 3, precision=1),
    "ranks_from_zero": _but(reciprocal_rank=1, mrr=(1 + 1 / 3) / 2),
    "rank_not_turned_over": _but(reciprocal_rank=2, mrr=(2 + 4) / 2),
    "left_out_counted_as_zero": _but(mrr=(1 / 2 + 1 / 4 + 0) / 3),
    "left_out_counted_as_one": _but(mrr=(1 / 2 + 1 / 4 + 1) / 3),
    "first_query_only": _but(mrr=1 / 2),
    "reciprocal_of_the_mean_rank": _but(mrr=1 / 3),
    "sum_instead_of_mean": _but(mrr=1 / 2 + 1 / 4),
    "discount_without_one": _but(ndcg=(1 / math.log2(2) + 1 / math.log2(3)) / (1 + 1 / math.log2(2))),
    "discount_is_the_rank": _but(ndcg=(1 / 2 + 1 / 3) / (1 + 1 / 2)),
    "ideal_full_of_relevant": _but(ndcg=_DCG / (1 + 1 / math.log2(3) + 1 / math.log2(4))),
    "not_normalised": _but(ndcg=_DCG),
    "divided_by_relevant": _but(ndcg=_DCG / 2),
    "upside_down": _but(ndcg=_IDEAL / _DCG),
    "percentages": ({name: 100 * value for name, value in metrics.items()},),
}


class _Evaluate:
    """A right measurement in small steps; each mistake below replaces one of them."""

    def __call__(self, search, judged, k=10):
        reciprocal_ranks, recalls = [], []
        for query in self.used(judged):
            ids = self.ids(self.results(search, query, k))
            ranks = [rank for rank, found in enumerate(ids, start=1) if found in query.relevant]
            reciprocal_ranks.append(self.reciprocal_rank(ranks))
            recalls.append(self.recall(len(ranks), query, ids, k))
        return self.returned(self.mean_rank(reciprocal_ranks), self.mean(recalls))

    def used(self, judged):
        return [query for query in judged if query.relevant]

    def results(self, search, query, k):
        return search(query.text, k)

    def ids(self, results):
        return judged_ids(results)

    def reciprocal_rank(self, ranks):
        return 1 / ranks[0] if ranks else 0

    def recall(self, found, query, ids, k):
        return found / len(query.relevant)

    def mean_rank(self, values):
        return self.mean(values)

    def mean(self, values):
        return sum(values) / len(values)

    def returned(self, mrr, recall):
        return {"MRR": mrr, "recall": recall}


class LeftOutCountedAsZero(_Evaluate):
    def used(self, judged):
        return judged

    def recall(self, found, query, ids, k):
        return found / len(query.relevant) if query.relevant else 0


class NoRelevantDividesByZero(_Evaluate):
    def used(self, judged):
        return judged


class FirstQueryOnly(_Evaluate):
    def used(self, judged):
        return super().used(judged)[:1]


class LastQueryOnly(_Evaluate):
    def used(self, judged):
        return super().used(judged)[-1:]


class MeanOverHits(_Evaluate):
    def mean(self, values):
        hits = [value for value in values if value]
        return sum(hits) / len(hits)


class RanksFromZero(_Evaluate):
    def reciprocal_rank(self, ranks):
        return 1 / (ranks[0] - 1) if ranks else 0


class OneAdded(_Evaluate):
    def reciprocal_rank(self, ranks):
        return 1 / (ranks[0] + 1) if ranks else 0


class LastRelevant(_Evaluate):
    def reciprocal_rank(self, ranks):
        return 1 / ranks[-1] if ranks else 0


class AllRelevantAdded(_Evaluate):
    def reciprocal_rank(self, ranks):
        return sum(1 / rank for rank in ranks)


class RankNotTurnedOver(_Evaluate):
    def reciprocal_rank(self, ranks):
        return ranks[0] if ranks else 0


class ReciprocalOfTheMeanRank(RankNotTurnedOver):
    def mean_rank(self, values):
        return 1 / self.mean(values) if any(values) else 0


class SumInsteadOfMean(_Evaluate):
    def mean(self, values):
        return sum(values)


class RecallDividedByK(_Evaluate):
    def recall(self, found, query, ids, k):
        return found / k


class RecallDividedByFound(_Evaluate):
    def recall(self, found, query, ids, k):
        return found / len(ids) if ids else 0


class RecallIsAHit(_Evaluate):
    def recall(self, found, query, ids, k):
        return float(found > 0)


class RecallPooled(_Evaluate):
    def __call__(self, search, judged, k=10):
        used = self.used(judged)
        found = sum(len(query.relevant & set(judged_ids(search(query.text, k)))) for query in used)
        right = super().__call__(search, judged, k)
        return {**right, "recall": found / sum(len(query.relevant) for query in used)}


class RecallOfAllResults(_Evaluate):
    def results(self, search, query, k):
        return search(query.text, 1_000)


class KIsAlwaysTen(_Evaluate):
    def results(self, search, query, k):
        return search(query.text, 10)


class OneResult(_Evaluate):
    def results(self, search, query, k):
        return search(query.text)


class QueryNotText(_Evaluate):
    def results(self, search, query, k):
        return search(query, k)


class PiecesCountedApart(_Evaluate):
    def ids(self, results):
        return [document.get("topic") or document["id"] for document, _value in results]


class IdsInsteadOfTopics(_Evaluate):
    def ids(self, results):
        return [document["id"] for document, _value in results]


class APairInsteadOfADict(_Evaluate):
    def returned(self, mrr, recall):
        return mrr, recall


class OtherKeys(_Evaluate):
    def returned(self, mrr, recall):
        return {"mrr": mrr, "Recall": recall}


class NothingFoundNotExpected(_Evaluate):
    def reciprocal_rank(self, ranks):
        return 1 / ranks[0]


class RecallStaysZero(_Evaluate):
    def returned(self, mrr, recall):
        return {"MRR": mrr, "recall": 0}


class MRRStaysZero(_Evaluate):
    def returned(self, mrr, recall):
        return {"MRR": 0, "recall": recall}


class BothStayZero(_Evaluate):
    def returned(self, mrr, recall):
        return {"MRR": 0, "recall": 0}


class Rounded(_Evaluate):
    def returned(self, mrr, recall):
        return {"MRR": round(mrr, 2), "recall": round(recall, 2)}


IMPLEMENTATIONS = {
    "metrics": _METRICS,
    "evaluate": {
        "left_out_counted_as_zero": (LeftOutCountedAsZero(),),
        "no_relevant_divides_by_zero": (NoRelevantDividesByZero(),),
        "first_query_only": (FirstQueryOnly(),),
        "last_query_only": (LastQueryOnly(),),
        "mean_over_hits": (MeanOverHits(),),
        "ranks_from_zero": (RanksFromZero(),),
        "one_added": (OneAdded(),),
        "last_relevant": (LastRelevant(),),
        "all_relevant_added": (AllRelevantAdded(),),
        "rank_not_turned_over": (RankNotTurnedOver(),),
        "reciprocal_of_the_mean_rank": (ReciprocalOfTheMeanRank(),),
        "sum_instead_of_mean": (SumInsteadOfMean(),),
        "recall_divided_by_k": (RecallDividedByK(),),
        "recall_divided_by_found": (RecallDividedByFound(),),
        "recall_is_a_hit": (RecallIsAHit(),),
        "recall_pooled": (RecallPooled(),),
        "recall_of_all_results": (RecallOfAllResults(),),
        "k_is_always_ten": (KIsAlwaysTen(),),
        "one_result": (OneResult(),),
        "query_not_text": (QueryNotText(),),
        "pieces_counted_apart": (PiecesCountedApart(),),
        "ids_instead_of_topics": (IdsInsteadOfTopics(),),
        "a_pair_instead_of_a_dict": (APairInsteadOfADict(),),
        "other_keys": (OtherKeys(),),
        "nothing_found_not_expected": (NothingFoundNotExpected(),),
        "recall_stays_zero": (RecallStaysZero(),),
        "mrr_stays_zero": (MRRStaysZero(),),
        "both_stay_zero": (BothStayZero(),),
        "rounded": (Rounded(),),
    },
    "tuning": {
        "few_candidates": ({"k_rrf": 60, "candidates": 3},),
        "first_places": ({"k_rrf": 0, "candidates": 20},),
        "many_candidates": ({"k_rrf": 60, "candidates": 589},),
        "k_rrf_refused": ({"k_rrf": -1, "candidates": 20},),
        "candidates_refused": ({"k_rrf": 60, "candidates": 2.5},),
    },
}
