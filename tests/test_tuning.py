"""The tuning lab without a browser: what a control does, what the view is told, what is refused."""

import asyncio
import re
from html.parser import HTMLParser

import pytest

import lab
from hybrid_search import BM25Index, Retriever
from lab.corpora import Query
from lab.evaluation import SearchError
from lab.tuning_fallback import fallback
from lab.tuning_model import SHOWN, TuningError, TuningModel, interval

FRUIT = (
    "apple tree apple pie",
    "pear tree and apple cake",
    "cherry pie with pear",
    "plum jam plum cake",
    "apple jam cherry jam apple",
    "pear cider pear apple",
    "quince jelly with pear",
    "cherry tree cherry cake cherry",
    "plum pie apple",
    "fig cake fig jam fig",
)


class Lengths:
    """A poor index: documents with a word of the query, the shortest text first."""

    def __init__(self, documents=(), broken=()):
        self.documents, self.broken, self.searches = list(documents), broken, []

    def __len__(self):
        return len(self.documents)

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        self.searches.append(query)
        if query in self.broken:
            raise ZeroDivisionError("no length")
        found = [one for one in self.documents if set(query.split()) & set(one["content"].split())]
        return [(one, len(one["content"])) for one in sorted(found, key=lambda one: len(one["content"]))][:k]


class LearnersRetriever:
    """A retriever as unit 04 asks for it: no weights, any number of indexes."""

    def __init__(self, *indexes):
        self.indexes = list(indexes)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        return Retriever(*self.indexes).search(query, k, k_rrf, candidates)


def judged_query(text, kind, *relevant):
    return Query(text, text, kind, frozenset(relevant), "en")


JUDGED = [
    judged_query("apple jam", "mixed", 5),
    judged_query("cherry", "identifier", 8, 3),
    judged_query("pear cake", "mixed", 2),
    judged_query("plum", "identifier", 4),
    judged_query("fig", "conceptual", 10, 1),
    judged_query("tree pie", "conceptual", 1),
]


@pytest.fixture
def retriever():
    return filled(Retriever(BM25Index(), Lengths()))


def filled(retriever):
    for number, text in enumerate(FRUIT, start=1):
        document = {"id": number, "title": f"Fruit {number}", "content": text}
        for index in retriever.indexes:
            index.add_document(document)
    return retriever


@pytest.fixture
def tuning(retriever):
    return lab.TuningLab(retriever, JUDGED)


def shown(tuning) -> list[tuple[str, float]]:
    return [(row["label"], row["score"]) for row in tuning._view.table["rows"]]


def found(results) -> list[tuple[str, float]]:
    return [(document["title"], score) for document, score in results]


def evaluate(call: str, **names):
    """The value of a call's last line."""
    *first, last = call.splitlines()
    exec("\n".join(first), names)
    return eval(last, names)


# ---- one query


@pytest.mark.parametrize(
    "settings",
    [{}, {"k_rrf": 1}, {"k_rrf": 0, "candidates": 1}, {"candidates": 3}, {"weights": (0.25, 2.0)}],
)
@pytest.mark.parametrize("query", ["apple jam", "pear cake"])
def test_the_table_is_what_the_retriever_finds(retriever, tuning, query, settings):
    tuning._own.value = query
    for control, name in ((tuning._k_rrf, "k_rrf"), (tuning._candidates, "candidates")):
        control.value = settings.get(name, control.value)
    for control, weight in zip(tuning._weights, settings.get("weights", (1.0, 1.0)), strict=True):
        control.value = weight
    retriever.weights = list(settings.get("weights", (1, 1)))
    candidates = settings.get("candidates", 10)
    assert shown(tuning) == found(retriever.search(query, SHOWN, settings.get("k_rrf", 60), candidates))


def test_a_row_says_how_far_its_document_moved_since_the_last_setting(tuning):
    places = {row["label"]: row["rank"] for row in tuning._view.table["rows"]}
    assert all(row["move"] == 0 for row in tuning._view.table["rows"])
    tuning._weights[0].value = 0.1
    moves = {row["label"]: row["move"] for row in tuning._view.table["rows"]}
    assert any(moves.values())
    assert moves == {row["label"]: places[row["label"]] - row["rank"] for row in tuning._view.table["rows"]}
    assert "documents moved" in tuning._view.status
    tuning._query.value = 1
    assert all(row["move"] == 0 for row in tuning._view.table["rows"])


def moves(tuning) -> dict[str, int | None]:
    return {row["label"]: row["move"] for row in tuning._view.table["rows"]}


def places(tuning) -> dict[str, int]:
    return {row["label"]: row["rank"] for row in tuning._view.table["rows"]}


def gained(before: dict[str, int], tuning) -> dict[str, int | None]:
    return {
        label: before[label] - rank if label in before else None for label, rank in places(tuning).items()
    }


def test_changes_of_one_control_in_a_row_are_compared_with_what_was_before_them(tuning, monkeypatch):
    monkeypatch.setattr("lab.tuning._GESTURE_SECONDS", 600)
    before = places(tuning)
    for weight in (0.8, 0.5, 0.2, 0.05):
        tuning._weights[0].value = weight
    assert any(moves(tuning).values())
    assert moves(tuning) == gained(before, tuning)
    assert tuning._view.status.startswith("weight of BM25: 1 → 0.05. ")
    tuning._weights[0].value = 1
    assert set(moves(tuning).values()) == {0}
    assert tuning._view.status.startswith("Back where it was. The first 7 documents keep their places.")


def test_another_control_a_click_or_a_rest_begins_another_comparison(tuning, monkeypatch):
    monkeypatch.setattr("lab.tuning._GESTURE_SECONDS", 600)
    tuning._weights[0].value = 0.05
    before = places(tuning)
    tuning._candidates.value = 3
    assert moves(tuning) == gained(before, tuning)
    assert tuning._view.status.startswith("candidates: 10 → 3. ")
    click(tuning, {"point": [1, 1]})
    assert tuning._view.status.startswith("k_rrf: 60 → 1. candidates: 3 → 2. ")
    tuning._candidates.value = 4
    press(tuning, "k_rrf = 60")
    press(tuning, "k_rrf = 1")
    assert tuning._view.status.startswith("k_rrf: 60 → 1. ")
    tuning._k_rrf.value = 2
    tuning._query.value = 1
    tuning._k_rrf.value = 3
    assert tuning._view.status.startswith("k_rrf: 2 → 3. ")
    monkeypatch.setattr("lab.tuning._GESTURE_SECONDS", 0)
    tuning._k_rrf.value = 5
    assert tuning._view.status.startswith("k_rrf: 3 → 5. ")


def test_weights_refused_on_the_way_do_not_break_the_comparison(tuning, monkeypatch):
    monkeypatch.setattr("lab.tuning._GESTURE_SECONDS", 600)
    tuning._weights[0].value = 0
    for weight in (0.5, 0, 0.2):
        tuning._weights[1].value = weight
    assert tuning._view.status.startswith("weight of Lengths: 1 → 0.2. ")


def test_the_status_is_right_for_one_document_and_one_query(retriever):
    tuning = lab.TuningLab(retriever, [judged_query("fig", "conceptual", 10)])
    assert len(tuning._view.table["rows"]) == 1
    tuning._k_rrf.value = 1
    assert tuning._view.status == (
        "k_rrf: 60 → 1. The only document stays first. The first relevant document has rank 1. "
        "MRR of the only query: 1.000."
    )
    tuning._own.value = "plum?"
    assert tuning._view.status.startswith("Query: plum? ")


def test_relevant_documents_are_marked_and_those_below_the_table_are_named(retriever):
    for number in range(20, 50):
        for index in retriever.indexes:
            index.add_document({"id": number, "title": f"More {number}", "content": "apple jam"})
    tuning = lab.TuningLab(retriever, [judged_query("apple jam", "mixed", 20, 5, 49)], candidates=40)
    assert [row["label"] for row in tuning._view.table["rows"] if row["relevant"]] == ["More 20"]
    assert re.search(
        r"rank 3\d: Fruit 5; rank \d+: More 49$|rank \d+: More 49; rank 3\d: Fruit 5$",
        tuning._view.table["note"],
    )


def test_indexes_are_searched_once_a_query(retriever, tuning):
    searches = retriever.indexes[1].searches
    assert sorted(searches) == sorted(query.text for query in JUDGED)
    tuning._k_rrf.value = 1
    tuning._candidates.value = 2
    tuning._weights[0].value = 0.5
    tuning._metric.value = "nDCG@10"
    tuning._query.value = 3
    assert len(searches) == len(JUDGED)
    tuning._own.value = "quince"
    tuning._own.value = "fig"
    tuning._own.value = "quince"
    assert searches[len(JUDGED) :] == ["quince"]


def test_a_free_query_that_is_judged_has_its_stars_and_an_empty_one_gives_the_chosen_back(tuning):
    tuning._own.value = " plum "
    assert any(row["relevant"] for row in tuning._view.table["rows"])
    assert tuning._query.label == "plum · identifier · plum"
    tuning._own.value = "quince"
    assert tuning._query.label == "(your own)"
    assert "quince" in tuning._view.table["title"]
    assert "Nobody has judged" in tuning._view.table["note"]
    tuning._own.value = ""
    assert "apple jam" in tuning._view.table["title"]
    assert tuning._query.label == "apple jam · mixed · apple jam"
    assert "(your own)" not in dict(tuning._query.options)
    tuning._own.value = "quince"
    click(tuning, {"query": "apple jam"})
    assert "apple jam" in tuning._view.table["title"]
    tuning._own.value = "quince"
    tuning._query.value = 1
    assert tuning._own.value == ""
    assert "cherry" in tuning._view.table["title"]


# ---- the call


@pytest.mark.parametrize("weights", [(1, 1), (0.25, 2)])
@pytest.mark.parametrize("kind", [Retriever, LearnersRetriever])
def test_the_call_gives_the_ranking_shown(kind, weights):
    retriever = filled(kind(BM25Index(), Lengths()))
    tuning = lab.TuningLab(retriever, JUDGED)
    tuning._own.value = 'pear "cake"'
    tuning._k_rrf.value, tuning._candidates.value = 1, 3
    for control, weight in zip(tuning._weights, weights, strict=True):
        control.value = weight
    got = evaluate(tuning.call, retriever=retriever, LearnersRetriever=LearnersRetriever, Retriever=Retriever)
    assert found(got) == shown(tuning)


def test_the_call_of_a_retriever_without_indexes_uses_those_given():
    class Closed(Retriever):
        def __init__(self, *indexes):
            super().__init__(*indexes)
            self._indexes = self.__dict__.pop("indexes")

    indexes = filled(Retriever(BM25Index(), Lengths())).indexes
    tuning = lab.TuningLab(Closed(*indexes), JUDGED, indexes=indexes)
    tuning._weights[1].value = 0.1
    assert found(evaluate(tuning.call, indexes=indexes)) == shown(tuning)


def test_the_button_shows_the_call_which_then_follows(tuning):
    assert tuning._view.call == ""
    tuning._show_call()
    assert tuning._view.call == tuning.call == 'retriever.search("apple jam", k=15, k_rrf=60, candidates=10)'
    tuning._k_rrf.value = 1
    assert "k_rrf=1," in tuning._view.call


# ---- all queries


def test_the_maps_hold_the_sweep_of_all_queries_and_of_each_kind(retriever, tuning):
    maps = tuning._view.maps
    assert [panel["name"] for panel in maps["panels"]] == [
        "all queries (6)",
        "mixed (2)",
        "identifier (2)",
        "conceptual (2)",
    ]
    swept = lab.sweep(retriever, JUDGED)
    assert maps["panels"][0]["values"] == swept.table.round(4).to_numpy().tolist()
    assert maps["panels"][1]["values"] == swept.by_kind["mixed"].round(4).to_numpy().tolist()
    assert maps["candidates"] == [str(depth) for depth in range(1, 11)]
    row, column = maps["panels"][0]["best"]
    assert (maps["k_rrfs"][row], maps["candidates"][column]) == (
        f"{swept.best().k_rrf:g}",
        str(swept.best().candidates),
    )


def test_a_setting_moves_the_marker_and_draws_no_map_again(tuning):
    maps = tuning._view.maps
    tuning._k_rrf.value, tuning._candidates.value = 1, 3
    assert tuning._view.maps is maps
    row, column = tuning._view.point
    assert (maps["k_rrfs"][row], maps["candidates"][column]) == ("1", "3")


@pytest.mark.parametrize("metric", ["MRR", "nDCG@10", "recall@10"])
def test_the_comparison_is_that_of_lab_compare(retriever, metric):
    tuning = lab.TuningLab(retriever, JUDGED, metric=metric)
    tuning._k_rrf.value, tuning._candidates.value = 1, 2
    bm25, lengths = retriever.indexes
    searches = {
        "BM25": bm25.search,
        "Lengths": lengths.search,
        "hybrid": lambda query, k: retriever.search(query, k, 1, 2),
    }
    expected = lab.compare(searches, JUDGED, by_kind=True)
    for one in tuning._model.comparison():
        row = expected.loc[(one.group, one.name)]
        assert one.value == pytest.approx(row[metric], abs=1e-12)
        assert (one.low, one.high) == pytest.approx((row[f"{metric} low"], row[f"{metric} high"]), abs=1e-12)


def test_the_losses_are_those_to_the_best_single_index(retriever, tuning):
    tuning._weights[0].value = 0.05
    single = tuning._model.best_single()
    assert single == "BM25"
    retriever.weights = [0.05, 1]
    searches = {"BM25": retriever.indexes[0].search, "hybrid": lambda query, k: retriever.search(query, k)}
    expected = lab.losses(searches, JUDGED, of="hybrid", against="BM25")
    assert 0 < len(expected) == len(tuning._view.losses["rows"])
    assert {row["text"] for row in tuning._view.losses["rows"]} == set(expected["query"])
    values = tuning._model.values()
    low, high = lab.paired_bootstrap(values["hybrid"], values["BM25"])
    assert tuning._model.lead()[1:] == pytest.approx((low, high), abs=1e-12)


def test_the_losses_name_the_metric_and_all_of_them_can_be_seen(retriever):
    judged = [judged_query(f"apple {word}", "mixed", 5) for word in "abcdefghij"]
    tuning = lab.TuningLab(retriever, judged)
    tuning._weights[0].value = 0
    losses = tuning._view.losses
    assert len(losses["rows"]) == 8
    assert (losses["more"], losses["open"]) == ("show all 10", False)
    assert losses["rows"][0]["values"] == "mixed: MRR 0.50 with BM25, 0.20 with the hybrid"
    click(tuning, {"losses": "all"})
    assert len(tuning._view.losses["rows"]) == 10
    tuning._candidates.value = 9
    assert len(tuning._view.losses["rows"]) == 10
    assert (tuning._view.losses["more"], tuning._view.losses["open"]) == ("show fewer", True)
    click(tuning, {"losses": "few"})
    assert tuning._view.losses == losses


def test_the_intervals_are_those_of_lab_metrics():
    import numpy as np

    values = np.random.default_rng(1).random(31)
    assert interval(values) == pytest.approx(lab.bootstrap_interval(values), abs=1e-12)


def test_another_metric_or_other_weights_draw_another_map_and_a_known_one_comes_back(tuning, monkeypatch):
    first = tuning._view.maps
    tuning._metric.value = "recall@10"
    assert tuning._view.maps["metric"] == tuning._view.comparison["metric"] == "recall@10"
    tuning._metric.value = "MRR"
    tuning._weights[0].value = 0
    assert tuning._view.maps["panels"] != first["panels"]
    monkeypatch.setattr(tuning._model, "sweep_for", lambda *_: pytest.fail("it was made before"))
    tuning._weights[0].value = 1
    assert tuning._view.maps == first
    assert not tuning._view.stale


def test_queries_without_a_relevant_document_are_left_out_and_counted(retriever):
    tuning = lab.TuningLab(retriever, [*JUDGED, judged_query("quince", "mixed")])
    assert tuning._view.maps["panels"][0]["name"] == "all queries (6)"
    assert "left out, as no document is relevant to them: 1" in tuning._view.comparison["note"]


# ---- presets, reset, clicks


def test_presets_and_reset(tuning):
    press(tuning, "k_rrf = 1")
    assert tuning.settings.k_rrf == 1
    press(tuning, "k_rrf = 60")
    assert tuning.settings.k_rrf == 60
    tuning._candidates.value, tuning._weights[1].value, tuning._metric.value = 2, 0.3, "recall@10"
    press(tuning, "reset")
    assert tuning.settings == (60, 10, (1, 1), "MRR")
    assert (tuning._candidates.value, tuning._weights[1].value) == (10, 1)
    assert not tuning._view.stale


def test_a_reset_that_changes_nothing_says_nothing_new(tuning):
    tuning._weights[0].value = 0.1
    status = tuning._view.status
    tuning._model.start = tuning.settings
    press(tuning, "reset")
    assert tuning._view.status == status


def press(tuning, description):
    controls = [tuning]
    while controls:
        control = controls.pop()
        controls += getattr(control, "children", ())
        if getattr(control, "description", "") == description:
            return control.click()
    raise LookupError(description)


def test_a_click_on_a_map_moves_the_sliders_and_one_on_a_loss_chooses_the_query(tuning):
    click(tuning, {"point": [1, 2]})
    assert (tuning._k_rrf.value, tuning._candidates.value) == (1, 3)
    assert tuning.settings[:2] == (1, 3)
    click(tuning, {"query": "plum"})
    assert "plum" in tuning._view.table["title"]


def click(tuning, content):
    tuning._view._handle_custom_msg(content, [])


def test_it_starts_where_it_is_told_to(retriever):
    retriever.weights = [0.5, 3]
    tuning = lab.TuningLab(retriever, JUDGED, k_rrf=4, candidates=500, metric="precision@2")
    assert tuning.settings == (4, 10, (0.5, 3), "precision@2")
    assert [control.value for control in tuning._weights] == [0.5, 3]
    assert tuning._view.maps["k_rrfs"][tuning._view.point[0]] == "4"


# ---- what is refused


@pytest.mark.parametrize(
    ("judged", "arguments", "said"),
    [
        ([], {}, "the list of judged queries is empty"),
        ([judged_query("apple", "mixed")], {}, "names a document that is relevant"),
        ([judged_query("zebra", "mixed", 1)], {}, "No index finds a document for any of the judged queries"),
        (["apple"], {}, "judged queries are a list such as"),
        (JUDGED, {"metric": "beauty"}, "There is no metric named 'beauty'"),
        (JUDGED, {"k_rrf": -1}, "k_rrf must be a number of at least 0"),
        (JUDGED, {"candidates": 0}, "candidates must be at least 1"),
    ],
)
def test_what_cannot_be_tuned_is_one_plain_error(retriever, judged, arguments, said):
    with pytest.raises(TuningError, match=re.escape(said)) as caught:
        lab.TuningLab(retriever, judged, **arguments)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_a_retriever_without_indexes_is_asked_for_them():
    with pytest.raises(TuningError, match=r"indexes=\["):
        lab.TuningLab(object(), JUDGED)


def test_an_index_that_fails_on_a_judged_query_is_one_plain_error(retriever):
    retriever.indexes[1].broken = ("plum",)
    with pytest.raises(SearchError, match="Lengths failed on the query 'plum'"):
        lab.TuningLab(retriever, JUDGED)


@pytest.mark.parametrize(
    ("query", "said"),
    [("boom", "The index Lengths failed on the query 'boom'"), ("zebra", "No index finds a document")],
)
def test_a_query_that_fails_or_finds_nothing_says_so_and_keeps_the_view(retriever, tuning, query, said):
    retriever.indexes[1].broken = ("boom",)
    before, status = tuning._view.table, tuning._view.status
    tuning._own.value = query
    assert said in tuning._view.problem
    assert tuning._view.table == before
    assert tuning._view.status == status
    tuning._k_rrf.value = 1
    assert tuning._view.problem == ""
    assert "apple jam" in tuning._view.table["title"]


def test_weights_that_are_all_zero_are_refused_and_the_view_is_kept(tuning):
    tuning._weights[0].value = 0
    before, maps = tuning._view.table, tuning._view.maps
    tuning._weights[1].value = 0
    assert re.fullmatch(
        r"At least one weight must be above 0: .*\. Below is still the last view that worked, "
        r"with k_rrf 60, candidates 10, weight of BM25 0, weight of Lengths 1\.",
        tuning._view.problem,
    )
    assert (tuning._view.table, tuning._view.maps) == (before, maps)
    assert tuning.settings.weights == (0, 1)
    tuning._own.value = "quince"
    assert "that worked, with k_rrf 60, candidates 10, weight of BM25 0," in tuning._view.problem
    tuning._weights[0].value = 0.5
    assert tuning._view.problem == ""
    assert tuning.settings.weights == (0.5, 0)


def test_a_fault_of_a_control_is_said_and_not_raised(tuning, monkeypatch):
    def broken(**_settings):
        raise RuntimeError("out of order")

    monkeypatch.setattr(tuning._model, "change", broken)
    tuning._k_rrf.value = 1
    assert tuning._view.problem.startswith("RuntimeError: out of order. Below is still")


# ---- in a kernel: the sweep runs beside the sliders


def in_a_kernel(tuning, work):
    async def run():
        await work()
        if tuning._work:
            await tuning._work

    asyncio.run(run())


def test_sliders_move_while_a_sweep_runs(tuning):
    first = tuning._view.maps

    async def work():
        tuning._weights[0].value = 0.2
        assert tuning._view.stale
        assert tuning._view.maps == first
        for k_rrf in (1, 2, 3, 5):
            tuning._k_rrf.value = k_rrf
            await asyncio.sleep(0.06)
            assert tuning._view.point[0] == tuning._model.k_rrfs.index(k_rrf)

    in_a_kernel(tuning, work)
    assert tuning._view.problem == ""
    assert tuning._view.maps["panels"] != first["panels"]
    assert not tuning._view.stale
    assert tuning._view.work == {}


def test_only_the_last_weights_are_measured(tuning, monkeypatch):
    made, sweep_for = [], tuning._model.sweep_for

    def counted(settings, progress):
        made.append(settings.weights)
        return sweep_for(settings, progress)

    monkeypatch.setattr(tuning._model, "sweep_for", counted)

    async def work():
        for weight in (0.1, 0.2, 0.3, 0.4):
            tuning._weights[0].value = weight
            await asyncio.sleep(0.01)

    in_a_kernel(tuning, work)
    assert made == [(0.4, 1)]
    assert tuning._model.swept.weights == (0.4, 1)


def test_a_sweep_whose_weights_changed_again_is_stopped(tuning, monkeypatch):
    sweep_for, started, ended = tuning._model.sweep_for, [], []

    def slow(settings, progress):
        def queries(items, label):
            for item in progress(items, label):
                started.append(settings.weights)
                import time

                time.sleep(0.05)
                yield item
            ended.append(settings.weights)

        return sweep_for(settings, queries)

    monkeypatch.setattr(tuning._model, "sweep_for", slow)

    async def work():
        tuning._weights[0].value = 0.2
        await asyncio.sleep(0.22)
        assert tuning._view.work["total"] == len(JUDGED)
        assert tuning._view.work["text"]
        tuning._weights[0].value = 0.4

    in_a_kernel(tuning, work)
    assert set(started) == {(0.2, 1), (0.4, 1)}
    assert set(ended) == {(0.4, 1)}
    assert tuning._model.swept.weights == (0.4, 1)


def test_going_back_before_the_sweep_ends_shows_the_first_map_again(tuning):
    first = tuning._view.maps

    async def work():
        tuning._weights[0].value = 0.2
        await asyncio.sleep(0.01)
        tuning._weights[0].value = 1
        await asyncio.sleep(0.3)

    in_a_kernel(tuning, work)
    assert tuning._view.maps == first
    assert not tuning._view.stale


def test_a_sweep_that_fails_is_said_and_the_map_is_kept(tuning, monkeypatch):
    first = tuning._view.maps

    def broken(*_arguments):
        raise MemoryError("no room")

    monkeypatch.setattr(tuning._model, "sweep_for", broken)

    async def work():
        tuning._weights[0].value = 0.2

    in_a_kernel(tuning, work)
    assert tuning._view.problem == "MemoryError: no room"
    assert tuning._view.maps == first
    monkeypatch.undo()
    tuning._k_rrf.value = 1
    assert tuning._view.problem == ""
    assert tuning._view.maps["panels"] != first["panels"]


# ---- where no widget can be drawn


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def test_the_fallback_needs_nothing_that_an_untrusted_notebook_loses(retriever):
    html = fallback(TuningModel(retriever, JUDGED))
    tags = Tags(html).tags
    assert {tag for tag, _ in tags} <= {
        *("div", "p", "strong", "img", "table", "caption", "thead", "tbody", "tr", "th", "td")
    }
    images = [attributes for tag, attributes in tags if tag == "img"]
    assert len(images) == 2
    for image in images:
        assert image["src"].startswith("data:image/png;base64,")
        assert len(image["alt"]) > 60
    assert "apple jam" in html and "hybrid" in html
    assert len(html) < 400_000


def test_the_fallback_is_displayed_before_the_widget(tuning, monkeypatch):
    displayed = []
    monkeypatch.setattr("IPython.display.display", displayed.append)
    bundle = tuning._repr_mimebundle_()
    assert [output.data.startswith('<div class="lab-tuning-fallback">') for output in displayed] == [True]
    assert bundle["text/plain"] == "The tuning lab. Run this cell to use it."
    assert "application/vnd.jupyter.widget-view+json" in bundle
