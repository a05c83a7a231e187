"""Which sentences were chosen for the summaries of the course's own pages: to save the time of choosing them.

``python -m lab.stored_vectors`` makes the file.
"""

import json

from lab.paths import ASSETS

FILE = ASSETS / "page_extracts.json"


def stored_choices() -> dict[str, list[int]]:
    """The numbers of the sentences chosen, by the digests of the texts (lab.extracts.digest)."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def write(choices: dict[str, list[int]]) -> None:
    """Store choices; a line for each, so that a change shows."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(choices[key])}" for key in sorted(choices))
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8", newline="\n")
