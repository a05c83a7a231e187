"""Runs the cells of a notebook as a Jupyter kernel would, without one: IPython's shell, and a wire for outputs.

Nothing here protects anything: the first cell can change all of it. It only makes honest notebooks behave as
they do under Jupyter.
"""

import asyncio
import base64
import builtins
import getpass
import inspect
import io
import os
import signal
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from .wire import Wire

_LONGEST_MESSAGE = 20_000  # characters of an error's text and of each line of its traceback
_MOST_LINES = 100  # of a traceback

wire = Wire()


class _Results(DisplayHook):
    """The value of a cell's last line."""

    def start_displayhook(self) -> None:
        self._data: dict[str, Any] | None = None

    def write_output_prompt(self) -> None:
        """A notebook shows the number beside the cell."""

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        self._data = format_dict

    def finish_displayhook(self) -> None:
        if self._data:
            wire.output(
                {
                    "output_type": "execute_result",
                    "data": _with_pictures_as_text(self._data),
                    "execution_count": self.prompt_count,
                }
            )


class _Displays(DisplayPublisher):
    """What display() shows."""

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: str | None = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        self._validate_data(data, metadata)
        display_id = (transient or {}).get("display_id")
        if display_id is not None or not update:
            output = {"output_type": "display_data", "data": _with_pictures_as_text(data)}
            wire.output(output, display_id, update)

    def clear_output(self, wait: bool = False) -> None:
        wire.clear(wait)


class _Compiler(CachingCompiler):
    """Knows the module of each cell, which inspect would look for among all, once for each line of a traceback."""

    def cache(self, *arguments: Any, **options: Any) -> str:
        name = super().cache(*arguments, **options)
        inspect.modulesbyfile[os.path.normcase(os.path.abspath(name))] = "__main__"
        return name


class ZMQInteractiveShell(InteractiveShell):
    """Its name is the one by which libraries know that they run in a notebook."""

    compiler_class = Type(_Compiler)
    displayhook_class = Type(_Results)
    display_pub_class = Type(_Displays)
    system = InteractiveShell.system_raw
    exit_asked = False
    transformed: tuple[str, str] | None = None  # a cell's source, and what it became

    def transform_cell(self, raw_cell: str) -> str:
        """Once for each cell that run_cell() below runs: IPython asks again."""
        known, self.transformed = self.transformed, None
        return known[1] if known and known[0] is raw_cell else super().transform_cell(raw_cell)

    def ask_exit(self) -> None:
        self.exit_asked = True

    def enable_gui(self, gui: str | None = None) -> None:
        """A notebook has no windows; %matplotlib inline asks for none."""

    def init_io(self) -> None:
        """The streams are set by new_shell()."""

    def init_hooks(self) -> None:
        super().init_hooks()
        self.set_hook("show_in_pager", lambda *_, **__: None, 99)  # a page is no output of a notebook

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        wire.output(
            {
                "output_type": "error",
                "ename": etype.__name__,
                "evalue": _text_of(evalue)[:_LONGEST_MESSAGE],
                "traceback": [str(line)[:_LONGEST_MESSAGE] for line in stb[:_MOST_LINES]],
            }
        )


class _Stream(io.TextIOBase):
    """sys.stdout and sys.stderr."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = f"<{name}>"
        self._kind, self._descriptor = name, descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if not wire.text_cut:
            wire.text(self._kind, text)
        return len(text)

    def flush(self) -> None:
        wire.flush()


def new_shell() -> ZMQInteractiveShell:
    """The shell, with the streams and input() as in a notebook that nobody sits at."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.IPKernelApp.notebook = True  # some libraries look for it
    shell = ZMQInteractiveShell.instance(config=config)
    builtins.input = getpass.getpass = _no_input
    sys.path.insert(0, "")  # modules that the notebook writes into its folder
    sys.stdout, sys.stderr = _Stream("stdout", 1), _Stream("stderr", 2)
    return shell


def warm_up(shell: ZMQInteractiveShell, sources: Iterable[str]) -> None:
    """Run lines whose first run takes long, then forget that they ran."""
    for source in sources:
        shell.run_cell(source)
    shell.reset(new_session=True)
    shell.execution_count = 1
    shell.user_ns.update(_="", __="", ___="")
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        sys.__dict__.pop(name, None)


async def run_cell(shell: ZMQInteractiveShell, source: str) -> bool:
    """Run one cell. False where it asked the process to end.

    SIGINT interrupts the cell and nothing else. The caller has a running event loop, as a kernel has.
    """
    wire.next_cell()
    try:
        transformed, problem = shell.transform_cell(source), None
    except Exception:
        transformed, problem = source, sys.exc_info()
    if shell.should_run_async(source, transformed_cell=transformed, preprocessing_exc_tuple=problem):
        await _run_async(shell, source, transformed, problem)
    else:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            if problem is None:
                shell.transformed = (source, transformed)
            shell.run_cell(source, store_history=True)
        except KeyboardInterrupt:  # it came just before or after the cell's own code
            shell.showtraceback()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    return not shell.exit_asked


async def _run_async(shell: ZMQInteractiveShell, source: str, transformed: str, problem: Any) -> None:
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(
        shell.run_cell_async(
            source, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=problem
        )
    )
    loop.add_signal_handler(signal.SIGINT, running.cancel)
    result = None
    try:
        result = await running
    except asyncio.CancelledError:
        wire.output(
            {"output_type": "error", "ename": "CancelledError", "evalue": "interrupted", "traceback": []}
        )
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)


class Bypassed:
    """What C code and other programs wrote on stdout and stderr: files, which are read after each cell."""

    def __init__(self) -> None:
        self._read = {1: 0, 2: 0}

    def send(self) -> None:
        """Send what is new, behind the cell's own text."""
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            start, end = self._read[descriptor], os.fstat(descriptor).st_size
            if end > start:
                most = min(end - start, 4 * wire.most_characters)
                wire.text(name, os.pread(descriptor, most, start).decode("utf-8", "replace"))
                self._read[descriptor] = end


def _with_pictures_as_text(data: dict[str, Any]) -> dict[str, Any]:
    return {
        mime_type: base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value
        for mime_type, value in data.items()
    }


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__name__} whose text cannot be made>"


def _no_input(*_arguments: object, **_options: object) -> NoReturn:
    raise StdinNotImplementedError("input() cannot be answered here")
