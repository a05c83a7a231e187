"""The offline model, loaded by the first notebook that embeds a text, and then by the warm parent for all others.

It takes half of a sandbox's memory and start, and the course's own texts need it not: their vectors are stored.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

_sessions: list["_Session"] = []


class _Session:
    """Stands for an onnxruntime.InferenceSession until its first run. It has one thread: others cannot be forked."""

    def __init__(self, make: Any, arguments: tuple, settings: dict[str, Any]) -> None:
        self._how = (make, arguments, settings)
        self.made: Any = None
        _sessions.append(self)

    def load(self) -> Any:
        import onnxruntime

        if self.made is None:
            make, arguments, settings = self._how
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            self.made = make(*arguments, sess_options=options, **settings)
        return self.made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.load(), name)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """A session that is made within is loaded when it is first used."""
    import onnxruntime

    make = onnxruntime.InferenceSession
    onnxruntime.InferenceSession = lambda *arguments, **settings: _Session(make, arguments, settings)
    try:
        yield
    finally:
        onnxruntime.InferenceSession = make


def loaded() -> bool:
    """Has anything been loaded that was put off?"""
    return any(session.made is not None for session in _sessions)


def load() -> None:
    """Load what was put off."""
    for session in _sessions:
        session.load()
