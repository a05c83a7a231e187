"""Unit 03: wrong scores and wrong tables."""

import math


def _score_ranks_from_zero(rank, k_rrf=60):
    return 1 / (k_rrf + rank - 1)


def _score_one_added(rank, k_rrf=60):
    return 1 / (k_rrf + rank + 1)


def _score_precedence(rank, k_rrf=60):
    return 1 / k_rrf + rank


def _score_k_rrf_ignored(rank, k_rrf=60):
    return 1 / (60 + rank)


def _score_k_rrf_forgotten(rank, k_rrf=60):
    return 1 / rank


def _score_not_divided(rank, k_rrf=60):
    return k_rrf + rank


def _score_whole_division(rank, k_rrf=60):
    return 1 // (k_rrf + rank)


def _score_default_of_one(rank, k_rrf=1):
    return 1 / (k_rrf + rank)


def _score_rounded(rank, k_rrf=60):
    return round(1 / (k_rrf + rank), 4)


class _Table:
    """A right table in small steps; each mistake below replaces one of them."""

    default = 60

    def __call__(self, rankings, k_rrf=None):
        k_rrf = self.default if k_rrf is None else k_rrf
        ranks = self.ranks(rankings)
        rows = [self.row(document, ranks, k_rrf) for document in self.documents(rankings)]
        return self.number(self.order(rows))

    def ranks(self, rankings):
        return {
            name: {document: rank for rank, document in enumerate(ranking, start=1)}
            for name, ranking in rankings.items()
        }

    def documents(self, rankings):
        return list(dict.fromkeys(document for ranking in rankings.values() for document in ranking))

    def row(self, document, ranks, k_rrf):
        found = {name: of.get(document) for name, of in ranks.items()}
        parts = [self.part(rank, k_rrf) for rank in found.values() if rank is not None]
        return {"document": document, **found, "score": self.join(parts)}

    def part(self, rank, k_rrf):
        return 1 / (k_rrf + rank)

    def join(self, parts):
        return sum(parts)

    def order(self, rows):
        return sorted(rows, key=lambda row: row["score"], reverse=True)

    def number(self, rows, start=1):
        return [{**row, "rank": rank} for rank, row in enumerate(rows, start=start)]


class RanksFromZero(_Table):
    def ranks(self, rankings):
        return {
            name: {document: rank for rank, document in enumerate(ranking)}
            for name, ranking in rankings.items()
        }


class ShownRanksFromZero(RanksFromZero):
    def part(self, rank, k_rrf):
        return 1 / (k_rrf + rank + 1)


class Precedence(_Table):
    def part(self, rank, k_rrf):
        return 1 / k_rrf + rank


class KRrfIgnored(_Table):
    def part(self, rank, k_rrf):
        return 1 / (60 + rank)


class DefaultOfOne(_Table):
    default = 1


class MissingCountedAsLast(_Table):
    def row(self, document, ranks, k_rrf):
        padded = {name: {document: len(of) + 1, **of} for name, of in ranks.items()}
        return super().row(document, padded, k_rrf)


class MissingShownAsZero(_Table):
    def row(self, document, ranks, k_rrf):
        row = super().row(document, ranks, k_rrf)
        return {key: 0 if value is None else value for key, value in row.items()}


class MissingScoredAsZero(_Table):
    def row(self, document, ranks, k_rrf):
        padded = {name: {document: 0, **of} for name, of in ranks.items()}
        return super().row(document, padded, k_rrf)


class MissingLeftOut(_Table):
    def row(self, document, ranks, k_rrf):
        return super().row(document, {name: of for name, of in ranks.items() if document in of}, k_rrf)


class MissingKeyError(_Table):
    def row(self, document, ranks, k_rrf):
        return super().row(document, {name: {document: of[document]} for name, of in ranks.items()}, k_rrf)


class MissingIndexError(_Table):
    def row(self, document, ranks, k_rrf):
        places = {name: {document: list(of).index(document) + 1} for name, of in ranks.items()}
        return super().row(document, places, k_rrf)


class BestInsteadOfSum(_Table):
    def join(self, parts):
        return max(parts)


class AverageInsteadOfSum(_Table):
    def row(self, document, ranks, k_rrf):
        row = super().row(document, ranks, k_rrf)
        return {**row, "score": row["score"] / len(ranks)}


class ProductInsteadOfSum(_Table):
    def join(self, parts):
        return math.prod(parts)


class RanksAddedFirst(_Table):
    def row(self, document, ranks, k_rrf):
        row = super().row(document, ranks, k_rrf)
        return {**row, "score": 1 / (k_rrf + sum(row[name] or 0 for name in ranks))}


class LastListOnly(_Table):
    def join(self, parts):
        return parts[-1]


class FirstListOnly(_Table):
    def documents(self, rankings):
        return next(iter(rankings.values()))


class FoundByAllOnly(_Table):
    def documents(self, rankings):
        return [
            document
            for document in super().documents(rankings)
            if all(document in ranking for ranking in rankings.values())
        ]


class ARowForEachList(_Table):
    def __call__(self, rankings, k_rrf=60):
        rows = [
            {"document": document, **dict.fromkeys(rankings), name: rank, "score": 1 / (k_rrf + rank)}
            for name, ranking in rankings.items()
            for rank, document in enumerate(ranking, start=1)
        ]
        return self.number(self.order(rows))


class RanksCountOn(_Table):
    def ranks(self, rankings):
        rank, ranks = 0, {}
        for name, ranking in rankings.items():
            ranks[name] = {}
            for document in ranking:
                rank += 1
                ranks[name][document] = rank
        return ranks


class NotSorted(_Table):
    def order(self, rows):
        return rows


class LowestFirst(_Table):
    def order(self, rows):
        return sorted(rows, key=lambda row: row["score"])


class NumberedBeforeSorting(_Table):
    def order(self, rows):
        return super().order(super().number(rows))

    def number(self, rows, start=1):
        return rows


class FusedRankFromZero(_Table):
    def number(self, rows, start=0):
        return super().number(rows, start)


class RankMissing(_Table):
    def number(self, rows, start=1):
        return rows


class DictOfRows(_Table):
    def __call__(self, rankings, k_rrf=60):
        return {row["document"]: row for row in super().__call__(rankings, k_rrf)}


class DictOfRowsWithoutRank(DictOfRows):
    def number(self, rows, start=1):
        return rows


class ScoresReturned(_Table):
    def __call__(self, rankings, k_rrf=60):
        return {row["document"]: row["score"] for row in super().__call__(rankings, k_rrf)}


class Rounded(_Table):
    def join(self, parts):
        return round(sum(parts), 4)


class NamesFixed(_Table):
    def ranks(self, rankings):
        return super().ranks({"vector": rankings["vector"], "BM25": rankings["BM25"]})


IMPLEMENTATIONS = {
    "rrf_score": {
        "ranks_from_zero": (_score_ranks_from_zero,),
        "one_added": (_score_one_added,),
        "precedence": (_score_precedence,),
        "k_rrf_ignored": (_score_k_rrf_ignored,),
        "k_rrf_forgotten": (_score_k_rrf_forgotten,),
        "not_divided": (_score_not_divided,),
        "whole_division": (_score_whole_division,),
        "default_of_one": (_score_default_of_one,),
        "rounded": (_score_rounded,),
    },
    "rrf_table": {
        "ranks_from_zero": (RanksFromZero(),),
        "shown_ranks_from_zero": (ShownRanksFromZero(),),
        "precedence": (Precedence(),),
        "k_rrf_ignored": (KRrfIgnored(),),
        "default_of_one": (DefaultOfOne(),),
        "missing_counted_as_last": (MissingCountedAsLast(),),
        "missing_shown_as_zero": (MissingShownAsZero(),),
        "missing_scored_as_zero": (MissingScoredAsZero(),),
        "missing_left_out": (MissingLeftOut(),),
        "missing_key_error": (MissingKeyError(),),
        "missing_index_error": (MissingIndexError(),),
        "best_instead_of_sum": (BestInsteadOfSum(),),
        "average_instead_of_sum": (AverageInsteadOfSum(),),
        "product_instead_of_sum": (ProductInsteadOfSum(),),
        "ranks_added_first": (RanksAddedFirst(),),
        "last_list_only": (LastListOnly(),),
        "first_list_only": (FirstListOnly(),),
        "found_by_all_only": (FoundByAllOnly(),),
        "a_row_for_each_list": (ARowForEachList(),),
        "ranks_count_on": (RanksCountOn(),),
        "not_sorted": (NotSorted(),),
        "lowest_first": (LowestFirst(),),
        "numbered_before_sorting": (NumberedBeforeSorting(),),
        "fused_rank_from_zero": (FusedRankFromZero(),),
        "rank_missing": (RankMissing(),),
        "dict_of_rows": (DictOfRows(),),
        "dict_of_rows_without_rank": (DictOfRowsWithoutRank(),),
        "scores_returned": (ScoresReturned(),),
        "rounded": (Rounded(),),
        "names_fixed": (NamesFixed(),),
    },
}
