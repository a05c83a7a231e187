"""Finished executions on disk, so that a run that was killed goes on where it stopped."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..files import write_whole
from ..sandbox.execution import CellResult, Execution, Job

# Whose code decides what an execution gives.
_PACKAGES = ("grader", "hybrid_search", "lab")
_ENDING = ".json.gz"


class Kept:
    """Executions by what they depend on: the job, the engine and ``context`` (release, seed, versions, sources).

    A file that cannot be read is as good as none.
    """

    def __init__(self, folder: Path, context: Mapping[str, Any]) -> None:
        self._folder = folder
        self._context = json.dumps(context, sort_keys=True)
        self._used: set[str] = set()

    def key(self, job: Job, engine: str) -> str:
        """The name under which the job's execution is kept. Equal jobs share one."""
        files = {name: hashlib.sha256(data).hexdigest() for name, data in job.files.items()}
        told = {**vars(job), "files": files, "limits": vars(job.limits)}
        text = json.dumps([told, engine, self._context], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def load(self, key: str) -> Execution | None:
        self._used.add(key)
        try:
            stored = json.loads(gzip.decompress(self._path(key).read_bytes()))
            cells = tuple(
                CellResult(list(cell["outputs"]), cell["execution_count"], cell["stopped"])
                for cell in stored["cells"]
            )
            return Execution(cells, stored["engine"], stored["seconds"])
        except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error):
            return None

    def save(self, key: str, execution: Execution) -> None:
        """Raises OSError where it cannot be written."""
        self._used.add(key)
        content = json.dumps({**vars(execution), "cells": [vars(cell) for cell in execution.cells]}).encode()
        write_whole(self._path(key), gzip.compress(content, compresslevel=1, mtime=0))

    def prune(self) -> None:
        """Forget the executions that this run did not ask for, and first tries, when the run has ended."""
        for path in self._folder.iterdir():
            if path.name.removesuffix(_ENDING) not in self._used or path.name.endswith(f".first{_ENDING}"):
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{_ENDING}"


@cache  # what a process has loaded does not change
def sources() -> str:
    """A hash of the code of the grader, of the finished system and of the lab."""
    hashed = hashlib.sha256()
    for package in _PACKAGES:
        for folder in find_spec(package).submodule_search_locations:
            for path in sorted(Path(folder).rglob("*.py")):
                hashed.update(f"{package} {path.relative_to(folder)} ".encode())
                hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()
