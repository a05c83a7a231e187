"""The real Voyage AI client against a server on this computer: what is sent, and what every failure says."""

import base64
import struct

import numpy as np
import pytest
from loopback_service import Server, body, dropped, late, running

import lab
from lab import embedders, service, voyage
from lab.voyage import VoyageEmbedder

KEY = "pa-a-key-that-no-message-shows"


def right_answer(handler, body):
    handler.send(
        200, answer_with([[1.0, len(text), position] for position, text in enumerate(body["input"])])
    )


def answer_with(vectors):
    data = [
        {
            "object": "embedding",
            "index": position,
            "embedding": base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode(),
        }
        for position, vector in enumerate(vectors)
    ]
    return {"object": "list", "data": data, "model": "voyage-3.5", "usage": {"total_tokens": 5}}


def status(code):
    return lambda handler, body: handler.send(code, {"detail": f"status {code} for {KEY}"})


def cut_short(handler, _):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


@pytest.fixture
def server(monkeypatch, tmp_path):
    with running(right_answer) as server:
        monkeypatch.setenv("VOYAGE_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("VOYAGE_API_KEY", KEY)
        monkeypatch.delenv("VOYAGE_MODEL", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("HYBRID_SEARCH_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(embedders, "_made", {})
        monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
        yield server


def test_documents_and_queries_are_marked_as_such(server):
    embedder = VoyageEmbedder()
    documents, query = embedder.embed_documents(["a", "bb"]), embedder.embed_query("ccc")
    assert documents.tolist() == [[1, 1, 0], [1, 2, 1]] and documents.dtype == np.float32
    assert query.tolist() == [1, 3, 0] and query.shape == (3,)
    (path, authorization, first), (_, _, second) = server.requests
    assert path == "/v1/embeddings" and authorization == f"Bearer {KEY}"
    assert first["input"] == ["a", "bb"] and first["input_type"] == "document"
    assert second["input"] == ["ccc"] and second["input_type"] == "query"
    assert first["model"] == second["model"] == embedder.name == "voyage-3.5"


def test_another_model_can_be_chosen(server, monkeypatch):
    monkeypatch.setenv("VOYAGE_MODEL", "voyage-3-large")
    embedder = VoyageEmbedder()
    embedder.embed_query("a")
    assert server.requests[0][2]["model"] == embedder.name == "voyage-3-large"


def test_texts_go_in_batches_of_128_in_order(server):
    vectors = VoyageEmbedder().embed_documents(["x" * (number + 1) for number in range(300)])
    assert [len(sent["input"]) for _, _, sent in server.requests] == [128, 128, 44]
    assert vectors[:, 1].tolist() == list(range(1, 301))


def test_a_batch_stays_within_the_tokens_of_a_request(server, monkeypatch):
    monkeypatch.setattr(voyage, "BATCH_TOKENS", 10)
    VoyageEmbedder().embed_documents(["a" * 12, "a" * 12, "a" * 60, "a"])
    assert [len(sent["input"]) for _, _, sent in server.requests] == [2, 1, 1]


def test_the_estimate_of_tokens_is_generous():
    assert service.estimated_tokens("") == 1
    assert service.estimated_tokens("many ordinary words") >= 3
    assert service.estimated_tokens("漢字") >= 2


def test_no_texts_are_not_sent(server):
    assert len(VoyageEmbedder().embed_documents([])) == 0
    assert server.requests == []


def test_blank_texts_are_refused_before_anything_is_sent(server):
    with pytest.raises(ValueError, match="Text 2 is empty"):
        VoyageEmbedder().embed_documents(["a", ""])
    with pytest.raises(ValueError, match="is empty"):
        VoyageEmbedder().embed_query(" ")
    assert server.requests == []


@pytest.mark.parametrize("failure", [status(429), status(503)], ids=["rate limit", "overload"])
def test_a_passing_failure_is_tried_again(server, failure):
    server.answers = [failure, failure]
    assert VoyageEmbedder().embed_query("a").tolist() == [1, 1, 0]
    assert len(server.requests) == service.ATTEMPTS == 3


def test_a_late_answer_is_tried_again(server):
    server.answers = [late]
    assert VoyageEmbedder(timeout=0.2).embed_query("a").tolist() == [1, 1, 0]
    assert len(server.requests) == 2


FAILURES = {
    "bad key": (status(401), "does not accept the key in VOYAGE_API_KEY"),
    "forbidden": (status(403), "does not accept the key in VOYAGE_API_KEY"),
    "bad key, answer without JSON": (
        lambda handler, _: handler.send(401, b"<html>no</html>"),
        "does not accept the key in VOYAGE_API_KEY",
    ),
    "rate limit": (status(429), "rate limit is reached: wait a minute"),
    "bad request": (status(400), r"refused the request \(status 400\): check that voyage-3\.5"),
    "malformed request": (status(422), r"refused the request \(status 422\)"),
    "server fault": (status(500), r"fault of its own \(status 500\)"),
    "overload": (status(503), r"fault of its own \(status 503\)"),
    "timeout": (late, "did not answer within 0.2 seconds"),
    "dropped connection": (dropped, "cannot be reached"),
    "answer cut short": (cut_short, "cannot be reached"),
    "no JSON": (body(b"<html>hello</html>"), "no list of vectors"),
    "no text": (body(b"\xff\xfe\xfa"), "no list of vectors"),
    "no data": (body({"object": "list"}), "no list of vectors"),
    "JSON of another kind": (body([1, 2]), "no list of vectors"),
    "too few vectors": (body(answer_with([])), "no list of vectors"),
    "too many vectors": (body(answer_with([[1.0], [2.0]])), "no list of vectors"),
    "vector without numbers": (body(answer_with([[]])), "no list of vectors"),
    "not a number": (body(answer_with([[1.0, float("nan")]])), "no list of vectors"),
    "zero vector": (body(answer_with([[0.0, 0.0]])), "no list of vectors"),
}


@pytest.mark.parametrize(("answer", "message"), FAILURES.values(), ids=FAILURES)
def test_each_failure_is_one_plain_sentence_without_the_key(server, answer, message, capfd, caplog):
    server.answers = [answer] * service.ATTEMPTS
    with pytest.raises(lab.ServiceError, match=message) as caught:
        VoyageEmbedder(timeout=0.2).embed_query("a")
    sentence = str(caught.value)
    assert sentence.endswith('lab.embedder("local").') and "\n" not in sentence
    assert caught.value._render_traceback_() == [sentence]
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert KEY not in sentence + repr(caught.value) + caplog.text + "".join(capfd.readouterr())


def test_vectors_of_two_dimensions_are_refused(server):
    server.answers = [body(answer_with([[1.0]] * 128)), body(answer_with([[1.0, 2.0]]))]
    with pytest.raises(lab.ServiceError, match="no list of vectors"):
        VoyageEmbedder().embed_documents(["a"] * 129)


def test_nothing_listens_at_the_address(server, monkeypatch):
    closed = Server(right_answer)
    monkeypatch.setenv("VOYAGE_BASE_URL", closed.url)
    closed.server_close()
    with pytest.raises(lab.ServiceError, match="cannot be reached"):
        VoyageEmbedder().embed_query("a")


@pytest.mark.parametrize("key", ["pa-ключ", "pa-two words", "pa-line\nbreak"])
def test_a_key_that_cannot_be_one_is_not_sent(server, key):
    with pytest.raises(lab.ServiceError, match="does not accept the key") as caught:
        VoyageEmbedder(key).embed_query("a")
    assert key not in str(caught.value) and server.requests == []


def test_spaces_around_a_key_are_left_out(server):
    VoyageEmbedder(f" {KEY}\n").embed_query("a")
    assert server.requests[0][1] == f"Bearer {KEY}"


def test_the_courses_embedder_asks_voyage_once_for_a_text(server):
    first = lab.embedder().embed_documents(["a", "bb"])
    lab.embedder().embed_query("a")
    embedders._made.clear()  # as in another notebook
    assert np.array_equal(lab.embedder().embed_documents(["bb", "a"]), first[::-1])
    lab.embedder().embed_query("a")
    assert [sent["input_type"] for _, _, sent in server.requests] == ["document", "query"]


def test_neither_the_key_nor_the_address_is_in_a_file_that_is_kept(server, tmp_path):
    lab.embedder().embed_documents(["a", "bb"])
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        content = path.read_bytes() + str(path).encode()
        assert KEY.encode() not in content and server.url.encode() not in content


def test_a_failure_leaves_what_is_indexed_as_it_was(server):
    from hybrid_search import VectorIndex

    index = VectorIndex(lab.embedder())
    index.add_document({"id": 1, "content": "a"})
    server.answers = [status(401)]
    with pytest.raises(lab.ServiceError):
        index.add_document({"id": 2, "content": "bb"})
    assert [document["id"] for document, _ in index.search("a", k=5)] == [1]


def test_a_notebook_shows_the_sentence_alone(server, capsys):
    from IPython.core.interactiveshell import InteractiveShell

    server.answers = [status(401)]
    shell = InteractiveShell.instance()
    shell.run_cell("import lab; lab.embedder().embed_query('a')", store_history=False)
    InteractiveShell.clear_instance()
    output = "".join(capsys.readouterr())
    assert "does not accept the key" in output and "Traceback" not in output and KEY not in output


def run_unit_04(root):
    """The solved notebook of unit 04, run in a kernel of its own; its outputs as text, and its errors."""
    import nbformat
    from nbclient import NotebookClient

    path = root / "solutions" / "notebooks" / "04_retriever" / "04_retriever.ipynb"
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return nbformat.writes(notebook), [output for output in outputs if output.output_type == "error"]


def test_the_same_notebook_runs_on_voyage_vectors(server, root):
    written, errors = run_unit_04(root)
    assert errors == []
    assert "by Voyage AI, which is sent your texts" in written
    assert "retriever: 8 of 8 points" in written and "keyword_index: 2 of 2 points" in written
    sent = [body for _, _, body in server.requests]
    assert [len(body["input"]) for body in sent if body["input_type"] == "document"] == [10]
    assert any(body["input"] == ["what happened with INC-2023-Q4-011?"] for body in sent)
    assert KEY not in written


def test_with_a_bad_key_the_notebook_says_one_plain_sentence(server, root):
    server.answers = [status(401)] * 200
    written, errors = run_unit_04(root)
    assert errors[0].ename == "ServiceError"
    assert len(errors[0].traceback) == 1 and "does not accept the key" in errors[0].traceback[0]
    assert KEY not in written
