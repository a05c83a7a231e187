"""The build: what it makes, what it refuses, and that it notices whatever has drifted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from browser import copy_course

from grader import lint, notebooks

GOOD = """\
# %% [markdown]
# # 00 \u00b7 Start

# %%
from grader import check

# %% exercise="find_term"
def find_term(term, documents):
    ### BEGIN SOLUTION
    return [document for document in documents if term.lower() in document["content"].lower()]
    ### END SOLUTION

# %% check="find_term"
check("find_term", find_term)
"""


def faults(tmp_path: Path, source: str) -> list[str]:
    path = tmp_path / "00_start.py"
    path.write_text(source, encoding="utf-8")
    return list(lint.faults("00_start", notebooks.solved(path)))


def test_a_good_unit_has_no_fault(tmp_path):
    assert faults(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text + "\n# %%\n", "00_start, cell 5 is empty"),
        (lambda text: text + "\n# %%\n" + "x = 1\n" * 41, "00_start, cell 5 has 41 lines: 40 at most"),
        (
            lambda text: text + "\n# %% [markdown]\n# ![](picture.png)\n",
            "00_start, cell 5 has a picture without alt text",
        ),
        (
            lambda text: text + '\n# %% [markdown]\n# <img src="picture.png">\n',
            "00_start, cell 5 has a picture without alt text",
        ),
        (
            lambda text: text + '\n# %% check="find_term"\ncheck("find_term", find_term)\n',
            "00_start: grade_id check_find_term stands 2 times",
        ),
        (
            lambda text: text[: text.index('# %% check="find_term"')],
            "00_start: find_term needs a solution cell and a check cell",
        ),
        (
            lambda text: text.replace("    ### END SOLUTION\n", ""),
            "00_start: the solution of find_term is not between ### BEGIN SOLUTION and ### END SOLUTION",
        ),
        (
            lambda text: text.replace('check("find_term", find_term)', 'check("find_term", print)'),
            '00_start: the check cell of find_term must be check("find_term", find_term)',
        ),
        (
            lambda text: text.replace(
                "from grader import check\n", "from grader import check\n" + "x = 1\n" * 5
            ),
            "00_start: the first code cell has more than 5 lines",
        ),
    ],
)
def test_a_faulty_unit_is_named_with_its_fault(tmp_path, change, sentence):
    assert sentence in faults(tmp_path, change(GOOD))


def test_a_picture_with_alt_text_is_no_fault(tmp_path):
    more = '\n# %% [markdown]\n# ![two lists](a.png) <img alt="a curve" src="b.png">\n'
    assert faults(tmp_path, GOOD + more) == []


@pytest.mark.parametrize("name", ["find_tern", "retriever"])
def test_an_exercise_that_is_not_the_unit_s_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=f"'{name}' is not an exercise of unit 00_start"):
        faults(tmp_path, GOOD.replace('exercise="find_term"', f'exercise="{name}"'))


def test_points_and_ids_come_from_the_exercise(tmp_path):
    path = tmp_path / "00_start.py"
    path.write_text(GOOD, encoding="utf-8")
    first, second = notebooks.solved(path), notebooks.solved(path)
    assert first == second
    cell = next(cell for cell in first.cells if cell.id == "check_find_term")
    assert cell.metadata.nbgrader.points == 1 and cell.metadata.nbgrader.grade
    assert "jupytext" not in first.metadata


class Course:
    """A copy of the project in which a test may break things and run ``python -m grader``."""

    def __init__(self, root: Path):
        self.root = copy_course(root)

    def grader(self, *arguments: str) -> subprocess.CompletedProcess:
        paths = os.pathsep.join(str(self.root / name) for name in ("notebooks", "solutions", "."))
        return subprocess.run(
            [sys.executable, "-m", "grader", *arguments],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def contents(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }


@pytest.fixture(scope="module")
def course(tmp_path_factory, postgres_folder):
    return Course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def mended(course):
    before = course.contents()
    yield course
    for name in course.contents().keys() - before.keys():
        (course.root / name).unlink()
    for name, content in before.items():
        (course.root / name).parent.mkdir(parents=True, exist_ok=True)
        (course.root / name).write_bytes(content)


def test_building_again_changes_nothing(course):
    before, built = course.contents(), course.grader("build")
    assert built.returncode == 0 and "0 files written, 0 removed" in built.stdout
    assert course.contents() == before


def first_number(text: str) -> str:
    """The first number of a file that has a decimal point."""
    return next(word.strip(",") for word in text.split() if word[0].isdigit() and "." in word)


def test_whatever_is_edited_missing_broken_or_left_over_is_drift_and_the_build_mends_it(mended):
    root, references = mended.root, mended.root / "grader" / "reference"
    rounded = references / "idf.json"
    text = rounded.read_text("utf-8")
    number = first_number(text)
    rounded.write_text(text.replace(number, number + "0000001", 1), "utf-8")
    expected = mended.contents()  # where nothing is off but by rounding, the build writes nothing

    learner = root / "notebooks" / "00_start" / "00_start.ipynb"
    learner.write_text(learner.read_text("utf-8").replace("Plain search finds", "Search finds"), "utf-8")
    (references / "find_term.json").unlink()
    whole = (references / "retriever.json").read_bytes()
    (references / "retriever.json").write_bytes(whole[: len(whole) // 2])
    text = (references / "rrf_score.json").read_text("utf-8")
    number = first_number(text)
    (references / "rrf_score.json").write_text(text.replace(number, str(float(number) + 1e-6), 1), "utf-8")
    (root / "solutions" / "notebooks" / "07_old").mkdir()
    shutil.copy(learner, root / "solutions" / "notebooks" / "07_old" / "07_old.ipynb")

    checked = mended.grader("build", "--check")
    assert checked.returncode == 1
    assert sorted(
        line.partition(" is not what its source gives")[0] for line in checked.stdout.splitlines()
    ) == [
        "grader/reference/find_term.json",
        "grader/reference/retriever.json",
        "grader/reference/rrf_score.json",
        "notebooks/00_start/00_start.ipynb",
        "solutions/notebooks/07_old/07_old.ipynb",
    ]
    assert mended.grader("build").returncode == 0
    assert mended.contents() == expected
    assert not (root / "solutions" / "notebooks" / "07_old").exists()


def test_a_notebook_that_somebody_worked_in_is_kept_and_so_is_whatever_lies_beside_it(mended):
    folder = mended.root / "notebooks" / "00_start"
    notebook = nbformat.read(folder / "00_start.ipynb", as_version=4)
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    code.execution_count, code.source = 1, code.source + "\n# mine"
    nbformat.write(notebook, folder / "00_start.ipynb")
    shutil.copy(folder / "00_start.ipynb", folder / "my_copy.ipynb")
    before = mended.contents()
    for arguments in (("build", "--check"), ("build",)):
        done = mended.grader(*arguments)
        assert done.returncode == 1
        assert "00_start.ipynb holds somebody's work and is left as it is" in done.stdout
    assert mended.contents() == before


def test_a_faulty_source_is_named_and_leaves_everything_as_it_was(mended):
    source = mended.root / "solutions" / "00_start.py"
    source.write_text(source.read_text("utf-8") + "\n# %%\n", "utf-8")
    before = mended.contents()
    built = mended.grader("build")
    assert built.returncode == 1 and "00_start, cell" in built.stdout and "is empty" in built.stdout
    assert "Traceback" not in built.stdout + built.stderr
    assert mended.contents() == before


def test_an_unknown_exercise_in_a_source_is_one_sentence(mended):
    source = mended.root / "solutions" / "00_start.py"
    source.write_text(
        source.read_text("utf-8").replace('exercise="find_term"', 'exercise="find_tern"'), "utf-8"
    )
    built = mended.grader("build")
    assert built.returncode == 1
    assert built.stderr.strip() == "00_start.py: 'find_tern' is not an exercise of unit 00_start"


def test_the_committed_notebooks_are_valid_and_name_no_other_kernel(root):
    for path in [*root.glob("notebooks/*/*.ipynb"), *root.glob("solutions/notebooks/*/*.ipynb")]:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3"
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
