"""Lines to and from a process that nobody vouches for: bounded in size, and by clocks of our own."""

import json
import select
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

_PART = 65_536
LONGEST_LINE = 8_000_000  # bytes: an output of 2,000,000 characters, whatever they are
_LOOK_EVERY = 0.2  # seconds between two calls of ``watch``


class Ended(Exception):
    """The other side has closed the channel, or stopped reading."""


class TooLong(Exception):
    """The other side has sent a line that is longer than any may be."""


class TimeUp(Exception):
    """The line did not come in time."""


class Channel:
    """One end of a socket. ``watch`` is called again and again while a line is awaited, and may raise."""

    def __init__(self, end: socket.socket, watch: Callable[[], None]) -> None:
        self._socket = end
        self._watch = watch
        self._watched = 0.0
        self._read = bytearray()

    def send(self, message: Mapping[str, Any], seconds: float) -> None:
        """Send one message. Raises Ended, also where the other side does not read it in time."""
        self._watched = time.monotonic()
        self._socket.settimeout(max(0.1, seconds))
        try:
            self._socket.sendall(json.dumps(message).encode("ascii") + b"\n")
        except OSError as problem:
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
        while True:
            now = time.monotonic()
            if now >= deadline:
                raise TimeUp
            if now >= self._watched + _LOOK_EVERY:
                self._watch()
                self._watched = time.monotonic()
            if select.select([self._socket], [], [], min(deadline - now, _LOOK_EVERY))[0]:
                break
        try:
            part = self._socket.recv(_PART)
        except OSError as problem:
            raise Ended from problem
        if not part:
            raise Ended
        self._read += part

    def close(self) -> None:
        self._socket.close()
