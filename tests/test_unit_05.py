"""Unit 05: the stored vectors of the Python reference, the exercises that take numbers, the queries held apart."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import hybrid_search
import lab
from grader import check, held_apart, references
from grader.exercises import EXERCISES
from grader.feedback import as_text
from grader.judge import judge
from lab import embedders, minilm, stored_vectors
from lab.minilm import MiniLM
from lab.vector_cache import CachedEmbedder, VectorCache

OF_STORED_PYTHON = sys.version_info[:2] in (stored_vectors.PYTHON, *stored_vectors.NEWER_PYTHONS)


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """No key, nothing embedded so far, no embedder made so far."""
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    monkeypatch.setenv("HYBRID_SEARCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(embedders, "_made", {})
    return tmp_path / "cache"


@pytest.fixture
def embedded(monkeypatch):
    """The texts that the model had to embed."""
    asked, embed = [], MiniLM._embed
    monkeypatch.setattr(MiniLM, "_embed", lambda self, text: (asked.append(text), embed(self, text))[1])
    return asked


class Counting:
    """An embedder that notes what it is asked; a vector says where it came from."""

    name = cache_key = "counting"

    def __init__(self):
        self.asked = []

    def embed_documents(self, texts):
        self.asked.append(list(texts))
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def stored_for(*texts):
    vectors = {text: np.array([0, 9], dtype=np.float32) for text in texts}
    return lambda asked: {text: vectors[text] for text in asked if text in vectors}


# ---- stored vectors


def test_the_first_run_of_the_unit_embeds_no_piece_of_this_pythons_reference(empty_cache, embedded):
    texts = stored_vectors.python_texts()
    vectors = lab.embedder("local").embed_documents(texts)
    assert vectors.shape == (len(texts), minilm.DIMENSION) and vectors.dtype == np.float32
    # Another bugfix release may have changed a few lines; another version has changed more.
    assert len(embedded) <= (0.05 if OF_STORED_PYTHON else 0.6) * len(texts)
    assert (empty_cache / "vectors-1.sqlite3").exists() == bool(embedded)


def test_every_judged_query_has_a_stored_vector(empty_cache, embedded):
    for query in lab.judged_queries("python"):
        lab.embedder("local").embed_query(query.text)
    assert embedded == []


def test_stored_vectors_of_the_reference_are_those_of_the_live_model():
    """float32, so bit for bit on the machine that made them, and up to 1e-7 apart elsewhere."""
    stored = stored_vectors.known(stored_vectors.python_texts())
    sample = list(stored)[::40] + [query.text for query in lab.judged_queries("python")[::20]]
    live = MiniLM().embed_documents(sample)
    assert len(sample) > 10
    assert np.allclose([stored[text] for text in sample], live, atol=1e-4)
    assert {vector.dtype for vector in stored.values()} == {np.dtype(np.float32)}


def test_the_stored_vectors_are_smaller_than_a_megabyte():
    assert stored_vectors.PYTHON_FILE.stat().st_size < 1_000_000
    # Of Python 3.12 and 3.13 together: the language reference, and its pages in units 08 and 09.
    assert stored_vectors.NEWER_PYTHON_FILE.stat().st_size < 500_000


def test_stored_goes_before_cached_and_cached_before_the_model(tmp_path):
    CachedEmbedder(Counting(), VectorCache(tmp_path), queries=False).embed_documents(["a", "bb"])
    embedder = CachedEmbedder(
        Counting(), VectorCache(tmp_path), queries=False, stored=stored_for("a", "question")
    )
    assert embedder.embed_documents(["ccc", "a", "bb", "a"]).tolist() == [[3, 1], [0, 9], [2, 1], [0, 9]]
    assert embedder._embedder.asked == [["ccc"]]
    assert embedder.embed_query("question").tolist() == [0, 9]
    assert embedder.embed_query("other").tolist() == [5, 1]


def test_a_stored_vector_cannot_be_changed_through_a_query(tmp_path):
    stored = stored_for("a")
    embedder = CachedEmbedder(Counting(), VectorCache(tmp_path), queries=False, stored=stored)
    embedder.embed_query("a")[0] = 7
    assert embedder.embed_query("a").tolist() == [0, 9]


def test_what_is_embedded_is_kept_after_every_few_texts_and_shown_with_a_bar(tmp_path, monkeypatch):
    shown = []

    def watched(items, label):
        for done, item in enumerate(items):
            shown.append((label, done))
            yield item

    monkeypatch.setattr("lab.vector_cache.progress", watched)
    embedder = CachedEmbedder(Counting(), VectorCache(tmp_path), queries=False, step=2)
    embedder.embed_documents(["a", "bb", "ccc", "dddd", "eeeee"])
    assert embedder._embedder.asked == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    assert shown == [("Embedding texts", done) for done in range(5)]


# ---- exercises that take numbers


RIGHT = hybrid_search.metrics


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: check("metrics", 3), "metrics must be a dict with the keys"),
        (lambda: check("metrics", [0.5] * 5), "metrics must be a dict with the keys"),
        (lambda: check("metrics"), "you gave 0 objects"),
        (
            lambda: check("metrics", {"MRR": 0.375}),
            'metrics has no "recall@3": it needs the keys "recall@3", ',
        ),
        (lambda: check("metrics", RIGHT | {"F1": 1}), '"F1" is not asked for'),
        (lambda: check("metrics", RIGHT | {"MRR": "0.375"}), "\"MRR\" is the text '0.375'"),
        (lambda: check("metrics", RIGHT | {"MRR": [0.5, 0.25]}), '"MRR" must be one number: you gave [0.5'),
        (lambda: check("metrics", RIGHT | {"MRR": float("nan")}), '"MRR" must be one number: you gave (nan)'),
        (lambda: check("metrics", RIGHT | {"MRR": True}), '"MRR" must be one number: you gave True'),
        (lambda: check("tuning", {"k_rrf": 60}), 'settings has no "candidates"'),
        (lambda: check("tuning", {"k_rrf": "60", "candidates": 20}), "\"k_rrf\" is the text '60'"),
        (
            lambda: check("tuning", {"k_rrf": 60, "candidates": 20, "weights": [1, 1]}),
            '"weights" is not asked for',
        ),
    ],
)
def test_a_dict_that_is_not_what_was_asked_for_is_one_sentence(call, sentence, capsys):
    assert call() == 0
    said = capsys.readouterr().out
    assert sentence in said and said.count("\n") == 1


def test_none_stands_for_a_number_still_to_come(capsys):
    assert check("metrics", dict.fromkeys(RIGHT)) == 0
    assert "not attempted yet" in capsys.readouterr().out
    assert check("metrics", RIGHT | {"nDCG@3": None}) == 1
    assert "to do   nDCG" in capsys.readouterr().out
    assert check("tuning", {"k_rrf": 60, "candidates": None}) == 0
    assert "not attempted yet" in capsys.readouterr().out


def test_a_wrong_number_does_not_give_the_right_one_away(capsys):
    check("metrics", RIGHT | {"nDCG@3": 0.9, "MRR": 0.1})
    said = capsys.readouterr().out
    assert "a lower number" in said and "a higher number" in said
    assert "0.69" not in said and "0.37" not in said


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"MRR": (1 / 2 + 1 / 4 + 1) / 3}, "The third query counts as 1"),
        ({"nDCG@3": 0.57}, "You divide the DCG by the number of relevant documents"),
        ({"nDCG@3": 1.44}, "An nDCG above 1 is impossible"),
        ({"nDCG@3": 1.2}, "between 0 and 1; more is impossible"),
        ({"recall@3": 100}, "You give percentages"),
        ({"recall@3": 100, "precision@3": 66.7}, "You give percentages"),
        ({"recall@3": 3}, "between 0 and 1; more is impossible"),
        ({"precision@3": -1}, "between 0 and 1"),
    ],
)
def test_a_natural_mistake_by_hand_gets_its_sentence(wrong, sentence, capsys):
    check("metrics", RIGHT | wrong)
    assert sentence in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("away", "points"), [(0.004, 2), (-0.004, 2), (0.006, 1), (-0.006, 1)])
def test_two_digits_are_enough(away, points, capsys):
    assert check("metrics", RIGHT | {"nDCG@3": RIGHT["nDCG@3"] + away}) == points


def test_the_numbers_by_hand_are_those_of_the_lab_s_metrics():
    first, second = list("CABDE"), list("EBADC")
    assert (
        pytest.approx(
            {
                "recall@3": lab.recall_at(first, {"A", "B"}, 3),
                "precision@3": lab.precision_at(first, {"A", "B"}, 3),
                "reciprocal rank": lab.reciprocal_rank(first, {"A", "B"}),
                "MRR": lab.mrr([first, second, first], [{"A", "B"}, {"D"}, set()]),
                "nDCG@3": lab.ndcg_at(first, {"A", "B"}, 3),
            }
        )
        == RIGHT
    )
    assert round(RIGHT["nDCG@3"], 6) == 0.693426


# ---- evaluate


def search_for(found):
    return lambda text, k: [({"id": label}, 0.5) for label in found[text]][:k]


def judged(**relevant):
    return [SimpleNamespace(text=text, relevant=frozenset(labels)) for text, labels in relevant.items()]


def test_evaluate_measures_the_first_k_results():
    search = search_for({"one": "cab", "two": "xyz", "three": "d"})
    queries = judged(one="ab", two="d", three="de")
    assert hybrid_search.evaluate(search, queries) == {"MRR": 1.5 / 3, "recall": 1.5 / 3}
    assert hybrid_search.evaluate(search, queries, k=1) == {"MRR": 1 / 3, "recall": 0.5 / 3}


def test_evaluate_leaves_out_a_query_that_nothing_answers_and_refuses_to_measure_nothing():
    search = search_for({"one": "a", "none": "b"})
    assert hybrid_search.evaluate(search, judged(one="a", none="")) == {"MRR": 1, "recall": 1}
    with pytest.raises(ValueError, match="no query has a relevant document"):
        hybrid_search.evaluate(search, judged(none=""))
    with pytest.raises(ValueError, match="k must be at least 1"):
        hybrid_search.evaluate(search, judged(one="a"), k=0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda right: {"mrr": right["MRR"], "recall": right["recall"]}, 'must be "MRR" and "recall"'),
        (lambda right: {"MRR": right["MRR"], "Recall": right["recall"]}, 'must be "MRR" and "recall"'),
        (lambda right: right | {"recall": 0}, "Your recall is 0 for every query"),
        (lambda right: right | {"MRR": 0}, "Your MRR is 0 for every query"),
        (lambda right: {"MRR": 0, "recall": 0}, "Both numbers are 0 for every query"),
    ],
)
def test_an_unfinished_or_misnamed_result_gets_its_own_sentence(change, sentence, capsys):
    check("evaluate", lambda search, judged, k=10: change(hybrid_search.evaluate(search, judged, k)))
    said = " ".join(capsys.readouterr().out.split())
    assert sentence in said and "judged_ids knows" not in said


def test_a_number_still_none_is_to_do(capsys):
    half = lambda search, judged, k=10: hybrid_search.evaluate(search, judged, k) | {"recall": None}  # noqa: E731
    assert 0 < check("evaluate", half) < 2
    assert "to do   recall" in capsys.readouterr().out


def test_no_relevant_id_found_is_explained(capsys):
    def evaluate(search, judged, k=10):
        used = [query for query in judged if query.relevant]
        ids = [lab.judged_ids(search(query.text, k)) for query in used]
        ranks = [
            [rank for rank, one in enumerate(found, 1) if one in query.relevant]
            for found, query in zip(ids, used, strict=True)
        ]
        return {"MRR": sum(1 / of[0] for of in ranks) / len(used), "recall": 0}

    check("evaluate", evaluate)
    assert "Append 0 for such a query" in " ".join(capsys.readouterr().out.split())


# ---- settings, judged on queries held apart


@pytest.mark.parametrize(
    ("k_rrf", "candidates", "points"),
    [
        (7, 40, 2),
        (60, 20, 2),
        (7, 30, 2),
        (10, 30, 2),
        (60, 50, 1),
        (60, 300, 1),
        (0, 7, 0),
        (60, 1, 0),
        (-1, 20, 0),
        (60, 0, 0),
    ],
)
def test_settings_earn_points_by_how_close_to_the_best_they_are(k_rrf, candidates, points, capsys):
    assert check("tuning", {"k_rrf": k_rrf, "candidates": candidates}) == points


def test_every_miss_is_explained(capsys):
    stored = references.load(EXERCISES["tuning"])["expected"][0]["value"]
    near_steps = {step + away for step in stored["candidates"] for away in (-2, -1, 0, 1, 2)}
    named = set()
    for k_rrf in {0.5 * half for half in range(42)} | set(stored["k_rrf"]):
        for candidates in sorted(step for step in near_steps if 1 <= step <= 589):
            settings = {"k_rrf": k_rrf, "candidates": candidates}
            attempt = {
                "probes": references.load(EXERCISES["tuning"])["probes"],
                "answers": [{"value": settings}] * 2,
            }
            report = judge(EXERCISES["tuning"], attempt, references.load(EXERCISES["tuning"]))
            if report.points < 2:
                assert report.misconceptions, settings
                named.update(report.misconceptions)
    assert named == {"few_candidates", "first_places", "many_candidates"}


def test_the_settings_that_the_third_hint_names_earn_all_points():
    for k_rrf in (7, 10, 20, 60, 100, 200):
        for candidates in range(10, 41):
            assert check("tuning", {"k_rrf": k_rrf, "candidates": candidates}) == 2


@pytest.fixture(scope="module")
def measured_retriever():
    if not known_everywhere():
        pytest.skip("this release of Python has another language reference than the one that was measured")
    from lab.stored_vectors import StoredEmbedder

    retriever = hybrid_search.Retriever(
        hybrid_search.VectorIndex(StoredEmbedder()), hybrid_search.BM25Index(lab.python_tokens)
    )
    retriever.add_documents(lab.python_reference())
    return retriever


def test_what_the_settings_are_worth_is_measured_on_every_second_query(measured_retriever):
    queries = lab.judged_queries("python")
    held_apart = queries[1::2]
    assert {kind: sum(query.kind == kind for query in held_apart) for kind in {q.kind for q in queries}} == {
        "conceptual": 14,
        "identifier": 14,
        "mixed": 14,
    }
    stored = references.load(EXERCISES["tuning"])["expected"][0]["value"]
    for k_rrf, candidates in [(60, 20), (0, 7)]:
        found = [
            lab.judged_ids(measured_retriever.search(query.text, 1000, k_rrf, candidates))
            for query in held_apart
        ]
        row, column = stored["k_rrf"].index(k_rrf), stored["candidates"].index(candidates)
        expected = lab.mrr(found, [query.relevant for query in held_apart])
        assert stored["MRR"][row][column] == pytest.approx(expected, abs=1e-6)


def test_what_the_unit_says_of_the_three_searches_is_so(measured_retriever):
    vector, bm25 = measured_retriever.indexes
    searches = {"vector": vector.search, "BM25": bm25.search, "hybrid": measured_retriever.search}
    judged = lab.judged_queries("python")
    table = lab.compare(searches, judged, by_kind=True)
    mrr, recall = table["MRR"].unstack(), table["recall@10"].unstack()
    assert mrr.loc["all"].idxmax() == "hybrid"
    assert mrr.loc["identifier", "BM25"] > mrr.loc["identifier", "vector"] + 0.1
    assert mrr.loc["conceptual", "vector"] > mrr.loc["conceptual", "BM25"] + 0.2
    assert mrr.loc["mixed", "vector"] == pytest.approx(mrr.loc["mixed", "BM25"], abs=0.01)
    assert mrr.loc["conceptual", "hybrid"] == pytest.approx(mrr.loc["conceptual", "vector"], abs=0.01)
    assert recall.loc["conceptual", "hybrid"] < recall.loc["conceptual", "vector"] - 0.1
    lost = next(query for query in judged if query.text.startswith("fall back on a placeholder"))
    rows = lab.rrf_view(measured_retriever, lost).table
    assert rows[rows["relevant"]].index[0] == 9 and rows["rank in vector"][9] == 5
    assert rows["document"][9] == "booleans#2"
    assert recall.loc["all", "hybrid"] == pytest.approx(recall.loc["all", "vector"], abs=0.001)
    assert hybrid_search.evaluate(vector.search, judged)["recall"] == pytest.approx(0.78, abs=0.005)
    assert recall.loc["all", "vector"] == pytest.approx(0.875, abs=0.005)
    losses = lab.losses(searches, judged, of="hybrid", against="vector")
    assert len(losses) == 11 and losses.loc["p11"].tolist()[-2:] == [7, 3]
    named = [query for query in judged if query.id == "p49"]
    assert named[0].text == "__qualname__"
    ranks = [lab.judged_ids(search(named[0].text, 1000)) for search in searches.values()]
    first = [next(i for i, topic in enumerate(of, 1) if topic in named[0].relevant) for of in ranks]
    assert first == [16, 1, 2]


def test_what_the_unit_says_of_the_maps_is_so(measured_retriever):
    judged = lab.judged_queries("python")
    sweep = lab.sweep(measured_retriever, judged)
    every = sweep.table.columns[-1]
    names, said = sweep.by_kind["identifier"], sweep.table
    values = [said.loc[1, 20], said.loc[60, 20], said.loc[60, 1], said.loc[60, every]]
    assert [round(value, 3) for value in values] == [0.712, 0.759, 0.625, 0.724]
    assert [round(names.loc[k_rrf, 20], 3) for k_rrf in (1, 60)] == [0.833, 0.893]
    assert names.loc[60, every] > names.loc[60, 20]
    tuning = lab.TuningLab(measured_retriever, judged)
    assert len(tuning._model.losses()) == 16


def test_what_the_unit_says_of_the_two_halves_is_so(measured_retriever):
    judged = lab.judged_queries("python")
    to_choose, apart = (lab.sweep(measured_retriever, half) for half in (judged[0::2], judged[1::2]))
    best = to_choose.best()
    assert best[:2] == (7, 40) and f"{best.value:.4f}" == "0.8148"
    fallen = {place: to_choose.table.loc[place] - apart.table.loc[place] for place in (best[:2], (60, 20))}
    assert 0.08 < fallen[7, 40] < 0.09 and 0.04 < fallen[60, 20] < 0.05
    assert apart.table.loc[7, 40] < apart.table.loc[60, 20]
    for weights in [(2, 1), (1, 2)]:
        other = lab.sweep(measured_retriever, judged[0::2], weights=weights).best()
        there = lab.sweep(measured_retriever, judged[1::2], [other.k_rrf], [other.candidates], weights).best()
        assert other.value < best.value and there.value < apart.table.loc[7, 40]
        assert f"{there.value:.3f}" == {(2, 1): "0.725", (1, 2): "0.663"}[weights]


def known_everywhere() -> bool:
    texts = stored_vectors.python_texts()
    return len(stored_vectors.known(texts)) == len(texts)


def test_another_version_of_python_keeps_what_was_measured(monkeypatch):
    held_apart.measured.cache_clear()
    monkeypatch.setattr(
        lab, "python_reference", lambda: [{"id": "x", "content": "a text of another version"}]
    )
    try:
        table = held_apart.measured()
    finally:
        held_apart.measured.cache_clear()
    stored = references.load(EXERCISES["tuning"])["expected"][0]["value"]
    assert table == {name: stored[name] for name in ("k_rrf", "candidates", "MRR")}


def test_the_check_of_settings_needs_neither_model_nor_solution(tmp_path):
    code = (
        "import sys; from grader import check\n"
        "check('tuning', {'k_rrf': 60, 'candidates': 20})\n"
        "print(sorted({'hybrid_search', 'lab', 'numpy', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_answers_from_elsewhere_may_have_any_shape():
    exercise = EXERCISES["tuning"]
    reference = references.load(exercise)
    for value in (None, 3, "x", [], {}, {"k_rrf": 1}, {"k_rrf": [], "candidates": {}}, {"k_rrf": True}):
        attempt = {"probes": reference["probes"], "answers": [{"value": value}] * 2, "problem": ""}
        report = judge(exercise, attempt, reference)
        assert report.points == 0 and as_text(report)


# ---- a text of the learner's own


def chosen(upload, name, data=None):
    """What the box does when a file is chosen; without data it was too large to be sent."""
    upload._on_message(upload, {"name": name}, [] if data is None else [memoryview(data)])
    return upload


def test_the_box_begins_with_the_report_and_takes_a_text_file():
    upload = lab.DocumentUpload()
    assert upload.document == {"id": "report.md", "content": lab.report()}
    chosen(upload, "notes.md", b"\xef\xbb\xbfOne line.\r\nAnother.")
    assert upload.document == {"id": "notes.md", "content": "One line.\nAnother."}
    assert upload.status == "In use: notes.md, 18 characters." and upload.problem == ""


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("photo.png", b"\x89PNG", "photo.png is no .txt or .md file"),
        ("notes.txt", b"caf\xe9", "notes.txt is not text in UTF-8 (byte 4 is wrong)"),
        ("notes.txt", b"a\0b", "holds binary data"),
        ("notes.txt", b" \n", "notes.txt is empty"),
        ("novel.txt", None, "novel.txt is larger than 5 MB"),
    ],
)
def test_a_file_that_cannot_be_read_is_explained_and_the_last_good_one_stays(name, data, sentence):
    upload = chosen(lab.DocumentUpload(), "good.txt", b"a good text")
    chosen(upload, name, data)
    assert sentence in upload.problem
    assert upload.document["id"] == "good.txt" and upload.status.startswith("In use: good.txt")
    chosen(upload, "good.txt", b"a good text")
    assert upload.problem == ""


def test_without_a_page_the_box_says_in_words_what_it_is():
    data, _metadata = lab.DocumentUpload()._repr_mimebundle_()
    assert "report.md" in data["text/plain"] and ".txt or .md" in data["text/plain"]
