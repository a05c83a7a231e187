"""A BM25 index in a file: as it was, or refused."""

import json
import os
import pickle
import random

import pytest

from hybrid_search import (
    BM25Index,
    StaleSnapshot,
    VectorIndex,
    load_snapshot,
    save_snapshot,
    tokenize,
)

TEXTS = [
    "The pump leaks.",
    "Ticket TX-99402: the seal of the pump.",
    "L'école à côté",
    "two-factor pump pump",
]
QUERIES = ["pump", "seal leaks", "TX-99402", "ecole", "nothing of that", "two factor pump"]


def documents_of(texts=TEXTS) -> list[dict]:
    return [{"id": number, "content": text, "tags": ["a", None, 0.5]} for number, text in enumerate(texts, 1)]


def saved(path, documents=None, tokenizer=tokenize, **settings) -> BM25Index:
    index = BM25Index(tokenizer, **settings)
    index.add_documents(documents_of() if documents is None else documents)
    save_snapshot(index, path)
    return index


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bm25.json"


def searches(index) -> list:
    return [index.search(query, k=10) for query in QUERIES]


# As it was


@pytest.mark.parametrize("settings", [{}, {"k1": 0.5, "b": 0.2}, {"k1": 2, "b": 1}])
def test_a_loaded_index_gives_the_same_results_to_the_last_bit(path, settings):
    index = saved(path, **settings)
    assert searches(load_snapshot(path)) == searches(index)
    assert (load_snapshot(path).k1, load_snapshot(path).b) == (index.k1, index.b)


def test_a_loaded_index_takes_more_documents(path):
    fresh, loaded = saved(path), None
    loaded = load_snapshot(path)
    for index in (fresh, loaded):
        index.add_document({"id": 9, "content": "A new pump."})
    assert searches(loaded) == searches(fresh)


def test_the_documents_of_today_become_those_of_the_index(path):
    saved(path)
    today = documents_of()
    index = load_snapshot(path, documents=iter(today))
    assert all(document is one for document, one in zip(index.documents, today, strict=True))


def test_documents_are_tokenised_at_most_256_times_at_loading(path):
    calls = []

    def counting(text):
        calls.append(text)
        return text.split()

    saved(path, documents_of([f"text {i}" for i in range(1000)]), counting)
    calls.clear()
    load_snapshot(path, counting)
    assert len(calls) <= 257


def test_an_empty_index_and_a_document_without_a_token_are_kept(path):
    saved(path, [])
    assert load_snapshot(path).search("pump") == []
    saved(path, documents_of(["the and", "pump"]))
    assert [document["id"] for document, _ in load_snapshot(path).search("pump", k=5)] == [2]


def test_documents_without_an_id_are_kept_even_with_the_same_text(path):
    saved(path, [{"content": "pump"}, {"content": "pump"}])
    assert len(load_snapshot(path)) == 2


@pytest.mark.parametrize("seed", range(20))
def test_any_text_is_kept(path, seed):
    draw = random.Random(seed)
    alphabet = "ab \n\x00\"\\é漢\u0301🙂\ud800\u2028'-."
    texts = ["x" + "".join(draw.choices(alphabet, k=draw.randint(1, 30))) for _ in range(8)]
    index = saved(path, documents_of(texts), str.split)
    loaded = load_snapshot(path, str.split)
    assert (loaded.documents, loaded.tokens) == (index.documents, index.tokens)


# Stale


def changed(documents):
    documents[1]["content"] += " New."


def renamed(documents):
    documents[1]["id"] = 77


def retagged(documents):
    documents[1]["tags"] = []


def added(documents):
    documents.append({"id": 9, "content": "A new pump."})


def removed(documents):
    del documents[2]


def emptied(documents):
    documents.clear()


def turned_round(documents):
    documents.reverse()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed, "document 2 is changed"),
        (renamed, "document 77 is new, document 2 is missing"),
        (retagged, "document 2 is changed"),
        (added, "document 9 is new"),
        (removed, "document 3 is missing"),
        (emptied, "documents 1, 2, 3 and 1 more are missing"),
        (turned_round, "another order"),
    ],
)
def test_other_documents_are_refused_by_name(path, change, message):
    saved(path)
    today = documents_of()
    change(today)
    with pytest.raises(StaleSnapshot, match=f"bm25.json is stale: .*{message}") as refused:
        load_snapshot(path, documents=today)
    assert refused.value.differs == ("documents",)


def test_a_document_without_an_id_is_named_by_its_text(path):
    saved(path, [{"content": "The pump leaks."}])
    with pytest.raises(StaleSnapshot, match="document 'The valve leaks.' is new, document 'The pump"):
        load_snapshot(path, documents=[{"content": "The valve leaks."}])


@pytest.mark.parametrize(
    "tokenizer",
    [
        str.split,
        lambda text: text.lower().split(),
        lambda text: [token for token in tokenize(text) if token != "seal"],
        lambda text: [*tokenize(text), "end"],
        lambda text: tokenize(text)[::-1],
        lambda text: tokenize(text.replace("É", "X")),
    ],
)
def test_another_tokenizer_is_refused(path, tokenizer):
    saved(path)
    with pytest.raises(StaleSnapshot, match="hybrid_search.bm25.tokenize did") as refused:
        load_snapshot(path, tokenizer, documents_of())
    assert refused.value.differs == ("tokenizer",)


def test_the_refusal_shows_where_the_tokens_part(path):
    saved(path)
    with pytest.raises(
        StaleSnapshot, match=r"gave \['pump', 'leaks'\] at token 1 now gives \['The', 'pump', 'leaks.'\]"
    ):
        load_snapshot(path, str.split)


def test_a_tokenizer_that_does_the_same_is_the_same_whatever_its_name(path):
    index = saved(path)
    assert searches(load_snapshot(path, lambda text: tokenize(text))) == searches(index)


@pytest.mark.parametrize("settings", [{"k1": 1.2}, {"b": 0.5}, {"k1": 1.2, "b": 0.5}])
def test_other_parameters_are_refused(path, settings):
    saved(path)
    with pytest.raises(StaleSnapshot, match="k1 and b were 1.5 and 0.75, now they are") as refused:
        load_snapshot(path, **settings)
    assert refused.value.differs == ("parameters",)
    assert load_snapshot(path, k1=1.5, b=0.75).k1 == 1.5


def test_all_that_differs_is_said_at_once(path):
    saved(path)
    with pytest.raises(StaleSnapshot) as refused:
        load_snapshot(path, str.split, documents_of()[:2], k1=1)
    assert refused.value.differs == ("documents", "tokenizer", "parameters")


def test_what_is_no_document_is_refused_as_by_an_index(path):
    saved(path)
    with pytest.raises(ValueError, match='has no "content"'):
        load_snapshot(path, documents=[{"id": 1}, *documents_of()])


# Cut or edited


def test_a_file_cut_anywhere_is_refused(path):
    saved(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(StaleSnapshot, match="bm25.json") as refused:
            load_snapshot(path)
        assert refused.value.differs == ("file",)


@pytest.mark.parametrize("seed", range(300))
def test_a_file_with_one_other_byte_is_refused(path, seed):
    saved(path)
    content, draw = bytearray(path.read_bytes()), random.Random(seed)
    place = draw.randrange(len(content))
    content[place] = draw.choice([byte for byte in range(256) if byte != content[place]])
    path.write_bytes(content)
    try:
        load_snapshot(path)
    except StaleSnapshot as refused:
        assert refused.differs == ("file",)
    else:
        pytest.fail(f"byte {place} may be {chr(content[place])!r}")


def with_new_checksum(path, edit):
    """An edit by somebody who knows the format."""
    from hashlib import sha256

    first, body = path.read_bytes().split(b"\n", 1)
    content = json.loads(body)
    edit(content)
    body = json.dumps(content).encode()
    header = json.loads(first) | {"bytes": len(body), "sha256": sha256(body).hexdigest()}
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)


@pytest.mark.parametrize(
    "edit",
    [
        lambda content: content.pop("terms"),
        lambda content: content.update(terms=[]),
        lambda content: content["terms"].__setitem__(0, ["pump"]),
        lambda content: content["tokens"][0].__setitem__(0, -1),
        lambda content: content["tokens"][0].__setitem__(0, True),
        lambda content: content["tokens"].pop(),
        lambda content: content["tokens"].__setitem__(0, 5),
        lambda content: content["documents"][0].update(content="Other."),
        lambda content: content["documents"].__setitem__(0, "text"),
        lambda content: content["documents"][0].pop("content"),
        lambda content: content["documents"][0].update(id=2),
        lambda content: content.update(documents=None),
        lambda content: content.update(k1=-1),
        lambda content: content.update(k1="1.5"),
        lambda content: content.update(b=0.5),
        lambda content: content.update(fingerprint={}),
        lambda content: content.update(fingerprint=[]),
        lambda content: content.update(k1=float("nan")),
    ],
)
def test_an_edit_with_a_new_checksum_is_refused_too(path, edit):
    saved(path)
    with_new_checksum(path, edit)
    with pytest.raises(StaleSnapshot, match="bm25.json"):
        load_snapshot(path, documents=documents_of())


class Program:
    """A pickle of this makes a folder when it is loaded."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize(
    "content",
    [
        lambda folder: pickle.dumps(Program(folder)),
        lambda folder: pickle.dumps(Program(folder), protocol=0),
        lambda folder: b"",
        lambda folder: b"[]\n{}",
        lambda folder: b'"text"\n{}',
        lambda folder: b"\xff\xfe\n",
        lambda folder: b"[" * 200_000,
        lambda folder: b'{"format": "BM25 snapshot of hybrid_search"}\n{}',
        lambda folder: (
            b'{"format": "BM25 snapshot of hybrid_search", "version": 2, "bytes": 0, "sha256": ""}\n'
        ),
        lambda folder: (
            b'{"format": "BM25 snapshot of hybrid_search", "version": 1, "bytes": "2", "sha256": 5}\n{}'
        ),
    ],
)
def test_a_file_of_another_kind_is_refused_and_not_run(path, tmp_path, content):
    path.write_bytes(content(tmp_path / "made"))
    with pytest.raises(StaleSnapshot, match="bm25.json"):
        load_snapshot(path)
    assert not (tmp_path / "made").exists()


def test_a_missing_file_says_so(path):
    with pytest.raises(FileNotFoundError):
        load_snapshot(path)


# Written whole or not at all


def test_a_failure_while_writing_leaves_the_old_file(path, monkeypatch):
    saved(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        saved(path, documents_of(["other"]))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    "document",
    [
        {"id": 1, "content": "pump", "when": object()},
        {"id": 1, "content": "pump", "place": (1, 2)},
        {"id": 1, "content": "pump", "score": float("nan")},
        {"id": 1, "content": "pump", 5: "five"},
        {"id": (1, 2), "content": "pump"},
        {"id": 1, "content": "a \ud83d\ude00"},
    ],
)
def test_what_json_does_not_give_back_is_refused_before_anything_is_written(path, document):
    with pytest.raises(ValueError, match="a snapshot cannot keep the document with id"):
        saved(path, [document])
    assert os.listdir(path.parent) == []


def test_tokens_that_are_no_text_are_refused(path):
    with pytest.raises(ValueError, match="tokens are texts"):
        saved(path, tokenizer=lambda text: [len(text)])


@pytest.mark.skipif(os.name != "posix", reason="a link needs no permission on POSIX only")
def test_a_link_stays_a_link(path, tmp_path):
    real = tmp_path / "real.json"
    path.symlink_to(real)
    index = saved(path)
    assert path.is_symlink() and searches(load_snapshot(real)) == searches(index)


def test_a_file_is_as_readable_as_any_other_and_the_same_each_time(path, tmp_path):
    saved(path)
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert path.stat().st_mode == plain.stat().st_mode
    once = path.read_bytes()
    saved(path)
    assert path.read_bytes() == once


def test_something_that_is_no_bm25_index_is_refused(path):
    with pytest.raises(TypeError, match="save_snapshot keeps a BM25Index: got VectorIndex"):
        save_snapshot(VectorIndex(), path)


def test_known_tokens_are_taken_as_they_are():
    index = BM25Index(lambda text: ["never"])
    index.add_tokens(["pump", "leak"], {"id": 1, "content": "x"})
    assert index.tokens == [["pump", "leak"]]
    with pytest.raises(TypeError, match="tokens must be a list"):
        index.add_tokens("pump", {"id": 2, "content": "x"})
    with pytest.raises(ValueError, match="another document with id 1"):
        index.add_tokens(["pump"], {"id": 1, "content": "y"})
