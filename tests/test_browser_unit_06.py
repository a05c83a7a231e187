"""Unit 06 in a real browser: a mistake in SQL and its correction, and a server that is not there."""

import nbformat
import pytest
from browser import Notebook, browser_page, copy_course, running_lab, screenshot
from conftest import ROOT, need, posix_only

pytestmark = posix_only

UNIT = "notebooks/06_postgres/06_postgres.ipynb"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need((ROOT / UNIT).is_file(), "the built notebooks")
    course = copy_course(tmp_path_factory.mktemp("course"))
    with running_lab(course, tmp_path_factory.mktemp("home"), "--unit", "06_postgres") as lab:
        yield lab


def test_a_learner_is_told_the_mistake_and_a_wrong_address_is_one_line(lab):
    solved = nbformat.read(ROOT / "solutions" / UNIT, as_version=4)
    sources = {cell.id: cell.source for cell in solved.cells}
    first = next(cell for cell in sources if sources[cell].startswith("import numpy as np"))
    right = sources["pgvector_index"]
    with browser_page({"width": 1280, "height": 900}) as page:
        notebook = Notebook.open(page, lab)
        notebook.run(1)
        assert "your own server, on this computer" in notebook.run(first)

        notebook.write("pgvector_index", right.replace("ORDER BY distance, id", "ORDER BY distance"))
        notebook.run("pgvector_index")
        feedback = notebook.run("check_pgvector_index")
        assert "pgvector_index: 3.5 of 4 points" in feedback
        assert "At equal distances your order is by chance" in feedback
        screenshot(page, "unit-06-wrong")
        notebook.write("pgvector_index", right)
        notebook.run("pgvector_index")
        assert "pgvector_index: 4 of 4 points" in notebook.run("check_pgvector_index")

        address = "postgresql://me:s3cret@127.0.0.1:1/course"
        notebook.write(first, f'import os\nos.environ["DATABASE_URL"] = "{address}"\nlab.postgres()')
        said = notebook.run(first)
        assert "The Postgres server that DATABASE_URL names cannot be reached" in said
        assert "s3cret" not in said and len(said.strip().splitlines()) == 1
        screenshot(page, "unit-06-unreachable")
        assert page.problems == []
