"""The outputs of a notebook as they come in, with what later messages do to earlier ones."""

from typing import Any

from ..asked import ANSWERS
from .outputs import BadOutput, clean_output

_UNREADABLE = "... an output that could not be read left out ...\n"


class Collected:
    """The outputs of the cells of one notebook: streams joined, displays updated and cleared."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []  # of the current cell
        self._by_display: dict[str, list[dict[str, Any]]] = {}
        self._clear_next = False

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
            output = {"output_type": "stream", "name": "stderr", "text": _UNREADABLE}
        display_id = message.get("display_id")
        if not isinstance(display_id, str):
            self._append(output)
        elif message.get("update"):
            self._update(display_id, output)
        else:
            self._append(output)
            self._by_display.setdefault(display_id, []).append(output)

    def _append(self, output: dict[str, Any]) -> None:
        if self._clear_next:
            self.outputs.clear()
            self._clear_next = False
        last = self.outputs[-1] if self.outputs else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        else:
            self.outputs.append(output)

    def _update(self, display_id: str, output: dict[str, Any]) -> None:
        """Answers are handed in once: an update neither makes nor changes any."""
        data = output.get("data", {})
        for shown in self._by_display.get(display_id, ()):
            if "data" in shown and ANSWERS not in data and ANSWERS not in shown["data"]:
                shown["data"] = data
