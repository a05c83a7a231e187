"""The report on a graded class: its numbers are right, its page is safe, and it says what it cannot know."""

import csv
import errno
import html
import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import nbformat
import pytest
from conftest import ROOT
from variants.retriever import Beginner

import hybrid_search
from grader.__main__ import main
from grader.answers import attempt
from grader.asked import ANSWERS
from grader.classroom import report as reports
from grader.classroom.charts import percent
from grader.classroom.places import Places
from grader.classroom.results import NoResults, read_results
from grader.classroom.safe_csv import safe_cell
from grader.classroom.summary import criteria, score_counts
from grader.exam import Exam
from grader.grades import METADATA, SubmissionGrade
from grader.notebooks import released
from grader.sandbox.execution import CellResult, Execution
from grader.scoring import score, score_unrun
from grader.units import unit_named

UNIT = "04_retriever"
SEED = 41
BOTH = ("retriever", "keyword_index")
HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'


class Class:
    """A class of graded notebooks, each scored by the grader's own functions."""

    def __init__(self, folder):
        self.folder = folder
        self.exam = Exam(UNIT, SEED)
        self._release = released(UNIT)
        self._answers = {}

    def notebook(self, **sources):
        notebook = nbformat.from_dict(json.loads(json.dumps(self._release)))
        for cell in notebook.cells:
            cell.source = sources.get(cell.id, cell.source)
        return notebook

    def answers(self, exercise: str, name: str = "") -> dict:
        """What check() hands in for the finished objects, or for a misconception."""
        if (exercise, name) not in self._answers:
            asked = self.exam.exercises[exercise]
            objects = self.wrong(exercise, name) if name else self._finished(asked)
            self._answers[exercise, name] = attempt(asked, objects, asked.probes)
        return self._answers[exercise, name]

    @staticmethod
    def wrong(exercise: str, name: str) -> tuple:
        from misconceptions.retriever import IMPLEMENTATIONS

        return IMPLEMENTATIONS[exercise][name]

    @staticmethod
    def _finished(asked) -> tuple:
        return tuple(getattr(hybrid_search, name) for name in asked.objects)

    def add(self, learner, retriever="", keyword_index="", sources=None, engine="fork", **settings) -> None:
        """A learner whose exercises went so: "" right, a misconception's name, or an outcome of its own."""
        notebook = self.notebook(**(sources or {}))
        went = {"retriever": retriever, "keyword_index": keyword_index}
        results = []
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            how = went.get(cell.id.removeprefix("check_"), "") if cell.id.startswith("check_") else None
            if how is None:
                results.append(CellResult([], 1))
            elif isinstance(how, CellResult):
                results.append(how)
            else:
                answer = self.answers(cell.id.removeprefix("check_"), how)
                data = {ANSWERS: answer, "text/plain": "answers"}
                results.append(CellResult([{"output_type": "display_data", "data": data, "metadata": {}}], 1))
        score(notebook, Execution(tuple(results), engine), self.exam, **settings)
        self.write(learner, notebook)

    def add_unrun(self, learner, state, reason, notes=()) -> None:
        notebook = self.notebook()
        score_unrun(notebook, self.exam, state, reason, notes)
        self.write(learner, notebook)

    def write(self, learner, notebook) -> None:
        path = self.path(learner)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    def path(self, learner):
        return self.folder / "autograded" / learner / UNIT / f"{UNIT}.ipynb"

    def change(self, learner, change) -> None:
        """Change what a graded notebook keeps, as damage or another version would."""
        notebook = json.loads(self.path(learner).read_text(encoding="utf-8"))
        change(notebook["metadata"][METADATA])
        self.path(learner).write_text(json.dumps(notebook), encoding="utf-8")


STUB = CellResult(
    [{"output_type": "error", "ename": "NotImplementedError", "evalue": "", "traceback": []}], 1
)
TOO_LONG = CellResult([], 1, "time")


def fill(course: Class) -> Class:
    """Twelve learners: seven ran, and something is the matter with most of them."""
    same = inspect.getsource(Beginner)
    other = same.replace("docs", "found").replace("rank = rank + 1", "rank = rank + 1  # next")
    course.add("amal", sources={"retriever": same})
    course.add("bruno", "ranks_from_zero", sources={"retriever": other})
    course.add("chen", STUB, STUB)
    course.add("dana", "ranks_from_zero", "repetitions_counted")
    course.add("emre", TOO_LONG, notes=("The notebook was named homework.ipynb.",))
    course.add("fay", "k_rrf_ignored", STUB)
    course.add(f"=cmd|{HOSTILE}".replace("/", "∕"), sources={"retriever": same + f"\n# {HOSTILE}"})
    course.add_unrun("gita", "missing", "there is no notebook")
    course.add_unrun("hugo", "unreadable", "the file is no JSON")
    course.add_unrun("ines", "refused", "two notebooks for one unit")
    course.add_unrun("jan", "fault", "the engine did not start")
    course.add("kim")
    course.change("kim", lambda grade: grade.pop("exercises"))
    return course


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return fill(Class(tmp_path_factory.mktemp("class")))


@pytest.fixture(scope="module")
def written(course):
    """The page, the rows of the table, and what was said."""
    said = []
    assert reports.report(UNIT, course.folder, say=said.append) == 0
    page = (course.folder / "report.html").read_text(encoding="utf-8")
    with open(course.folder / "report.csv", newline="", encoding="utf-8") as file:
        return page, list(csv.DictReader(file)), "\n".join(said)


def text_of(page: str) -> str:
    """What a reader sees, in one line."""
    body = page[page.index("<body>") :]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def section(page: str, heading: str) -> str:
    return next(text_of("<body>" + part) for part in page.split("<h2>") if part.startswith(heading))


def test_the_page_counts_the_class(written):
    page = text_of(written[0])
    for words in ("handed in 10", "graded 7", "missing 1", "unreadable 1", "refused 1", "not graded 1"):
        assert words in page


def test_mean_and_median_are_of_the_submissions_that_ran(written, course):
    _page, rows, _said = written
    points = sorted(
        float(row["points"]) for row in rows if row["kind"] == "submission" and row["state"] == "graded"
    )
    assert len(points) == 7 and points[0] == 0 and points[-1] == 10
    expected = f"mean {round(sum(points) / 7, 2):g} , median {points[3]:g} , from 0 to 10 of 10"
    assert expected.replace(" ,", ",") in section(written[0], "Scores")


def test_a_score_counts_in_its_whole_point_and_full_marks_apart():
    assert score_counts([0, 0.99, 1, 2.5, 2.999999999999, 3, 3], 3) == [2, 1, 1, 3]
    assert score_counts([], 2) == [0, 0, 0]


def test_the_histogram_is_described_in_words(written):
    alt = re.search(r'aria-label="(Histogram[^"]*)"', written[0])[1]
    counts = {int(points): int(count) for points, count in re.findall(r"with (\d+): (\d+)", alt)}
    assert sum(counts.values()) == 7 and counts[0] == 1 and counts[10] == 2


def test_criteria_count_only_learners_whose_answers_were_judged(course):
    results = read_results(Places.below(course.folder, UNIT), unit_named(UNIT), "")
    summaries = criteria(
        unit_named(UNIT).exercises, [r for r in results.results if r.grade.state == "graded"]
    )
    declared = [(e.id, c.title) for e in unit_named(UNIT).exercises for c in e.criteria]
    assert [(each.exercise, each.title) for each in summaries] == declared
    by_exercise = {
        exercise: {len(s.points) for s in summaries if s.exercise == exercise} for exercise in BOTH
    }
    assert by_exercise == {"retriever": {5}, "keyword_index": {5}}  # without chen, emre; without chen, fay
    order = summaries[0]
    assert (order.all + order.part + order.none, order.all >= 2) == (5, True)
    assert order.share == pytest.approx(sum(order.points) / 10)


def test_criteria_are_the_same_in_the_picture_and_in_the_table(written, course):
    page = written[0]
    alt = html.unescape(re.search(r'aria-label="(Bar chart[^"]*)"', page)[1])
    table = section(page, "Points by criterion")
    for exercise in unit_named(UNIT).exercises:
        for criterion in exercise.criteria:
            share = re.search(re.escape(f"{exercise.id}, {criterion.title}: ") + r"(\S+ %)", alt)[1]
            assert f"{exercise.id} {criterion.title} {criterion.points:g} " in table
            assert re.search(re.escape(f"{criterion.title} {criterion.points:g} ") + f"(▼ )?{share}", table)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (1, "100 %"), (0.001, "< 1 %"), (0.999, "> 99 %"), (0.5, "50 %"), (None, "-")],
)
def test_nearly_nothing_is_not_nothing_and_nearly_all_is_not_all(share, words):
    assert percent(share) == words


def test_mistakes_come_with_their_sentence_and_names_most_frequent_first(written):
    mistakes = section(written[0], "Mistakes")
    assert "2 Your ranks start at 0. The formula counts from 1" in mistakes
    assert mistakes.index("Your ranks start at 0") < mistakes.index("The score does not change with k_rrf")
    assert "bruno , dana" in mistakes and "repetitions" not in mistakes
    assert "A word that stands twice in a document counts twice" in mistakes
    assert "without a name" not in mistakes  # no answer is no mistake


def test_a_mistake_without_a_name_is_counted(tmp_path):
    course = Class(tmp_path)
    course.add("amal", "ranks_from_zero")
    course.change("amal", lambda grade: grade["exercises"][0].update(misconceptions=[]))
    reports.report(UNIT, tmp_path, say=lambda _: None)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "retriever : 1 learner wrong, by a mistake without a name: amal" in section(page, "Mistakes")
    with open(tmp_path / "report.csv", newline="", encoding="utf-8") as file:
        assert [row["misconception"] for row in csv.DictReader(file) if row["kind"] == "mistake"] == [
            "unnamed"
        ]


def test_answers_that_differ_from_run_to_run_are_listed_as_that(tmp_path):
    """Without points or a named mistake, too, they are answers."""
    course = Class(tmp_path)
    course.add("amal", "ranks_from_zero", unstable=BOTH)

    def nothing_earned(grade) -> None:
        for criterion in grade["exercises"][0]["criteria"]:
            criterion["points"] = 0
        grade["exercises"][0].update(points=0, misconceptions=[])

    course.change("amal", nothing_earned)
    course.add("bruno", STUB, unstable=("retriever",))
    reports.report(UNIT, tmp_path, say=lambda _: None)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    sentence = "1 The answers may differ from run to run: the code uses chance or the order of a set."
    mistakes = section(page, "Mistakes")
    assert f"{sentence} retriever amal" in mistakes and f"{sentence} keyword_index amal" in mistakes
    assert "without a name" not in mistakes
    silent = section(page, "Exercises without an answer")
    assert "amal" not in silent and "bruno" in silent
    with open(tmp_path / "report.csv", newline="", encoding="utf-8") as file:
        found = [
            (row["learner"], row["exercise"], row["misconception"])
            for row in csv.DictReader(file)
            if row["kind"] == "mistake"
        ]
    assert sorted(found) == [("amal", "keyword_index", "unstable"), ("amal", "retriever", "unstable")]


def test_why_there_was_no_answer_is_told_by_exercise(written):
    told = section(written[0], "Exercises without an answer")
    assert "retriever 1 not attempted chen" in told
    assert "retriever 1 stopped at the limit: a cell may run for 20 seconds emre" in told
    assert "keyword_index 2 not attempted chen , fay" in told


def test_whoever_needs_a_look_is_named_with_the_reason(written):
    told = section(written[0], "Learners to see to")
    for words in (
        "gita missing there is no notebook",
        "hugo unreadable the file is no JSON",
        "ines refused two notebooks for one unit",
        "jan not graded the engine did not start",
        "kim cannot be read the graded notebook holds no grade that can be read",
        "chen graded retriever: not attempted keyword_index: not attempted",
        "The notebook was named homework.ipynb.",
    ):
        assert words in told
    assert "amal" not in told and "dana" not in told


def test_the_next_lecture_begins_with_what_went_wrong_most(written):
    told = section(written[0], "For the next lecture")
    shares = [int(share) for share in re.findall(r"(\d+) %:", told)]
    assert len(shares) == 3 and shares == sorted(shares)
    assert "Most frequent mistakes: 2 learners: Your ranks start at 0." in told
    assert "Without an answer: 2 learners: retriever 2 learners: keyword_index" in told


def test_the_same_code_is_shown_as_worth_a_look_and_no_more(written):
    told = section(written[0], "The same code: worth a look, no more")
    assert "The same code is no proof of copying." in told
    assert "retriever , 3 learners:" in told and "amal (8 points), bruno" in told.replace(" (", " (")
    assert "keyword_index : 0 cells compared; 7 as released" in told
    assert "same code" not in str(written[1])  # a table goes further than a page does


class Tags(HTMLParser):
    """The tags of a page, each with its attributes."""

    def __init__(self, page: str):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_names_and_code_are_text_on_the_page_and_it_loads_nothing(written):
    page = written[0]
    tags = Tags(page).found
    assert not {"script", "img", "link", "iframe", "object", "embed", "form", "base"} & {
        tag for tag, _ in tags
    }
    loading = [name for _tag, attributes in tags for name in attributes if name in ("src", "href", "srcset")]
    assert loading == [] and not [name for _tag, every in tags for name in every if name.startswith("on")]
    assert html.escape("<script>alert(") in page  # in a name, and in the code that is shown
    assert "default-src 'none'" in page and "@import" not in page
    assert set(re.findall(r"url\(([^)]*)\)", page)) == {"#hatch"}


def test_the_table_can_start_no_formula_and_its_kinds_add_up(written):
    _page, rows, _said = written
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    hostile = [row for row in rows if row["learner"].startswith("'=cmd|")]
    assert {row["kind"] for row in hostile} == {"submission", "exercise", "criterion"}
    sums = {}
    for row in rows:
        if row["state"] == "graded" and row["points"]:
            kind = sums.setdefault(row["kind"], {})
            kind[row["learner"]] = kind.get(row["learner"], 0) + float(row["points"])
    assert sums["submission"] == pytest.approx(sums["exercise"], abs=0.02)
    assert sums["submission"] == pytest.approx(sums["criterion"], abs=0.02)
    assert list(rows[0]) == list(reports.COLUMNS)


def test_what_has_no_grade_has_no_points_in_the_table(written):
    rows = {row["learner"]: row for row in written[1] if row["kind"] == "submission"}
    assert (rows["jan"]["points"], rows["jan"]["state"]) == ("", "fault")
    assert (rows["kim"]["points"], rows["kim"]["state"]) == ("", "damaged")
    assert (rows["gita"]["points"], rows["gita"]["state"]) == ("0", "missing")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        (" \u200b@SUM(A1)", "' \u200b@SUM(A1)"),
        ("\uff1d1", "'\uff1d1"),
        ("\t-2", "' -2"),
        ("a\r\n=b", "a  =b"),
        ("a; =b", "a, =b"),
        ("a; b", "a; b"),
        ("Zoë-Ann", "Zoë-Ann"),
        ("\ud800x", " x"),
        (-0.5, "-0.5"),
        (8, "8"),
        (None, ""),
        ("", ""),
    ],
)
def test_a_cell_is_data(text, cell):
    assert safe_cell(text) == cell


def test_it_says_with_which_seed_and_engine_and_warns_where_there_was_no_sandbox(written, tmp_path):
    assert f"Seed of the run: {SEED}. Engine: fork." in text_of(written[0])
    assert "without a sandbox:" not in text_of(written[0])
    course = Class(tmp_path)
    course.add("amal", engine="none")
    course.add("bruno")
    course.change("bruno", lambda grade: grade.update(seed=7))
    reports.report(UNIT, tmp_path, say=lambda _: None)
    page = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Graded without a sandbox: 1 submission ran with --no-sandbox." in page
    assert "in 2 runs with different seeds" in page
    assert "Seeds of the run: 7, 41. Engine: fork, none (none: without a sandbox)." in page


def test_a_class_that_got_everything_right_and_one_that_could_not_run_have_a_page(tmp_path):
    for name, fill_class, words in (
        ("right", lambda course: course.add("amal"), "Everybody who handed in got everything right."),
        ("gone", lambda course: course.add_unrun("amal", "missing", "x"), "No submission could be run."),
    ):
        course = Class(tmp_path / name)
        fill_class(course)
        assert reports.report(UNIT, course.folder, say=lambda _: None) == 0
        assert words in text_of((course.folder / "report.html").read_text(encoding="utf-8"))


def test_without_a_folder_it_reads_and_writes_where_nbgrader_looks(tmp_path):
    Class(tmp_path / "grader").add("amal")
    assert reports.report(UNIT, root=tmp_path, say=lambda _: None) == 0
    made = sorted(path.name for path in (tmp_path / "grader" / "grades" / UNIT).iterdir())
    assert made == ["report.csv", "report.html"]


def test_the_same_notebooks_give_the_same_page(course, written):
    before = written[0]
    reports.report(UNIT, course.folder, say=lambda _: None)
    assert (course.folder / "report.html").read_text(encoding="utf-8") == before


DAMAGE = {
    "a state of its own": lambda grade: grade.update(state="excellent"),
    "points as text": lambda grade: grade["exercises"][0].update(points="8"),
    "points without end": lambda grade: grade["exercises"][0].update(points=float("inf")),
    "most points without end": lambda grade: grade["exercises"][0].update(max_points=float("inf")),
    "more points than there are": lambda grade: grade["exercises"][0].update(points=800),
    "points below zero": lambda grade: grade["exercises"][0]["criteria"][0].update(points=-1),
    "another unit": lambda grade: grade.update(unit="02_bm25"),
    "an exercise of no unit": lambda grade: grade["exercises"][0].update(exercise="nothing"),
    "an exercise twice": lambda grade: grade["exercises"].append(grade["exercises"][0]),
    "a key more": lambda grade: grade.update(extra=1),
    "a list for a text": lambda grade: grade["exercises"][0].update(note=[]),
    "nothing": lambda grade: grade.clear(),
    "misconceptions that are no names": lambda grade: grade["exercises"][0].update(misconceptions=[{}]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_grade_is_named_and_left_out(tmp_path, damage):
    course = Class(tmp_path)
    course.add("amal")
    course.add("bruno")
    course.change("bruno", damage)
    said = []
    assert reports.report(UNIT, tmp_path, say=said.append) == 0
    assert said[1].startswith("Left out: bruno: the graded notebook holds no grade that can be read")
    page = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "1 graded notebook cannot be read and is left out" in page and "graded 1" in page


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"metadata": 1}', b"[" * 100_000])
def test_what_is_no_notebook_is_named_and_left_out(tmp_path, content):
    course = Class(tmp_path)
    course.add("amal")
    course.path("bruno").parent.mkdir(parents=True)
    course.path("bruno").write_bytes(content)
    course.path("chen").parent.mkdir(parents=True)
    results = read_results(Places.below(tmp_path, UNIT), unit_named(UNIT), "")
    assert list(results.damaged) == ["bruno", "chen"]


def run(capsys, *arguments: str) -> tuple[int, str]:
    code = main(["report", *arguments])
    return code, capsys.readouterr().err.strip()


def test_bad_input_gets_one_sentence_and_exit_code_1(tmp_path, capsys):
    code, error = run(capsys, "04_retreiver", "--out", str(tmp_path))
    assert (code, error.count("\n")) == (1, 0)
    assert error.startswith("There is no unit '04_retreiver'. The units are: 00_start,")
    code, error = run(capsys, UNIT, "--out", str(tmp_path / "nowhere"))
    assert (code, error.count("\n")) == (1, 0)
    assert error.endswith(f"Make them: python -m grader grade {UNIT} --out {tmp_path / 'nowhere'}")
    course = Class(tmp_path)
    course.add("amal")
    course.change("amal", dict.clear)
    code, error = run(capsys, UNIT, "--out", str(tmp_path))
    assert (code, error.count("\n")) == (1, 0)
    assert error.startswith("None of the 1 graded notebooks") and not (tmp_path / "report.html").exists()


def test_where_it_cannot_write_it_says_so_and_leaves_what_was_there(tmp_path, capsys):
    course = Class(tmp_path)
    course.add("amal")
    (tmp_path / "report.html").mkdir()
    (tmp_path / "report.html" / "kept").touch()
    code, error = run(capsys, UNIT, "--out", str(tmp_path))
    assert (code, error.count("\n")) == (1, 0)
    assert error.startswith(f"Cannot write {tmp_path / 'report.html'}: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["autograded", "report.html"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
def test_no_permission_and_a_full_disk_are_one_sentence(tmp_path, capsys, monkeypatch, number):
    Class(tmp_path).add("amal")

    def refuse(path, _content):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(reports, "write_whole", refuse)
    code, error = run(capsys, UNIT, "--out", str(tmp_path))
    assert (code, error) == (1, f"Cannot write {tmp_path / 'report.html'}: {os.strerror(number)}.")


def test_a_grade_read_back_is_the_grade_that_was_kept(course):
    results = read_results(Places.below(course.folder, UNIT), unit_named(UNIT), "")
    grade = next(result.grade for result in results.results if result.learner == "bruno")
    assert grade.exercises[0].misconceptions == ("ranks_from_zero",)
    assert SubmissionGrade.from_json(json.loads(json.dumps(grade.as_json()))) == grade
    assert replace(grade, seed=grade.seed) == grade


def test_the_command_works_from_any_folder(course, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "grader", "report", UNIT, "--out", str(course.folder)],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("notebooks", "solutions", "."))},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{UNIT}: 11 learners. See {course.folder}")


def test_no_results_is_an_error_that_main_understands():
    assert issubclass(NoResults, ValueError)
