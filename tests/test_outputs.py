"""What a sandbox sends is rebuilt within bounds, and a browser is shown no script."""

import json

import pytest

from grader.asked import ANSWERS
from grader.sandbox.collected import Collected
from grader.sandbox.inside import wire
from grader.sandbox.outputs import BadOutput, clean_count, clean_output, parse, safe_to_show


def display(**data) -> dict:
    return {"output_type": "display_data", "data": data, "metadata": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no",
        b"[1]",
        b'"text"',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b"[" * 50_000,
        b"\xff{}",
        b"1" * 9_999,
    ],
)
def test_a_line_that_is_no_message_is_refused(line):
    with pytest.raises(BadOutput):
        parse(line)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {},
        {"output_type": "pyout"},
        {"output_type": ["stream"]},
        {"output_type": "stream", "name": "stdout"},
        {"output_type": "stream", "name": "stdout", "text": 1},
        {"output_type": "error", "ename": "E", "evalue": "e", "traceback": "t"},
        {"output_type": "error", "ename": None, "evalue": "e", "traceback": []},
        {"output_type": "display_data", "data": []},
        {"output_type": "display_data", "data": {"no mime type": "x"}},
        {"output_type": "display_data", "data": {"application/json": float("nan")}},
        {"output_type": "display_data", "data": {"application/json": float("inf")}},
        {"output_type": "display_data", "data": {"application/json": {1, 2}}},
        {"output_type": "display_data", "data": {"application/json": [0] * 300_000}},
        {"output_type": "stream", "name": "stdout", "text": "x" * 3_000_000},
    ],
)
def test_what_is_no_output_is_refused(raw):
    with pytest.raises(BadOutput):
        clean_output(raw)


def test_what_is_nested_too_deeply_is_refused():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(BadOutput, match="deep"):
        clean_output({"output_type": "display_data", "data": {"application/json": deep}})


def test_an_output_keeps_what_the_format_knows_and_nothing_else():
    raw = {
        "output_type": "execute_result",
        "data": {"text/plain": ["a", "b"], "application/json": {"a": [1, None]}, "image/png": 7},
        "metadata": {"image/png": {"onload": "alert(1)"}},
        "execution_count": True,
        "more": 1,
    }
    assert clean_output(raw) == {
        "output_type": "execute_result",
        "data": {"text/plain": "ab", "application/json": {"a": [1, None]}},
        "metadata": {},
        "execution_count": None,
    }


def test_lone_surrogates_do_not_get_into_a_notebook():
    cleaned = clean_output(display(**{"application/json": {"\ud800": ["\udfff"]}, "text/plain": "\ud800"}))
    json.dumps(cleaned, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(("raw", "count"), [(3, 3), (True, None), (-1, None), (10**7, None), ("3", None)])
def test_a_cells_number_is_a_small_number(raw, count):
    assert clean_count(raw) == count


def test_inside_and_outside_agree_on_the_channel_of_answers():
    assert wire.ANSWERS == ANSWERS


def test_answers_survive_cleaning_and_are_never_shown():
    answers = {"exercise": "a", "answers": [{"value": [1, 2.5]}]}
    cleaned = clean_output(display(**{ANSWERS: answers, "text/plain": "answers of a"}))
    assert cleaned["data"][ANSWERS] == answers
    assert safe_to_show(cleaned) is None


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<IMG SRC='javascript:alert(1)'>",
        "<a href='javascript:alert(1)'>a</a>",
        "<a href='data:text/html,<script>alert(1)</script>'>a</a>",
        "<svg onload=alert(1)><script>alert(1)</script></svg>",
        "<iframe src='data:text/html,alert(1)'></iframe>",
        "<form action='http://x'><input name=q><button>alert(1)</button></form>",
        "<div style='position:fixed;top:0;background:url(http://x)'>a</div>",
        "<style>* { position: fixed }</style>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<img src='data:image/svg+xml;base64,PHN2Zy8+'>",
        "<img src='http://example.org/seen.png'>",
        "<p onclick=alert(1) id=x class='modal' data-toggle=modal>a</p>",
        "<object data=x></object><embed src=x><link rel=stylesheet href=x><meta http-equiv=refresh>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    ],
)
def test_html_is_shown_without_anything_that_acts(html):
    shown = safe_to_show(clean_output(display(**{"text/html": html})))
    left = "" if shown is None else shown["data"]["text/html"].lower()
    left = left.replace("&lt;", "").replace("alert(1)</", "</")
    for word in (
        *(
            "<script",
            "onerror",
            "onload",
            "onclick",
            "javascript",
            "http",
            "svg",
            "iframe",
            "<form",
            "<input",
        ),
        *(
            "position",
            "url(",
            "<style",
            "<object",
            "<embed",
            "<link",
            "<meta",
            "class=",
            "id=",
            "data-",
            "href",
        ),
    ):
        assert word not in left, left


def test_tables_pictures_and_plain_styles_are_shown():
    html = (
        '<table><tbody><tr><th scope="row">a</th><td style="text-align:right">1</td></tr></tbody></table>'
        '<img src="data:image/png;base64,AAAA" alt="a plot"><details open=""><summary>more</summary></details>'
    )
    assert safe_to_show(display(**{"text/html": html}))["data"]["text/html"] == html


def test_only_pictures_text_and_html_are_shown():
    shown = safe_to_show(
        display(
            **{
                "text/plain": "<b>text</b>",
                "image/png": "AAAA\n",
                "image/jpeg": 'AAAA" onload="alert(1)',
                "image/svg+xml": "<svg/>",
                "text/markdown": "<script>1</script>",
                "application/javascript": "alert(1)",
                "application/vnd.jupyter.widget-view+json": {"model_id": "1"},
            }
        )
    )
    assert shown == display(**{"text/plain": "<b>text</b>", "image/png": "AAAA"})
    assert safe_to_show(display(**{"application/javascript": "alert(1)"})) is None


def test_texts_and_errors_are_shown_as_they_are():
    stream = {"output_type": "stream", "name": "stdout", "text": "<script>"}
    error = {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["<script>"]}
    assert safe_to_show(stream) == stream
    assert safe_to_show(error) == error


def test_an_update_neither_makes_nor_changes_answers():
    collected = Collected()
    outputs = collected.next_cell()
    collected.add({"output": display(**{ANSWERS: {"exercise": "a"}}), "display_id": "1"})
    collected.add({"output": display(**{"text/plain": "a"}), "display_id": "2"})
    collected.next_cell()
    collected.add({"output": display(**{ANSWERS: {"exercise": "b"}}), "display_id": "1", "update": True})
    collected.add({"output": display(**{"text/plain": "b"}), "display_id": "1", "update": True})
    collected.add({"output": display(**{ANSWERS: {"exercise": "b"}}), "display_id": "2", "update": True})
    assert [one["data"] for one in outputs] == [{ANSWERS: {"exercise": "a"}}, {"text/plain": "a"}]
