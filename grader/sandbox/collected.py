"""The outputs of a notebook as they come in, with what later messages do to earlier ones."""

from typing import Any

from ..asked import ANSWERS
from .execution import Stopped
from .limits import Limits
from .outputs import BadOutput, clean_output

# Of a whole notebook, far above what an honest one shows. Answers are counted apart: no output pushes them out.
_MOST_CHARACTERS = 20_000_000
_LONGEST_TEXT = 2_000_000  # of one stream, above what the sandbox cuts: joining parts takes ever longer
_FULL = "... the notebook shows too much: further outputs left out ...\n"
_UNREADABLE = "... an output that could not be read left out ...\n"


class Collected:
    """The outputs of the cells of one notebook: streams joined, displays updated and cleared."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []  # of the current cell
        self._by_display: dict[str, list[dict[str, Any]]] = {}
        self._clear_next = False
        self._left = {"outputs": _MOST_CHARACTERS, "answers": _MOST_CHARACTERS}

    def next_cell(self) -> list[dict[str, Any]]:
        """A new list, which fills as the next cell's outputs come."""
        self.outputs = []
        self._clear_next = False
        return self.outputs

    def add(self, message: dict[str, Any]) -> None:
        """Take in one message: an output, an update of one, or the wish to clear. Untrusted."""
        if "clear" in message:
            self._clear_next = message["clear"] is True
            if not self._clear_next:
                self.outputs.clear()
            return
        try:
            output = clean_output(message.get("output"))
        except BadOutput:
            if self.outputs and self.outputs[-1].get("text", "").endswith(_UNREADABLE):
                return  # said once for many in a row: to join a text ever longer takes time
            output = {"output_type": "stream", "name": "stderr", "text": _UNREADABLE}
        display_id = message.get("display_id")
        if not self._has_room(output, display_id if message.get("update") else None):
            return
        if not isinstance(display_id, str):
            self._append(output)
        elif message.get("update"):
            self._update(display_id, output)
        else:
            self._append(output)
            self._by_display.setdefault(display_id, []).append(output)

    def _has_room(self, output: dict[str, Any], updated: Any) -> bool:
        """Is there room for the output, once for each display that it updates? Says so once where not."""
        times = len(self._by_display.get(updated, ())) if isinstance(updated, str) else 1
        kind = "answers" if ANSWERS in output.get("data", {}) else "outputs"
        room, self._left[kind] = self._left[kind], self._left[kind] - times * len(repr(output))
        if room >= 0 and self._left[kind] < 0:
            self._append({"output_type": "stream", "name": "stderr", "text": _FULL})
        return self._left[kind] >= 0

    def _append(self, output: dict[str, Any]) -> None:
        if self._clear_next:
            self.outputs.clear()
            self._clear_next = False
        last = self.outputs[-1] if self.outputs else {}
        if output["output_type"] != "stream" or last.get("name") != output["name"]:
            self.outputs.append(output)
        elif len(last["text"]) < _LONGEST_TEXT:
            last["text"] += output["text"]

    def _update(self, display_id: str, output: dict[str, Any]) -> None:
        """Answers are handed in once: an update neither makes nor changes any."""
        data = output.get("data", {})
        for shown in self._by_display.get(display_id, ()):
            if "data" in shown and ANSWERS not in data and ANSWERS not in shown["data"]:
                shown["data"] = data


def why_stopped(stopped: Stopped, limits: Limits) -> dict[str, Any]:
    """The output that says why a cell has no proper end."""
    sentence = {
        "time": f"stopped after {limits.cell_seconds:g} seconds",
        "memory": f"stopped: the notebook used more than {limits.memory / 1e6:,.0f} MB of memory",
        "died": "the process that ran the notebook ended here",
        "flood": "stopped: it sent more than a notebook can hold",
    }[stopped]
    return {"output_type": "error", "ename": "Stopped", "evalue": sentence, "traceback": [sentence]}
