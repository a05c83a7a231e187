"""How much memory a class run may take: the grader and everything that it starts together.

COURSE_TESTS=long grades a whole class of 200, a tenth of them hostile or broken, which takes minutes.
"""

import os
import tracemalloc

import pytest
from bench.class_run import HOSTILE, measure
from conftest import need
from sample_class import UNIT, Pretended, hand_in, sandbox, with_line

from grader.classroom import pools
from grader.classroom.run import grade
from grader.units import UNITS

LONG = os.environ.get("COURSE_TESTS") == "long"
MOST = 2_000_000_000  # bytes


@pytest.mark.alone
def test_a_class_with_bombs_side_by_side_stays_within_2_gb_and_gets_the_right_points(tmp_path):
    need(sandbox(), "a sandbox")
    measured = measure(tmp_path, 12, hostile=HOSTILE[:4])
    assert measured.wrong == []
    assert measured.looks > 20, "it was hardly looked at"
    # The grader and two warm sandboxes are 600 MB; where memory is fast, a look may miss the top of a bomb.
    assert 600_000_000 < measured.peak <= MOST


@pytest.mark.alone
def test_a_class_of_200_a_tenth_of_it_hostile_stays_within_2_gb_and_gets_the_right_points(tmp_path):
    if not LONG:
        pytest.skip("takes minutes: set COURSE_TESTS=long")
    need(sandbox(), "a sandbox")
    measured = measure(tmp_path, 200)
    assert measured.hostile == 20
    assert measured.wrong == []
    assert measured.peak <= MOST


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_no_more_jobs_run_at_once_than_2_gb_are_enough_for(monkeypatch, unit, cores):
    monkeypatch.setattr(pools, "usable_cores", lambda: cores)
    memory = UNITS[unit].limits.memory
    jobs = pools.usual_jobs(memory)
    assert 1 <= jobs <= cores
    assert 300_000_000 + jobs * (memory + 160_000_000) <= MOST
    assert pools.usual_jobs(500_000_000) == min(cores, 2)
    assert pools.usual_jobs(10_000_000_000) == 1


def test_what_notebooks_show_does_not_pile_up_in_memory(tmp_path, monkeypatch):
    """Not more than a few large executions are held at once, whatever the size of the class."""
    engine = Pretended(monkeypatch)
    honest = engine.execute

    def loud(job, name="fork"):
        execution = honest(job, name)
        for number, cell in enumerate(execution.cells):
            cell.outputs.append({"output_type": "stream", "name": "stdout", "text": f"{number}" * 200_000})
        return execution

    monkeypatch.setattr("grader.sandbox.engines.execute", loud)
    peaks = []
    for learners in (5, 12):
        folder = tmp_path / str(learners)
        for number in range(learners):
            hand_in(folder / "in", f"learner-{number}", with_line(f"# {number}"))
        tracemalloc.start()
        try:
            assert grade(UNIT, folder / "in", folder / "out", jobs=1, seed=3, say=lambda line: None) == 0
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        shown = (folder / "out" / "autograded" / "learner-1" / UNIT / f"{UNIT}.ipynb").stat().st_size
    assert shown > 3_000_000
    assert peaks[1] < peaks[0] + 3 * shown
