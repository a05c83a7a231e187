"""Notebooks in a real Jupyter kernel: what a run gives, what a submission cannot do, and what is left of it."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path

import nbformat
import psutil
import pytest
from conftest import ROOT, need

from grader.asked import ANSWERS
from grader.exam import Exam
from grader.sandbox import confinement, kernel_engine, provisioner
from grader.sandbox.execution import EngineFault, Execution, Job, NoSandbox
from grader.sandbox.fork_engine import ForkRunner
from grader.sandbox.kernel_engine import KernelRunner
from grader.sandbox.limits import Limits
from grader.units import UNITS

UNIT = "04_retriever"
NOTEBOOKS = ROOT / "solutions" / "notebooks"
QUICK = Limits(cell_seconds=1, notebook_seconds=20)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a sandbox needs Linux")


@pytest.fixture(scope="module", autouse=True)
def _sandbox():
    need(not confinement.why_not(), "bubblewrap")


@pytest.fixture(scope="module")
def runner():
    runner = KernelRunner(UNIT)
    yield runner
    runner.close()


def run(runner, *cells: str, **job) -> Execution:
    return runner.run(Job(runner.unit, cells, **job))


def solved(unit: str) -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOKS / unit / f"{unit}.ipynb", as_version=4)


def job_of(unit: str, exam: Exam) -> Job:
    cells = [cell.source for cell in solved(unit).cells if cell.cell_type == "code"]
    return Job(unit, tuple(cells), exam.questions, limits=UNITS[unit].limits)


def answers(execution: Execution) -> list[dict]:
    return [
        output["data"][ANSWERS]
        for cell in execution.cells
        for output in cell.outputs
        if ANSWERS in output.get("data", ())
    ]


def text(cell) -> str:
    """What a cell printed, showed and raised."""
    return "".join(
        output.get("text") or output.get("evalue") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    )


def value(runner, expression: str, **job):
    """What an expression gives in a kernel, as JSON."""
    return json.loads(text(run(runner, f"import json; print(json.dumps({expression}))", **job).cells[0]))


def stopped(execution: Execution) -> list[str]:
    return [cell.stopped for cell in execution.cells]


def still_running(mark: str) -> list[str]:
    """The processes of this computer with ``mark`` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


# What a run gives ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [unit for unit in UNITS if (NOTEBOOKS / unit).is_dir()])
def test_a_solved_notebook_hands_in_answers_that_earn_all_points_and_shows_no_error(unit):
    exam = Exam(unit, seed=7)
    runner = KernelRunner(unit)
    try:
        execution = runner.run(job_of(unit, exam))
    finally:
        runner.close()
    assert execution.engine == "kernel" and execution.stopped == ""
    shown = [output for cell in execution.cells for output in cell.outputs]
    assert [output for output in shown if output["output_type"] == "error"] == []
    points = {
        attempt["exercise"]: exam.report(attempt["exercise"], attempt).points
        for attempt in answers(execution)
    }
    assert points == {exercise.id: exercise.points for exercise in UNITS[unit].exercises}


def test_every_engine_hands_in_the_same_answers(runner, monkeypatch, tmp_path):
    job = job_of(UNIT, Exam(UNIT, seed=7))
    forked = ForkRunner(UNIT)
    try:
        expected = forked.run(job)
    finally:
        forked.close()
    assert len(answers(expected)) == 2
    assert answers(runner.run(job)) == answers(expected)

    monkeypatch.setenv("PATH", str(tmp_path))  # no bubblewrap there
    confinement.why_not.cache_clear()
    try:
        with pytest.raises(NoSandbox, match="bubblewrap is missing"):
            KernelRunner(UNIT)
        trusted = KernelRunner(UNIT, sandbox=False)
        execution = trusted.run(job)
    finally:
        confinement.why_not.cache_clear()
        trusted.close()
    assert execution.engine == "none"
    assert answers(execution) == answers(expected)
    errors = [
        output for cell in execution.cells for output in cell.outputs if output["output_type"] == "error"
    ]
    assert errors == []


def test_outputs_come_as_a_notebook_holds_them(runner):
    execution = run(
        runner,
        "print('a'); print('b')\nimport sys; print('c', file=sys.stderr)\n1 + 1",
        "1 / 0",
        "from IPython.display import clear_output\nprint('gone')\nclear_output()\n"
        "h = display('old', display_id=True)",
        "h.update('new')",
        "",
        "!echo from a shell",
        "import ctypes; ctypes.CDLL(None).puts(b'from C'); ctypes.CDLL(None).fflush(None)",
        "from IPython.display import Image\nImage(b'\\x89PNG')",
        "await __import__('asyncio').sleep(0, 5)",
    )
    first = execution.cells[0]
    assert [output.get("text") for output in first.outputs[:2]] == ["a\nb\n", "c\n"]
    assert first.outputs[2]["data"] == {"text/plain": "2"} and first.outputs[2]["execution_count"] == 1
    assert [cell.execution_count for cell in execution.cells] == [1, 2, 3, 4, None, 5, 6, 7, 8]
    assert execution.cells[1].outputs[0]["ename"] == "ZeroDivisionError"
    assert "\x1b" not in "".join(execution.cells[1].outputs[0]["traceback"])
    assert text(execution.cells[2]) == "'new'"
    assert execution.cells[3].outputs == []
    assert text(execution.cells[5]).split() == ["from", "a", "shell"]
    assert "from C" in text(execution.cells[6])
    assert "image/png" in execution.cells[7].outputs[0]["data"]
    assert text(execution.cells[8]) == "5"


def test_what_a_forked_process_prints_is_shown(runner):
    source = (
        "import multiprocessing\n"
        "def say(): print('from a child')\n"
        "p = multiprocessing.get_context('fork').Process(target=say); p.start(); p.join()\n"
        "import time; time.sleep(0.3)"
    )
    assert "from a child" in text(run(runner, source).cells[0])


def test_the_same_seeds_give_the_same_chance_and_the_same_order_of_sets(runner):
    import random

    source = (
        "[__import__('random').random(), __import__('numpy').random.rand(),"
        " list({'a', 'b', 'c', 'd', 'e'}), __import__('os').environ['PYTHONHASHSEED']]"
    )
    random.seed(5)
    first = value(runner, source, random_seed=5)
    assert first[0] == random.random() and first[3] == "0"
    assert value(runner, source, random_seed=5) == first
    other = KernelRunner(UNIT, hash_seed=3)
    try:
        differing = value(other, source, random_seed=6)
    finally:
        other.close()
        other.close()  # once more does no harm
    assert all(one != another for one, another in zip(first, differing, strict=True))


@pytest.mark.parametrize("sandbox", [True, False])
def test_the_files_and_the_questions_are_there_and_nothing_else_is(sandbox):
    runner = KernelRunner(UNIT, sandbox=sandbox)
    questions = {"retriever": [{"a": 1}]}
    try:
        execution = run(
            runner,
            "import json, os; print(json.dumps([os.listdir('.'), open('my.txt', 'rb').read().hex()]))",
            "from grader import asked; print(json.dumps(asked.questions()))",
            "In[:1]",
            files={"my.txt": bytes(range(256))},
            questions=questions,
        )
    finally:
        runner.close()
    names, content = json.loads(text(execution.cells[0]))
    assert [name for name in names if not name.startswith(".")] == ["my.txt"]
    assert content == bytes(range(256)).hex()
    assert json.loads(text(execution.cells[1])) == questions
    assert text(execution.cells[2]) == "['']"


@pytest.mark.parametrize("sandbox", [True, False])
def test_input_is_answered_at_once_with_an_error_that_says_so(sandbox):
    runner = KernelRunner(UNIT, sandbox=sandbox)
    try:
        execution = run(runner, "input('name? ')", "import getpass; getpass.getpass()", "1")
    finally:
        runner.close()
    for cell in execution.cells[:2]:
        assert cell.outputs[0]["ename"] == "StdinNotImplementedError"
        assert cell.outputs[0]["evalue"] == "input() cannot be answered here"
    assert text(execution.cells[2]) == "1"


def test_it_runs_where_a_loop_is_running_and_in_a_thread(runner):
    async def from_a_loop():
        return run(runner, "1 + 1")

    assert text(asyncio.run(from_a_loop()).cells[0]) == "2"
    results = []
    thread = threading.Thread(target=lambda: results.append(run(runner, "2 + 2")))
    thread.start()
    thread.join()
    assert text(results[0].cells[0]) == "4"


# What a submission cannot do -------------------------------------------------------------------------------


def test_no_connection_leaves_the_sandbox(runner):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        server.settimeout(0.1)
        unix.bind(f"\0course-test-{os.getpid()}")
        unix.listen()
        port = server.getsockname()[1]
        execution = run(
            runner,
            "import socket, urllib.request",
            f"socket.create_connection(('127.0.0.1', {port}), 2)",
            "socket.create_connection(('192.0.2.1', 80), 2)",
            "urllib.request.urlopen('http://example.com', timeout=2)",
            f"socket.socket(socket.AF_UNIX).connect('\\0course-test-{os.getpid()}')",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        )
        with pytest.raises(TimeoutError):
            server.accept()
    for cell in execution.cells[1:]:
        assert cell.outputs[0]["output_type"] == "error", cell
        assert cell.outputs[0]["ename"] in ("ConnectionRefusedError", "OSError", "URLError")


@pytest.mark.parametrize("sandbox", [True, False])
def test_no_reference_and_no_solution_can_be_imported(sandbox):
    runner = KernelRunner(UNIT, sandbox=sandbox)
    try:
        execution = run(
            runner,
            "from hybrid_search import rrf_scores, BM25Index",  # of earlier units
            "from hybrid_search import Retriever",
            "import hybrid_search.retriever",
            "import misconceptions",
            "import grader.exam",
            "from grader.references import load\nfrom grader.exercises import EXERCISES\nload(EXERCISES['retriever'])",
            "from grader import reference",
            "from importlib.util import find_spec; find_spec('misconceptions'), find_spec('solutions')",
        )
    finally:
        runner.close()
    assert text(execution.cells[0]) == ""
    assert text(execution.cells[-1]) == "(None, None)"
    for cell in execution.cells[1:-1]:
        assert cell.outputs and cell.outputs[0]["output_type"] == "error", cell


def test_no_file_of_the_project_or_of_another_run_is_visible(runner):
    hidden = [str(ROOT), str(runner._scratch.path), tempfile.gettempdir() + "/course"]
    look = (
        f"import json, os\nthere = [path for path in {hidden} if os.path.exists(path)]\n"
        "names = [os.path.join(folder, name) for top in ('/course', '/tmp', '/notebook', '/engine')"
        " for folder, _, names in os.walk(top) for name in names]\n"
        "print(json.dumps([there, [name for name in names if 'retriever' in name or 'course' not in name]]))"
    )
    there, names = json.loads(text(run(runner, look).cells[0]))
    assert there == []
    assert {name for name in names if not name.startswith("/notebook/.ipython")} == {
        "/course/grader/exercises/retriever.py",
        "/tmp/connection.json",
        "/tmp/questions.json",
        "/engine/kernel.py",
    }


def test_the_course_and_the_engine_cannot_be_written(runner):
    execution = run(
        runner,
        "open('/course/grader/checks.py', 'a')",
        "open('/course/new.py', 'w')",
        "open('/engine/kernel.py', 'a')",
        "import sys; open(sys.prefix + '/x', 'w')",
        "open('/x', 'w')",
        "open('/dev/x', 'w')",
    )
    for cell in execution.cells:
        assert cell.outputs and cell.outputs[0]["ename"] in ("OSError", "PermissionError"), cell
    assert not (runner._scratch.path / "course" / "new.py").exists()


@pytest.mark.parametrize("sandbox", [True, False])
def test_no_variable_of_the_caller_gets_in(monkeypatch, sandbox):
    monkeypatch.setenv("VOYAGE_API_KEY", "a-secret-of-the-caller")
    monkeypatch.setenv("PYTHONSTARTUP", "/a-secret-of-the-caller")
    runner = KernelRunner(UNIT, sandbox=sandbox)
    source = "import os; dict(os.environ)"
    if sandbox:
        source += ", [open(f'/proc/{pid}/environ').read() for pid in os.listdir('/proc') if pid.isdigit()]"
        source += ", [open(f'/proc/{pid}/cmdline').read() for pid in os.listdir('/proc') if pid.isdigit()]"
    try:
        said = text(run(runner, source).cells[0])
    finally:
        runner.close()
    assert "HOME" in said and "a-secret-of-the-caller" not in said


def test_a_kernel_sees_no_socket_and_no_process_of_another():
    look = (
        "import os, time; time.sleep(1)\n"
        "lines = [line.split() for line in open('/proc/net/unix').read().splitlines()[1:]]\n"
        "print(json.dumps({'user': os.getuid(), 'processes': len([p for p in os.listdir('/proc') if p.isdigit()]),"
        " 'sockets': [line[7] for line in lines if len(line) > 7]}))"
    )
    results, outside = {}, set()
    # A server that another test started may have a user of its own.
    others = {process.pid for process in psutil.Process().children(recursive=True)}

    def one(name):
        runner = KernelRunner(UNIT)
        try:
            results[name] = json.loads(text(run(runner, "import json\n" + look).cells[0]))
        finally:
            runner.close()

    threads = [threading.Thread(target=one, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if process.pid not in others:
                    outside.add(process.uids().effective)
        time.sleep(0.05)
    for seen in results.values():
        assert seen["sockets"] == []
        assert seen["processes"] <= 3
        assert seen["user"] != 0
    if os.geteuid() == 0:
        assert len(outside - {0}) == 2


# What ends ---------------------------------------------------------------------------------------------------


def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_ones_run(runner):
    started = time.monotonic()
    execution = run(runner, "x = 1", "while True: pass", "import time; time.sleep(30)", "x + 1", limits=QUICK)
    assert stopped(execution) == ["", "time", "time", ""]
    assert execution.cells[1].outputs[0]["ename"] == "KeyboardInterrupt"
    assert execution.cells[1].outputs[-1]["evalue"] == "stopped after 1 seconds"
    assert text(execution.cells[3]) == "2"
    assert time.monotonic() - started < 10


def test_a_cell_that_ignores_interrupts_is_killed(runner):
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('kept')\nwhile True: pass"
    swallowing = "import time\nwhile True:\n    try: time.sleep(9)\n    except KeyboardInterrupt: pass"
    assert stopped(run(runner, "1", ignoring, "2", "3", limits=QUICK)) == ["", "time", "not run", "not run"]
    execution = run(runner, "print('before')", swallowing, "2", limits=QUICK)
    assert stopped(execution) == ["", "time", "not run"]
    assert text(execution.cells[0]) == "before\n"


def test_a_notebook_that_takes_too_long_ends(runner):
    cells = ["import time; time.sleep(0.8)"] * 6
    limits = Limits(cell_seconds=5, notebook_seconds=2)
    ends = stopped(run(runner, *cells, limits=limits))
    assert "time" in ends and ends.index("time") in (2, 3)
    assert set(ends[ends.index("time") + 1 :]) == {"not run"}


@pytest.mark.parametrize(
    "source",
    [
        "import os; os._exit(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import ctypes; ctypes.string_at(0)",
        "exit()",
        "quit",
    ],
)
def test_a_kernel_that_ends_costs_its_cell_and_the_later_ones(runner, source):
    execution = run(runner, "print('before')", source, "2", "3")
    assert stopped(execution) == ["", "died", "not run", "not run"]
    assert text(execution.cells[0]) == "before\n"
    assert execution.cells[1].outputs[-1]["ename"] == "Stopped"
    assert execution.cells[2].outputs == []


def test_sys_exit_is_an_error_of_its_cell(runner):
    execution = run(runner, "import sys; sys.exit(3)", "2")
    assert execution.cells[0].outputs[0]["ename"] == "SystemExit"
    assert text(execution.cells[1]) == "2"


def test_what_processes_share_counts_once_without_a_sandbox_too():
    # A program that is started is for a moment a copy of the kernel.
    source = (
        "import os, time\nheld = b'x' * 150_000_000\n"
        "if os.fork() == 0:\n    time.sleep(1.5)\n    os._exit(0)\nos.wait()"
    )
    trusted = KernelRunner(UNIT, sandbox=False)
    try:
        limits = Limits(memory=400_000_000, cell_seconds=10)
        assert stopped(run(trusted, source, "1", limits=limits)) == ["", ""]
        each = (
            "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        held = b'x' * 120_000_000\n"
        )
        each += "        time.sleep(8)\n        os._exit(0)\ntime.sleep(8)"
        assert stopped(run(trusted, each, limits=limits)) == ["memory"]
    finally:
        trusted.close()


def test_memory_is_bounded_for_a_process_and_for_all_together(runner):
    limits = Limits(memory=300_000_000, cell_seconds=10)
    alone = run(runner, "x = bytearray(2_000_000_000)", "1", limits=limits)
    assert alone.cells[0].outputs[0]["ename"] == "MemoryError" and text(alone.cells[1]) == "1"
    many = (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n"
        "        x = bytearray(b'x') * 120_000_000\n        time.sleep(30); os._exit(0)\ntime.sleep(30)"
    )
    together = run(runner, many, "1", limits=limits)
    assert stopped(together) == ["memory", "not run"]
    assert together.seconds < 10


def test_a_fork_bomb_and_full_disks_stop_at_their_limits(runner):
    execution = run(
        runner,
        "import os, time\nchildren = []\ntry:\n    while True:\n        child = os.fork()\n"
        "        if child == 0:\n            time.sleep(60); os._exit(0)\n        children.append(child)\n"
        "except OSError as problem: print(type(problem).__name__, len(children) < 64)",
        "for child in children: os.kill(child, 9), os.waitpid(child, 0)",
        "open('one', 'wb').write(bytes(30_000_000))",
        "for i in range(9): open(f'/tmp/{i}', 'wb').write(bytes(9_000_000))",
        "1",
    )
    assert text(execution.cells[0]) == "BlockingIOError True\n"
    assert [cell.outputs[0]["ename"] for cell in execution.cells[2:4]] == ["OSError", "OSError"]
    assert text(execution.cells[4]) == "1"


# How much comes out --------------------------------------------------------------------------------------------


def test_a_flood_of_output_is_cut_with_a_sentence_and_the_notebook_goes_on(runner):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    execution = run(
        runner,
        "print('x' * 50_000_000)",
        "for i in range(100_000): print(i, 'a line to fill a screen, and another, and another, and another')",
        "for i in range(10_000): display(i)",
        "display({'text/html': 'x' * 5_000_000, 'text/plain': 'large'}, raw=True)",
        "raise ValueError('x' * 50_000_000)",
        "h = display(0, display_id=True)\nfor i in range(10_000): h.update(i)",
        f"display({{{ANSWERS!r}: {{'a': 1}}, 'text/plain': 'answers'}}, raw=True)",
    )
    assert stopped(execution) == [""] * 7
    for cell in execution.cells[:2]:
        assert len(text(cell)) < 600_000
        assert text(cell).endswith("... output cut after 500,000 characters ...\n")
    assert len(execution.cells[2].outputs) == 501
    assert execution.cells[2].outputs[-1]["text"] == "... further outputs left out after 500 ...\n"
    assert "left out" in text(execution.cells[3]) and len(text(execution.cells[3])) < 1_000
    assert execution.cells[4].outputs[0]["ename"] == "ValueError"
    assert len(json.dumps(execution.cells[4].outputs)) < 500_000
    assert len(execution.cells[5].outputs) == 2
    assert answers(execution) == [{"a": 1}]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_widgets_are_made_and_not_kept(runner):
    limits = Limits(output_bytes=50_000, outputs=50)
    many = "import ipywidgets\nw = [ipywidgets.IntSlider(value=7) for _ in range(1_000)]"
    execution = run(runner, many, "w[0]", "w[0].value", limits=limits)
    assert stopped(execution) == ["", "", ""]
    assert execution.cells[0].outputs == [] and len(execution.cells[1].outputs) == 1
    assert text(execution.cells[2]) == "7"


def test_printing_without_end_before_the_answer_does_not_lose_it(runner):
    source = "print('x' * 2_000_000)\nfor i in range(600): display(i)\n"
    source += f"display({{{ANSWERS!r}: {{'a': 1}}}}, raw=True)"
    assert answers(run(runner, source)) == [{"a": 1}]


# What the kernel's own code would not send, sent past it.
PAST_THE_BOUNDS = """
import json, threading, time
from jupyter_client.session import Session
kernel = get_ipython().kernel
def send(kind, content, **more):
    more = {"parent": kernel.get_parent()} | more
    Session.send(kernel.session, kernel.iopub_socket, kind, content, **more)
"""


@pytest.mark.alone
@pytest.mark.parametrize(
    "source",
    [
        "send('stream', {'name': 'stdout', 'text': 'x' * 60_000_000})\ntime.sleep(9)",
        "while True: send('stream', {'name': 'stdout', 'text': 'x' * 1_000})",
        "send('stream', {'name': 'stdout', 'text': ''}, buffers=[b'x' * 1_000_000] * 60)\ntime.sleep(9)",
    ],
)
def test_a_kernel_that_sends_past_its_bounds_is_cut_off(runner, source):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # With memory enough to hold the message several times over, so that only its size can end the cell.
    limits = Limits(output_bytes=100_000, outputs=100, memory=1_500_000_000)
    execution = run(runner, PAST_THE_BOUNDS, source, "1", limits=limits)
    assert stopped(execution) == ["", "flood", "not run"]
    assert execution.cells[1].outputs[-1]["evalue"] == "stopped: it sent more than a notebook can hold"
    assert len(text(execution.cells[1])) < 4_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_messages_that_are_none_are_ignored(runner):
    junk = (
        PAST_THE_BOUNDS
        + """
for content in ([], 'text', None, 3, {'name': [], 'text': {}}, {'data': 7}, {'execution_state': []}):
    for kind in ('stream', 'display_data', 'execute_result', 'error', 'status', 'clear_output', 'comm_open'):
        send(kind, json.dumps(content))
send('execute_input', {'execution_count': 'x'})
send('update_display_data', {'data': {'a/b': 'x'}, 'transient': {'display_id': []}})
nested = []
for _ in range(900): nested = [nested]
send('display_data', {'data': {'application/json': nested}})
socket = kernel.iopub_socket
for frames in ([b''], [b'<IDS|MSG>'], [b'x', b'<IDS|MSG>', b'', b'{', b'{', b'{', b'{'], [b'a'] * 50):
    socket.send_multipart(frames)
import sys; sys.stdout.flush()
print('still here')
"""
    )
    execution = run(runner, junk, "print('and here')")
    assert stopped(execution) == ["", ""]
    assert text(execution.cells[0]).endswith("still here\n")
    assert text(execution.cells[1]) == "and here\n"


def test_a_kernel_that_breaks_its_channels_only_harms_itself(runner):
    garbage = (
        "import os\nfor fd in range(3, 300):\n    try:\n"
        "        if os.readlink(f'/proc/self/fd/{fd}').startswith('socket'): os.write(fd, b'garbage' * 1000)\n"
        "    except OSError: pass\n"
    )
    closing = "import os; os.closerange(3, 300)"
    for source in (garbage, closing):
        execution = run(runner, "print('before')", source, "1", limits=QUICK)
        assert text(execution.cells[0]) == "before\n"
        assert execution.stopped in ("", "time", "died")
    assert text(run(runner, "1 + 1").cells[0]) == "2"


def test_late_answers_of_another_cell_do_not_count(runner):
    late = (
        "parent = kernel.get_parent()\ndef later():\n    time.sleep(0.5)\n"
        f"    send('display_data', {{'data': {{{ANSWERS!r}: 1}}}}, parent=parent)\n"
        "threading.Thread(target=later).start()"
    )
    execution = run(runner, PAST_THE_BOUNDS + late, "time.sleep(1)", "print('end')")
    assert answers(execution) == []
    assert text(execution.cells[2]) == "end\n"


# What is left --------------------------------------------------------------------------------------------------


def children() -> set[int]:
    """This process's children, the dead ones that nobody has waited for among them."""
    import psutil

    return {child.pid for child in psutil.Process().children()}


def test_nothing_of_a_run_is_left(monkeypatch):
    made, make = [], tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda *a, **k: made.append(make(*a, **k)) or made[-1])
    mark = f"31.{os.getpid()}"
    source = (
        "import subprocess, threading, time, os\n"
        f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
        f"subprocess.Popen('setsid sleep {mark} & disown', shell=True, executable='/bin/bash')\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        os.execvp('sleep', ['sleep', '{mark}'])\n    os._exit(0)\n"
        "time.sleep(0.5)"
    )
    descriptors, before = len(os.listdir("/proc/self/fd")), children()
    runner = KernelRunner(UNIT)
    try:
        assert stopped(run(runner, source)) == [""]
        assert still_running(mark) == []
        run(runner, "import os; os._exit(1)")
    finally:
        runner.close()
    assert made and not any(os.path.exists(folder) for folder in made)
    assert [thread.name for thread in threading.enumerate() if thread.name == "kernel"] == []
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 2
    assert children() <= before


def test_an_interrupt_of_the_grader_ends_the_kernel(runner):
    # Who runs the tests in the background has interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    mark = f"32.{os.getpid()}"
    try:
        with pytest.raises(KeyboardInterrupt):
            run(runner, f"!sleep {mark}")
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert still_running(mark) == []


def test_a_killed_grader_leaves_no_kernel(tmp_path):
    mark = f"33.{os.getpid()}"
    script = (
        "from grader.sandbox.kernel_engine import KernelRunner\nfrom grader.sandbox.execution import Job\n"
        f"KernelRunner({UNIT!r}).run(Job({UNIT!r}, ('!sleep {mark}',)))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    grader = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env=environment)
    try:
        until = time.monotonic() + 30
        while not still_running(f"sleep {mark}"[:20]) and time.monotonic() < until:
            time.sleep(0.1)
        assert still_running(f"sleep {mark}")
    finally:
        grader.kill()
        grader.wait()
    time.sleep(0.5)
    assert [line for line in still_running(mark) if "KernelRunner" not in line] == []


def test_a_kernel_that_cannot_start_is_a_fault_of_ours(monkeypatch, tmp_path):
    broken = tmp_path / "kernel.py"
    broken.write_text("raise SystemExit('no kernel today')")
    monkeypatch.setattr(provisioner, "_INSIDE", broken)
    for sandbox in (True, False):
        runner = KernelRunner(UNIT, sandbox=sandbox)
        try:
            with pytest.raises(EngineFault, match="did not start.*no kernel today"):
                run(runner, "1")
        finally:
            runner.close()


def test_a_mistake_of_the_engine_is_a_fault_of_ours(runner, monkeypatch):
    def broken(*_):
        raise AttributeError("a mistake")

    monkeypatch.setattr(kernel_engine.Collected, "add", broken)
    with pytest.raises(EngineFault, match="a mistake"):
        run(runner, "print(1)")


def test_a_kernel_specification_can_name_the_provisioner(tmp_path, monkeypatch):
    """As any Jupyter program would start it: by the name of the entry point, and without a job."""
    from importlib.metadata import EntryPoint

    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.provisioning import KernelProvisionerFactory

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    group = KernelProvisionerFactory.GROUP_NAME
    named = EntryPoint("course-sandbox", project["entry-points"][group]["course-sandbox"], group)
    monkeypatch.setitem(KernelProvisionerFactory.instance().provisioners, "course-sandbox", named)
    specification = {
        "argv": ["python"],
        "language": "python",
        "display_name": "Sandbox",
        "metadata": {"kernel_provisioner": {"provisioner_name": "course-sandbox", "config": {"unit": UNIT}}},
    }
    folder = tmp_path / "kernels" / "sandbox"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    specifications = KernelSpecManager(kernel_dirs=[str(tmp_path / "kernels")])
    manager = AsyncKernelManager(kernel_name="sandbox", kernel_spec_manager=specifications)

    async def talk() -> str:
        await manager.start_kernel()
        client = manager.client()
        client.start_channels(hb=False)
        try:
            await client.wait_for_ready(timeout=30)
            reply = await client.execute("import lab", reply=True, timeout=30)
            return reply["content"]["status"]
        finally:
            client.stop_channels()
            await manager.shutdown_kernel(now=True)

    assert asyncio.run(talk()) == "ok"
    assert not Path(manager.connection_file).exists()
