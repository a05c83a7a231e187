"""How far a class run is and how long it still takes, on stderr."""

import sys
import time
from typing import TextIO

_SECONDS_BETWEEN_LINES = 15  # where stderr is no terminal


class Progress:
    """A bar in a terminal; elsewhere a line every so often. Use it as a context."""

    def __init__(self, label: str, total: int, stream: TextIO | None = None) -> None:
        self._label, self._total, self._done = label, total, 0
        self._stream = stream or sys.stderr
        self._started = self._said = time.monotonic()
        self._bar = None
        if self._stream.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                desc=label,
                file=self._stream,
                leave=False,
                dynamic_ncols=True,
                bar_format="{desc}: {n_fmt} of {total_fmt} {bar} {remaining} left",
            )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if self._bar is not None:
            self._bar.update(steps)
        elif time.monotonic() - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            print(self._line(), file=self._stream, flush=True)

    def _line(self) -> str:
        left = (time.monotonic() - self._started) / self._done * (self._total - self._done)
        return f"{self._label}: {self._done} of {self._total}, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
