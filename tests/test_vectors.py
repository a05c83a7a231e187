"""Cosine distance and the vector index."""

import math

import numpy as np
import pytest

from hybrid_search import VectorIndex, cosine_distance


def document(name):
    return {"id": name, "content": f"text {name}"}


def index_of(vectors):
    index = VectorIndex()
    for number, vector in enumerate(vectors):
        index.add_vector(vector, document(number))
    return index


def ids(found):
    return [document["id"] for document, _ in found]


def distances(found):
    return [distance for _, distance in found]


class Letters:
    """An embedder that counts letters and remembers what it was given."""

    def __init__(self):
        self.batches = []

    def embed_documents(self, texts):
        self.batches.append(list(texts))
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [text.count(letter) for letter in "abc"]


# Distance


@pytest.mark.parametrize(
    "a, b, distance",
    [
        ([1, 0], [1, 0], 0),
        ([1, 0], [5, 0], 0),
        ([1, 0], [0, 3], 1),
        ([1, 0], [-2, 0], 2),
        ([1, 0], [10, 1], 1 - 0.995037),
        ([1, 1], [1, 0], 1 - math.sqrt(0.5)),
        ([3], [4], 0),
    ],
)
def test_the_distance_is_1_minus_the_cosine(a, b, distance):
    assert cosine_distance(a, b) == pytest.approx(distance, abs=1e-6)
    assert cosine_distance(b, a) == cosine_distance(a, b)
    assert type(cosine_distance(a, b)) is float


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.float16, np.float32, np.int64])
def test_small_number_types_do_not_overflow(kind):
    hundred = np.array([100, 100], dtype=kind)
    assert cosine_distance(hundred, hundred) == pytest.approx(0, abs=1e-12)
    index = index_of([hundred, np.array([100, 0], dtype=kind)])
    assert distances(index.search(hundred, k=2)) == pytest.approx([0, 1 - math.sqrt(0.5)], abs=1e-7)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-30, 1e30, 1e200, 1e308])
def test_tiny_and_huge_numbers_have_a_direction(size):
    assert cosine_distance([size, 0], [size, size]) == pytest.approx(1 - math.sqrt(0.5))
    assert distances(index_of([[size, size]]).search([1, 0])) == pytest.approx([1 - math.sqrt(0.5)], abs=1e-7)


BAD_VECTORS = [
    ([0, 0], "a zero vector"),
    ([-0.0, 0.0], "a zero vector"),
    ([1, float("nan")], "holds NaN or an infinite number"),
    ([float("inf"), 1], "holds NaN or an infinite number"),
    ([-float("inf"), 1], "holds NaN or an infinite number"),
    ([], "at least one number"),
    (5, "one dimension"),
    ([[1, 2]], "one dimension"),
    (["a", "b"], "is not a list of numbers"),
    ([1, None], "NaN|not a list of numbers"),
    ([1, [2]], "is not a list of numbers"),
    (None, "one dimension|not a list of numbers"),
    ([1j, 2], "is not a list of numbers"),
    ({"a": 1}, "is not a list of numbers"),
]


@pytest.mark.parametrize("bad, message", BAD_VECTORS)
def test_a_distance_to_what_has_no_direction_is_refused(bad, message):
    with pytest.raises(ValueError, match=f"the first vector.*({message})"):
        cosine_distance(bad, [1, 2])
    with pytest.raises(ValueError, match=f"the second vector.*({message})"):
        cosine_distance([1, 2], bad)


def test_vectors_of_two_dimensions_have_no_distance():
    with pytest.raises(ValueError, match="same dimension: got 2 and 3"):
        cosine_distance([1, 2], [1, 2, 3])


# Adding


@pytest.mark.parametrize("bad, message", BAD_VECTORS)
def test_a_bad_vector_is_refused_with_its_document_named(bad, message):
    index = index_of([[1, 0]])
    with pytest.raises(ValueError, match=f"the vector of the document with id 's9'.*({message})"):
        index.add_vector(bad, document("s9"))
    with pytest.raises(ValueError, match=f"the vector of the document that begins 'no id'.*({message})"):
        index.add_vector(bad, {"content": "no id"})
    assert (len(index), ids(index.search([1, 0], k=9))) == (1, [0])


def test_a_nan_vector_never_ranks_first():
    index = VectorIndex()
    for name, cosine in [("half", 0.5), ("nan", float("nan")), ("near", 0.9)]:
        try:
            index.add_vector([cosine, math.sqrt(1 - cosine**2)], document(name))
        except ValueError:
            assert name == "nan"
    assert ids(index.search([1, 0], k=3)) == ["near", "half"]


def test_a_vector_of_another_dimension_is_refused_with_both_named():
    index = index_of([[1, 0]])
    with pytest.raises(ValueError, match="document with id 's9' has 3 dimensions, the index has 2"):
        index.add_vector([1, 2, 3], document("s9"))
    assert len(index) == 1


def test_a_vector_changed_after_it_was_added_does_not_change_the_index():
    vector = np.array([1.0, 0.0], dtype=np.float32)
    index = index_of([vector])
    vector[:] = [0, 1]
    assert distances(index.search([1, 0])) == pytest.approx([0])


def test_adding_and_searching_leave_the_vector_given_as_it_was():
    vector = np.array([3.0, 4.0])
    index_of([vector]).search(vector)
    cosine_distance(vector, vector)
    assert vector.tolist() == [3, 4]


def test_add_vector_ignores_the_same_object_and_refuses_its_id_for_another():
    index, first = VectorIndex(), document("a")
    index.add_vector([1, 0], first)
    index.add_vector([0, 1], first)
    with pytest.raises(ValueError, match="another document with id 'a'"):
        index.add_vector([0, 1], document("a"))
    assert (len(index), distances(index.search([1, 0], k=9))) == (1, pytest.approx([0]))


def test_the_dimension_is_that_of_the_first_vector():
    index = VectorIndex()
    assert index.dimension is None
    index.add_vector([1, 2, 3], document("a"))
    assert index.dimension == 3


def test_a_refused_first_vector_leaves_the_dimension_open():
    index = VectorIndex()
    with pytest.raises(ValueError):
        index.add_vector([0, 0, 0], document("a"))
    index.add_vector([1, 2], document("a"))
    assert index.dimension == 2


def test_rows_are_float32_of_length_1():
    index = index_of([[3, 4], [0, 1e30], [1e-30, 0]])
    rows = index._rows[: len(index)]
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1])


# Embedding


def test_documents_are_embedded_in_one_call_and_found_by_text():
    embedder = Letters()
    index = VectorIndex(embedder)
    index.add_documents([{"content": "aab"}, {"content": "bbc"}])
    assert embedder.batches == [["aab", "bbc"]]
    (best, distance), _ = index.search("aab", k=2)
    assert (best["content"], distance) == ("aab", pytest.approx(0))


def test_documents_already_there_are_not_embedded_again():
    embedder, known = Letters(), {"content": "a"}
    index = VectorIndex(embedder)
    index.add_document(known)
    index.add_documents([known])
    index.add_documents([known, {"content": "b"}])
    assert embedder.batches == [["a"], ["b"]]


def test_an_embedder_may_give_a_numpy_matrix():
    class Matrix(Letters):
        def embed_documents(self, texts):
            return np.array(super().embed_documents(texts), dtype=np.float16)

    index = VectorIndex(Matrix())
    index.add_documents([{"content": "ab"}, {"content": "c"}])
    assert index.search("c")[0][0]["content"] == "c"


@pytest.mark.parametrize("bad", ["zzz", "zero again"])
def test_one_text_without_a_direction_keeps_its_whole_batch_out(bad):
    index = VectorIndex(Letters())
    index.add_document({"id": 0, "content": "a"})
    assert Letters().embed_query("zzz") == [0, 0, 0]
    batch = [{"id": 1, "content": "b"}, {"id": 2, "content": "zzz"}, {"id": 3, "content": "c"}]
    with pytest.raises(ValueError, match="the vector of the document with id 2 is a zero vector"):
        index.add_documents(batch)
    assert ids(index.search("a", k=9)) == [0]
    batch[1]["content"] = "cab"
    index.add_documents(batch)
    assert len(index) == 4


@pytest.mark.parametrize("known", [[], [{"id": 0, "content": "ab"}]])
def test_an_embedder_that_changes_its_dimension_is_caught(known):
    class Growing:
        def embed_documents(self, texts):
            return [[1.0] * (2 + number) for number in range(len(texts))]

    index = VectorIndex(Growing())
    index.add_documents(known)
    with pytest.raises(ValueError, match="the document with id 2 has 3 dimensions, the index has 2"):
        index.add_documents([{"id": 1, "content": "a"}, {"id": 2, "content": "b"}])
    assert len(index) == len(known)


def test_an_embedder_that_loses_a_text_is_caught():
    class Short(Letters):
        def embed_documents(self, texts):
            return super().embed_documents(texts)[:-1]

    index = VectorIndex(Short())
    with pytest.raises(ValueError, match="the embedder gave 1 vectors for 2 documents"):
        index.add_documents([{"content": "a"}, {"content": "b"}])
    assert len(index) == 0


def test_an_embedder_that_breaks_adds_nothing():
    class Broken(Letters):
        def embed_documents(self, texts):
            raise ConnectionError("no route")

    index = VectorIndex(Broken())
    with pytest.raises(ConnectionError, match="no route"):
        index.add_document({"content": "a"})
    assert len(index) == 0


def test_an_index_without_an_embedder_says_what_to_do_with_text():
    index = index_of([[1, 0]])
    for call in (lambda: index.add_document(document("a")), lambda: index.search("pump")):
        with pytest.raises(ValueError, match="has no embedder.*add_vector"):
            call()
    assert len(index) == 1


# Searching


def test_the_nearest_comes_first_by_angle_not_by_length():
    index = index_of([[1, 0], [10, 1], [0, 1]])
    found = index.search([1, 0], k=3)
    assert ids(found) == [0, 1, 2]
    assert distances(found) == pytest.approx([0, 1 - 0.995037, 1], abs=1e-6)


def test_k_larger_than_the_index_gives_the_whole_index():
    assert ids(index_of([[1, 0], [0, 1]]).search([0, 1], k=99)) == [1, 0]


def test_an_empty_index_gives_nothing():
    assert VectorIndex().search([1, 0], k=3) == []
    assert VectorIndex(Letters()).search("a", k=3) == []
    assert VectorIndex().search_many([[1, 0], [0, 1]]) == [[], []]


def test_a_query_of_another_dimension_is_refused_with_both_named():
    index = index_of([np.ones(384)])
    with pytest.raises(ValueError, match="query vector has 512 dimensions, the index has 384"):
        index.search(np.ones(512))


@pytest.mark.parametrize("bad, message", BAD_VECTORS)
def test_a_query_without_a_direction_is_refused(bad, message):
    with pytest.raises(ValueError, match=f"the query vector.*({message})"):
        index_of([[1, 0]]).search(bad)


def test_equal_distances_keep_the_order_of_insertion():
    index = index_of([[0, 1], [2, 0], [1, 0], [5, 0], [0, 3]])
    assert [ids(index.search([1, 0], k=k)) for k in (1, 2, 3, 5)] == [[1], [1, 2], [1, 2, 3], [1, 2, 3, 0, 4]]


@pytest.mark.parametrize("dimension", [3, 64, 384])
@pytest.mark.parametrize("kind", ["alone", "among many"])
def test_equal_rows_are_exact_ties_at_every_size(dimension, kind):
    random = np.random.default_rng(dimension)
    row, query = random.normal(size=(2, dimension))
    others = [[random.normal(size=dimension)] for _ in range(4)]
    index, added = VectorIndex(), []
    for number in range(200):
        if kind == "among many" and number % 5:
            index.add_vector(others[number % 4][0], document(f"other {number}"))
        index.add_vector(row, document(number))
        added.append(number)
        found = [pair for pair in index.search(query, k=400) if pair[0]["id"] in set(added)]
        assert ids(found) == added
        assert len(set(distances(found))) == 1


@pytest.mark.parametrize("size, dimension", [(5_000, 384), (70_000, 5)])
def test_equal_rows_are_exact_ties_in_large_indexes(size, dimension):
    random = np.random.default_rng(size)
    row, query = random.normal(size=(2, dimension))
    index = VectorIndex()
    index._append([row.astype(np.float32)] * size, [document(number) for number in range(size)])
    for k in (1, 7, size - 1, size):
        found = index.search(query, k=k)
        assert ids(found) == list(range(k))
        assert len(set(distances(found))) == 1


def test_equal_rows_far_apart_in_a_large_index_are_exact_ties():
    random = np.random.default_rng(5)
    rows = random.normal(size=(5_000, 96))
    places = [0, 1, 63, 64, 1_000, 4_097, 4_998, 4_999]
    rows[places] = rows[0]
    index = index_of(rows)
    for query in (rows[0], rows[0] + random.normal(size=96) / 50):
        found = index.search(query, k=9)
        assert ids(found)[:8] == places
        assert len(set(distances(found)[:8])) == 1
        assert distances(found)[8] > distances(found)[7]
        assert [ids(index.search(query, k=k)) for k in range(1, 8)] == [places[:k] for k in range(1, 8)]


@pytest.mark.parametrize("count, dimension", [(1, 1), (2, 2), (37, 7), (500, 384), (3_000, 33)])
def test_search_agrees_with_a_slow_search_in_float64(count, dimension):
    random = np.random.default_rng(count)
    vectors, queries = random.normal(size=(count, dimension)), random.normal(size=(5, dimension))
    index = index_of(vectors)
    for query in queries:
        expected = [
            1 - float(vector @ query) / math.sqrt(float(vector @ vector) * float(query @ query))
            for vector in vectors
        ]
        found = index.search(query, k=count)
        assert sorted(ids(found)) == list(range(count))
        assert distances(found) == pytest.approx([expected[number] for number in ids(found)], abs=3e-7)
        assert distances(found) == pytest.approx(sorted(expected), abs=3e-7)
        assert distances(found) == sorted(distances(found))
        for k in {1, 2, 10, count // 2} & set(range(1, count + 1)):
            assert index.search(query, k=k) == found[:k]


def test_near_equal_rows_are_ranked_by_their_true_distance():
    # Steps far below what a float32 product can tell apart, added from the farthest to the nearest.
    angles = np.linspace(1e-3, 0, 200)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    index = index_of(vectors)
    assert ids(index.search([1, 0], k=200)) == list(range(199, -1, -1))
    assert ids(index.search([1, 0], k=1)) == [199]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_k_are_the_same_for_every_k_where_float32_cannot_tell_rows_apart(seed):
    random = np.random.default_rng(seed)
    row, query = random.normal(size=(2, 384))
    index = index_of(row + random.normal(size=(300, 384)) * 1e-6)
    whole = index.search(query, k=300)
    assert distances(whole) == sorted(distances(whole))
    for k in range(1, 300, 7):
        assert index.search(query, k=k) == whole[:k]


def test_search_many_equals_search_one_by_one():
    random = np.random.default_rng(1)
    vectors = random.normal(size=(400, 48))
    vectors[100:200] = vectors[:100]
    index = index_of(vectors)
    queries = [*random.normal(size=(20, 48)), vectors[3], vectors[3] * 7]
    for k in (1, 5, 400):
        assert index.search_many(queries, k) == [index.search(query, k) for query in queries]
    assert index.search_many(np.array(queries), 5) == index.search_many(queries, 5)


def test_search_many_takes_text_and_vectors_and_no_query_at_all():
    index = VectorIndex(Letters())
    index.add_documents([{"content": "a"}, {"content": "b"}])
    assert index.search_many(["b", [1, 0, 0]]) == [index.search("b"), index.search([1, 0, 0])]
    assert index.search_many([]) == []


def test_search_many_refuses_one_bad_query_of_several():
    index = VectorIndex(Letters())
    index.add_document({"content": "a"})
    with pytest.raises(ValueError, match="the query is empty"):
        index.search_many(["a", " "])
    with pytest.raises(ValueError, match="has 2 dimensions, the index has 3"):
        index.search_many([[1, 2, 3], [1, 2]])
    with pytest.raises(TypeError, match="list of queries; for one query call search"):
        index.search_many("a")


def test_searching_between_additions_sees_every_addition():
    index = VectorIndex()
    for number in range(70):
        angle = number / 100
        index.add_vector([math.cos(angle), math.sin(angle)], document(number))
        assert ids(index.search([1, 0], k=99)) == list(range(number + 1))
