"""Import what reads and writes notebooks without what takes longest in it and is never used."""

import contextlib
import gc
import sys
from collections.abc import Iterator

# jsonschema's check of the format "iri": its import builds 40 grammars, for a second. No schema of notebooks or of
# nbgrader has that format.
_GRAMMARS = "rfc3987_syntax"


@contextlib.contextmanager
def without_grammars() -> Iterator[None]:
    """Within, jsonschema is imported as where that optional package is not installed."""
    if "jsonschema" in sys.modules or _GRAMMARS in sys.modules:
        yield
        return
    sys.modules[_GRAMMARS] = None
    collects = gc.isenabled()
    gc.disable()  # imports leave little to collect, and looking for it takes long
    try:
        yield
    finally:
        sys.modules.pop(_GRAMMARS, None)
        if collects:
            gc.enable()
