"""Trees in Qdrant: what is stored, how nodes are ranked, and that no change leaves anything behind."""

import itertools
import math
import os
import random
import subprocess
import sys
import textwrap
import uuid

import numpy as np
import pytest
import qdrant_server
from qdrant_client import QdrantClient, models
from test_branch_search import ancestors

from hybrid_search import (
    BM25Index,
    TreeIndex,
    beam_search,
    branch_search,
    build_tree,
    check_tree,
    rrf_scores,
    term_index,
    term_weights,
    tokenize,
)
from hybrid_search.sparse import term_counts

WORDS = [f"{first}{second}{third}" for first in "bdkpt" for second in "aeiou" for third in "lmnrs"]


class Letters:
    """Vectors without a model: how often each letter occurs. Keeps what it was asked."""

    def __init__(self, letters="abcdefghijklmnopqrstuvwxyz0123456789"):
        self.letters, self.asked = letters, []

    def embed_documents(self, texts):
        assert all(text.strip() for text in texts)
        self.asked += texts
        return [[0.1 + text.lower().count(letter) for letter in self.letters] for text in texts]

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def summarise(text):
    """The first words of every line."""
    words = [word for line in text.splitlines() for word in line.split()[:8]]
    return {"summary": " ".join(words), "keywords": sorted(set(words))[:4]}


def pages_of(seed, count):
    shuffled = random.Random(seed)
    return [" ".join(shuffled.choices(WORDS, k=30)) for _ in range(count)]


@pytest.fixture(params=["memory", "folder", "over HTTP", "QDRANT_URL"])
def client(request, tmp_path):
    if request.param == "memory":
        yield QdrantClient(":memory:")
    elif request.param == "folder":
        client = QdrantClient(path=str(tmp_path / "qdrant"))
        yield client
        client.close()
    elif request.param == "over HTTP":
        with qdrant_server.running() as server:
            yield QdrantClient(url=server.url, check_compatibility=False)
    else:
        if not os.environ.get("QDRANT_URL"):
            pytest.skip("needs a Qdrant server: set QDRANT_URL, and QDRANT_API_KEY if it wants a key")
        yield QdrantClient(
            url=os.environ["QDRANT_URL"],
            api_key=os.environ.get("QDRANT_API_KEY"),
            check_compatibility=False,
        )


@pytest.fixture
def name(client):
    """A collection that no other test has, gone afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    yield name
    client.delete_collection(name)


@pytest.fixture
def memory():
    return QdrantClient(":memory:")


def filled(client, name="trees", documents=("one.txt", "two.txt"), pages=7):
    index = TreeIndex(client, name, Letters())
    for number, document in enumerate(documents):
        index.add_document(document, pages_of(number, pages), summarise)
    return index


def everything(client, name="trees"):
    """All points of a collection, by id, with their vectors."""
    points, _ = client.scroll(name, limit=10_000, with_vectors=True)
    return {point.id: (point.payload, point.vector) for point in points}


def nodes_in(client, name="trees"):
    return {node: payload for node, (payload, _) in everything(client, name).items() if node != 0}


def check_whole(index, client, name="trees"):
    """Every node in the collection is in a whole tree of a document."""
    trees = [index.nodes(document) for document in index.documents]
    for tree in trees:
        check_tree(tree)
    assert sorted(node["id"] for tree in trees for node in tree) == sorted(nodes_in(client, name))


# ---- what is stored


def test_every_node_is_a_point_with_its_node_its_text_and_its_vectors(client, name):
    index = TreeIndex(client, name, Letters())
    pages = ["tal bem kin", "pos rel dun", "kal mer tos", "bin dal pem"]
    stored = index.add_document("a.txt", pages, summarise)
    nodes = build_tree(pages, summarise, 3, "a.txt")
    assert stored == nodes
    assert index.nodes("a.txt") == nodes and len(index) == 6
    points = everything(client, name)
    for node in nodes:
        payload, vectors = points[node["id"]]
        text = {} if node["child_ids"] else {"text": pages[node["first_page"] - 1]}
        assert {"id": node["id"], **payload} == {**node, **text}
        dense = np.array(Letters().embed_query(node["summary"]))
        assert vectors["dense"] == pytest.approx(list(dense / np.linalg.norm(dense)), abs=1e-6)
        tokens = tokenize(" ".join(["a.txt", node["summary"], *node["keywords"]]))
        sparse = dict(zip(vectors["sparse"].indices, vectors["sparse"].values, strict=True))
        assert sparse == pytest.approx(term_weights(tokens), abs=1e-6)


def test_the_collection_has_a_dense_vector_by_cosine_and_a_sparse_one_with_idf(client, name):
    filled(client, name)
    parameters = client.get_collection(name).config.params
    assert (parameters.vectors["dense"].size, parameters.vectors["dense"].distance) == (36, "Cosine")
    assert parameters.sparse_vectors["sparse"].modifier == models.Modifier.IDF


def test_documents_have_trees_of_their_own_with_ids_that_go_on(memory):
    index = filled(memory, pages=4)
    assert index.documents == ["one.txt", "two.txt"]
    assert [node["id"] for node in index.nodes("two.txt")] == [7, 8, 9, 10, 11, 12]
    assert index.nodes("three.txt") == []
    check_whole(index, memory)


def test_a_tree_of_ones_own_gets_new_ids_and_stays_the_same_tree(memory):
    index = filled(memory, documents=["first.txt"], pages=2)
    pages = pages_of(5, 5)
    nodes = build_tree(pages, summarise, 2, "own.txt", first_id=1)
    stored = index.add_tree(nodes, iter(pages))
    assert [node["id"] for node in stored] == list(range(4, 4 + len(nodes)))
    assert [node["summary"] for node in stored] == [node["summary"] for node in nodes]
    check_tree(stored)
    assert nodes == build_tree(pages, summarise, 2, "own.txt", first_id=1)  # the caller's are left alone


def test_a_collection_can_be_opened_again(tmp_path):
    client = QdrantClient(path=str(tmp_path))
    before = filled(client)
    results = [search(before) for search in SEARCHES]
    client.close()
    client = QdrantClient(path=str(tmp_path))
    again = TreeIndex(client, "trees", Letters())
    assert len(again) == 20 and again.documents == ["one.txt", "two.txt"]
    assert [search(again) for search in SEARCHES] == results
    client.close()


SEARCHES = [
    lambda index: branch_search(index, "bal dem kir"),
    lambda index: beam_search(index, "bal dem kir"),
    lambda index: beam_search(index, "tom", cut="knee"),
    lambda index: index.search("bal dem kir", 9),
]


# ---- ranking


def lists_of(client, name, condition, dense, sparse, limit=1000):
    """The two rankings as Qdrant gives them."""
    return [
        client.query_points(name, query=vector, using=which, query_filter=condition, limit=limit).points
        for which, vector in (("dense", dense), ("sparse", sparse))
    ]


def test_qdrants_rrf_with_k_61_is_the_textbook_one_with_60(client, name):
    index = filled(client, name, pages=25)
    query = "bal dem kir pos"
    vectors = index._query_vectors(query)
    pages = models.Filter(must=[models.FieldCondition(key="level", match=models.MatchValue(value=0))])
    lists = lists_of(client, name, pages, vectors["dense"], vectors["sparse"])
    assert len(lists[0]) == 50 and 10 < len(lists[1]) < 50

    def fused(query):
        prefetch = [
            models.Prefetch(query=vectors[which], using=which, filter=pages, limit=1000)
            for which in ("dense", "sparse")
        ]
        points = client.query_points(name, prefetch=prefetch, query=query, limit=1000).points
        return {point.id: point.score for point in points}

    ids = [[point.id for point in ranking] for ranking in lists]
    of_61 = fused(models.RrfQuery(rrf=models.Rrf(k=61)))
    assert of_61 == pytest.approx(rrf_scores(ids, k_rrf=60), abs=1e-7)
    # What its name alone gives is the textbook one with k = 1, and 60 taken as it is one with 59.
    assert fused(models.FusionQuery(fusion=models.Fusion.RRF)) == pytest.approx(rrf_scores(ids, 1), abs=1e-6)
    assert fused(models.RrfQuery(rrf=models.Rrf(k=60))) == pytest.approx(rrf_scores(ids, 59), abs=1e-7)


def without_equal_scores(client, name, index, query):
    vectors = index._query_vectors(query)
    lists = lists_of(client, name, None, vectors["dense"], vectors["sparse"])
    return all(
        one.score - other.score > 1e-5 for ranking in lists for one, other in itertools.pairwise(ranking)
    )


def test_qdrant_fuses_as_the_index_does_where_no_scores_are_equal(client, name):
    index = TreeIndex(client, name, Letters())
    for number in range(6):  # documents of one page, in which one word is more and more frequent
        index.add_document(
            f"{number}.txt",
            ["bal " * (1 + number) + "kin " * (9 - 2 * number)],
            lambda text: {"summary": text, "keywords": []},
        )
    query = "bal kir"
    assert without_equal_scores(client, name, index, query)
    for k, candidates in ((1, 20), (6, 20), (4, 3), (9, 2)):
        here = index.search(query, k, candidates)
        there = index.search(query, k, candidates, in_qdrant=True)
        assert sorted(score for _, score in there) == pytest.approx(sorted(score for _, score in here))
        if len({score for _, score in here}) == len(here):
            assert [node for node, _ in there] == [node for node, _ in here]


def test_a_ranking_is_the_textbook_fusion_of_both_and_holds_exactly_the_nodes_asked_for(client, name):
    index = filled(client, name)
    nodes = index.nodes("one.txt")[2:7] + index.nodes("two.txt")[8:]
    ranked = index.rank("bal dem", nodes)
    assert sorted(node["id"] for node, _ in ranked) == sorted(node["id"] for node in nodes)
    dense, sparse = index.rankings("bal dem", nodes)
    assert len(dense) == len(nodes) and 0 < len(sparse) < len(nodes)
    assert [(node["id"], score) for node, score in ranked] == list(rrf_scores([dense, sparse]).items())
    # By hand, from the definitions.
    texts = {node["id"]: node for node in nodes}
    cosines = {node: cosine(Letters().embed_query("bal dem"), texts[node]["summary"]) for node in texts}
    assert dense == sorted(texts, key=lambda node: (-round(cosines[node], 6), node))
    assert set(sparse) == {
        node
        for node in texts
        if {"bal", "dem"} & set(texts[node]["summary"].split() + texts[node]["keywords"])
    }


def cosine(vector, text):
    one, other = np.array(vector), np.array(Letters().embed_query(text))
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_the_best_roots_come_from_one_fused_ranking_of_all_roots(memory):
    index = filled(memory, documents=[f"{number}.txt" for number in range(12)], pages=3)
    roots = [index.nodes(document)[-1] for document in index.documents]
    assert index.search_roots("bal dem", 12) == index.rank("bal dem", roots)
    assert index.search_roots("bal dem", 3) == index.rank("bal dem", roots)[:3]


def test_the_flat_search_finds_pages_alone(memory):
    index = filled(memory, pages=20)
    found = index.search("bal dem", 100, candidates=100)
    assert len(found) == 40 and all(node["level"] == 0 for node, _ in found)
    pages = [node for name in index.documents for node in index.nodes(name) if not node["child_ids"]]
    assert found == index.rank("bal dem", pages)


def test_candidates_are_so_many_of_each_ranking(memory):
    index = filled(memory, pages=20)
    pages = [node for name in index.documents for node in index.nodes(name) if not node["child_ids"]]
    dense, sparse = index.rankings("bal dem", pages)
    found = [(node["id"], score) for node, score in index.search("bal dem", 100, candidates=4)]
    assert found == list(rrf_scores([dense[:4], sparse[:4]]).items())


def test_equal_scores_are_ordered_by_id_also_where_the_candidates_end(memory):
    # Forty pages with the same text: in both rankings all scores are equal.
    index = TreeIndex(memory, "trees", Letters())
    index.add_document("same.txt", ["bal dem"] * 40, summarise)
    found = index.search("bal", 5, candidates=3)
    assert [(node["id"], score) for node, score in found] == [(1, 2 / 61), (2, 2 / 62), (3, 2 / 63)]


def test_equal_scores_are_ordered_alike_when_the_folder_is_opened_again(tmp_path):
    client = QdrantClient(path=str(tmp_path))
    index = TreeIndex(client, "trees", Letters())
    index.add_document("same.txt", ["bal dem"] * 7, summarise)
    nodes = index.nodes("same.txt")
    ranked = index.rank("bal", nodes)
    vectors = index._query_vectors("bal")
    stored = [
        [point.id for point in ranking] for ranking in lists_of(client, "trees", None, *vectors.values())
    ]
    client.close()
    client = QdrantClient(path=str(tmp_path))
    again = TreeIndex(client, "trees", Letters())
    assert again.rank("bal", nodes) == ranked
    # Qdrant alone does not.
    assert stored != [
        [point.id for point in ranking] for ranking in lists_of(client, "trees", None, *vectors.values())
    ]
    client.close()


def test_a_query_without_a_common_term_is_ranked_by_the_dense_vectors_alone(memory):
    index = filled(memory)
    for query in ("zzz", "the", "?!"):  # unknown; a stop word, so no token at all; no word
        dense, sparse = index.rankings(query, index.nodes("one.txt"))
        assert sparse == [] and len(dense) == 10
        assert [score for _, score in index.search(query, 3)] == [1 / 61, 1 / 62, 1 / 63]
        assert index.search(query, 3) == index.search(query, 3, in_qdrant=True)


def test_no_collection_and_no_documents_find_nothing(client, name):
    index = TreeIndex(client, name, Letters())
    for _ in range(2):
        assert len(index) == 0 and index.documents == [] and index.nodes("x") == []
        assert index.search("bal", 3) == index.search("bal", 3, in_qdrant=True) == []
        assert index.search_roots("bal", 3) == [] and index.rank("bal", []) == []
        assert branch_search(index, "bal") == [] and beam_search(index, "bal", cut="knee") == []
        assert index.delete_document("x") == 0
        index.add_document("a.txt", ["bal"], summarise)
        assert index.delete_document("a.txt") == 1


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(memory, query):
    index = filled(memory)
    for search in (index.search_roots, index.search):
        with pytest.raises(ValueError, match="the query is empty"):
            search(query, 3)
    with pytest.raises(ValueError, match="the query is empty"):
        index.rank(query, index.nodes("one.txt"))


@pytest.mark.parametrize("k", [0, -1])
def test_a_number_of_results_below_1_is_refused(memory, k):
    index = filled(memory)
    with pytest.raises(ValueError, match="k must be at least 1"):
        index.search_roots("bal", k)
    with pytest.raises(ValueError, match="k must be at least 1"):
        index.search("bal", k)
    with pytest.raises(ValueError, match="candidates must be at least 1"):
        index.search("bal", 1, candidates=k)


def test_the_query_is_embedded_once_a_search(memory):
    index = filled(memory, pages=27)
    index.embedder.asked.clear()
    branch_search(index, "bal dem")
    assert index.embedder.asked == ["bal dem"]
    beam_search(index, "bal dem")
    beam_search(index, "pos")
    assert index.embedder.asked == ["bal dem", "pos"]


def test_children_and_texts_come_in_the_order_of_the_pages(client, name):
    index = TreeIndex(client, name, Letters())
    pages = list("abcdefg")
    index.add_document("x.txt", pages, summarise)
    root = index.nodes("x.txt")[-1]
    children = index.children(root)
    assert [(child["first_page"], child["last_page"]) for child in children] == [(1, 3), (4, 6), (7, 7)]
    assert [index.text(child) for child in children] == ["a\nb\nc", "d\ne\nf", "g"]
    assert index.text(root) == "\n".join(pages)
    assert index.children(children[-1]) == []


def test_the_text_of_a_node_takes_a_request_for_each_level_below_it():
    with qdrant_server.running() as server:
        index = TreeIndex(QdrantClient(url=server.url, check_compatibility=False), "trees", Letters())
        pages = [f"page{number}" for number in range(1, 29)]  # the last is left over on three levels
        root = index.add_document("x.txt", pages, summarise)[-1]
        assert root["level"] == 4
        server.requests.clear()
        assert index.text(root) == "\n".join(pages)
        assert len(server.requests) == 4 + 1  # the children four times, then the texts


def test_a_search_through_the_trees_gives_chunks_of_whole_pages(client, name):
    index = filled(client, name, pages=12)
    for found in (branch_search(index, "bal dem kir"), beam_search(index, "bal dem kir", cut="knee")):
        assert found
        for chunk in found:
            number = index.documents.index(chunk["file_name"])
            pages = pages_of(number, 12)[chunk["first_page"] - 1 : chunk["last_page"]]
            assert chunk["text"] == "\n".join(pages)
            by_id = {node["id"]: node for node in index.nodes(chunk["file_name"])}
            stub = type("", (), {"by_id": by_id})
            assert chunk["path"] == [*ancestors(stub, chunk["id"])[::-1], chunk["id"]]


# ---- words


def test_the_sparse_scores_are_bm25_with_the_idf_of_the_collection(client, name):
    texts = [*pages_of(1, 8), "bal", "bal bal bal dem", *pages_of(2, 4)]
    tokens = [tokenize(text) for text in texts]
    average = sum(map(len, tokens)) / len(tokens)
    sparse = models.SparseVectorParams(modifier=models.Modifier.IDF)
    client.create_collection(name, vectors_config={}, sparse_vectors_config={"sparse": sparse})
    points = [
        models.PointStruct(id=number, vector={"sparse": vector(term_weights(own, average))}, payload={})
        for number, own in enumerate(tokens)
    ]
    # Points without such a vector, like the one that keeps the state, do not count among the N of the IDF.
    points += [models.PointStruct(id=900 + number, vector={}, payload={}) for number in range(5)]
    client.upsert(name, points, wait=True)
    index = BM25Index()
    for number, text in enumerate(texts):
        index.add_document({"id": number, "content": text})
    for query in ("bal", "bal dem kir", "bal bal dem"):
        found = client.query_points(
            name, query=vector(term_counts(tokenize(query))), using="sparse", limit=100
        ).points
        expected = {document["id"]: score for document, score in index.search(query, 100)}
        assert {point.id: point.score for point in found} == pytest.approx(expected, rel=1e-5)


def vector(weights):
    return models.SparseVector(indices=list(weights), values=list(weights.values()))


def test_a_document_is_found_by_its_file_name_and_its_keywords(memory):
    index = TreeIndex(memory, "trees", Letters())
    index.add_document("INC-2023-Q4-011.txt", ["bal", "dem"], summarise)
    index.add_document("other.txt", ["pos"], lambda text: {"summary": text, "keywords": ["TX-99402"]})
    everywhere = [node for name in index.documents for node in index.nodes(name)]
    assert index.rankings("INC-2023-Q4-011.txt", everywhere)[1] == [1, 2, 3]
    assert index.rankings("about TX-99402", everywhere)[1] == [4]
    assert index.rankings("TX-99401", everywhere)[1] == []


def test_the_index_of_a_term_is_the_same_everywhere():
    assert {term: term_index(term) for term in ("bal", "INC-2023-Q4-011", "école")} == {
        "bal": 1283171460,
        "INC-2023-Q4-011": 376637601,
        "école": 3580398806,
    }


def test_terms_that_share_an_index_count_as_one(memory):
    seen = {}
    for number in itertools.count():
        one = f"w{number}"
        other = seen.setdefault(term_index(one), one)
        if other != one:
            break
    weights = term_weights([one, other, "bal"])
    assert weights == term_weights([one, one, "bal"]) and len(weights) == 2
    index = TreeIndex(memory, "trees", Letters())
    index.add_document("x.txt", [f"{one} {other} bal"], summarise)  # Qdrant refuses an index that comes twice
    assert index.rankings(one, index.nodes("x.txt"))[1] == [1]


def test_another_tokenizer_can_be_given(memory):
    index = TreeIndex(memory, "trees", Letters(), tokenize=str.split)
    index.add_document("x.txt", ["@= the"], summarise)
    assert (
        index.rankings("the", index.nodes("x.txt"))[1] == index.rankings("@=", index.nodes("x.txt"))[1] == [1]
    )


# ---- deleting and adding again


def test_a_deleted_document_leaves_nothing(client, name):
    index = filled(client, name)
    kept = {node for node in nodes_in(client, name) if node > 10}
    assert index.delete_document("one.txt") == 10
    assert index.documents == ["two.txt"] and set(nodes_in(client, name)) == kept
    assert index.delete_document("one.txt") == 0
    check_whole(index, client, name)
    assert {node["file_name"] for node, _ in index.search("bal dem", 20)} == {"two.txt"}


def test_a_document_added_again_takes_the_place_of_the_first(client, name):
    index = filled(client, name)
    stored = index.add_document("one.txt", ["tos", "pel"], summarise)
    assert [node["id"] for node in stored] == [21, 22, 23]
    assert index.nodes("one.txt") == stored
    assert index.documents == ["two.txt", "one.txt"]
    check_whole(index, client, name)


def test_no_id_is_used_twice(tmp_path):
    used = set()
    for _ in range(3):
        client = QdrantClient(path=str(tmp_path))
        index = TreeIndex(client, "trees", Letters())
        for pages in (4, 2):
            ids = {node["id"] for node in index.add_document("x.txt", pages_of(1, pages), summarise)}
            assert not used & ids
            used |= ids
        index.delete_document("x.txt")
        assert len(index) == 0
        client.close()
    assert used == set(range(1, 1 + 3 * (6 + 3)))


def test_the_idf_is_that_of_the_documents_that_are_left(memory):
    index = TreeIndex(memory, "trees", Letters())
    for name in ("a.txt", "b.txt", "c.txt"):
        index.add_document(name, ["bal"], summarise)
    index.delete_document("a.txt")
    vectors = index._query_vectors("bal")
    points = memory.query_points("trees", query=vectors["sparse"], using="sparse").points
    weights = {
        number: term_weights(tokenize(f"{name} bal bal"))[term_index("bal")]  # in the summary, and a keyword
        for number, name in ((2, "b.txt"), (3, "c.txt"))
    }
    idf = math.log(1 + (2 - 2 + 0.5) / (2 + 0.5))
    assert {point.id: point.score for point in points} == pytest.approx(
        {number: weight * idf for number, weight in weights.items()}
    )


def failing_after(client, writes, monkeypatch, error):
    """The client fails in its next write after so many, and works again afterwards."""
    upsert, left = client.upsert, itertools.count(writes, -1)

    def one_too_many(*arguments, **options):
        if next(left) == 0:
            raise error
        return upsert(*arguments, **options)

    monkeypatch.setattr(client, "upsert", one_too_many)


@pytest.mark.parametrize("error", [ConnectionError("gone"), KeyboardInterrupt()])
@pytest.mark.parametrize("writes", range(6))
def test_a_failed_write_leaves_the_collection_as_it_was(memory, monkeypatch, writes, error):
    index = filled(memory)
    before, trees = nodes_in(memory), [index.nodes(name) for name in index.documents]
    monkeypatch.setattr("hybrid_search.tree_index._BATCH_BYTES", 1)  # every point is a request
    with monkeypatch.context() as patched:
        failing_after(memory, writes, patched, error)
        with pytest.raises(type(error)):
            index.add_document("one.txt", pages_of(9, 3), summarise)
    assert nodes_in(memory) == before
    assert [index.nodes(name) for name in index.documents] == trees
    stored = index.add_document("one.txt", pages_of(9, 3), summarise)
    assert not {node["id"] for node in stored} & set(before)
    check_whole(index, memory)


def test_what_a_killed_process_has_left_goes_with_the_next_change(tmp_path):
    client = QdrantClient(path=str(tmp_path))
    filled(client)
    before = nodes_in(client)
    client.close()
    script = """
        import os, sys
        sys.path.insert(0, sys.argv[2])
        from test_tree_index import *
        from hybrid_search import tree_index
        tree_index._BATCH_BYTES = 1
        client = QdrantClient(path=sys.argv[1])
        upsert, left = client.upsert, iter(range(5))
        client.upsert = lambda *arguments, **options: (
            upsert(*arguments, **options) if next(left, None) is not None else os._exit(9)
        )
        TreeIndex(client, "trees", Letters()).add_document("one.txt", pages_of(9, 9), summarise)
    """
    here = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path), here], timeout=120)
    assert done.returncode == 9
    client = QdrantClient(path=str(tmp_path))
    index = TreeIndex(client, "trees", Letters())
    assert set(nodes_in(client)) > set(before)  # it was killed in the middle
    index.delete_document("no such document")
    assert nodes_in(client) == before
    assert index.add_document("new.txt", ["bal"], summarise)[0]["id"] > max(before) + 9
    check_whole(index, client)
    client.close()


def test_a_server_that_is_down_is_a_clear_error_and_loses_nothing(monkeypatch):
    with qdrant_server.running() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        index = filled(client)
        before = nodes_in(client)
        # From the third point on, everything fails; so the points written cannot be taken back.
        written = []

        def refuse(method, path):
            written.extend([path] if method == "PUT" else [])
            return 500 if len(written) > 3 else None

        server.refuse = refuse
        monkeypatch.setattr("hybrid_search.tree_index._BATCH_BYTES", 1)  # every point is a request
        with pytest.raises(RuntimeError, match="the Qdrant server refuses .status 500.: .*status 500"):
            index.add_document("one.txt", pages_of(9, 9), summarise)
        server.refuse = lambda method, path: None
        assert set(nodes_in(client)) > set(before)
        again = TreeIndex(client, "trees", Letters())
        again.add_document("three.txt", ["bal"], summarise)
        again.delete_document("three.txt")
        assert nodes_in(client) == before
    for search in (lambda: index.search("bal", 3), lambda: branch_search(index, "bal")):
        with pytest.raises(ConnectionError, match="the Qdrant server does not answer"):
            search()
    with pytest.raises(ConnectionError, match="does not answer"):
        TreeIndex(client, "trees", Letters())


def test_a_large_document_is_written_in_requests_that_a_server_takes(monkeypatch):
    monkeypatch.setattr("hybrid_search.tree_index._BATCH_BYTES", 60_000)
    with qdrant_server.running() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        index = TreeIndex(client, "trees", Letters())
        server.requests.clear()
        index.add_document("large.txt", ["é" * 10_000 + " bal"] * 12, summarise)
        writes = [path for method, path in server.requests if method == "PUT" and path.endswith("/points")]
        # A page takes 20 kB and some for its vectors: two fit. Six requests, one for the parents that are left, and
        # what is written of the state: when it is made, and around the nodes.
        assert len(writes) == 6 + 1 + 1 + 3
        assert index.text(index.nodes("large.txt")[-1]).count("bal") == 12


# ---- bad input


def refused(index, client, message, add, error=ValueError, name="trees"):
    before = everything(client, name)
    with pytest.raises(error, match=message):
        add()
    assert everything(client, name) == before


def test_what_cannot_be_added_is_refused_and_the_collection_stays_as_it_was(memory):
    index = filled(memory)
    pages = pages_of(9, 4)
    tree = build_tree(pages, summarise, 3, "new.txt")
    nan = type("", (Letters,), {"embed_documents": lambda self, texts: [[math.nan]] * len(texts)})()
    short = type("", (Letters,), {"embed_documents": lambda self, texts: [[1.0] * 36]})()
    for message, add in {
        "the document has no pages": lambda: index.add_document("one.txt", [], summarise),
        "'one.txt' is blank on every page": lambda: index.add_document("one.txt", ["", " \n"], summarise),
        "a document needs a file name: got ' '": lambda: index.add_document(" ", pages, summarise),
        "page 2 of 'x' holds half of a surrogate": lambda: index.add_document(
            "x", ["a", "b\ud800"], summarise
        ),
        "width must be at least 2": lambda: index.add_document("x", pages, summarise, width=1),
        "there are 4 leaves and 3 pages": lambda: index.add_tree(tree, pages[:3]),
        "node 3 is an orphan": lambda: index.add_tree(tree[2:3], pages[:1]),
        "not all of these nodes are of 'new.txt'": lambda: index.add_tree(
            [*tree[:-1], {**tree[-1], "file_name": "other"}], pages
        ),
        "node 1 holds NaN": lambda: TreeIndex(memory, "trees", nan).add_tree(tree, pages),
        "gave 1 vectors for 6 summaries": lambda: TreeIndex(memory, "trees", short).add_tree(tree, pages),
    }.items():
        refused(index, memory, message, add)
    refused(
        index, memory, "pages must be a list", lambda: index.add_document("x", "text", summarise), TypeError
    )

    def failing(text):
        raise RuntimeError("no summary")

    refused(index, memory, "no summary", lambda: index.add_document("one.txt", pages, failing), RuntimeError)


def test_blank_pages_are_kept_in_the_tree_and_never_found(memory):
    index = TreeIndex(memory, "trees", Letters())
    index.add_document("x.txt", ["", "bal dem", " ", "pos"], summarise)
    nodes = index.nodes("x.txt")
    assert [
        bool(memory.retrieve("trees", [node["id"]], with_vectors=["dense"])[0].vector) for node in nodes
    ] == [
        False,
        True,
        False,
        True,
        True,
        True,
    ]
    for query in ("bal", "x.txt", "zzz"):
        for cut in ("fixed", "knee", "sensitive"):
            found = beam_search(index, query, cut=cut, width=9)
            assert found and all(chunk["text"].strip() for chunk in found)
        assert all(chunk["text"].strip() for chunk in branch_search(index, query))


def test_a_node_that_neither_ranking_finds_comes_last_with_0(memory):
    index = TreeIndex(memory, "trees", Letters())
    index.add_document("x.txt", ["", "bal", ""], summarise)
    ranked = index.rank("bal", index.nodes("x.txt"))
    assert [node["id"] for node, _ in ranked] == [2, 4, 1, 3]
    assert [score for _, score in ranked][2:] == [0.0, 0.0]


def test_a_page_of_a_megabyte_is_kept_whole(client, name):
    index = TreeIndex(client, name, Letters())
    page = "bal " * 250_000
    index.add_document("big.txt", [page, "dem"], summarise)
    (chunk,) = beam_search(index, "bal", width=1)
    assert page in chunk["text"]


def test_vectors_of_another_dimension_are_refused_with_both_named(client, name):
    filled(client, name)
    other = TreeIndex(client, name, Letters("abc"))
    message = f"has 3 dimensions, the vectors of the collection '{name}' have 36: use the embedder"
    refused(other, client, message, lambda: other.add_document("x.txt", ["bal"], summarise), name=name)
    refused(other, client, message, lambda: other.search("bal", 3), name=name)
    refused(other, client, message, lambda: branch_search(other, "bal"), name=name)


def test_vectors_of_two_dimensions_in_one_document_are_refused(memory):
    class Odd(Letters):
        def embed_documents(self, texts):
            return [[1.0] * (2 + number) for number in range(len(texts))]

    with pytest.raises(ValueError, match="the vector of node 2 has 3 dimensions, .* have 2"):
        TreeIndex(memory, "trees", Odd()).add_document("x.txt", ["a", "b"], summarise)
    assert not memory.collection_exists("trees")


@pytest.mark.parametrize("version", [0, 99])
def test_a_collection_of_an_older_or_newer_version_is_refused_and_left_alone(client, name, version):
    filled(client, name)
    state = everything(client, name)[0][0]
    client.upsert(
        name, [models.PointStruct(id=0, vector={}, payload={**state, "schema": version})], wait=True
    )
    before = everything(client, name)
    with pytest.raises(
        ValueError, match=f"cannot be used .it was made by version {version}, this is 1.: take another name"
    ):
        TreeIndex(client, name, Letters())
    assert everything(client, name) == before


@pytest.mark.parametrize("sparse", [None, {"sparse": models.SparseVectorParams()}])
@pytest.mark.parametrize("size", [{}, {"dense": models.VectorParams(size=36, distance="Cosine")}])
def test_a_collection_of_something_else_is_refused_and_left_alone(memory, sparse, size):
    memory.create_collection("trees", vectors_config=size, sparse_vectors_config=sparse)
    memory.upsert("trees", [models.PointStruct(id=0, vector={}, payload={"mine": 1})])
    with pytest.raises(ValueError, match=r"holds something else.*client.delete_collection\('trees'\)"):
        TreeIndex(memory, "trees", Letters())
    assert memory.retrieve("trees", [0])[0].payload == {"mine": 1}


@pytest.mark.parametrize("name", ["", " ", None])
def test_a_collection_needs_a_name(memory, name):
    with pytest.raises(ValueError, match="collection must be a name"):
        TreeIndex(memory, name, Letters())


def test_a_node_of_a_document_that_is_gone_says_so(memory):
    index = filled(memory)
    root = index.nodes("one.txt")[-1]
    index.delete_document("one.txt")
    with pytest.raises(ValueError, match="has no node 8 any more: its document was deleted or added again"):
        index.children(root)


def test_a_failure_while_the_collection_is_made_leaves_none(memory, monkeypatch):
    failing_after(memory, 0, monkeypatch, ConnectionError("gone"))
    index = TreeIndex(memory, "trees", Letters())
    with pytest.raises(ConnectionError):
        index.add_document("x.txt", ["bal"], summarise)
    assert not memory.collection_exists("trees")
    index.add_document("x.txt", ["bal"], summarise)


def test_nothing_is_said_on_stderr():
    script = """
        from test_tree_index import *
        index = filled(QdrantClient(":memory:"))
        branch_search(index, "bal"), index.search("bal", 2, in_qdrant=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=os.path.dirname(__file__),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
