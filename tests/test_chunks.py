"""Cutting a Markdown text into sections."""

import random

import pytest

from hybrid_search import chunk_by_section


def test_a_chunk_is_the_heading_a_blank_line_and_the_body():
    assert chunk_by_section("## Pumps\nThey leak.") == ["Pumps\n\nThey leak."]
    assert chunk_by_section("## Pumps\n\n\nThey leak.\n\n") == ["Pumps\n\nThey leak."]


def test_chunks_come_in_the_order_of_the_text():
    assert chunk_by_section("## C\n\n3\n\n## A\n\n1\n\n## B\n\n2") == ["C\n\n3", "A\n\n1", "B\n\n2"]


def test_equal_sections_stay_two():
    assert chunk_by_section("## A\nx\n## A\nx") == ["A\n\nx", "A\n\nx"]


def test_the_title_alone_is_no_chunk():
    assert chunk_by_section("# Annual Review\n\n## A\n\nx") == ["A\n\nx"]
    assert chunk_by_section("# Annual Review\n") == []


def test_text_before_the_first_heading_is_a_chunk():
    assert chunk_by_section("Foreword.\n\n## A\n\nx") == ["Foreword.", "A\n\nx"]
    assert chunk_by_section("# Annual Review\n\nForeword.\n\n## A\n\nx")[0] == "# Annual Review\n\nForeword."
    assert chunk_by_section("# Part 1\n# Part 2\n## A\nx")[0] == "# Part 1\n# Part 2"


def test_text_without_a_heading_is_one_chunk():
    assert chunk_by_section("Just text.\n\nMore text.") == ["Just text.\n\nMore text."]


@pytest.mark.parametrize("text", ["", "\n\n", "  \n\t\n"])
def test_a_text_without_content_gives_no_chunk(text):
    assert chunk_by_section(text) == []


def test_a_heading_without_a_body_is_a_chunk():
    assert chunk_by_section("## A\n## B\n\n## C") == ["A", "B", "C"]


def test_an_empty_heading_still_parts_and_loses_no_body():
    assert chunk_by_section("## A\n\nx\n\n## \n\n# y\n") == ["A\n\nx", "# y"]


def test_other_levels_are_body():
    text = "## A\n### Deeper\nx\n# Higher\ny\n#### Deepest\n##NoSpace\ntext ## not at the start"
    assert chunk_by_section(text) == ["A\n\n" + text.removeprefix("## A\n")]


def test_closing_marks_and_spaces_around_a_heading_are_marks():
    assert chunk_by_section("##   A heading  ##  \nx") == ["A heading\n\nx"]
    assert chunk_by_section("## C# and F#\nx") == ["C# and F#\n\nx"]


def test_the_inside_of_a_body_is_kept_to_the_character():
    body = "    indented\n\n\n\ttab  two spaces  \n\n- a\n  - b   \n\u00a0 é œ 漢字 🙂\x0c\n| a | b |"
    assert chunk_by_section(f"## A\n\n{body}\n\n## B") == [f"A\n\n{body}", "B"]


def test_the_indent_of_the_first_line_is_kept():
    assert chunk_by_section("## A\n\n    code\n\n## B") == ["A\n\n    code", "B"]


def test_windows_line_ends_are_line_ends():
    assert chunk_by_section("# T\r\n\r\n## A\r\n\r\nx\r\ny\r\n\r\n## B\r\nz\r\n") == ["A\n\nx\ny", "B\n\nz"]


@pytest.mark.parametrize(
    "fence",
    [
        "```\n## code\n```",
        "```python\n## code\n```",
        "~~~\n## code\n~~~",
        "   ```\n## code\n   ```",
        "````\n```\n## code\n```\n````",
        "```\n~~~\n## code\n```",
        "~~~\n```\n## code\n~~~",
        "```\n```python\n## code\n```",
        "```\n## code\n`````",
        "```\n## code\n```  ",
    ],
)
def test_a_heading_mark_in_a_fenced_block_is_code(fence):
    assert chunk_by_section(f"## A\n\n{fence}\n\n## B\n\ny") == [f"A\n\n{fence}", "B\n\ny"]


def test_a_block_that_is_never_closed_runs_to_the_end():
    assert chunk_by_section("## A\n\n```\n## code\n\ntext") == ["A\n\n```\n## code\n\ntext"]


@pytest.mark.parametrize("line", ["```x```", "a ``` b", "``", "~~ struck ~~", "     ```"])
def test_code_within_a_line_opens_no_block(line):
    assert chunk_by_section(f"## A\n\nx\n{line}\n## B\n\ny") == [f"A\n\nx\n{line}", "B\n\ny"]


@pytest.mark.parametrize("seed", range(50))
def test_no_other_character_is_lost(seed):
    draw = random.Random(seed)
    lines = [
        "## Head",
        "## Two words",
        "",
        "",
        "text",
        "  indented ",
        "### deep",
        "```",
        "~~~",
        "# one",
        "##",
        "é\t",
    ]
    text = "## First\n" + "\n".join(draw.choices(lines, k=draw.randint(0, 25)))
    kept = "\n".join(chunk_by_section(text))
    # Blank lines aside, every line is there, in order: as it was, or as a heading without its marks.
    before = [line for line in text.split("\n") if line.strip()]
    after = [line for line in kept.split("\n") if line.strip()]
    assert len(before) == len(after)
    assert all(new in (old, old.removeprefix("## ")) for old, new in zip(before, after, strict=True))


def test_the_report_has_ten_sections(root):
    text = (root / "assets" / "report.md").read_text(encoding="utf-8")
    chunks = chunk_by_section(text)
    assert [chunk.split(":")[0] for chunk in chunks] == [f"Section {number}" for number in range(1, 11)]
    rest = text
    for chunk in chunks:
        heading, body = chunk.split("\n\n", 1)
        assert f"## {heading}\n\n{body}\n" in rest
        rest = rest.split(body, 1)[1]
    assert rest.strip() == ""


@pytest.mark.parametrize("text", [None, b"## A", ["## A"], 5])
def test_anything_but_text_is_refused(text):
    with pytest.raises(TypeError, match=f"the text must be a str: got {type(text).__name__}"):
        chunk_by_section(text)
