"""Unit 09: the cases of a knee, and what the text says was measured."""

import re
import sys
import warnings
from functools import cache

import pytest

import lab
from hybrid_search import TreeIndex, beam_search, branch_search, knee
from hybrid_search.pruned import pruning
from lab import stored_vectors
from lab.tree_evaluation import is_relevant

OF_STORED_PYTHON = sys.version_info[:2] == stored_vectors.PYTHON
SHAPES = ("width 3", "width 5")


def agreeing(count, k_rrf=60):
    return [2 / (k_rrf + rank) for rank in range(1, count + 1)]


def kneed(scores):
    from kneed import KneeLocator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KneeLocator(range(1, len(scores) + 1), scores, curve="convex", direction="decreasing").knee


def test_where_the_rankers_agree_the_knee_depends_on_their_number_alone():
    assert [knee(agreeing(count)) for count in (10, 20, 100, 1000)] == [5, 10, 39, 194]


def test_two_rankings_by_chance_are_pruned_as_much_as_real_ones(notebook_names):
    kept = [knee(notebook_names["shuffling"](100, seed=seed)) for seed in range(200)]
    assert round(1 - sum(kept) / len(kept) / 100, 2) == 0.82


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        ([1, 0.95, 0.2, 0.18, 0.16, 0.15], 3),
        ([1, 0.98, 0.96, 0.94, 0.3], 1),
        ([0.5] * 4, None),
        ([1, 0.75, 0.5, 0.25, 0], None),
        ([0.9, 0.2], None),
        ([0.0328, 0.0325, 0.0323, 0.0164, 0.0161, 0.0159], 1),
        (agreeing(10), None),
        (agreeing(20), 10),
        (agreeing(100), 39),
    ],
)
def test_kneed_finds_what_the_text_says(scores, found):
    assert kneed(scores) == found


def test_kneed_fails_on_an_empty_curve():
    with pytest.raises(ValueError):
        kneed([])


def test_by_hand_the_irrelevant_pruned_lie_between_57_and_68_percent():
    by_hand = {name: round(pruning[name], 2) for name in ("agree", "best case", "worst case")}
    assert by_hand == {"agree": 0.61, "best case": 0.68, "worst case": 0.57}


@pytest.fixture(scope="module")
def notebook_names(root):
    """What the cells define that need no exercise: the curve by chance, and the questions without an answer."""
    import jupytext

    names = {}
    for cell in jupytext.read(root / "solutions" / "09_knee.py", fmt="py:percent").cells:
        if "def shuffling(" in cell.source:
            exec(cell.source.split("\n\n\nkept = ")[0], names)
        if "unanswerable = [" in cell.source:
            exec(cell.source.split("found = [")[0], names)
    return names


@cache
def indexes():
    if not OF_STORED_PYTHON:
        pytest.skip("the numbers are those of another version's language reference")
    from qdrant_client import QdrantClient

    from lab.stored_vectors import StoredEmbedder

    summarise, made = lab.summariser("extractive"), {}
    for shape in SHAPES:
        made[shape] = TreeIndex(QdrantClient(":memory:"), "trees", StoredEmbedder())
        for file_name, pages in lab.reference_documents().items():
            made[shape].add_document(file_name, pages, summarise, int(shape[-1]))
    return made


SEARCHES = {
    "flat": lambda index, query: index.search(query, k=10, candidates=100),
    "branch": branch_search,
    "beam": beam_search,
    "knee": lambda index, query: beam_search(index, query, "knee"),
    "sensitive": lambda index, query: beam_search(index, query, "sensitive"),
}


@cache
def measured():
    return lab.measure_trees(SEARCHES, indexes(), lab.judged_queries("pages"))


@cache
def by_cut():
    cuts = {
        "knee": knee,
        "20": lambda scores: 20,
        "sensitive": lambda scores: knee(scores, 0.85),
        "41": lambda scores: 41,
    }
    return lab.measure_cuts(cuts, indexes()["width 3"], lab.judged_queries("pages"))


def test_the_adaptive_beams_find_the_most_on_four_to_five_times_as_many_pages():
    table = lab.with_intervals(measured())
    for shape in SHAPES:
        of = table.loc[shape]
        assert set(of["recall"].nlargest(2).index) == {"knee", "sensitive"}
        assert of.loc[["knee", "sensitive"], "pages"].between(35, 55).all()


def test_with_as_many_pages_the_flat_search_finds_more():
    table = lab.paired_differences(measured(), "recall", "flat recall")
    trees = table.drop(index="flat", level="search")
    assert (trees["difference"] < 0).all()
    assert (trees.loc["width 3", "high"] < 0).all()
    assert [name for name, high in trees.loc["width 5", "high"].items() if high > 0] == ["beam", "knee"]
    assert trees.loc[("width 5", "knee"), "high"] < 0.02


def test_trees_save_comparisons():
    compared = lab.with_intervals(measured())["compared"]
    for shape in SHAPES:
        assert compared[shape, "flat"] == 354
        assert 70 < compared[shape, "beam"] < 90 and 180 < compared[shape, "knee"] < 205


def test_all_trees_save_comparisons_but_perhaps_the_sensitive_one_of_width_5():
    compared = measured()["compared"].unstack("search")
    for shape in SHAPES:
        for search in ("branch", "beam", "knee", "sensitive"):
            low, high = lab.paired_bootstrap(compared.loc[shape, search], compared.loc[shape, "flat"])
            assert low < 0 and (high > 0) == ((shape, search) == ("width 5", "sensitive"))


def test_the_table_of_the_measurement_has_an_interval_for_each_figure_of_each_search():
    figures = measured()[["recall", "pruned", "compared"]]
    table = lab.interval_table(figures)
    assert list(table.index) == [(shape, name) for shape in SHAPES for name in SEARCHES]
    assert table.map(lambda cell: re.fullmatch(r"[\d.]+ \([\d.]+ to [\d.]+\)", cell) is not None).all(
        axis=None
    )
    paired = lab.interval_table(figures, minus="flat")
    assert list(paired.index) == [row for row in table.index if row[1] != "flat"]


def test_the_shares_pruned_are_those_of_the_text():
    table = lab.with_intervals(measured()).round(2)
    found = [tuple(table.loc[(shape, "knee"), ["irrelevant pruned", "relevant pruned"]]) for shape in SHAPES]
    assert found == [(0.71, 0.19), (0.77, 0.20)]
    for shape in SHAPES:
        for column in ("irrelevant pruned", "relevant pruned"):
            assert table.loc[(shape, "beam"), column] > table.loc[(shape, "knee"), column]


def test_the_knee_of_a_hundred_pages_is_no_better_than_a_number_that_is_always_the_same():
    table = by_cut().groupby("cut").mean()
    assert by_cut().loc["knee"].shape[0] == 64
    assert round(table.loc["knee", "kept"]) == 20 and round(table.loc["sensitive", "kept"]) == 41
    assert dict(table.loc["knee", ["irrelevant pruned", "relevant pruned"]].round(3)) == {
        name: pruning[name] for name in ("irrelevant pruned", "relevant pruned")
    }
    lost = by_cut()["relevant pruned"].unstack("cut")
    for cut, fixed in (("knee", "20"), ("sensitive", "41")):
        low, high = lab.paired_bootstrap(lost[cut], lost[fixed])
        assert low < 0 < high


def test_without_an_answer_the_knee_prunes_as_much_as_with_one(notebook_names):
    from lab.minilm import MiniLM

    questions = notebook_names["unanswerable"]
    index = indexes()["width 3"]
    stored, index.embedder = index.embedder, MiniLM()
    try:
        found = [index.search(question, k=100, candidates=100) for question in questions]
    finally:
        index.embedder = stored
    pruned = sum(1 - knee([score for _, score in ranking]) / 100 for ranking in found) / len(found)
    assert len(questions) == 10 and abs(pruned - by_cut().loc["knee", "pruned"].mean()) < 0.02


def first_round(query_id):
    (query,) = [query for query in lab.judged_queries("pages") if query.id == query_id]
    search = beam_search(indexes()["width 3"], query.text, "knee")
    steps = search.trace.steps
    counts = []
    for step in (steps[1], steps[-1]):
        kept = knee([score for _, score in step.ranked])
        hits = [is_relevant(node, query.relevant) for node, _ in step.ranked]
        counts.append((sum(hits[:kept]), sum(hits)))
    return counts


def test_the_knee_does_well_on_one_question_and_badly_on_another():
    assert first_round("g49") == [(6, 6), (5, 5)]
    first, last = first_round("g19")
    assert first == (1, 6) and last[0] == 0
