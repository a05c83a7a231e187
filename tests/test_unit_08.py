"""Unit 08: what its text says is so: of the report's tree, of Qdrant's counting, and of what the tree loses."""

import sys

import pytest

import lab
from hybrid_search import TreeIndex, branch_search, build_tree, check_tree, rrf_scores
from lab import stored_vectors
from lab.tree_evaluation import RememberedIndex, measure_trees, pages_of

OF_STORED_PYTHON = sys.version_info[:2] == stored_vectors.PYTHON
INCIDENT = "what happened with INC-2023-Q4-011?"


@pytest.fixture(scope="module")
def extracts():
    return lab.summariser("extractive")


@pytest.fixture(scope="module")
def embedder():
    return lab.embedder("local")


@pytest.fixture(scope="module")
def report(extracts):
    return build_tree(lab.report_pages(), extracts, file_name="report.md")


@pytest.fixture(scope="module")
def index(report, embedder):
    index = TreeIndex(lab.qdrant(), "unit_08_report", embedder)
    index.add_tree(report, lab.report_pages())
    return index


def ends(chunks):
    return [(chunk["first_page"], chunk["last_page"]) for chunk in chunks]


def test_the_tree_of_the_report_has_fifteen_nodes_and_its_root_knows_the_incident_by_a_keyword_alone(report):
    check_tree(report)
    assert len(report) == 15
    assert "INC-2023-Q4-011" in report[-1]["keywords"]
    assert "INC-2023-Q4-011" not in report[-1]["summary"]
    assert "INC-2023-Q4-011" in report[9]["summary"] and "INC-2023-Q4-011" in report[9]["keywords"]


def test_the_numbers_of_nodes_that_the_text_works_out():
    for pages, nodes in ((4, 6), (7, 10), (10, 15)):
        assert len(build_tree(["text"] * pages, lambda text: {"summary": "s", "keywords": []})) == nodes
    levels = [node["level"] for node in build_tree(["x"] * 28, lambda text: {"summary": "", "keywords": []})]
    assert max(levels) == 4  # the quiz


def test_the_unit_s_small_collection_gives_unit_03_s_scores_with_k_one_higher():
    from qdrant_client import models

    client, name = lab.qdrant(), "unit_08_three_sections"
    if client.collection_exists(name):
        client.delete_collection(name)
    client.create_collection(
        name,
        vectors_config={"dense": models.VectorParams(size=2, distance=models.Distance.COSINE)},
        sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    for number, dense, weight in ((2, [1.0, 0.0], 1.5), (7, [0.9, 0.3], 1.0), (6, [0.5, 0.8], 2.0)):
        sparse = models.SparseVector(indices=[17], values=[weight])
        client.upsert(
            name, [models.PointStruct(id=number, vector={"dense": dense, "sparse": sparse}, payload={})]
        )
    query = {"dense": [1.0, 0.0], "sparse": models.SparseVector(indices=[17], values=[1.0])}
    by_words = client.query_points(name, query=query["sparse"], using="sparse", limit=3).points
    assert [(point.id, round(point.score, 4)) for point in by_words] == [
        (6, 0.2671),
        (2, 0.2003),
        (7, 0.1335),
    ]
    both = [models.Prefetch(query=vector, using=using, limit=3) for using, vector in query.items()]

    def fused(how):
        points = client.query_points(name, prefetch=both, query=how, limit=3).points
        return {point.id: point.score for point in points}

    rankings = [[2, 7, 6], [6, 2, 7]]
    assert fused(models.FusionQuery(fusion=models.Fusion.RRF)) == pytest.approx(rrf_scores(rankings, 1))
    assert fused(models.RrfQuery(rrf=models.Rrf(k=61))) == pytest.approx(rrf_scores(rankings, 60))
    assert fused(models.RrfQuery(rrf=models.Rrf(k=60)))[2] == pytest.approx(0.033060, abs=1e-6)


def test_the_way_to_the_climate_target(index):
    walk = lab.watch_search(branch_search, index, "SBT-4410")
    assert [step.title.split(" (")[0] for step in walk.steps] == [
        "the search for the roots",
        "node 15",
        "node 14",
        "node 13",
        "all that is final, in one ranking",
    ]
    assert ends(walk.results) == [(9, 9)]
    for node in index.nodes("report.md"):
        assert ("SBT-4410" in node["summary"]) == (node["id"] == 9)


def test_the_incident_is_found_once_by_the_tree_and_three_times_by_flat_search(index):
    assert [node["first_page"] for node, _ in index.search(INCIDENT, k=3)] == [10, 2, 5]
    assert ends(branch_search(index, INCIDENT)) == [(10, 10)]
    by_id = {node["id"]: node for node in index.nodes("report.md")}
    three = [by_id[15], by_id[14], by_id[10]]
    scores = {node["id"]: score for node, score in index.rank(INCIDENT, three)}
    assert scores[14] == scores[15] < scores[10]
    assert sorted(ranking.index(14) for ranking in index.rankings(INCIDENT, three)) == [1, 2]


def test_the_tree_stops_too_early_and_goes_a_wrong_way(index):
    crash, court = (
        "What made the servers crash and how was it repaired?",
        "Were there any lawsuits or court rulings?",
    )
    assert ends(branch_search(index, crash)) == [(1, 10)]
    assert index.search(crash, k=1)[0][0]["first_page"] == 2
    assert ends(branch_search(index, court)) == [(10, 10)]
    assert index.search(court, k=1)[0][0]["first_page"] == 5


@pytest.fixture(scope="module")
def indexes(extracts, embedder):
    if not OF_STORED_PYTHON:
        pytest.skip("the figures are of the language reference of another version of Python")
    made = {}
    for width in (3, 5):
        made[f"width {width}"] = TreeIndex(lab.qdrant(), f"unit_08_width_{width}", embedder)
        for file_name, pages in lab.reference_documents().items():
            made[f"width {width}"].add_tree(build_tree(pages, extracts, width, file_name), pages)
    return made


@pytest.fixture(scope="module")
def measured(indexes):
    return measure_trees({"tree": branch_search}, indexes, lab.judged_queries("pages"))


def test_the_tree_finds_less_than_as_many_pages_of_a_flat_search(indexes, measured):
    assert [len(index) for index in indexes.values()] == [532, 451]
    means = measured[["recall", "flat recall"]].groupby(level="shape").mean().round(2)
    assert means.to_dict("index") == {
        "width 3": {"recall": 0.55, "flat recall": 0.85},
        "width 5": {"recall": 0.62, "flat recall": 0.82},
    }
    assert measured["pages"].groupby(level="shape").mean().round().tolist() == [48, 38]
    for shape in indexes:
        low, high = lab.paired_bootstrap(measured.loc[shape]["recall"], measured.loc[shape]["flat recall"])
        assert high < 0
    low, high = lab.paired_bootstrap(measured.loc["width 5"]["recall"], measured.loc["width 3"]["recall"])
    assert low < 0 < high


def test_ten_pages_of_a_flat_search_hold_two_thirds(indexes):
    judged, fast = lab.judged_queries("pages"), RememberedIndex(indexes["width 3"])
    shares = []
    for query in judged:
        found = pages_of(fast.search(query.text, k=10, candidates=100))
        shares.append(len(query.relevant.intersection(found)) / len(query.relevant))
    assert round(sum(shares) / len(shares), 2) == 0.67


def test_conceptual_questions_lose_most(measured):
    kinds = {query.id: query.kind for query in lab.judged_queries("pages")}
    recalls = measured.droplevel("search")[["recall", "flat recall"]].reset_index()
    means = recalls.groupby(["shape", recalls["query"].map(kinds)])[["recall", "flat recall"]].mean()
    assert tuple(means.loc[("width 3", "conceptual")].round(2)) == (0.19, 0.64)
    gaps = (means["flat recall"] - means["recall"]).loc["width 3"]
    assert gaps.idxmax() == "conceptual"


def test_where_the_last_chance_is_lost(indexes):
    index, at_the_roots, on_the_way = RememberedIndex(indexes["width 3"]), [], []
    for query in lab.judged_queries("pages"):
        walk = lab.watch_search(branch_search, index, query.text)
        if query.relevant.isdisjoint(pages_of(walk.results)):
            files = {root["file_name"] for root, _ in walk.steps[0].ranked}
            right = {page.split(":")[0] for page in query.relevant}
            (on_the_way if files & right else at_the_roots).append(query.text)
    assert (len(at_the_roots), len(on_the_way)) == (10, 17)
    assert "rpartition" in at_the_roots


def test_no_node_knows_rpartition(indexes):
    for index in indexes.values():
        for name in index.documents:
            for node in index.nodes(name):
                assert "rpartition" not in node["keywords"] and "rpartition" not in node["summary"]
    pages = lab.reference_documents()["string-methods.txt"]
    assert [number for number, page in enumerate(pages, start=1) if "rpartition" in page] == [14]


def test_the_answer_about_sort_comes_second_and_two_results_are_very_large(indexes):
    found = branch_search(indexes["width 5"], "What does list.sort() return?")
    assert [(chunk["file_name"], chunk["first_page"], chunk["last_page"]) for chunk in found][:2] == [
        ("containers.txt", 11, 11),
        ("containers.txt", 12, 12),
    ]
    assert {("simple-statements.txt", 25), ("expressions.txt", 46)} <= {
        (chunk["file_name"], chunk["last_page"]) for chunk in found if chunk["first_page"] == 1
    }
