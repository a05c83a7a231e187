"""How much of everything one notebook may use."""

from dataclasses import dataclass

_MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What ends a cell or a notebook. Sizes are bytes; "notebook" counts all its processes together."""

    cell_seconds: float = 20  # then the cell is interrupted, and killed where it does not stop
    notebook_seconds: float = 120
    # Of the notebook: its processes, and what lies in its private folders. Right solutions of units 00 to 05 use
    # 200 MB, and 300 MB in a real kernel, which shares nothing with a warm parent.
    memory: int = 500 * _MB
    processes: int = 64  # threads count too
    file_size: int = 20 * _MB
    disk: int = 50 * _MB  # the private tmp and working folder, each
    output_bytes: int = 500_000  # of a cell; what is beyond is cut off
    outputs: int = 500  # of a cell
