"""Lines to and from a process that nobody vouches for: bounded in size, and by clocks of our own."""

import json
import select
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

_PART = 65_536
LONGEST_LINE = 8_000_000  # bytes: an output of 2,000,000 characters, whatever they are


class Ended(Exception):
    """The other side has closed the channel, or stopped reading."""


class TooLong(Exception):
    """The other side has sent a line that is longer than any may be."""


class TimeUp(Exception):
    """The line did not come in time."""


class Channel:
    """One end of a socket.

    ``watch`` is called again and again while a line is awaited. It gives the seconds until the next time, and may
    raise.
    """

    def __init__(self, end: socket.socket, watch: Callable[[], float]) -> None:
        self._socket = end
        self._watch = watch
        self._next_look = 0.0
        self._read = bytearray()

    def send(self, message: Mapping[str, Any], seconds: float) -> None:
        """Send one message. Raises Ended, also where the other side does not read it in time."""
        deadline = time.monotonic() + max(0.1, seconds)
        left = memoryview(json.dumps(message).encode("ascii") + b"\n")
        try:
            while left:
                self._wait(deadline, to_write=True)
                left = left[self._socket.send(left[:_PART], socket.MSG_DONTWAIT) :]
        except (OSError, TimeUp) as problem:
            raise Ended from problem

    def line(self, deadline: float) -> bytes:
        """The next line, by ``deadline`` on the clock time.monotonic(). Raises Ended, TooLong, TimeUp."""
        searched = 0
        while (end := self._read.find(b"\n", searched)) < 0:
            searched = len(self._read)
            if searched > LONGEST_LINE:
                raise TooLong
            self._receive(deadline)
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    def _receive(self, deadline: float) -> None:
        self._wait(deadline)
        try:
            part = self._socket.recv(_PART)
        except OSError as problem:
            raise Ended from problem
        if not part:
            raise Ended
        self._read += part

    def _wait(self, deadline: float, to_write: bool = False) -> None:
        """Wait until there is something to read, or room to write. Raises TimeUp."""
        reading, writing = ([], [self._socket]) if to_write else ([self._socket], [])
        while (now := time.monotonic()) < deadline:
            if now >= self._next_look:
                self._next_look = self._watch() + time.monotonic()
            seconds = max(0.0, min(deadline, self._next_look) - time.monotonic())
            if any(select.select(reading, writing, [], seconds)):
                return
        raise TimeUp

    def close(self) -> None:
        self._socket.close()
