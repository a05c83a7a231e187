"""Where the course's files are, and where it may keep what it has computed."""

import os
import tempfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent

# A wheel carries the assets inside the package; a checkout has them at its top.
ASSETS = _HERE / "assets" if (_HERE / "assets").is_dir() else _HERE.parents[1] / "assets"


def cache_folder() -> Path:
    """The folder for computed vectors, which may not exist yet: HYBRID_SEARCH_CACHE, or the user's own."""
    chosen = os.environ.get("HYBRID_SEARCH_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    folder = user_cache_path("hybrid-search-course", appauthor=False)
    # A user without a home, as in a sandbox, would get a folder named "~".
    return folder if folder.is_absolute() else Path(tempfile.gettempdir()) / folder.name
