"""What every index asks of a document, what makes two the same, and how light the package is to import."""

import copy
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hybrid_search
from hybrid_search import BM25Index, VectorIndex
from hybrid_search.documents import identities, identity


class OneVector:
    """An embedder that gives every text the same vector."""

    def embed_documents(self, texts):
        return [[1.0, 2.0]] * len(texts)

    def embed_query(self, text):
        return [1.0, 2.0]


@pytest.fixture(params=["vectors", "words"])
def index(request):
    return VectorIndex(OneVector()) if request.param == "vectors" else BM25Index()


def contents(index):
    return [document["content"] for document, _ in index.search("pump", k=99)]


BAD = [
    ("text", TypeError, 'a document is a dict with at least "content".* got str'),
    (None, TypeError, "a document is a dict .* got NoneType"),
    (["content"], TypeError, "a document is a dict .* got list"),
    ({"id": "s9", "text": "pump"}, ValueError, "the document with id 's9' has no \"content\".*'text'"),
    ({}, ValueError, 'has no "content"'),
    ({"id": "s9", "content": ""}, ValueError, "the document with id 's9' is empty"),
    ({"id": "s9", "content": " \n\t "}, ValueError, "the document with id 's9' is empty"),
    ({"id": "s9", "content": None}, TypeError, "the document with id 's9' must be text: got NoneType"),
    ({"id": "s9", "content": b"pump"}, TypeError, "the document with id 's9' must be text: got bytes"),
    ({"id": ["s9"], "content": "pump"}, ValueError, "the id of a document must be hashable.*s9"),
]


@pytest.mark.parametrize("bad, error, message", BAD)
def test_a_document_that_cannot_be_indexed_is_named(index, bad, error, message):
    with pytest.raises(error, match=message):
        index.add_document(bad)
    assert len(index) == 0


@pytest.mark.parametrize("bad, error, message", BAD)
def test_a_document_that_cannot_be_indexed_is_named_where_its_vector_is_given(bad, error, message):
    index = VectorIndex()
    with pytest.raises(error, match=message):
        index.add_vector([1, 2], bad)
    with pytest.raises(error, match=message):
        index.add_vectors([[1, 2], [1, 2]], [{"content": "pump"}, bad])
    assert len(index) == 0


@pytest.mark.parametrize("bad, error, message", BAD)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_batch_with_one_bad_document_adds_none_and_loses_none(index, bad, error, message, place):
    index.add_documents([{"content": "pump one"}, {"content": "pump two"}])
    before = index.search("pump", k=9)
    batch = [{"id": 3, "content": "pump three"}, {"id": 4, "content": "pump four"}]
    batch.insert(place, bad)
    with pytest.raises(error, match=message):
        index.add_documents(batch)
    assert len(index) == 2
    assert index.search("pump", k=9) == before
    del batch[place]
    index.add_documents(batch)
    assert contents(index) == ["pump one", "pump two", "pump three", "pump four"]


def test_a_batch_whose_source_breaks_half_way_adds_none(index):
    def source():
        yield {"content": "pump"}
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        index.add_documents(source())
    assert len(index) == 0


def test_the_same_object_added_again_is_ignored(index):
    document = {"id": "a", "content": "pump"}
    index.add_document(document)
    index.add_document(document)
    index.add_documents([document, document])
    assert len(index) == 1
    assert index.search("pump", k=9)[0][0] is document


def test_the_same_object_twice_in_one_batch_counts_once(index):
    document, other = {"content": "pump"}, {"content": "pump leak"}
    index.add_documents([document, other, document])
    assert contents(index) == ["pump", "pump leak"]


def test_the_same_object_is_known_even_if_it_was_given_an_id_meanwhile(index):
    document = {"content": "pump"}
    index.add_document(document)
    document["id"] = "a"
    index.add_document(document)
    assert len(index) == 1


def test_another_object_with_an_id_already_there_is_refused(index):
    index.add_document({"id": "a", "content": "pump"})
    with pytest.raises(ValueError, match="another document with id 'a' is already in the index"):
        index.add_document({"id": "a", "content": "pump"})
    assert len(index) == 1


def test_two_objects_with_one_id_in_a_batch_are_refused_together(index):
    batch = [{"id": number, "content": "pump"} for number in (1, 2, 1)]
    with pytest.raises(ValueError, match="another document with id 1 "):
        index.add_documents(batch)
    assert len(index) == 0


def test_the_same_text_under_two_ids_or_none_is_two_documents(index):
    documents = [{"id": 1, "content": "pump"}, {"id": 2, "content": "pump"}]
    documents += [{"content": "pump"}, {"content": "pump"}, {"id": None, "content": "pump"}]
    index.add_documents(documents)
    found = [document for document, _ in index.search("pump", k=9)]
    assert all(mine is theirs for mine, theirs in zip(found, documents, strict=True))


def test_documents_made_on_the_fly_are_all_kept(index):
    for _ in range(3):
        index.add_document({"content": "pump"})
    index.add_documents({"content": "pump"} for _ in range(3))
    assert len(index) == 6


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))])
def test_a_copy_knows_its_own_documents_and_takes_every_other(index, copied):
    index.add_documents([{"content": "pump"}, {"id": 1, "content": "pump"}])
    index.search("pump")
    twin = copied(index)
    originals, its_own = ([document for document, _ in each.search("pump", k=9)] for each in (index, twin))
    twin.add_documents(its_own)
    assert len(twin) == 2
    # An object that is not in the copy, even if it has the address of one that was in the first index.
    twin.add_document(originals[0])
    assert len(twin) == 3
    with pytest.raises(ValueError, match="another document with id 1 "):
        twin.add_document(originals[1])
    assert len(index) == 2


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_of_an_empty_index_can_be_filled(index, protocol):
    twin = pickle.loads(pickle.dumps(index, protocol))
    twin.add_documents([{"content": "pump"}])
    assert contents(twin) == ["pump"]


def test_other_keys_of_a_document_come_back_with_it(index):
    document = {"id": 1, "content": "pump", "page": 7, "tags": ["wet"]}
    index.add_document(document)
    assert index.search("pump")[0][0] is document
    assert document == {"id": 1, "content": "pump", "page": 7, "tags": ["wet"]}


def test_an_empty_batch_is_nothing(index):
    index.add_documents([])
    index.add_documents(iter(()))
    assert len(index) == 0
    assert index.search("pump") == []


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(index, query):
    index.add_document({"content": "pump"})
    with pytest.raises(ValueError, match="the query is empty"):
        index.search(query)


@pytest.mark.parametrize("k, error", [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_a_k_below_1_or_not_whole_is_refused(index, k, error):
    with pytest.raises(error, match=f"k must be .*got {k!r}"):
        index.search("pump", k=k)
    index.add_document({"content": "pump"})
    with pytest.raises(error, match=f"k must be .*got {k!r}"):
        index.search("pump", k=k)


def test_a_whole_number_of_numpy_is_a_count(index):
    import numpy as np

    index.add_documents([{"content": "pump"}, {"content": "pump"}])
    assert len(index.search("pump", k=np.int64(2))) == 2


def test_one_result_unless_told(index):
    index.add_documents([{"content": "pump"}, {"content": "pump"}])
    assert len(index.search("pump")) == 1


def test_k_larger_than_the_index_gives_what_there_is(index):
    index.add_documents([{"content": "pump one"}, {"content": "pump two"}, {"content": "pump three"}])
    assert contents(index) == ["pump one", "pump two", "pump three"]


def test_values_are_plain_floats(index):
    index.add_documents([{"content": "pump"}, {"content": "valve"}])
    assert all(type(value) is float for _, value in index.search("pump", k=2))


# Importing


def python(*lines: str) -> object:
    """The JSON that a fresh interpreter prints; anything on its error stream is a failure."""
    code = "import json, sys\n" + "\n".join(lines)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


HEAVY = ("numpy", "rank_bm25", "bm25s")
LOADED = f"print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"


def test_importing_the_package_loads_no_library():
    assert python("import hybrid_search", "dir(hybrid_search)", LOADED) == []


def test_importing_the_package_loads_none_of_its_modules():
    loaded = "print(json.dumps([name for name in sys.modules if name.startswith('hybrid_search.')]))"
    assert python("import hybrid_search", loaded) == []


def test_fusing_loads_no_library():
    lines = "from hybrid_search import Retriever, rrf_score, rrf_scores, rrf_table", "rrf_scores(['ab'])"
    assert python(*lines, LOADED) == []


def test_searching_by_words_loads_rank_bm25_only_when_it_searches():
    lines = "from hybrid_search import BM25Index", "index = BM25Index(str.split)"
    assert python(*lines, LOADED) == []
    lines += "index.add_document({'content': 'pump'})", "index.search('pump')"
    assert "rank_bm25" in python(*lines, LOADED)


def test_every_public_name_can_be_had_and_is_listed():
    assert dir(hybrid_search) == hybrid_search.__all__
    for name in hybrid_search.__all__:
        value = getattr(hybrid_search, name)
        assert isinstance(value, dict) or value.__name__ == name  # unit 05 has numbers to hand in, not code
        assert getattr(hybrid_search, name).__doc__


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'hybrid_search' has no attribute 'fuse'"):
        hybrid_search.fuse  # noqa: B018
    with pytest.raises(ImportError, match="fuse"):
        from hybrid_search import fuse  # noqa: F401


def test_early_units_work_where_the_later_ones_are_withheld(tmp_path):
    here = Path(hybrid_search.__file__).parent
    shutil.copytree(here, tmp_path / "hybrid_search", ignore=shutil.ignore_patterns("__pycache__"))
    for module in ("rrf", "retriever"):
        (tmp_path / "hybrid_search" / f"{module}.py").unlink()
    said = python(
        f"sys.path.insert(0, {str(tmp_path)!r})",
        "import hybrid_search",
        "from hybrid_search import BM25Index, VectorIndex, chunk_by_section, tokenize",
        "try: hybrid_search.Retriever",
        "except ImportError as error: print(json.dumps(str(error)))",
    )
    assert said == "No module named 'hybrid_search.retriever'"


def test_a_bad_document_in_a_batch_is_named_by_its_place():
    batch = [{"id": 1, "content": "pump"}, {"content": ""}, {"id": 3, "content": "valve"}]
    with pytest.raises(ValueError, match='number 2 of 3 documents: the "content" of .* is empty'):
        BM25Index().add_documents(batch)


@pytest.mark.parametrize("ids", [[], [1, "1", 2.5, (1,)], [0, "", False], [1, None, 2], [None, None]])
def test_the_identities_of_many_are_those_of_each(ids):
    documents = [{"content": "a"} if each is None else {"id": each, "content": "a"} for each in ids]
    assert identities(documents) == [identity(document) for document in documents]


@pytest.mark.parametrize("ids", [[["s9"]], [1, ["s9"]], [None, ["s9"]]])
def test_of_many_the_id_that_cannot_be_hashed_is_named(ids):
    with pytest.raises(ValueError, match=r"must be hashable.*s9"):
        identities([{"id": each, "content": "a"} for each in ids])
