"""A notebook's cells behave in the sandbox as under Jupyter, within the limits, and say what was cut."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from conftest import ROOT, need
from sandboxes import LIMITS, cold_runner, run, text

from grader.asked import ANSWERS
from grader.exam import Exam
from grader.sandbox import confinement, engines
from grader.sandbox.execution import Job
from grader.units import UNITS


@pytest.fixture(scope="module")
def runner() -> Iterator:
    need(not confinement.why_not(), "a sandbox")
    with cold_runner() as one:
        yield one


@pytest.fixture(scope="module", autouse=True)
def no_runner_stays() -> Iterator[None]:
    yield
    engines.close_runners()


def kinds(result) -> list[str]:
    return [output["output_type"] for output in result.outputs]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1 + 1", "2"),
        ("print('a'); print('b')", "a\nb\n"),
        ("import sys; print('a', file=sys.stderr)", "a\n"),
        ("import asyncio\nawait asyncio.sleep(0.01)\n'awaited'", "'awaited'"),
        ("import asyncio\nasyncio.get_running_loop().is_running()", "True"),
        ("!echo from the shell", "from the shell\n"),
        ("%%bash\necho from bash", "from bash\n"),
        ("import os; os.write(1, b'past Python') and None", "past Python"),
        ("import subprocess; subprocess.run(['echo', 'hi']) and None", "hi\n"),
        ("import os\nif os.fork() == 0:\n    print('child'); os._exit(0)\nos.wait() and None", "child\n"),
        ("print?", ""),
        ("import sys; repr(sys.stdin.read())", "\"''\""),
        ("display('a'); clear_output()\nfrom IPython.display import clear_output", "'a'NameError: "),
        ("from IPython.display import clear_output\nprint('a'); clear_output(); print('b')", "b\n"),
        ("from IPython.display import clear_output\nprint('a'); clear_output(wait=True)\nprint('b')", "b\n"),
        ("shown = display('a', display_id=True)\nshown.update('b')", "'b'"),
        ("def deeper(n): return deeper(n + 1)\ndeeper(0)", "RecursionError: maximum recursion depth"),
        ("raise ValueError('mine')", "ValueError: mine"),
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("input('your name? ')", "StdinNotImplementedError: input() cannot be answered here"),
        ("import getpass; getpass.getpass()", "StdinNotImplementedError: input() cannot be answered here"),
        (
            "from concurrent.futures import ProcessPoolExecutor as P\nwith P(2) as p: print(*p.map(abs, [-1]))",
            "1",
        ),
        ("import os; os.getcwd(), os.path.expanduser('~')", "('/notebook', '/notebook')"),
        ("import os; os.environ['NBGRADER_EXECUTION']", "'autograde'"),
        ("get_ipython().__class__.__name__", "'ZMQInteractiveShell'"),
    ],
)
def test_a_cell_shows_what_it_shows_under_jupyter(code, shown, runner):
    execution = run(runner, code, "'after'")
    assert text(execution.cells[0]).startswith(shown)
    assert not shown or len(text(execution.cells[0])) < len(shown) + 40
    assert text(execution.cells[1]) == "'after'"
    assert not execution.stopped


def test_cells_are_counted_and_an_error_ends_only_its_own_cell(runner):
    execution = run(runner, "x = 1", "1 / 0", "x", "def broken(:")
    assert [cell.execution_count for cell in execution.cells] == [1, 2, 3, 4]
    assert [kinds(cell) for cell in execution.cells] == [[], ["error"], ["execute_result"], ["error"]]
    assert execution.cells[2].outputs[0]["execution_count"] == 3
    assert execution.engine == "fork"
    assert execution.seconds > 0


@pytest.mark.parametrize(
    "code",
    [
        "exit()",
        "quit",
        "import os; os._exit(0)",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
    ],
)
def test_what_ends_the_process_ends_the_notebook(code, runner):
    execution = run(runner, "'before'", code, "'after'")
    assert [cell.stopped for cell in execution.cells] == ["", "died", "not run"]
    assert text(execution.cells[0]) == "'before'"
    assert "ended here" in text(execution.cells[1])


def test_a_crash_starts_no_crash_handler_outside(runner):
    # 0 would: for a handler that core_pattern names, the kernel heeds no other limit than 1.
    assert text(run(runner, "import resource\nresource.getrlimit(resource.RLIMIT_CORE)").cells[0]) == "(1, 1)"


def test_sys_exit_ends_the_cell_as_under_jupyter(runner):
    execution = run(runner, "import sys; sys.exit(3)", "'after'")
    assert text(execution.cells[0]).startswith("SystemExit: 3")
    assert text(execution.cells[1]) == "'after'"


@pytest.mark.parametrize(
    "code", ["while True: pass", "import time; time.sleep(60)", "import asyncio; await asyncio.sleep(60)"]
)
def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_one_runs(code, runner):
    execution = run(runner, "x = 1", code, "x", limits=replace(LIMITS, cell_seconds=0.5))
    assert [cell.stopped for cell in execution.cells] == ["", "time", ""]
    assert text(execution.cells[1]).endswith("Stopped: stopped after 0.5 seconds")
    assert text(execution.cells[2]) == "1"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("print('x' * 50_000_000)", "... output cut after 500,000 characters ..."),
        ("for line in range(200_000): print('line', line)", "... output cut after 500,000 characters ..."),
        ("!yes | head -c 5000000", "... output cut after 500,000 characters ..."),
        ("for i in range(2_000): display(i)", "... further outputs left out after 500 ..."),
        (
            "import sys\nfor i in range(2_000): print(i); print(i, file=sys.stderr)",
            "... output cut after 500 changes of the stream ...",
        ),
        ("from IPython.display import HTML\ndisplay(HTML('x' * 5_000_000))", "characters left out"),
    ],
)
def test_too_much_output_is_cut_with_a_sentence(code, sentence, runner):
    execution = run(runner, code, "'after'", limits=replace(LIMITS, cell_seconds=20))
    assert sentence in text(execution.cells[0])
    assert len(json.dumps(execution.cells[0].outputs)) < 1_200_000
    assert len(execution.cells[0].outputs) <= 502
    assert text(execution.cells[1]) == "'after'"
    assert not execution.stopped


def test_answers_come_through_whatever_a_cell_prints(runner):
    exam = Exam("00_start", 5)
    printing = (
        "def find_term(term, documents):\n"
        "    print('x' * 1_000_000)\n"
        "    for number in range(300): display(number)\n"
        "    return [one for one in documents if term.lower() in one['content'].lower()]"
    )
    checked = "from grader import check\ncheck('find_term', find_term)"
    cells = run(runner, printing, checked, questions=exam.questions).cells
    (attempt,) = [output["data"][ANSWERS] for output in cells[1].outputs if ANSWERS in output.get("data", {})]
    assert exam.report("find_term", attempt).points == 1


def test_widgets_show_their_text_and_do_nothing(runner):
    code = "import ipywidgets\nfor _ in range(3): display(ipywidgets.IntSlider(value=3))"
    observed = "slider = ipywidgets.IntSlider()\nslider.observe(print)\nslider.value = 5\nslider.value"
    execution = run(runner, code, observed)
    assert text(execution.cells[0]) == "IntSlider(value=3)" * 3
    assert text(execution.cells[1]).endswith("5")
    assert not execution.stopped


def test_a_figure_is_shown_as_a_picture(runner):
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    execution = run(runner, "%matplotlib inline", plot, limits=replace(LIMITS, memory=900_000_000))
    (output,) = execution.cells[1].outputs
    assert output["data"]["image/png"].startswith("iVBOR")
    assert not execution.stopped


def test_the_files_that_a_unit_takes_lie_in_the_working_folder_by_their_names(runner):
    files = {"own.md": b"# Mine", "../../tmp/climbs.txt": b"kept inside"}
    execution = run(runner, "import os; sorted(os.listdir())", "open('own.md').read()", files=files)
    assert text(execution.cells[0]) == "['climbs.txt', 'own.md']"
    assert text(execution.cells[1]) == "'# Mine'"


def test_a_notebook_can_import_a_module_that_it_writes(runner):
    execution = run(runner, "%%writefile helper.py\nanswer = 42", "import helper; helper.answer")
    assert text(execution.cells[1]) == "42"


def test_a_server_finds_the_name_of_its_user_and_a_page_of_shared_memory(runner):
    """Postgres needs both."""
    code = "import ctypes, os, pwd\npwd.getpwuid(os.geteuid()).pw_name, ctypes.CDLL(None).shmget(0, {}, 0o1600) >= 0"
    assert text(run(runner, code.format(4096)).cells[0]) == "('learner', True)"
    assert text(run(runner, code.format(4097)).cells[0]) == "('learner', False)"


def test_chance_starts_from_the_seed(runner):
    code = "import random, numpy\nrandom.random(), numpy.random.rand()"
    first, again, other = (
        text(run(runner, code, random_seed=seed, limits=replace(LIMITS, memory=900_000_000)).cells[0])
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_no_module_or_variable_of_one_notebook_is_in_the_next(runner):
    run(runner, "import sys, builtins\nleft = sys.left = builtins.left = 1\nimport this")
    found = (
        "import sys, builtins\n"
        "'left' in globals(), hasattr(sys, 'left'), hasattr(builtins, 'left'), 'this' in sys.modules"
    )
    assert text(run(runner, found).cells[0]) == "(False, False, False, False)"


@pytest.mark.parametrize("unit", UNITS)
def test_a_solved_notebook_runs_and_earns_all_points(unit):
    need(not confinement.why_not(), "a sandbox")
    import nbformat

    notebook = nbformat.read(ROOT / "solutions" / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
    cells = tuple(cell.source for cell in notebook.cells if cell.cell_type == "code")
    exam = Exam(unit, 11)
    job = Job(unit, cells, exam.questions, limits=UNITS[unit].limits)
    execution = engines.execute(job)
    assert not execution.stopped
    assert not [text(cell) for cell in execution.cells if "error" in kinds(cell)]
    attempts = [
        output["data"][ANSWERS]
        for cell in execution.cells
        for output in cell.outputs
        if ANSWERS in output.get("data", {})
    ]
    earned = {one["exercise"]: exam.report(one["exercise"], one).points for one in attempts}
    assert earned == {exercise.id: exercise.points for exercise in UNITS[unit].exercises}
    engines.close_runners()
