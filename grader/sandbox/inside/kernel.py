"""Started inside the sandbox: becomes a Jupyter kernel. What to prepare comes as JSON on its standard input.

Untrusted from the first cell on. Nothing here protects anything: it prepares the run, and lets an honest
notebook that prints without end go on, by not sending what would end it outside.
"""

import contextlib
import json
import os
import socket
import sys
from pathlib import Path

# The same as in wire.py and shell.py: honest notebooks look alike on both engines.
_MOST_ANSWERS = 20
_LARGEST_OUTPUT = 1_500_000  # characters of one display
_UPDATES_PER_OUTPUT = 10
_LONGEST_MESSAGE = 20_000  # characters of an error's text and of each line of its traceback
_MOST_LINES = 100  # of a traceback


def main() -> None:
    prepared = json.load(sys.stdin)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if prepared["hello"] is not None:
        os.write(prepared["hello"], b".")  # the other end learns which process has sent this
        _close_all_but(set(prepared["listening"].values()))
    for path, text in prepared["files"].items():
        Path(path).write_bytes(text.encode("latin-1"))  # one character a byte
    hidden = {os.path.realpath(folder) for folder in prepared["hidden"]}
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) not in hidden]
    sys.path.insert(0, "")  # modules that the notebook writes into its folder
    _run_kernel(prepared)


def _close_all_but(kept: set[int]) -> None:
    """Close what was opened outside, but for the standard streams and these."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):  # the one that lists them
                os.close(descriptor)


def _run_kernel(prepared: dict) -> None:
    import ipykernel.kernelapp
    import zmq
    from ipykernel.iostream import IOPubThread
    from ipykernel.ipkernel import IPythonKernel
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core.error import StdinNotImplementedError
    from traitlets import Type, default
    from traitlets.config import Config

    room = Room(prepared["most_characters"], prepared["most_outputs"], prepared["answers"])
    listening = {int(port): fd for port, fd in prepared["listening"].items()}

    class Kernel(IPythonKernel):
        def raw_input(self, prompt=""):
            raise StdinNotImplementedError(prepared["no_input"])

        def getpass(self, prompt="", stream=None, **others):
            raise StdinNotImplementedError(prepared["no_input"])

    class ConfinedIOPubThread(IOPubThread):
        def _setup_pipe_in(self):
            """The socket for what forked processes print: ZeroMQ may not look up the interface itself."""
            context, server = self.socket.context, socket.create_server(("127.0.0.1", 0))
            port = server.getsockname()[1]
            context.setsockopt(zmq.USE_FD, server.detach())
            super()._setup_pipe_in()
            del context.sockopts[zmq.USE_FD]
            self._pipe_port = port

    class App(IPKernelApp):
        kernel_class = Type(Kernel)

        @default("session")
        def _session(self):
            return _bounded_session(self, room)

        def init_io(self):
            super().init_io()
            for stream in (sys.stdout, sys.stderr):
                stream.write = _write_until_cut(stream.write, room)

        def init_shell(self):
            super().init_shell()
            publisher = self.shell.display_pub
            publisher.publish = _publish_until_cut(publisher.publish, room)

        def _bind_socket(self, channel, port):
            channel.set(zmq.SNDHWM, 0)  # what is sent is bounded, and none of it may get lost
            if port in listening:
                channel.set(zmq.USE_FD, listening[port])
            return super()._bind_socket(channel, port)

        def init_control(self, context):
            super().init_control(context)
            if listening:  # no debugger: its socket would look for the others by their paths
                self.debug_shell_socket.close()

        def init_heartbeat(self):
            if not listening:
                super().init_heartbeat()

    if listening:
        ipykernel.kernelapp.IOPubThread = ConfinedIOPubThread
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    app = App.instance(config=settings)
    app.initialize(["-f", prepared["connection_file"]])
    _seed_before_the_first_cell(app.shell, prepared["random_seed"])
    _limit(prepared["limits"])
    app.start()


def _seed_before_the_first_cell(shell, number: int) -> None:
    """Late, since the kernel itself uses chance while it starts."""
    import random

    import numpy

    def seed(*_) -> None:
        shell.events.unregister("pre_run_cell", seed)
        random.seed(number)
        numpy.random.seed(number % 2**32)

    shell.events.register("pre_run_cell", seed)


def _limit(limits: dict[str, int]) -> None:
    """Set the limits of this process and its children, by their names in the module resource.

    "AS", the size of the memory mapped, counts from here on.
    """
    if not limits:
        return
    import resource

    Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")  # goes first where memory runs out
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    for name, value in (limits | {"AS": mapped + limits["AS"]}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


class Room:
    """How much of a cell's output is still sent."""

    def __init__(self, most_characters: int, most_outputs: int, answers: str) -> None:
        self.most_characters, self.most_outputs = most_characters, most_outputs
        self.answers = answers  # the MIME type of what check() hands in
        self.next_cell()

    def next_cell(self) -> None:
        """Count from 0 again."""
        self._characters = self._outputs = self._updates = self._answers = self._displayed = 0
        self.text_cut = self.outputs_cut = False  # what is cut, nobody need send

    def text(self, text: str) -> str:
        """What to send of a text; nothing once it has been cut."""
        if self.text_cut:
            return ""
        if self._characters + len(text) > self.most_characters:
            text = text[: self.most_characters - self._characters]
            text += f"\n... output cut after {self.most_characters:,} characters ...\n"
            self.text_cut = True
        self._characters += len(text)
        return text

    def output(self, content: dict, update: bool) -> tuple[bool, str]:
        """Is there room for a display or result? And what to say instead, if anything."""
        size = len(json.dumps(content, default=str))
        if self.answers in content.get("data", ()):
            self._answers += 1
            return self._answers <= _MOST_ANSWERS and size <= _LARGEST_OUTPUT, ""
        if size > _LARGEST_OUTPUT:
            return False, f"... an output of more than {_LARGEST_OUTPUT:,} characters left out ...\n"
        self._displayed += size
        self._updates += update
        self._outputs += not update
        if (
            self._outputs <= self.most_outputs
            and self._displayed <= 4 * self.most_characters
            and self._updates <= _UPDATES_PER_OUTPUT * self.most_outputs
        ):
            return True, ""
        told, self.outputs_cut = self.outputs_cut, True
        return False, "" if told else f"... further outputs left out after {self._outputs - 1:,} ...\n"


# An honest loop of prints or displays must come to its end in time, so what would be cut off costs none.


def _write_until_cut(write, room: Room):
    def write_what_is_shown(text: str) -> int:
        return len(text) if room.text_cut and isinstance(text, str) else write(text)

    return write_what_is_shown


def _publish_until_cut(publish, room: Room):
    def publish_what_is_shown(data, *others, **options) -> None:
        if not room.outputs_cut or room.answers in data:
            publish(data, *others, **options)

    return publish_what_is_shown


def _bounded_session(parent, room: Room):
    """A Session that sends what there is room for, and nothing that nobody reads."""
    from jupyter_client.session import Session

    class BoundedSession(Session):
        def send(
            self,
            stream,
            msg_or_type,
            content=None,
            parent=None,
            ident=None,
            buffers=None,
            track=False,
            header=None,
            metadata=None,
        ):
            message = msg_or_type
            if not isinstance(message, dict):
                message = self.msg(message, content, parent, header, metadata)
            kind, content = message["msg_type"], message["content"]
            if kind == "execute_input":
                room.next_cell()
                content["code"] = ""  # known outside
            elif kind == "execute_reply":
                _shorten_reply(content)
            elif kind == "error":
                _shorten_error(content)
            elif kind == "stream":
                content["text"] = room.text(content["text"])
                if not content["text"]:
                    return message
            elif kind in ("display_data", "update_display_data", "execute_result"):
                fits, instead = room.output(content, kind == "update_display_data")
                if not fits and not instead:
                    return message
                if instead:
                    told = {"name": "stderr", "text": instead}
                    message = self.msg("stream", told, message["parent_header"])
            elif kind.startswith("comm_"):
                return message  # nobody listens to a widget
            return super().send(stream, message, ident=ident, buffers=buffers)

    return BoundedSession(parent=parent)


def _shorten_error(content: dict) -> None:
    content["evalue"] = content["evalue"][:_LONGEST_MESSAGE]
    content["traceback"] = [line[:_LONGEST_MESSAGE] for line in content["traceback"][:_MOST_LINES]]


def _shorten_reply(content: dict) -> None:
    """Of a reply: did the cell end in an error, and did it ask the kernel to exit?"""
    payload = [part for part in content.get("payload", ()) if part.get("source") == "ask_exit"]
    for name in ("traceback", "user_expressions", "evalue"):
        content.pop(name, None)
    content["payload"] = payload


if __name__ == "__main__":
    try:
        main()
    except Exception as problem:
        os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        os._exit(1)  # threads may have been started
