"""Unit 03: what one rank is worth, and the table that fuses rankings."""

from random import Random

from ..compare import Table, Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from .drawing import letters, sections, shuffled


def _score_answer(rrf_score, rank, **settings):
    return rrf_score(rank, **settings)


def _score_probe(rank: int, **settings) -> Probe:
    call = ", ".join([f"rank={rank}", *(f"{name}={value}" for name, value in settings.items())])
    return Probe({"rank": rank, **settings}, f"rrf_score({call})")


# Another constant than the default.
_OTHER_K_RRF = [k_rrf for k_rrf in range(2, 200) if k_rrf != 60]


def _draw_ranks(random: Random) -> tuple[Probe, ...]:
    return tuple(_score_probe(rank) for rank in random.sample(range(21, 1000), 3))


def _draw_constants(random: Random) -> tuple[Probe, ...]:
    ranks, constants = random.sample(range(4, 100), 3), random.sample(_OTHER_K_RRF, 3)
    return tuple(_score_probe(rank, k_rrf=k_rrf) for rank, k_rrf in zip(ranks, constants, strict=True))


RRF_SCORE = Exercise(
    id="rrf_score",
    unit="03_rrf_table",
    title=N_("What one rank is worth"),
    objects=("rrf_score",),
    answer=_score_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("k_rrf is 60 where nothing else is said"),
            0.5,
            (_score_probe(1), _score_probe(2), _score_probe(20)),
            _draw_ranks,
        ),
        Criterion(
            N_("another k_rrf"),
            0.5,
            (_score_probe(1, k_rrf=1), _score_probe(3, k_rrf=1), _score_probe(2, k_rrf=10)),
            _draw_constants,
        ),
    ),
    hints=(
        N_("You computed this by hand above: what stands below the line of the fraction?"),
        N_("The formula is under the heading 'What a rank is worth'. Python divides before it adds."),
        N_("Return one divided by the sum of k_rrf and rank. Put the sum in brackets."),
        N_("The finished function is rrf_score in solutions/hybrid_search/rrf.py."),
    ),
    misconceptions={
        "ranks_from_zero": N_(
            "You take 1 away from the rank. Ranks start at 1 here: rank 1 is worth 1 / (k_rrf + 1)."
        ),
        "one_added": N_("You add 1 to the rank. Ranks start at 1 already: rank 1 is worth 1 / (k_rrf + 1)."),
        "precedence": N_(
            "1 / k_rrf + rank divides first and then adds the rank. Write 1 / (k_rrf + rank) with brackets."
        ),
        "k_rrf_ignored": N_("The score does not change with k_rrf. Use the argument, not a fixed 60."),
        "k_rrf_forgotten": N_("You return 1 / rank. The constant k_rrf is missing below the line."),
        "not_divided": N_("You return k_rrf + rank. The score is 1 divided by that sum."),
        "whole_division": N_("// divides without a remainder, and what is left here is 0. Divide with /."),
        "default_of_one": N_("Your k_rrf is 1 where none is given. Write k_rrf=60 in the first line."),
        "rounded": N_("You round the score. Return it whole: the differences between ranks are small."),
    },
)


def _table_answer(rrf_table, rankings, **settings):
    return rrf_table(rankings, **settings)


def _table_probe(rankings: dict[str, list[str]], **settings) -> Probe:
    call = ", ".join(["rankings", *(f"{name}={value}" for name, value in settings.items())])
    lists = [f"{name}: {', '.join(ranking) or '(nothing)'}" for name, ranking in rankings.items()]
    return Probe({"rankings": rankings, **settings}, "\n".join([f"rrf_table({call})", *lists]))


_SECTIONS = {
    "vector": ["Section 2", "Section 7", "Section 6"],
    "BM25": ["Section 6", "Section 2", "Section 7"],
}
_INCIDENT = {
    "vector": ["Section 10", "Section 3", "Section 5", "Section 2"],
    "BM25": ["Section 10", "Section 2", "Section 5"],
}
_OPPOSED = {"vector": list("axyb"), "BM25": list("zwvb")}


def _draw_same_documents(random: Random) -> tuple[Probe, ...]:
    """The best of the first list is the last of the second, so that the fused order is neither list's."""

    def rankings() -> dict[str, list[str]]:
        first, second, *rest = sections(random, random.choice([3, 4, 5]))
        return {"vector": [first, second, *rest], "BM25": [second, *shuffled(random, rest), first]}

    return _table_probe(rankings()), _table_probe(rankings(), k_rrf=random.choice(range(1, 20)))


def _draw_missing(random: Random) -> tuple[Probe, ...]:
    a, b, c, d, e = sections(random, 5)
    v, w, x, y, z = letters(random, 5)
    return (
        _table_probe({"vector": [a, b, c, d], "BM25": [*shuffled(random, [a, c, d]), e]}),
        _table_probe({"vector": [v, w, x], "BM25": shuffled(random, [y, z, x])}),
    )


def _draw_any_lists(random: Random) -> tuple[Probe, ...]:
    *some, both = letters(random, random.choice([7, 9]))
    half = len(some) // 2
    opposed = {"vector": [*some[:half], both], "BM25": [*some[half:], both]}
    few, most = letters(random, 4), letters(random, random.choice([3, 4]))
    names = random.sample(["title", "text", "tags", "author", "summary", "comments"], 3)
    return (
        _table_probe(opposed, k_rrf=1),
        _table_probe(opposed, k_rrf=random.choice(range(20, 60))),
        _table_probe({name: random.sample(few, 3) for name in names}),
        _table_probe({"vector": most, "BM25": []}),
    )


_DICT_RETURNED = N_(
    "You return a dict, with a document for each key. Return a list of its rows, list(rows.values()), sorted and "
    "numbered."
)

RRF_TABLE = Exercise(
    id="rrf_table",
    unit="03_rrf_table",
    title=N_("The table of two rankings"),
    objects=("rrf_table",),
    answer=_table_answer,
    compare=Table(),
    criteria=(
        Criterion(
            N_("both lists hold the same documents"),
            1,
            (_table_probe(_SECTIONS), _table_probe(_SECTIONS, k_rrf=1)),
            _draw_same_documents,
        ),
        Criterion(
            N_("a document that one list misses"),
            1,
            (
                _table_probe(_INCIDENT),
                _table_probe({"vector": ["x", "a", "y"], "BM25": ["b", "c", "y"]}),
            ),
            _draw_missing,
        ),
        Criterion(
            N_("k_rrf decides who wins; any number of lists, with any names"),
            1,
            (
                _table_probe(_OPPOSED, k_rrf=1),
                _table_probe(_OPPOSED, k_rrf=60),
                _table_probe({"title": ["a", "d", "b"], "text": ["b", "a", "d"], "tags": ["b", "d", "a"]}),
                _table_probe({"vector": ["a", "b"], "BM25": []}),
            ),
            _draw_any_lists,
        ),
    ),
    hints=(
        N_(
            "Do on paper what you did for sections 2, 6 and 7. Which documents need a row? Those of any list, "
            "each once."
        ),
        N_(
            "Every row needs the document's rank in each list. enumerate(ranking, start=1) counts from 1. "
            "`if document in ranking` tells you whether there is a rank at all; if not, write None."
        ),
        N_(
            "Collect the documents of all lists, each once. For each: start a row with the document; for each "
            "list write its rank or None; add rrf_score(rank, k_rrf) for every rank that is not None. Sort "
            "the rows by score, highest first. Then number them from 1."
        ),
        N_("The finished function is rrf_table in solutions/hybrid_search/rrf.py."),
    ),
    misconceptions={
        "ranks_from_zero": N_(
            "Your ranks start at 0. They count from 1: write enumerate(ranking, start=1), or index(...) + 1."
        ),
        "shown_ranks_from_zero": N_(
            "Your scores are right, but the ranks in the table start at 0. Show the ranks that you score: "
            "from 1."
        ),
        "precedence": N_(
            "1 / k_rrf + rank divides first and then adds the rank. Write 1 / (k_rrf + rank) with brackets."
        ),
        "k_rrf_ignored": N_("The scores do not change with k_rrf. Pass it on: rrf_score(rank, k_rrf)."),
        "default_of_one": N_("Your k_rrf is 1 where none is given. Write k_rrf=60 in the first line."),
        "missing_counted_as_last": N_(
            "A document that a list misses gets a rank behind the last one. Its rank there is None, and the "
            "list adds nothing."
        ),
        "missing_shown_as_zero": N_("A document that a list misses has the rank 0 in your table. Write None."),
        "missing_scored_as_zero": N_(
            "A document that a list misses is scored as if its rank were 0, better than the first. That list "
            "should add nothing."
        ),
        "missing_left_out": N_(
            "Some rows lack the name of a list. Where the list misses the document, write None under its name."
        ),
        "missing_key_error": N_(
            "You look up the rank of a document that the list does not have. Use .get(document): it gives "
            "None where there is nothing."
        ),
        "missing_index_error": N_(
            "ranking.index(document) fails for a document that the list does not have. Ask first: "
            "`if document in ranking`."
        ),
        "best_instead_of_sum": N_(
            "You keep the best of a document's scores. RRF adds what every list gives: two good ranks beat "
            "one."
        ),
        "average_instead_of_sum": N_(
            "You average over the lists. RRF takes the sum, so that being found twice counts."
        ),
        "product_instead_of_sum": N_("You multiply what the lists give. RRF adds it."),
        "ranks_added_first": N_(
            "You add the ranks and then divide. Divide for each list, 1 / (k_rrf + rank), and add the results."
        ),
        "last_list_only": N_(
            "Only the last list counts. Do you set the score where you should add to it with +=?"
        ),
        "first_list_only": N_(
            "Only documents of the first list have a row. Collect the documents of all lists."
        ),
        "found_by_all_only": N_(
            "Only documents that are in every list have a row. A document of one list gets a row too."
        ),
        "a_row_for_each_list": N_(
            "A document that two lists found has two rows. Make one row for each document, and add its scores."
        ),
        "ranks_count_on": N_(
            "The ranks of the second list go on where the first one stopped. Each list starts again at 1."
        ),
        "not_sorted": N_("Your rows come in the order in which they were found. Sort them by score, highest first."),
        "lowest_first": N_("Your table begins with the lowest score. The highest score is the best."),
        "numbered_before_sorting": N_(
            'You write "rank" before you sort. Sort the rows first, then number them from 1.'
        ),
        "fused_rank_from_zero": N_('Your fused "rank" starts at 0. The best row has the rank 1.'),
        "rank_missing": N_('Your rows have no "rank". When they are sorted, number them: the first gets 1.'),
        "dict_of_rows": _DICT_RETURNED,
        "dict_of_rows_without_rank": _DICT_RETURNED,
        "scores_returned": N_(
            "You return a dict of scores. Return a list of rows: a dict for each document, with its ranks, its "
            "score and its place."
        ),
        "rounded": N_("You round the scores. Keep them whole, and round only where you show them."),
        "names_fixed": N_(
            'Your code works only for lists named "vector" and "BM25". Loop over rankings.items(): it gives '
            "each name with its list."
        ),
    },
)  # fmt: skip

EXERCISES = (RRF_SCORE, RRF_TABLE)
