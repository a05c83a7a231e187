"""The engine "kernel": each notebook in a real Jupyter kernel under bubblewrap. And "none": without bubblewrap."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from queue import Empty
from typing import Any

import zmq
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from traitlets import Type

from ..revealed import stage
from .collected import Collected, why_stopped
from .execution import CellResult, EngineFault, Execution, Job, Stopped
from .limits import Limits
from .memory import next_look
from .outputs import clean_count
from .provisioner import SandboxProvisioner, TrustedProvisioner
from .scratch import Scratch

_GRACE = 2.0  # seconds that an interrupted cell has to stop
_LOOK = 0.1  # seconds between two looks at a running cell
_START_SECONDS = 60


class KernelRunner:
    """Runs notebooks of a unit, each in a kernel of its own. With ``sandbox=False`` the kernel is not confined.

    The staged course is made once and shared. Raises NoSandbox where there is to be a sandbox and none can run.
    """

    def __init__(self, unit: str, hash_seed: int = 0, sandbox: bool = True) -> None:
        if sandbox:
            from .confinement import need_sandbox

            need_sandbox()
        self.unit = unit
        self._owner = os.getpid()
        self.engine = "kernel" if sandbox else "none"
        self._hash_seed = hash_seed
        self._scratch = Scratch()
        try:
            self._course = stage(unit, self._scratch.path / "course")
        except BaseException:
            self.close()
            raise

    def run(self, job: Job) -> Execution:
        """Run a notebook's cells. Raises EngineFault where the fault is not the notebook's."""
        started = time.monotonic()
        cells = _in_a_thread(self._run(job))
        return Execution(tuple(cells), self.engine, time.monotonic() - started)

    def close(self) -> None:
        """Remove the staged course. The kernels have ended with their notebooks."""
        if os.getpid() == self._owner:  # not in a copy of this process
            self._scratch.remove()

    async def _run(self, job: Job) -> list[CellResult]:
        notebook = new_notebook(cells=[new_code_cell(source) for source in job.cells])
        manager = AsyncKernelManager(kernel_spec_manager=_OurKernel(), client_factory=_Client)
        manager.provisioner = _PROVISIONERS[self.engine](
            kernel_spec=manager.kernel_spec,
            parent=manager,
            unit=self.unit,
            hash_seed=self._hash_seed,
            job=job,
            course=self._course,
            place=self._scratch.path,
        )
        client = _Notebook(notebook, manager)
        try:
            await self._start(client)
            return await _Run(client, job.limits).cells()
        finally:
            await client.end()

    async def _start(self, client: "_Notebook") -> None:
        try:
            await client.start()
        except EngineFault:
            raise
        except Exception as problem:
            said = client.provisioner.said()
            raise EngineFault(
                f"The kernel of a notebook did not start. {problem} {said}".strip()
            ) from problem


_PROVISIONERS = {"kernel": SandboxProvisioner, "none": TrustedProvisioner}


class _Run:
    """The cells of a notebook, one after the other, with an eye on the clock, the memory and the process."""

    def __init__(self, client: "_Notebook", limits: Limits) -> None:
        self.client = client
        self.limits = limits
        self.ends = time.monotonic() + limits.notebook_seconds

    async def cells(self) -> list[CellResult]:
        results: list[CellResult] = []
        ended = False
        for index in range(len(self.client.nb.cells)):
            if ended:
                results.append(CellResult([], stopped="not run"))
                continue
            outputs = self.client.next_cell()
            stopped, ended = await self._cell(index)
            if stopped:
                self.client.collected.add({"output": why_stopped(stopped, self.limits)})
            results.append(CellResult(outputs, self.client.count, stopped))
        return results

    async def _cell(self, index: int) -> tuple[Stopped, bool]:
        """Run one cell: why it has no proper end, and whether the notebook ended with it."""
        running = asyncio.ensure_future(self.client.async_execute_cell(self.client.nb.cells[index], index))
        try:
            stopped, ended = await self._watched(running)
        finally:
            running.cancel()  # no harm where it is done
            (problem,) = await asyncio.gather(running, return_exceptions=True)
        if ended:
            await self.client.kill()
        elif isinstance(problem, DeadKernelError) or self.client.exit_asked:
            stopped, ended = stopped or "died", True
        elif isinstance(problem, Exception):
            raise EngineFault(f"A notebook's messages could not be read: {problem!r}") from problem
        return ("flood" if self.client.provisioner.flooded else stopped), ended

    async def _watched(self, running: asyncio.Future) -> tuple[Stopped, bool]:
        """Wait for a cell, and look now and then at what its kernel does."""
        deadline = min(time.monotonic() + self.limits.cell_seconds, self.ends)
        last = deadline == self.ends
        stopped: Stopped = ""
        look = _LOOK
        while not (await asyncio.wait([running], timeout=look))[0]:
            if not await self.client.is_alive():
                return stopped or "died", True
            used = self.client.provisioner.memory()
            if used > self.limits.memory:
                return "memory", True
            look = min(_LOOK, next_look(used, self.limits.memory))
            if time.monotonic() > deadline:
                if stopped:  # it does not stop
                    return stopped, True
                stopped, deadline = "time", time.monotonic() + _GRACE
                await self.client.km.interrupt_kernel()
        return stopped, bool(stopped and last)


class _Notebook(NotebookClient):
    """nbclient, but for what is kept: outputs are built anew from what came, and bounded.

    Widgets are not kept, nor is anything else that a kernel says besides a cell's outputs.
    """

    def __init__(self, notebook: NotebookNode, manager: AsyncKernelManager) -> None:
        super().__init__(
            notebook,
            manager,
            allow_errors=True,
            record_timing=False,
            on_cell_executed=self._executed,
            log=_QUIET,
        )
        self.manager = manager
        self.provisioner = manager.provisioner
        self.exit_asked = False
        self.collected = Collected()
        self.count: int | None = None  # of the current cell

    async def start(self) -> None:
        await self.manager.start_kernel()
        self.kc = self.manager.client()
        self.kc.start_channels(stdin=False, hb=False)
        await self.kc.wait_for_ready(timeout=_START_SECONDS)

    async def end(self) -> None:
        """Leave nothing of the kernel behind."""
        await self.kill()
        if self.kc is not None:
            self.kc.stop_channels()
        await self.manager.cleanup_resources()

    async def kill(self) -> None:
        await self.provisioner.kill()

    async def is_alive(self) -> bool:
        return await self.manager.is_alive()

    def next_cell(self) -> list[dict[str, Any]]:
        """The list that will hold the next cell's outputs."""
        self.count = None
        self.provisioner.next_cell()
        return self.collected.next_cell()

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> None:
        kind, content = msg["msg_type"], msg["content"]
        if kind == "status" and content.get("execution_state") == "idle":
            raise CellExecutionComplete()
        if kind == "execute_input":
            self.count = clean_count(content.get("execution_count"))
        elif kind == "clear_output":
            self.collected.add({"clear": content.get("wait") is True})
        elif kind == "update_display_data":
            self._collect("display_data", content, update=True)
        elif kind in ("stream", "error", "execute_result", "display_data"):
            self._collect(kind, content, update=False)

    def _collect(self, kind: str, content: dict[str, Any], update: bool) -> None:
        transient = content.get("transient")
        display_id = transient.get("display_id") if isinstance(transient, dict) else None
        output = {name: value for name, value in content.items() if name != "transient"}
        self.collected.add(
            {"output": {**output, "output_type": kind}, "display_id": display_id, "update": update}
        )

    def _executed(self, cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:
        payload = execute_reply["content"].get("payload")
        parts = payload if isinstance(payload, list) else []
        self.exit_asked = any(isinstance(part, dict) and part.get("source") == "ask_exit" for part in parts)


class _Channel(AsyncZMQSocketChannel):
    """A channel on which only messages come, whatever the kernel sends."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:
        ends = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if ends is None else max(0.0, ends - time.monotonic())
            try:
                message = await super().get_msg(left)
            except (Empty, zmq.ZMQError):
                raise
            except Exception:  # of many kinds, where what came is no message
                continue
            if _well_formed(message):
                return message


def _well_formed(message: dict[str, Any]) -> bool:
    content = message["content"]
    if not all(isinstance(part, dict) for part in (message["header"], message["parent_header"], content)):
        return False
    return message["msg_type"] != "execute_reply" or isinstance(content.get("status"), str)


class _Client(AsyncKernelClient):
    shell_channel_class = Type(_Channel)
    iopub_channel_class = Type(_Channel)


class _OurKernel(KernelSpecManager):
    """One kernel, however many this machine has. How it is started is the provisioner's part."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(argv=["python"], language="python", display_name="Python 3")


_QUIET = logging.getLogger(__name__)
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


def _in_a_thread(coroutine: Coroutine) -> Any:
    """What a coroutine gives, also where this thread has a running loop. An interrupt ends it first."""
    outcome: Future = Future()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task]] = []

    async def run() -> Any:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await coroutine

    def target() -> None:
        try:
            outcome.set_result(asyncio.run(run()))
        except BaseException as problem:
            outcome.set_exception(problem)

    thread = threading.Thread(target=target, name="kernel")
    thread.start()
    try:
        return outcome.result()
    except BaseException:
        if running and not outcome.done():
            loop, task = running[0]
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
