"""The README says what is true: its commands, its unit map, its sample of feedback, its links."""

import re
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT

from grader.exercises import EXERCISES

README = (ROOT / "README.md").read_text(encoding="utf-8")
UNITS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*/*.ipynb"))


def code_blocks(language: str) -> list[str]:
    return [
        body
        for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
        if kind == language
    ]


def test_one_line_opens_the_course_and_one_runs_the_tests():
    open_course, run_tests = code_blocks("bash")[:2]
    for command, end in ((open_course, "-m lab\n"), (run_tests, "-m pytest -q\n")):
        assert command.count("\n") == 1
        assert command.startswith(
            "python3 -m venv .venv && .venv/bin/python -m pip install -q -r requirements.txt && "
        )
        assert command.endswith(end)


@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_map_gives_the_units_minutes_and_points(unit):
    row = next(line for line in README.splitlines() if f"({'notebooks/' + unit}/{unit}.ipynb)" in line)
    minutes, points = (cell.strip() for cell in row.strip("|").split("|")[-2:])
    notebook = nbformat.read(ROOT / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
    assert f"**Minutes:** {minutes}." in notebook.cells[0].source
    assert float(points) == sum(exercise.points for exercise in EXERCISES.values() if exercise.unit == unit)


def test_the_sample_of_feedback_is_what_check_says():
    from grader.checks import evaluate
    from grader.feedback import as_text
    from grader.make_references import implementations

    exercise = EXERCISES["retriever"]
    said = as_text(evaluate(exercise, implementations(exercise)["ranks_from_zero"]))
    (sample,) = code_blocks("")
    assert said.startswith(sample.rstrip())


def test_every_local_link_and_picture_leads_somewhere():
    targets = re.findall(r"\]\((?!https?:)([^)\s]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_picture_has_alt_text():
    assert all(alt.strip() for alt in re.findall(r"!\[(.*?)\]\(", README))


def test_the_pictures_alt_text_gives_the_course_s_own_rankings():
    from hybrid_search import BM25Index, Retriever, VectorIndex
    from lab import embedder, sections
    from lab.figures import QUESTION

    vector, bm25 = VectorIndex(embedder("stored")), BM25Index()
    retriever = Retriever(vector, bm25)
    retriever.add_documents(sections())
    assert [document["id"] for document, _ in vector.search(QUESTION, 5)] == [10, 3, 2, 5, 6]
    assert [document["id"] for document, _ in bm25.search(QUESTION, 5)] == [10, 2, 5]
    assert [document["id"] for document, _ in retriever.search(QUESTION, 3)] == [10, 2, 5]
    assert "Vector search gives sections 10, 3, 2, 5 and 6; BM25 gives 10, 2 and 5." in README


def test_the_top_level_is_the_fixed_one():
    listed = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("needs a git checkout")
    names = {name for name in listed.stdout.split() if not name.startswith(".")}
    assert names == {
        "README.md",
        "requirements.txt",
        "pyproject.toml",
        "LICENSE",
        "notebooks",
        "solutions",
        "grader",
        "assets",
        "tests",
    }


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the table is of the language reference of Python 3.11"
)
def test_the_table_of_searches_is_what_the_benchmark_prints():
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "retrieval"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [
        line for line in README.splitlines() if line.startswith(("| conceptual", "| identifier", "| all"))
    ]
    assert len(rows) == 9
    assert [row for row in rows if row not in done.stdout] == []
