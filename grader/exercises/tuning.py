"""Unit 05: metrics by hand, a function that measures a search, and settings chosen by measuring."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

from ..compare import Number, Row, Value
from ..exercise import Criterion, Exercise, Probe
from ..held_apart import Settings
from ..language import N_
from ..language import translate as _
from ..outcome import Outcome
from ..stubs import StubSearch, make_documents
from .drawing import letters, shuffled, words

_FIRST = "first query: A and B are relevant, the search gives C, A, B, D, E"


class Share(Number):
    """A number between 0 and 1. From 10 on it is taken for a percentage, whatever it is exactly."""

    def rows(self, expected: Outcome, yours: Any) -> list[Row]:
        rows = super().rows(expected, yours)
        if isinstance(yours, int | float) and not 0 <= yours <= 1:
            wanted = _("between 0 and 1; more is impossible") if yours > 1 else _("between 0 and 1")
            return [replace(row, expected=wanted) for row in rows]
        return rows

    def _alike(self, one: Any, other: Any) -> bool:
        both = [value for value in (one, other) if isinstance(value, int | float) and value >= 10]
        return len(both) == 2 or super()._alike(one, other)


def _number(metrics, name):
    if metrics[name] is None:
        raise NotImplementedError
    return metrics[name]


def _number_probe(name: str, about: str = _FIRST) -> Probe:
    return Probe({"name": name}, f'metrics["{name}"]: {about}')


# Numbers worked out by hand: there is one question only, the notebook's, and nothing to draw.
METRICS = Exercise(
    id="metrics",
    unit="05_tuning",
    title=N_("Metrics by hand"),
    objects=("metrics",),
    keys=("recall@3", "precision@3", "reciprocal rank", "MRR", "nDCG@3"),
    answer=_number,
    compare=Share(),
    criteria=(
        Criterion(N_("recall and precision"), 0.5, (_number_probe("recall@3"), _number_probe("precision@3"))),
        Criterion(
            N_("reciprocal rank, and its mean over the queries"),
            0.5,
            (_number_probe("reciprocal rank"), _number_probe("MRR", "the mean over the queries that count")),
        ),
        Criterion(N_("nDCG"), 1, (_number_probe("nDCG@3"),)),
    ),
    hints=(
        N_("Write the ranking on paper and mark the relevant documents. At which ranks do they stand?"),
        N_(
            "Look at what each sum is divided by. Recall: by all relevant documents. Precision: by k. nDCG: by the "
            "DCG of the best possible ranking."
        ),
        N_(
            "The relevant documents stand at the ranks 2 and 3. DCG: 1 / log2(2 + 1) + 1 / log2(3 + 1); the best "
            "ranking has the two at the ranks 1 and 2. For MRR the second query counts with 1/4; the third does "
            "not count."
        ),
        N_("The numbers are in metrics in solutions/hybrid_search/tuning.py."),
    ),
    misconceptions={
        "recall_divided_by_k": N_(
            "You divide recall by k. Recall is divided by the number of all relevant documents, which is 2 here."
        ),
        "precision_divided_by_relevant": N_(
            "You divide precision by the number of relevant documents. Precision at k is divided by k."
        ),
        "recall_and_precision_swapped": N_(
            "Recall and precision have changed places. Recall asks: how much of what is relevant was found? "
            "Precision asks: how much of what was found is relevant?"
        ),
        "ranks_from_zero": N_("You count ranks from 0. The first document of a ranking has the rank 1."),
        "rank_not_turned_over": N_("That is the rank itself. The reciprocal rank is 1 divided by it."),
        "left_out_counted_as_zero": N_(
            "The third query counts as 0 in your mean. Nothing is relevant to it, so no search can do better: leave "
            "it out, and divide by 2."
        ),
        "left_out_counted_as_one": N_(
            "The third query counts as 1 in your mean. Nothing is relevant to it, so it says nothing about a search: "
            "leave it out, and divide by 2."
        ),
        "first_query_only": N_(
            "Your MRR is the reciprocal rank of the first query. Take the mean with the second one."
        ),
        "reciprocal_of_the_mean_rank": N_(
            "You take the mean of the ranks and divide 1 by it. Divide for each query first, then take the mean."
        ),
        "sum_instead_of_mean": N_(
            "You add up the reciprocal ranks. MRR is their mean: divide by 2, the number of queries that count."
        ),
        "discount_without_one": N_(
            "Your discount is log2(rank). It is log2(rank + 1), so that rank 1 divides by log2(2) = 1."
        ),
        "discount_is_the_rank": N_("You divide by the rank. nDCG divides by log2(rank + 1), which falls more slowly."),
        "ideal_full_of_relevant": N_(
            "Your best possible ranking has a relevant document at each of the 3 ranks. There are only 2 of them."
        ),
        "not_normalised": N_("That is the DCG. Divide it by the DCG of the best possible ranking: the n in nDCG."),
        "divided_by_relevant": N_(
            "You divide the DCG by the number of relevant documents. Divide it by the DCG of the best possible "
            "ranking: 1 / log2(1 + 1) + 1 / log2(2 + 1)."
        ),
        "upside_down": N_(
            "An nDCG above 1 is impossible: no ranking is better than the best. Divide the DCG of the search's "
            "ranking by that of the best one, not the other way round."
        ),
        "percentages": N_("You give percentages. Give shares between 0 and 1: half is 0.5."),
    },
)  # fmt: skip


def _evaluate_answer(evaluate, found, judged, value, topics=None, **settings):
    labels = dict.fromkeys(label for results in found.values() for label in results)
    documents = make_documents(labels)
    for label, topic in (topics or {}).items():
        documents[label]["topic"] = topic
    queries = [
        SimpleNamespace(id=f"q{number}", text=text, kind="mixed", language="en", relevant=frozenset(relevant))
        for number, (text, relevant) in enumerate(judged.items(), start=1)
    ]
    search = StubSearch({text: [documents[label] for label in results] for text, results in found.items()})
    result = evaluate(search, queries, **settings)
    if not isinstance(result, Mapping):
        return result
    if value not in result:
        return f'no "{value}"'
    if result[value] is None:
        raise NotImplementedError
    return result[value]


def _evaluate_probe(
    value: str, judged: dict[str, list[str]], found: dict[str, list[str]], topics=None, **settings
) -> Probe:
    lines = [
        f'"{text}": relevant {", ".join(relevant) or "nothing"}; found {", ".join(found[text]) or "nothing"}'
        for text, relevant in judged.items()
    ]
    if topics:
        piece, topic = max(item for item in topics.items() if item[1] in next(iter(judged.values())))
        lines.append(f"A name such as {piece} stands for a piece of the topic {topic}.")
    call = ", ".join(["search", "judged", *(f"{name}={number}" for name, number in settings.items())])
    given = {"value": value, "judged": judged, "found": found, **settings}
    if topics:
        given["topics"] = topics
    return Probe(given, "\n".join([f'evaluate({call})["{value}"]', *lines]))


_LEAKS = {"pump leak": ["a", "b"], "TX-99402": ["d"], "late invoice": ["a", "c", "e", "f"]}
_LEAKS_FOUND = {
    "pump leak": ["c", "a", "b", "d", "e"],
    "TX-99402": ["e", "b", "a", "d", "c"],
    "late invoice": ["b", "d"],
}
_ANSWERED = {"pump leak": ["b"], "TX-99402": ["e"]}
_ANSWERED_FOUND = {"pump leak": ["b", "a", "c"], "TX-99402": ["a", "b", "e", "c"]}
_UNANSWERED = {"canteen": [], **_LEAKS}
_UNANSWERED_FOUND = {"canteen": ["a", "b"], **_LEAKS_FOUND}
_TWELVE = {"valve": ["l", "c"]}
_TWELVE_FOUND = {"valve": list("abdefghijklc")}
_PIECES = {"with": ["with"], "try": ["try", "raise"]}
_PIECES_FOUND = {"with": ["for#1", "for#2", "with#1", "with#2"], "try": ["try#2", "try#1", "for#1"]}
_TOPICS = {label: label.split("#")[0] for label in ["for#1", "for#2", "with#1", "with#2", "try#1", "try#2"]}


def _draw_judged(random: Random) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Three queries and what a search finds: two relevant documents, one far down, none; at times a fourth."""
    near, far, nothing = letters(random, 8), letters(random, 8), letters(random, 7)
    first, second, deep = random.choice([2, 3]), random.choice([4, 5]), random.choice([6, 7, 8])
    missed = [letter for letter in "tuvwxyz" if letter not in near][: random.choice([0, 1, 2])]
    rows = [
        ([near[first - 1], near[second - 1], *missed], near),
        ([far[deep - 1]], far),
        (nothing[3:], nothing[:3]),
    ]
    if random.choice([True, False]):
        third = letters(random, 5)
        rows.append(([third[2]], third))
    queries = [" ".join(words(random, 2)) for _ in rows]
    pairs = list(zip(queries, shuffled(random, rows), strict=True))
    judged = {query: shuffled(random, relevant) for query, (relevant, _found) in pairs}
    return judged, {query: found for query, (_relevant, found) in pairs}


def _draw_first_ranks(random: Random) -> tuple[Probe, ...]:
    judged, found = _draw_judged(random)
    queries = words(random, 2)
    rankings = [letters(random, 7), letters(random, 7)]
    ranks = shuffled(random, [random.choice([1, 2, 4, 5]), random.choice([3, 6, 7])])
    answered = {query: [of[rank - 1]] for query, of, rank in zip(queries, rankings, ranks, strict=True)}
    return (
        _evaluate_probe("MRR", answered, dict(zip(queries, rankings, strict=True))),
        _evaluate_probe("MRR", judged, found),
        _evaluate_probe("MRR", judged, found, k=random.choice([3, 4])),
    )


def _draw_shares(random: Random) -> tuple[Probe, ...]:
    judged, found = _draw_judged(random)
    (query,), many = words(random, 1), letters(random, 13)
    within, beyond = random.randrange(1, 10), random.choice([10, 11, 12])
    return (
        _evaluate_probe("recall", judged, found, k=2),
        _evaluate_probe("recall", judged, found, k=random.choice([4, 5, 6, 7])),
        _evaluate_probe("recall", {query: [many[within], *many[beyond:]]}, {query: many}),
    )


def _draw_unanswered(random: Random) -> tuple[Probe, ...]:
    judged, found = _draw_judged(random)
    unanswered = words(random, 1)[0]
    judged = dict(shuffled(random, [*judged.items(), (unanswered, [])]))
    found = {**found, unanswered: letters(random, random.choice([2, 3]))}
    return (
        _evaluate_probe("MRR", judged, found),
        _evaluate_probe("recall", judged, found, k=5),
    )


def _draw_pieces(random: Random) -> tuple[Probe, ...]:
    probes = []
    for value in ("MRR", "recall"):
        one, two, other, another, third, *missed = words(random, 8)
        before = [f"{other}#1", f"{other}#2", f"{another}#1", f"{third}#1"][: random.choice([2, 3, 4])]
        pieces = [f"{two}#1", f"{two}#2"]
        late = len(before) > 2 and random.choice([True, False])  # at another rank than the first query's
        found = {
            one: [*shuffled(random, before), f"{one}#1", f"{one}#2"],
            two: [f"{third}#2", *pieces] if late else [*pieces, f"{third}#2"],
        }
        settings = {"k": len(before) + 1} if value == "recall" else {}
        judged = {one: [one], two: shuffled(random, [two, *missed[: random.choice([1, 2, 3])]])}
        topics = {piece: piece.split("#")[0] for pieces in found.values() for piece in pieces}
        probes.append(_evaluate_probe(value, judged, found, topics, **settings))
    return tuple(probes)


EVALUATE = Exercise(
    id="evaluate",
    unit="05_tuning",
    title=N_("Measure a search"),
    objects=("evaluate",),
    answer=_evaluate_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("MRR: 1 divided by the rank of the first relevant document"),
            0.5,
            (
                _evaluate_probe("MRR", _ANSWERED, _ANSWERED_FOUND),
                _evaluate_probe("MRR", _LEAKS, _LEAKS_FOUND),
                _evaluate_probe("MRR", _LEAKS, _LEAKS_FOUND, k=3),
            ),
            _draw_first_ranks,
        ),
        Criterion(
            N_("recall: the share of the relevant documents among the first k"),
            0.5,
            (
                _evaluate_probe("recall", _LEAKS, _LEAKS_FOUND, k=2),
                _evaluate_probe("recall", _LEAKS, _LEAKS_FOUND, k=4),
                _evaluate_probe("recall", _TWELVE, _TWELVE_FOUND),
            ),
            _draw_shares,
        ),
        Criterion(
            N_("a query without a relevant document is left out"),
            0.5,
            (
                _evaluate_probe("MRR", _UNANSWERED, _UNANSWERED_FOUND),
                _evaluate_probe("recall", _UNANSWERED, _UNANSWERED_FOUND, k=3),
            ),
            _draw_unanswered,
        ),
        Criterion(
            N_("pieces of one topic count as one"),
            0.5,
            (
                _evaluate_probe("MRR", _PIECES, _PIECES_FOUND, _TOPICS),
                _evaluate_probe("recall", _PIECES, _PIECES_FOUND, _TOPICS, k=3),
            ),
            _draw_pieces,
        ),
    ),
    hints=(
        N_("You did this by hand for three queries. What did you do for each of them, and what at the end?"),
        N_(
            "judged_ids(search(query.text, k)) is a list of ids, best first. enumerate(..., start=1) gives each "
            "with its rank; `in query.relevant` says whether it is relevant."
        ),
        N_(
            "Start two empty lists. For each query that has relevant documents: get the ids of the results; "
            "collect the ranks of those that are relevant; append 1 / the first of these ranks, or 0 where there "
            "is none, to one list; append their number / the number of relevant documents to the other. Return "
            "the mean of both lists in a dict."
        ),
        N_("The finished function is evaluate in solutions/hybrid_search/tuning.py."),
    ),
    misconceptions={
        "left_out_counted_as_zero": N_(
            "A query to which nothing is relevant lowers your mean. Leave it out: do not divide by it either."
        ),
        "no_relevant_divides_by_zero": N_(
            "You divide by the number of relevant documents where it is 0. Leave such a query out."
        ),
        "first_query_only": N_(
            "You measure the first query only. Is the return inside the loop? It belongs behind it."
        ),
        "last_query_only": N_(
            "Only the last query counts. Do you set a value in the loop where you should collect it?"
        ),
        "mean_over_hits": N_(
            "You average only over the queries for which something was found. One without a hit counts as 0."
        ),
        "ranks_from_zero": N_(
            "Your ranks start at 0, so that the first place divides by zero. Write enumerate(..., start=1)."
        ),
        "one_added": N_("You add 1 to a rank that starts at 1 already. First place is worth 1/1."),
        "last_relevant": N_(
            "You take the rank of the last relevant document. MRR looks for the first one."
        ),
        "all_relevant_added": N_(
            "You add 1 / rank for each relevant document. MRR counts only the first one of each query."
        ),
        "rank_not_turned_over": N_("You average the ranks. MRR is the mean of 1 / rank."),
        "reciprocal_of_the_mean_rank": N_(
            "You divide 1 by the mean rank. Divide for each query first, then take the mean."
        ),
        "sum_instead_of_mean": N_("You add up what the queries give. Divide by their number."),
        "recall_divided_by_k": N_(
            "You divide by k: that is precision. Recall is divided by the number of relevant documents."
        ),
        "recall_divided_by_found": N_(
            "You divide by the number of results. Recall is divided by the number of relevant documents."
        ),
        "recall_is_a_hit": N_(
            "Your recall is 1 as soon as one relevant document is found. It is the share of them that is found."
        ),
        "recall_pooled": N_(
            "You add up the documents of all queries and divide once. Take the recall of each query, then the mean."
        ),
        "recall_of_all_results": N_(
            "Your recall looks beyond the first k results. Ask search for k of them: search(query.text, k)."
        ),
        "k_is_always_ten": N_("You ask for 10 results whatever k is. Ask for k of them."),
        "one_result": N_("You ask for one result, since search's own k is 1. Pass k: search(query.text, k)."),
        "query_not_text": N_("You give search the whole query. It needs the text: query.text."),
        "pieces_counted_apart": N_(
            "Two pieces of one topic count twice. judged_ids(results) gives each topic once."
        ),
        "ids_instead_of_topics": N_(
            'A piece of a topic is judged by its "topic", not by its "id". judged_ids(results) knows that.'
        ),
        "a_pair_instead_of_a_dict": N_(
            'You return two numbers. Return a dict: {"MRR": ..., "recall": ...}.'
        ),
        "other_keys": N_('The keys of the dict must be "MRR" and "recall", written exactly so.'),
        "nothing_found_not_expected": N_(
            "For some queries no relevant id was found, so that the list of ranks is empty. Append 0 for such a query."
        ),
        "recall_stays_zero": N_("Your recall is 0 for every query. Is a placeholder still there?"),
        "mrr_stays_zero": N_("Your MRR is 0 for every query. Is a placeholder still there?"),
        "both_stay_zero": N_(
            "Both numbers are 0 for every query. Are placeholders still there? If not, compare each id of "
            "judged_ids(...) with query.relevant."
        ),
        "rounded": N_("You round. Return the numbers whole, and round only where you show them."),
    },
)  # fmt: skip


def _settings(settings, within):
    if None in settings.values():
        raise NotImplementedError
    return dict(settings)


def _settings_probe(within: float) -> Probe:
    return Probe({"within": within}, "settings, on the 42 queries held apart")


# Two numbers that were chosen, looked up in what was measured beforehand: there is nothing to draw.
TUNING = Exercise(
    id="tuning",
    unit="05_tuning",
    title=N_("Settings that hold on other queries"),
    objects=("settings",),
    keys=("k_rrf", "candidates"),
    answer=_settings,
    compare=Settings(),
    criteria=(
        Criterion(N_("the MRR is at most 0.05 below the best"), 1, (_settings_probe(0.05),)),
        Criterion(N_("the MRR is at most 0.03 below the best"), 1, (_settings_probe(0.03),)),
    ),
    hints=(
        N_("Look at the picture of the sweep: in which region are the settings good, not only in one point?"),
        N_(
            "Print the table of the sweep over the queries to choose by, or ask it for best(). Then look at its "
            "neighbours: are they about as good?"
        ),
        N_(
            "Take a k_rrf of 7 or more, so that a single first place does not decide, and some 10 to 40 candidates: "
            "enough to see agreement, not so many that the ends of the lists join in."
        ),
        N_("One good choice is in settings in solutions/hybrid_search/tuning.py."),
    ),
    misconceptions={
        "few_candidates": N_(
            "You look at a few candidates only. A document that one list has first and the other has tenth then "
            "seems to be in one list alone: agreement cannot be seen."
        ),
        "first_places": N_(
            "With so small a k_rrf the first places decide nearly alone, right or wrong. Agreement further down hardly "
            "counts."
        ),
        "many_candidates": N_(
            "With so many candidates the far ends of the lists join in. With k_rrf = 60, a document that is 50th in "
            "both lists (2/110) beats one that is first in a single list (1/61)."
        ),
        "k_rrf_refused": N_("k_rrf is added to a rank, and must not be negative: 0 or more."),
        "candidates_refused": N_(
            "candidates is how many results each index is asked for: a whole number, 1 or more."
        ),
    },
)  # fmt: skip

EXERCISES = (METRICS, EVALUATE, TUNING)
