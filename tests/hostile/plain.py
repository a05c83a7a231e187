"""Run notebooks without any defence, as a process of the grader's own user would: to show what a submission does.

``Plain`` starts ``python -m hostile.plain``, which loads the course of a world once and forks for every
notebook. Results come back as JSON lines; a fork that ends early has written the cells before.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .world import World


class Plain:
    """One process that runs notebooks in a world. ``hash_seed`` orders its sets."""

    def __init__(self, world: "World", hash_seed: int = 0) -> None:
        tests = Path(__file__).resolve().parents[1]
        places = [world.course / "notebooks", world.course / "solutions", world.course, tests]
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "CI")}
        environment = {
            **kept,
            "HOME": str(world.home),
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "PYTHONHASHSEED": str(hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COURSE_SECRET": world.secret,
            "IPYTHONDIR": str(world.folder.with_name(world.folder.name + "-ipython")),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hostile.plain"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=world.home,
        )

    def run(
        self,
        cells: list[str],
        folder: Path,
        questions: Path | None = None,
        seconds: float = 60,
        off: str = "",
        stops: bool = False,
    ) -> tuple[list[dict[str, Any]], str]:
        """The outputs of each cell that ended, and how the run ended: "done", "died", "time" or "broken".

        Nothing is checked of what comes back but whether it is what was asked for at all.
        """
        job = {
            "cells": cells,
            "folder": str(folder),
            "questions": str(questions or ""),
            "seconds": seconds,
            "off": off,
            "stops": stops,
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs notebooks without a defence is gone")
        answer = json.loads(line)
        return answer["cells"], answer["ended"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def _serve() -> None:
    shell = _make_shell()
    import numpy  # noqa: F401
    import pandas  # noqa: F401

    import grader.checks
    import grader.exercises  # noqa: F401
    import lab  # noqa: F401

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        cells, ended = _run(json.loads(line), shell, answers.fileno())
        answers.write(json.dumps({"cells": cells, "ended": ended}) + "\n")
        answers.flush()


def _run(job: dict[str, Any], shell: Any, answers: int) -> tuple[list, str]:
    results, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(results)
            os.close(answers)
            _child(job, shell, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    os.set_blocking(results, False)
    received, deadline, ended = bytearray(), time.monotonic() + job["seconds"], ""
    while not ended:
        try:
            more = os.read(results, 1 << 20)
            received += more
        except BlockingIOError:
            more = None
        pid, _ = os.waitpid(child, os.WNOHANG)
        if pid or (more == b"" and _gone(child)):
            ended = "died"
        elif time.monotonic() > deadline:
            ended = "time"
        elif not more:
            time.sleep(0.005)
    if ended == "time":
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    try:
        while more := os.read(results, 1 << 20):
            received += more
    except BlockingIOError:
        pass  # a process that was left behind holds the other end
    os.close(results)
    try:
        lines = [json.loads(line) for line in bytes(received).split(b"\n") if line.strip()]
    except ValueError:
        return [], "broken"
    done = lines[-1:] == ["done"]
    cells = lines[:-1] if done else lines
    if len(cells) > len(job["cells"]) or not all(
        isinstance(cell, dict) and "outputs" in cell for cell in cells
    ):
        return [], "broken"
    return cells, "done" if done and ended != "time" else ended


def _gone(child: int) -> bool:
    pid, _ = os.waitpid(child, 0)
    return bool(pid)


def _child(job: dict[str, Any], shell: Any, results: int) -> None:
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    waiting, _never = os.pipe()  # whoever asks for input waits
    os.dup2(waiting, 0)
    sys.stdin = os.fdopen(0)
    os.chdir(job["folder"])
    sys.path.insert(0, "")
    if job["questions"]:
        os.environ["COURSE_QUESTIONS"] = job["questions"]
    for path in Path(job["folder"]).glob("*.py"):  # a new process would not have loaded the real ones yet
        for name in [name for name in sys.modules if name.split(".")[0] == path.stem]:
            del sys.modules[name]
    if job["off"]:
        module, name = job["off"].split(":")
        setattr(sys.modules[module], name, lambda value, *others: value)
    for source in job["cells"]:
        shell.outputs.clear()
        result = shell.run_cell(source, store_history=True)
        for output in shell.outputs:
            if "parts" in output:
                output["text"] = "".join(output.pop("parts"))
        line = json.dumps({"outputs": shell.outputs}, default=repr)
        _write(results, line.encode() + b"\n")
        if job["stops"] and result is not None and not result.success:
            break
    _write(results, b'"done"\n')


def _write(file: int, text: bytes) -> None:
    while text:
        text = text[os.write(file, text) :]


def _make_shell() -> Any:
    """A shell that keeps a cell's outputs as a notebook does."""
    import io

    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type
    from traitlets.config import Config

    outputs: list[dict[str, Any]] = []

    def shown(kind: str, data: dict, **more: Any) -> None:
        outputs.append({"output_type": kind, "data": dict(data), "metadata": {}, **more})

    class Hook(DisplayHook):
        def start_displayhook(self) -> None:
            pass

        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
            shown("execute_result", format_dict, execution_count=self.prompt_count)

        def finish_displayhook(self) -> None:
            pass

    class Publisher(DisplayPublisher):
        def publish(self, data: dict, metadata: dict | None = None, **others: Any) -> None:
            shown("display_data", data)

    class Stream(io.TextIOBase):
        def __init__(self, name: str) -> None:
            self.name = name

        def writable(self) -> bool:
            return True

        def write(self, text: str) -> int:
            if not (outputs and outputs[-1].get("name") == self.name):
                outputs.append({"output_type": "stream", "name": self.name, "parts": []})
            outputs[-1]["parts"].append(text)
            return len(text)

    class ZMQInteractiveShell(InteractiveShell):
        displayhook_class, display_pub_class = Type(Hook), Type(Publisher)
        system = InteractiveShell.system_raw

        def _showtraceback(self, kind: type, error: BaseException, trace: list[str]) -> None:
            outputs.append(
                {
                    "output_type": "error",
                    "ename": kind.__name__,
                    "evalue": str(error),
                    "traceback": list(map(str, trace)),
                }
            )

        def init_io(self) -> None:
            pass

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = ZMQInteractiveShell.instance(config=config)
    shell.outputs = outputs
    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
    return shell


if __name__ == "__main__":
    _serve()
