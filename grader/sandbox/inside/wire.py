"""The messages of a notebook's process to the grader: outputs as lines of JSON, cut politely where they grow.

The submission's code can reach all of this and write whatever it likes, so the grader trusts none of it. What
is cut here is cut for honest notebooks, with a sentence that says so, well below what the grader would end.
"""

import json
import os
import threading
from collections.abc import Mapping
from typing import Any, Protocol

# The channel of check(); the name as in grader/asked.py. What a learner's code prints must not push it out.
ANSWERS = "application/vnd.hybrid-search-course.answers+json"
_MOST_ANSWERS = 20
_LARGEST_OUTPUT = 1_500_000  # characters of one display
_CHANGES_PER_OUTPUT = 10
_FLUSH_AT = 8_192  # characters of text held back, so that many small prints make few messages


class Sender(Protocol):
    """Where the bytes go: a socket."""

    def sendall(self, data: bytes, /) -> None: ...


class Nowhere:
    """For the time before the grader listens."""

    def sendall(self, data: bytes, /) -> None:
        """Forget the bytes."""


class Wire:
    """Sends outputs of the notebook format 4. Threads may share it; a forked process writes elsewhere."""

    def __init__(self) -> None:
        self._sender: Sender = Nowhere()
        self._lock = threading.RLock()
        self._forked = False
        self.most_characters, self.most_outputs = 500_000, 500
        self.next_cell()
        os.register_at_fork(after_in_child=self._in_child)

    def connect(self, sender: Sender, most_characters: int, most_outputs: int) -> None:
        """From now on send to ``sender``; the limits are those of one cell."""
        self._sender, self._forked = sender, False
        self.most_characters, self.most_outputs = most_characters, most_outputs
        self.next_cell()

    def next_cell(self) -> None:
        """Count from 0 again."""
        self._held: list[str] = []
        self._held_characters = 0
        self._name = ""
        self._characters = self._outputs = self._displayed = 0
        self._updates = self._clears = self._answers = 0
        self.text_cut = self._outputs_cut = False  # what is cut, the caller may leave out

    def text(self, name: str, text: str) -> None:
        """Text on "stdout" or "stderr"."""
        with self._lock:
            if self._forked:
                os.write(2 if name == "stderr" else 1, text.encode("utf-8", "replace"))
                return
            if self.text_cut:
                return
            if self._characters + len(text) > self.most_characters:
                text = text[: self.most_characters - self._characters]
                text += f"\n... output cut after {self.most_characters:,} characters ...\n"
                self.text_cut = True
            elif name != self._name and self._held:
                self._outputs += 1  # a stream after another one
                if self._outputs > self.most_outputs:
                    text = f"\n... output cut after {self.most_outputs:,} changes of the stream ...\n"
                    self.text_cut = True
            self._characters += len(text)
            self._hold(name, text)

    def output(self, output: dict[str, Any], display_id: str | None = None, update: bool = False) -> None:
        """A display, a result or an error; with ``update`` a new form of what an earlier one showed."""
        with self._lock:
            self.flush()
            message: dict[str, Any] = {"output": output}
            if display_id is not None:
                message |= {"display_id": display_id, "update": update}
            line = encoded(message)
            if self._has_room(output, len(line), update):
                self.send_line(line)

    def clear(self, wait: bool) -> None:
        """Take away the cell's outputs, at once or when the next one comes."""
        with self._lock:
            self.flush()
            self._clears += 1
            if self._clears <= _CHANGES_PER_OUTPUT * self.most_outputs:
                self.send({"clear": bool(wait)})

    def flush(self) -> None:
        """Send the text that is held back."""
        with self._lock:
            if self._held and not self._forked:
                text = "".join(self._held)
                self._held, self._held_characters = [], 0
                self.send({"output": {"output_type": "stream", "name": self._name, "text": text}})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        self.send_line(encoded(message))

    def send_line(self, line: bytes) -> None:
        with self._lock:
            if not self._forked:
                self._sender.sendall(line)

    def _hold(self, name: str, text: str) -> None:
        if name != self._name:
            self.flush()
            self._name = name
        self._held.append(text)
        self._held_characters += len(text)
        if self._held_characters > _FLUSH_AT:
            self.flush()

    def _has_room(self, output: Mapping[str, Any], size: int, update: bool) -> bool:
        """Does the cell still have room for this output? Says so once where it has not."""
        if ANSWERS in output.get("data", {}):
            self._answers += 1
            return self._answers <= _MOST_ANSWERS and size <= _LARGEST_OUTPUT
        if size > _LARGEST_OUTPUT:
            self._note(f"... an output of more than {_LARGEST_OUTPUT:,} characters left out ...\n")
            return False
        self._displayed += size
        if update:
            self._updates += 1
        else:
            self._outputs += 1
        if self._outputs <= self.most_outputs and self._displayed <= 4 * self.most_characters:
            return self._updates <= _CHANGES_PER_OUTPUT * self.most_outputs
        if not self._outputs_cut:
            self._outputs_cut = True
            self._note(f"... further outputs left out after {self._outputs - 1:,} ...\n")
        return False

    def _note(self, sentence: str) -> None:
        self._hold("stderr", sentence)

    def _in_child(self) -> None:
        """A process that the learner's code forks must not write into the middle of the parent's messages."""
        self._lock = threading.RLock()
        self._forked, self._held = True, []


def encoded(message: Mapping[str, Any]) -> bytes:
    """A message as one line. What JSON has not is sent as its text."""
    try:
        line = json.dumps(message, ensure_ascii=False, allow_nan=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        note = {
            "output_type": "stream",
            "name": "stderr",
            "text": "... an output that is no JSON left out ...\n",
        }
        line = json.dumps({"output": note})
    return line.encode("utf-8", "replace") + b"\n"
