"""Unit 07: the pool put in a better order by a reranker, and how large a pool a budget of time allows."""

from random import Random

from ..compare import Ranking, Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..stubs import StubIndex, StubReranker, make_documents
from .drawing import letters, sections, shuffled, words

_UNIT = "07_reranking"


class _StubRetriever:
    """Fuses what its stub indexes find, as the Retriever of unit 04 does.

    It stands here and not among the other stubs, which lie beside a learner's code in earlier units, too.
    """

    def __init__(self, indexes: list[StubIndex]) -> None:
        self.indexes = indexes

    def search(self, query: str, k: int = 1, k_rrf: float = 60, candidates: int = 20) -> list[tuple]:
        scores, documents = {}, {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0) + 1 / (k_rrf + rank)
        best = sorted(scores, key=scores.get, reverse=True)[:k]
        return [(documents[key], scores[key]) for key in best]

    def __repr__(self) -> str:
        return f"_StubRetriever({[index.results for index in self.indexes]!r})"


def _rerank_answer(
    retriever_class,
    indexes,
    scores,
    query="pump leak",
    contents=None,
    fails=False,
    asked=False,
    pool=None,
    **search,
):
    documents = make_documents(dict.fromkeys(label for found in indexes for label in found), contents)
    retriever = _StubRetriever(
        [
            StubIndex([(documents[label], rank) for rank, label in enumerate(found, start=1)])
            for found in indexes
        ]
    )
    rerank = StubReranker(
        {document["content"]: scores[label] for label, document in documents.items()}, fails
    )
    settings = {} if pool is None else {"pool": pool}
    results = retriever_class(retriever, rerank, **settings).search(query, **search)
    if asked:
        list(results)  # search may be a generator, which has asked nothing so far
        return {"calls": len(rerank.asked), "texts": sorted(text for texts in rerank.asked for text in texts)}
    return results


def _rerank_probe(indexes: list[list[str]], scores: dict[str, float], **given) -> Probe:
    made = ["retriever", "rerank"] + ([f"pool={given['pool']}"] if "pool" in given else [])
    query = given.get("query", "pump leak")
    called = [f'"{query}"'] + ([f"k={given['k']}"] if "k" in given else [])
    call = f"RerankingRetriever({', '.join(made)}).search({', '.join(called)})"
    if given.get("asked"):
        call = f"what rerank is asked by {call}"
    lines = [call, "the indexes find " + " and ".join(", ".join(found) or "nothing" for found in indexes)]
    if given.get("fails"):
        lines.append("rerank raises an error")
    elif scores:
        lines.append("rerank gives " + ", ".join(f"{label}: {score}" for label, score in scores.items()))
    if given.get("contents"):
        lines.append(f"{' and '.join(given['contents'])} have the same text")
    return Probe({"indexes": indexes, "scores": scores, **given}, "\n".join(lines))


def _scores_of(order: str | list[str], start: float = 0.95, step: float = 0.11) -> dict[str, float]:
    """Scores that put these documents in this order, named in the order of the alphabet, which says nothing."""
    scores = {label: round(start - step * place, 2) for place, label in enumerate(order)}
    return dict(sorted(scores.items()))


_INCIDENT = [["Section 10", "Section 3", "Section 5", "Section 2"], ["Section 10", "Section 2", "Section 5"]]
_INCIDENT_ORDER = ["Section 5", "Section 10", "Section 2", "Section 3"]
_SAME = {"b": "The same text.", "d": "The same text."}


def _draw_scores(random: Random, order: list[str]) -> dict[str, float]:
    """Scores that put these documents in this order, in the range of one of the models."""
    values = sorted(random.sample(range(3, 70), len(order)), reverse=True)
    if random.choice([True, False]):
        scores = {label: value / 100 for label, value in zip(order, values, strict=True)}
    else:
        scores = {label: (value - 50) / 10 for label, value in zip(order, values, strict=True)}
    return dict(sorted(scores.items()))


def _turned(random: Random, labels: list[str]) -> list[str]:
    """Another order: what stood last comes first, and the rest is mixed, but not left as it was."""
    *rest, last = labels
    mixed = shuffled(random, rest)
    return [last, *(mixed if mixed != rest else mixed[::-1])]


def _query(random: Random) -> str:
    return " ".join(words(random, 2))


def _draw_order(random: Random) -> tuple[Probe, ...]:
    """In the first, the best stands far down in the fused order; in the second, both lists have the best."""
    a, b, c, d, e = letters(random, 5)
    one, two, three, four = sections(random, 4)
    v, w, x, y = letters(random, 4)
    lists = [[one, two, three], [one, four, two]]
    return (
        _rerank_probe(
            [[a, b, c], [b, d, e]],
            _draw_scores(random, [*shuffled(random, [c, e]), *shuffled(random, [b, d]), a]),
            pool=6,
        ),
        _rerank_probe(lists, _draw_scores(random, [two, three, four, one]), pool=6, k=2),
        _rerank_probe([[v, w, x, y]], _draw_scores(random, _turned(random, [v, w, x, y])), pool=4, k=1),
    )


def _draw_pool(random: Random) -> tuple[Probe, ...]:
    """The document that both lists have last is first in the fusion of all, and in the pool of none."""
    *some, both = letters(random, 7)
    a, b, c, d = letters(random, 4)
    p, q, r, s, t, u = letters(random, 6)
    many = letters(random, 24)
    apart = [many[:12], many[12:]]
    deep = [[*some[:3], both], [*some[3:], both]]
    three = [[p, q, r], [s, p, t], [u, q, s]]
    v, w, x, y, z, *beyond = letters(random, 7)
    odd = [[v, w, x, beyond[0]], [w, y, z, beyond[1]]]
    return (
        _rerank_probe(deep, _draw_scores(random, [both, *shuffled(random, some)]), pool=6, asked=True),
        _rerank_probe(
            [[a, b, c], [c, a, d]], _draw_scores(random, shuffled(random, [a, b, c, d])), pool=6, asked=True
        ),
        _rerank_probe(apart, _draw_scores(random, [*many[10:12], *many[22:], *many[:10], *many[12:22]]), k=2),
        _rerank_probe(
            three,
            _draw_scores(random, [r, t, *_turned(random, [p, s, u, q])]),
            pool=6,
            k=random.choice([2, 3]),
        ),
        _rerank_probe(
            odd, _draw_scores(random, [*beyond, x, *shuffled(random, [v, w, y, z])]), pool=5, asked=True
        ),
    )


def _draw_few(random: Random) -> tuple[Probe, ...]:
    a, b, c, d = letters(random, 4)
    v, w, x, y = letters(random, 4)
    same = f"The {words(random, 1)[0]} leaks."
    twins = _draw_scores(random, _turned(random, [v, w, x, y]))
    # The same text has the same score.
    twins[y] = twins[w]
    return (
        _rerank_probe(
            [[a, b, c], [b, d]],
            _draw_scores(random, _turned(random, [b, a, d, c])),
            pool=6,
            k=random.choice([6, 8, 10]),
        ),
        _rerank_probe([[v, w], [x, y]], twins, contents={w: same, y: same}, pool=4, k=4),
        _rerank_probe(
            [[], []],
            {},
            query=_query(random),
            pool=2 * random.randrange(1, 15),
            k=random.randrange(1, 6),
            asked=True,
        ),
        _rerank_probe(
            [[], []], {}, query=_query(random), pool=2 * random.randrange(1, 15), k=random.randrange(1, 6)
        ),
    )


def _draw_failures(random: Random) -> tuple[Probe, ...]:
    a, b, c, d, e = letters(random, 5)
    found = sections(random, 6)
    return (
        _rerank_probe([[a, b, c], [b, d, e]], _draw_scores(random, [e, d, c, b, a]), pool=6, fails=True),
        _rerank_probe(
            [found[:4], [found[0], *found[4:]]],
            _draw_scores(random, found[::-1]),
            pool=6,
            fails=True,
            k=random.choice([1, 2]),
        ),
    )


RERANK = Exercise(
    id="rerank",
    unit=_UNIT,
    title=N_("Rerank what the search found"),
    objects=("RerankingRetriever",),
    answer=_rerank_answer,
    compare=Ranking(),
    criteria=(
        Criterion(
            N_("the best k of the pool, with the reranker's scores"),
            1,
            (
                _rerank_probe([list("abc"), list("bde")], _scores_of("ecdab"), pool=6),
                _rerank_probe(_INCIDENT, _scores_of(_INCIDENT_ORDER, 2.4, 3.7), pool=8, k=2),
                _rerank_probe([list("abcd")], _scores_of("dbca"), pool=4, k=1),
            ),
            _draw_order,
        ),
        Criterion(
            N_("the pool: an equal part from each index, every document once"),
            1,
            (
                _rerank_probe([list("abcx"), list("defx")], _scores_of("xfcabde"), pool=6, asked=True),
                _rerank_probe([list("abc"), list("cad")], _scores_of("dbac"), pool=6, asked=True),
                _rerank_probe(
                    [list("abcdefghijkl"), list("mnopqrstuvwx")],
                    _scores_of("lxkwabcdefghijmnopqrstuv", step=0.03),
                    k=2,
                ),
                _rerank_probe(
                    [list("abc"), list("dae"), list("fbd")], _scores_of("ceafdb"), pool=6, k=3
                ),
                _rerank_probe([list("abcx"), list("bedy")], _scores_of("xycbaed"), pool=5, asked=True),
            ),
            _draw_pool,
        ),
        Criterion(
            N_("fewer documents than k, the same text twice, and nothing found"),
            1,
            (
                _rerank_probe([list("abc"), list("bd")], _scores_of("cdab"), pool=6, k=10),
                _rerank_probe(
                    [list("ab"), list("cd")],
                    {"a": 0.3, "b": 0.7, "c": 0.9, "d": 0.7},
                    contents=_SAME,
                    pool=4,
                    k=4,
                ),
                _rerank_probe([[], []], {}, query="zebra", asked=True),
                _rerank_probe([[], []], {}, query="zebra"),
            ),
            _draw_few,
        ),
        Criterion(
            N_("where the reranker fails, the fused order"),
            1,
            (
                _rerank_probe([list("abc"), list("bde")], _scores_of("edcba"), pool=6, fails=True),
                _rerank_probe(_INCIDENT, _scores_of(_INCIDENT_ORDER), pool=8, fails=True, k=1),
            ),
            _draw_failures,
        ),
    ),
    hints=(
        N_(
            "Four steps: find the pool, take the texts out of it, have them scored, sort. Which of them does the "
            "Retriever of unit 04 do for you already?"
        ),
        N_(
            "retriever.search(query, k=..., candidates=...) gives the pool, each document once: k is the size of the "
            "whole pool, candidates the part of each index, math.ceil(pool / len(retriever.indexes)). zip "
            "puts the documents and their scores together, for both are in the same order."
        ),
        N_(
            "found = the retriever's pairs; if there are none, return []. texts = the content of each document. try: "
            "scores = self.rerank(query, texts); except Exception: return found[:k]. Make pairs (document, score), "
            "sort them by score, highest first, return the first k."
        ),
        N_("The finished class is RerankingRetriever in solutions/hybrid_search/reranking.py."),
    ),
    misconceptions={
        "top_k_only": N_(
            "You rerank the first k only. The reranker can bring nothing up that it has not been given: give it the "
            "whole pool, and cut to k at the end."
        ),
        "one_document": N_(
            "Your pool has one document: the retriever's k is 1 unless you say otherwise. Ask it for k=pool."
        ),
        "default_candidates": N_(
            "Each index gives the retriever's usual 20 candidates, and the pool is cut afterwards. Ask for "
            "candidates=math.ceil(pool / number of indexes)."
        ),
        "pool_from_each": N_(
            "Each index gives as many documents as the whole pool may hold. Divide the pool by the number of indexes."
        ),
        "two_indexes_assumed": N_(
            "You divide the pool by 2. A retriever may have one index or three: divide by len(retriever.indexes)."
        ),
        "rounded_down": N_(
            "You round down: of a pool of 5, two indexes give 2 each. Round up, math.ceil, and let k=pool cut the rest."
        ),
        "pool_ignored": N_("The pool has the same size whatever pool says. Use the argument, not a fixed 20."),
        "duplicates_scored_twice": N_(
            "A document that two indexes found is scored twice, and may be returned twice. retriever.search gives "
            "each document once."
        ),
        "first_index_only": N_("Your pool comes from one index only. Ask the retriever, which fuses all of them."),
        "not_sorted": N_("Your results are still in fused order. Sort them by the reranker's score, highest first."),
        "worst_first": N_("The worst text comes first. A higher score is better."),
        "scores_not_mapped_back": N_(
            "You sort the scores alone, and the documents keep the fused order, so each document gets the score of "
            "another. Put document and score together first, then sort the pairs."
        ),
        "fused_scores_kept": N_(
            "The order is the reranker's, the values are those of the fusion. Return the scores that ordered the list."
        ),
        "scores_added": N_(
            "You add the score of the fusion to that of the reranker. They are on different scales, so the sum means "
            "nothing: order by the reranker's alone."
        ),
        "scores_multiplied": N_(
            "You multiply the score of the fusion with that of the reranker. They are on different scales, and some "
            "are below 0: order by the reranker's alone."
        ),
        "one_call_each": N_(
            "You call the reranker once for each text. A service then is asked twenty times: give it all texts in one "
            "call."
        ),
        "merged_by_text": N_(
            "Two documents with the same text became one. Do not use the text as a key: keep the documents in a list."
        ),
        "asked_without_texts": N_(
            "The reranker is asked although nothing was found. Services refuse a call without texts: return [] first."
        ),
        "k_ignored": N_("You return the whole pool. Return the first k."),
        "low_scores_dropped": N_(
            "You drop documents with a low score. A score says which is better, not what is good: return k of them."
        ),
        "never_reranked": N_(
            "You get the fused order each time. Does the call of rerank fail, and your except hide it? It takes the "
            "query and a list of texts, the contents of the documents."
        ),
        "failure_raised": N_(
            "Where the reranker fails, so does your search. Catch the error (except Exception) and return the fused "
            "order."
        ),
        "failure_gives_nothing": N_(
            "Where the reranker fails, you return nothing. The search has found something: return it in fused order."
        ),
        "failure_not_cut": N_("Where the reranker fails, you return the whole pool. Return the first k there, too."),
        "failure_gives_zeros": N_(
            "Where the reranker fails, you return a score of 0 for each. Return the retriever's own pairs: the first k."
        ),
        "documents_only": N_("You return documents without their scores. Return pairs (document, score)."),
        "pairs_wrong_way_round": N_("Your pairs are (score, document). They should be (document, score)."),
    },
)  # fmt: skip


def _budget_answer(latency_budget, search, rerank, candidates, budget):
    runs = [
        {"search": seconds, "rerank": more, "candidates": count}
        for seconds, more, count in zip(search, rerank, candidates, strict=True)
    ]
    return latency_budget(runs, budget)


def _budget_probe(search: list[float], rerank: list[float], candidates: list[int], budget: float) -> Probe:
    lines = [f"latency_budget(runs, budget={budget}) with {len(search)} runs:"]
    for name, values in (("search", search), ("rerank", rerank), ("candidates", candidates)):
        lines.append(f"{name}: {', '.join(map(str, values))}")
    return Probe(
        {"search": search, "rerank": rerank, "candidates": candidates, "budget": budget}, "\n".join(lines)
    )


def _spread(random: Random, typical: int, count: int, above: int) -> list[int]:
    """``count`` numbers, of which ``above`` are far above the typical one and the others below it or equal."""
    below = [typical * random.randrange(40, 86) // 100 for _ in range(count - above - 1)]
    far = [typical * random.randrange(150, 320) // 100 for _ in range(above)]
    return shuffled(random, [*below, typical, *far])


def _measured(
    random: Random, count: int, pool: int, above: int, per: tuple[int, ...] = (14, 15, 16, 17, 18, 20)
):
    """Runs whose budget has room for ``pool`` candidates and a part of another one."""
    search, candidate = random.randrange(600, 1500), random.randrange(150, 400)  # tenths of a millisecond
    searches = _spread(random, search, count, above)
    each = _spread(random, candidate, count, above)
    candidates = [random.choice(per) for _ in range(count)]
    room = random.choice([20, 30, 40, 60, 70, 80])
    budget = (100 * search + (100 * pool + room) * candidate) / 1000
    return _budget_probe(
        [tenths / 10_000 for tenths in searches],
        [tenths * number / 10_000 for tenths, number in zip(each, candidates, strict=True)],
        candidates,
        round(budget, 2),
    )


def _too_slow(random: Random) -> Probe:
    """Runs whose search alone is over the budget."""
    probe = _measured(random, 5, 3, 0)
    budget = round(1000 * max(probe.input["search"]) * random.choice([0.35, 0.4, 0.5, 0.6]), 2)
    return _budget_probe(*(probe.input[name] for name in ("search", "rerank", "candidates")), budget)


def _draw_budgets(random: Random) -> tuple[Probe, ...]:
    return (
        _measured(random, 5, random.randrange(8, 25), 0),
        _measured(random, 5, random.randrange(12, 50), 0, per=(4, 8, 12, 16, 20)),
        _measured(random, 20, random.randrange(8, 40), 1),
    )


def _draw_percentiles(random: Random) -> tuple[Probe, ...]:
    return (
        _measured(random, 20, random.randrange(10, 50), 1),
        _measured(random, 40, random.randrange(10, 50), 2),
    )


def _draw_small(random: Random) -> tuple[Probe, ...]:
    return (
        _too_slow(random),
        _measured(random, 5, random.choice([1, 2, 3, 4]), 0),
        _measured(random, 5, random.choice([0, 5, 6, 7]), 0),
        _measured(random, 20, random.choice([1, 2, 3, 4]), 1),
    )


# The public probes are drawn once and for all.
_BUDGETS = _draw_budgets(Random("07 budgets"))
_PERCENTILES = _draw_percentiles(Random("07 percentiles"))
_SMALL = _draw_small(Random("07 small"))

LATENCY_BUDGET = Exercise(
    id="latency_budget",
    unit=_UNIT,
    title=N_("How many candidates a budget allows"),
    objects=("latency_budget",),
    answer=_budget_answer,
    compare=Value(),
    criteria=(
        Criterion(N_("the number of candidates that fits"), 1, _BUDGETS, _draw_budgets),
        Criterion(N_("for 95 of 100 queries"), 0.5, _PERCENTILES, _draw_percentiles),
        Criterion(N_("small budgets: few candidates, or none"), 0.5, _SMALL, _draw_small),
    ),
    hints=(
        N_(
            "Begin with one query that you measured: how long did its search take, and how long did one of its "
            "candidates take? How many candidates fit behind the search, then?"
        ),
        N_(
            "Watch the units: the runs are in seconds, the budget in milliseconds. Write a small function for the "
            "95th percentile; you need it twice, for the searches and for the times of one candidate."
        ),
        N_(
            "percentile: sort the numbers, take the one at place math.ceil(0.95 * len(numbers)) - 1. left = budget / "
            "1000 - percentile of run[\"search\"]. each = percentile of run[\"rerank\"] / run[\"candidates\"]. Return "
            "math.floor(left / each), or 0 where that is below 0."
        ),
        N_("The finished function is latency_budget in solutions/hybrid_search/reranking.py."),
    ),
    misconceptions={
        "mean_used": N_(
            "You take the mean. Half of the queries, or nearly, take longer than that: take the 95th percentile."
        ),
        "median_used": N_("You take the median. Half of the queries take longer: take the 95th percentile."),
        "slowest_used": N_(
            "You take the slowest of all runs. Sort the n numbers and take the one at rank math.ceil(0.95 * n); ranks "
            "count from 1, places in a list from 0."
        ),
        "interpolated": N_(
            "Your percentile lies between two measured numbers. Take the measured one at rank math.ceil(0.95 * n)."
        ),
        "not_sorted": N_("You take the percentile of numbers that are not sorted. Sort them first."),
        "fastest_used": N_(
            "You sort the numbers with the slowest first, so your percentile is that of the fast queries."
        ),
        "first_run_only": N_("Only the first run counts. Take the 95th percentile over all runs."),
        "search_mean": N_(
            "You take the 95th percentile for the candidates and the mean for the search. Take it for both."
        ),
        "milliseconds_forgotten": N_(
            "The budget is in milliseconds, the runs are in seconds. Divide the budget by 1000 first."
        ),
        "search_forgotten": N_("You give the whole budget to the reranker. The search takes its part first."),
        "not_divided": N_(
            "You take the time of all candidates for the time of one. Divide run[\"rerank\"] by run[\"candidates\"]."
        ),
        "divided_after": N_(
            "You take the percentile of the whole rerank times and divide it by a number of candidates. Divide in "
            "each run first: the slowest run is often the one with the most candidates."
        ),
        "rounded_up": N_("You round up. The last candidate does not fit any more: round down, math.floor."),
        "rounded": N_("You round to the nearest number. Half a candidate does not fit: round down, math.floor."),
        "not_whole": N_("You return a fraction. Candidates are counted: round down, math.floor."),
        "negative": N_("You return a number below 0 where the search alone is too slow. Return 0 there."),
        "one_at_least": N_("You return 1 where not even one candidate fits. Return 0 there."),
        "half_of_it": N_("You return what each of two indexes gives. Return the number of all candidates."),
    },
)  # fmt: skip

EXERCISES = (RERANK, LATENCY_BUDGET)
