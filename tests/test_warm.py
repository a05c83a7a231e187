"""What the warm parent has ready for a unit's notebooks, and what the first notebook that needs it brings about."""

import numpy as np
import pytest
from conftest import need
from sandboxes import run, text

from grader.sandbox import confinement, warm
from grader.sandbox.fork_engine import ForkRunner
from grader.units import UNITS

LOADED = "__import__('sys').modules['course_sandbox.deferred'].loaded()"


@pytest.fixture(scope="module")
def runner():
    need(not confinement.why_not(), "a sandbox")
    with ForkRunner("04_retriever") as made:
        yield made


def test_it_is_what_the_units_own_notebook_names():
    fusing, ranking = warm.lines("04_retriever"), warm.lines("03_rrf_table")
    assert any("lab.plot_fusion(" in line for line in fusing)
    assert not any("lab.plot_rrf_curve(" in line for line in fusing)
    assert any("lab.plot_rrf_curve(" in line for line in ranking)
    assert "ipywidgets" in warm.imports("05_tuning")
    assert "ipywidgets" not in warm.imports("04_retriever")


@pytest.mark.parametrize("unit", UNITS)
def test_every_name_that_a_line_is_for_is_one_of_the_courses(unit):
    import lab

    assert set(warm._OF_NAMES) <= {*dir(lab), "tokenize"}
    assert warm.imports(unit)[0] == "numpy"


def test_the_model_is_loaded_by_the_first_notebook_that_embeds_a_text_of_its_own(runner):
    import lab

    known = "from lab import embedder, judged_queries\nembedder().embed_query(judged_queries('report')[0].text).shape"
    first = run(runner, LOADED, known, LOADED)
    assert [text(cell) for cell in first.cells] == ["False", "(384,)", "False"]
    own = "from lab import embedder\nembedder().embed_query('A text of my own, about pumps.')[:3].tolist()"
    second = run(runner, LOADED, own, LOADED)
    assert [text(second.cells[0]), text(second.cells[2])] == ["False", "True"]
    expected = lab.embedder("local").embed_query("A text of my own, about pumps.")[:3]
    assert np.array_equal(np.array(eval(text(second.cells[1])), dtype=np.float32), expected)
    third = run(runner, LOADED, own)
    assert text(third.cells[0]) == "True"
    assert text(third.cells[1]) == text(second.cells[1])


def test_a_notebook_that_only_says_so_makes_nothing_worse(runner):
    lie = "__import__('sys').modules['course_sandbox.deferred'].loaded = lambda: True"
    run(runner, lie, "1")
    assert text(run(runner, "1 + 1").cells[0]) == "2"
