"""Cosine distance and the vector index."""

import math
import tracemalloc
import warnings
from collections import deque

import numpy as np
import pytest

from hybrid_search import VectorIndex, cosine_distance, embeddings


def document(name):
    return {"id": name, "content": f"text {name}"}


def documents(count):
    return [document(number) for number in range(count)]


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


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-160, 1e-30, 1e30, 1e152, 1e200, 1e308])
def test_tiny_and_huge_numbers_have_a_direction(size):
    assert cosine_distance([size, 0], [size, size]) == pytest.approx(1 - math.sqrt(0.5))
    assert distances(index_of([[size, size]]).search([1, 0])) == pytest.approx([1 - math.sqrt(0.5)], abs=1e-7)


@pytest.mark.parametrize("size", [1e-320, 1e200, 1e308, float("nan"), float("inf")])
def test_no_number_makes_numpy_warn(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for add in (
            lambda index: index.add_vector([size, size], document("a")),
            lambda index: index.add_vectors([[size, size], [1, 2]], documents(2)),
        ):
            if math.isfinite(size):
                add(VectorIndex())
            else:
                with pytest.raises(ValueError, match="NaN or an infinite number"):
                    add(VectorIndex())


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


def test_a_vector_of_another_dimension_is_refused_where_there_is_room_for_more():
    index = index_of([[1, 0], [1, 0], [1, 0]])
    assert len(index._rows) == 4
    for bad in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match=f"has {len(bad)} dimensions, the index has 2"):
            index.add_vector(bad, document("s9"))
    assert len(index) == 3


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


# Adding many


def filled(vectors, at_once):
    index, given = VectorIndex(), documents(len(vectors))
    for start in range(0, len(vectors), at_once):
        index.add_vectors(vectors[start : start + at_once], given[start : start + at_once])
    return index


@pytest.mark.parametrize("kind", [np.int8, np.float16, np.float32, np.float64, list])
@pytest.mark.parametrize("count, dimension", [(1, 1), (9, 3), (1_024, 7), (2_500, 384)])
def test_many_at_once_give_the_same_rows_to_the_last_bit_as_one_by_one(kind, count, dimension):
    vectors = np.random.default_rng(dimension).normal(size=(count, dimension)) * 9 + 1
    vectors = vectors.tolist() if kind is list else vectors.astype(kind)
    one_by_one = index_of(vectors)
    for index in (filled(vectors, count), filled(list(vectors), count), filled(vectors, 700)):
        assert len(index) == count
        assert (index._rows[:count] == one_by_one._rows[:count]).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_directions_at_once_are_those_of_each_to_the_last_bit(order):
    vectors = np.asarray(np.random.default_rng(2).normal(size=(500, 384)), order=order)
    at_once = embeddings._directions(vectors, documents(500), None)
    assert type(at_once) is np.ndarray  # all were done at once
    assert (at_once == [embeddings._direction(vector, "the vector") for vector in vectors]).all()


def test_tiny_and_huge_vectors_among_many_give_the_same_rows_as_one_by_one():
    vectors = np.random.default_rng(3).normal(size=(3_000, 5))
    vectors[[0, 7, 2_000, 2_999]] *= np.array([1e-320, 1e-200, 1e200, 1e307])[:, None]
    rows = filled(vectors, 3_000)._rows
    assert (rows == index_of(vectors)._rows[:3_000]).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3_000))


def test_the_first_vector_is_the_first_document_s():
    index = VectorIndex()
    index.add_vectors(np.array([[1, 0], [0, 1]]), [document("a"), document("b")])
    index.add_vectors([[1, 1]], iter([document("c")]))
    assert ids(index.search([0, 1], k=3)) == ["b", "c", "a"]


@pytest.mark.parametrize("kind", [deque, iter, lambda vectors: dict(enumerate(vectors)).values()])
def test_vectors_may_come_in_what_cannot_be_cut(kind):
    class Kind(Letters):
        def embed_documents(self, texts):
            return kind(super().embed_documents(texts))

    index = VectorIndex(Kind())
    index.add_documents([{"content": "ab"}, {"content": "c"}])
    index.add_vectors(kind([[1, 0, 0], [0, 0, 1]]), [document("a"), document("c")])
    assert [found["content"] for found, _ in index.search("c", k=2)] == ["c", "text c"]


class OnDisk:
    """Vectors that can be read some at a time and no other way, as those of a file."""

    def __init__(self, vectors):
        self.vectors, self.cuts = vectors, []

    def __len__(self):
        return len(self.vectors)

    def __getitem__(self, some):
        self.cuts.append(len(self.vectors[some]))
        return self.vectors[some]


def test_vectors_that_can_be_cut_are_read_some_at_a_time():
    vectors, index = OnDisk(np.random.default_rng(6).normal(size=(3_000, 4))), VectorIndex()
    index.add_vectors(vectors, documents(3_000))
    assert (index._rows[:3_000] == index_of(vectors.vectors)._rows[:3_000]).all()
    assert (sum(vectors.cuts), max(vectors.cuts)) == (3_000, 1_024)


def test_no_vectors_are_nothing():
    index = VectorIndex()
    index.add_vectors([], [])
    index.add_vectors(np.empty((0, 3)), [])
    assert (len(index), index.dimension) == (0, None)


@pytest.mark.parametrize("bad, message", BAD_VECTORS)
@pytest.mark.parametrize("place", [0, 1, 1_500])
def test_one_bad_vector_of_many_keeps_all_out_and_is_named(bad, message, place):
    index = index_of([[1, 0]])
    given = [{"id": f"s{number}", "content": "text"} for number in range(2_000)]
    vectors = [[0, 1]] * 2_000
    vectors[place] = bad
    with pytest.raises(ValueError, match=f"the vector of the document with id 's{place}'.*({message})"):
        index.add_vectors(vectors, given)
    assert (len(index), ids(index.search([1, 0], k=9))) == (1, [0])
    vectors[place] = [0, 1]
    index.add_vectors(vectors, given)
    assert (len(index), index.search([0, 1])[0][0]["id"]) == (2_001, "s0")


@pytest.mark.parametrize("place", [1, 1_024, 1_999])
def test_vectors_of_two_dimensions_are_not_added_together(place):
    index, vectors = VectorIndex(), [[1.0, 0.0]] * 2_000
    vectors[place] = [1, 2, 3]
    with pytest.raises(ValueError, match=f"document with id {place} has 3 dimensions, the index has 2"):
        index.add_vectors(vectors, documents(2_000))
    assert (len(index), index.dimension) == (0, None)
    index.add_vector([1, 2, 3], document("a"))
    with pytest.raises(ValueError, match="document with id 0 has 2 dimensions, the index has 3"):
        index.add_vectors(np.ones((2_000, 2)), documents(2_000))
    assert (len(index), index.dimension) == (1, 3)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_there_is_a_vector_for_each_document(count):
    index = VectorIndex()
    with pytest.raises(ValueError, match=f"there are {count} vectors for 2 documents"):
        index.add_vectors(np.ones((count, 2)), documents(2))
    assert len(index) == 0


@pytest.mark.parametrize("kind", [list, np.array])
def test_documents_already_there_are_ignored_with_their_vectors(kind):
    first, second, third = (document(name) for name in "abc")
    index = VectorIndex()
    index.add_vector([1, 0], first)
    index.add_vectors(kind([[0, 1], [0, 2], [0, 1], [1, 1], [1, 0]]), [first, second, first, third, second])
    assert ids(index.search([1, 0], k=9)) == ["a", "c", "b"]
    assert distances(index.search([1, 0], k=9)) == pytest.approx([0, 1 - math.sqrt(0.5), 1])
    index.add_vectors(kind([[0, 1], [0, 1]]), [third, first])
    assert len(index) == 3


def test_an_id_of_another_document_keeps_all_out():
    index = index_of([[1, 0]])
    for given in ([document("a"), document(0)], [document("a"), document("a")]):
        with pytest.raises(ValueError, match="another document with id"):
            index.add_vectors(np.ones((2, 2)), given)
    assert len(index) == 1


def test_a_matrix_changed_after_it_was_added_does_not_change_the_index():
    vectors = np.ones((2, 2), dtype=np.float32)
    index = filled(vectors, 2)
    assert (vectors == 1).all()
    vectors[:] = [1, 0]
    assert distances(index.search([1, 1])) == pytest.approx([0])


def test_many_at_once_take_memory_for_one_copy():
    vectors, given, index = np.ones((10_000, 512), dtype=np.float32), documents(10_000), VectorIndex()
    tracemalloc.start()
    try:
        index.add_vectors(vectors, given)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert vectors.nbytes < most < 1.8 * vectors.nbytes


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
    index.add_vectors([row] * size, [document(number) for number in range(size)])
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


@pytest.mark.parametrize("queries, rows_at_once", [(31, 512), (33, 100), (70, 1_000)])
def test_many_queries_over_many_rows_are_searched_some_at_a_time(queries, rows_at_once, monkeypatch):
    random = np.random.default_rng(queries)
    index = filled(random.normal(size=(1_000, 8)), 1_000)
    queries = random.normal(size=(queries, 8))
    expected = [index.search(query, 9) for query in queries]
    monkeypatch.setattr(embeddings, "_ROWS_OF_A_PRODUCT", rows_at_once)
    assert index.search_many(queries, 9) == expected


def test_a_large_index_searches_with_the_faster_product_and_finds_the_same(monkeypatch):
    random = np.random.default_rng(4)
    index, query = filled(random.normal(size=(500, 20)), 500), random.normal(size=20)
    expected = index.search(query, 50)
    monkeypatch.setattr(embeddings, "_MANY_NUMBERS", 10_000)
    for product in (np.vecdot, np.matmul):
        monkeypatch.setattr(embeddings, "_faster_product", lambda rows, direction, product=product: product)
        index._product = None
        assert index.search(query, 50) == expected
        assert index._product is product


@pytest.mark.parametrize("added", [1, 9])
def test_documents_added_while_a_search_goes_on_do_not_shorten_it(added, monkeypatch):
    index, more = (
        index_of([[1, number] for number in range(5)]),
        [document(f"more {number}") for number in range(added)],
    )
    multiply = index._similarities

    def multiply_and_add(directions):
        similarities = multiply(directions)
        index.add_vectors(np.ones((added, 2)), more)  # as another thread might
        return similarities

    monkeypatch.setattr(index, "_similarities", multiply_and_add)
    assert ids(index.search([1, 0], k=99)) == [0, 1, 2, 3, 4]
    assert len(index.search([1, 0], k=99)) == 5 + added


def test_the_faster_of_two_products_is_chosen_by_its_time(monkeypatch):
    rows, direction = np.ones((50, 4), dtype=np.float32), np.ones(4, dtype=np.float32)
    for faster in (0, 1):
        # What the clock says before and after each of the six products: they take 1 or 2 in turn.
        taken = [1 + (number + faster) % 2 for number in range(6)]
        clock = iter([moment for one in taken for moment in (0, one)])
        monkeypatch.setattr(embeddings.time, "perf_counter", lambda clock=clock: next(clock))
        assert embeddings._faster_product(rows, direction) is (np.vecdot, np.matmul)[faster]


@pytest.mark.parametrize("size", [1, 63, 64, 640, 1_000, 6_400])
@pytest.mark.parametrize("kind", ["all different", "few values", "the best in one group", "all the same"])
def test_those_compared_are_the_best_k_and_all_as_good(size, kind):
    random = np.random.default_rng(size)
    similarities = random.normal(size=size).astype(np.float32)
    if kind == "few values":
        similarities = np.round(similarities)
    elif kind == "the best in one group":
        similarities[:: max(1, size // 64)] += 9
    elif kind == "all the same":
        similarities[:] = 0.5
    for k in {1, 2, 10, 64, 100, size - 1, size} & set(range(1, size + 1)):
        worst = np.sort(similarities)[-k]
        expected = np.flatnonzero(similarities >= worst - embeddings._MARGIN)
        assert embeddings._candidates(similarities, k).tolist() == expected.tolist()


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
