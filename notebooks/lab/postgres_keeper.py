"""Starts the embedded Postgres server of a folder, keeps it while anybody uses it, and stops it then.

Run as a program by lab.postgres_server, in a session of its own, so that neither an interrupt nor the end of a
notebook reaches it. It writes "ready" on stdout, or why the server did not start, and closes it.

Who uses the server holds a shared lock on a file of the folder. The system releases it with the process, however
that ends: the keeper has only to wait until it gets the lock for itself.
"""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fasteners

USERS, KEEPER = "users.lock", "keeper.lock"
PASSWORD, LOG = "password", "server.log"
SUPERUSER = "postgres"
START_SECONDS, STOP_SECONDS = 60, 20
_LOOK_SECONDS = 0.2
_SOCKET_PATH_BYTES = 100  # systems take 103 or 107
_WITH_SOCKETS = os.name == "posix"

# A server for one computer's learner: small, and the same wherever it runs. Parallel workers would need more
# shared memory than containers and sandboxes give.
_SETTINGS = {
    "max_connections": "40",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap" if _WITH_SOCKETS else "windows",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "max_worker_processes": "4",
    "io_method": "sync",
    "jit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "min_wal_size": "2MB",
    "max_wal_size": "16MB",
    "log_min_error_statement": "panic",
    "logging_collector": "off",
}
# For the tools and the server: no PGPORT or PGOPTIONS of the learner's, and no keys.
_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")


class NotStarted(Exception):
    """The server did not start; the message is what its tools said."""


def main(programs: Path, folder: Path, data: Path) -> None:
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    with fasteners.InterProcessLock(folder / KEEPER):
        try:
            server = start(programs, folder, data)
        except (NotStarted, OSError) as problem:
            print(problem)
            return
        try:
            _say_ready()
            # Kept until this process has ended: who comes meanwhile waits, and starts the server anew.
            users = fasteners.InterProcessReaderWriterLock(folder / USERS)
            while server.poll() is None and not users.acquire_write_lock(blocking=False):
                time.sleep(_LOOK_SECONDS)
        finally:
            stop(server)
            if (place := socket_folder(folder)) != folder:
                shutil.rmtree(place, ignore_errors=True)


def _say_ready() -> None:
    with contextlib.suppress(OSError):  # who started this may be gone already
        print("ready", flush=True)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(null, stream.fileno())
    os.close(null)


def start(programs: Path, folder: Path, data: Path) -> subprocess.Popen:
    """A server that takes connections. Raises NotStarted."""
    words = words_of_an_ordinary_user(programs)
    if not (data / "PG_VERSION").is_file():
        _make_cluster([*words, str(programs / "initdb")], folder, data)
    _remove_false_claim(data)
    settings = _SETTINGS | _place_to_listen(folder)
    options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
    with open(folder / LOG, "wb") as log:
        server = subprocess.Popen(
            [*words, str(programs / "postgres"), "-D", str(data), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_environment(),
            cwd=folder,
        )
    try:
        _wait_until_ready(server, data, folder / LOG)
    except BaseException:
        stop(server)
        raise
    return server


def _wait_until_ready(server: subprocess.Popen, data: Path, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        lines = claim(data)
        if len(lines) >= 8 and lines[0] == str(server.pid) and lines[7] == "ready":
            return
        time.sleep(0.02)
    raise NotStarted(_in_short(log.read_text(encoding="utf-8", errors="replace")))


def claim(data: Path) -> list[str]:
    """What a running server says of itself in its folder, which a killed one leaves behind.

    The process id, the folder, the time, the port, the socket's folder, the address, a key, the state.
    """
    try:
        return [line.strip() for line in (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return []


def words_of_an_ordinary_user(programs: Path) -> list[str]:
    """The words that run a program of the server as a user it accepts: one with a name, and not root.

    Root keeps its access to files, since the programs or the data may lie in a folder of root's.
    """
    if not _WITH_SOCKETS or (os.geteuid() != 0 and _user(os.geteuid())):
        return []
    if nobody := _user("nobody"):
        root = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        root += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--"]
        mapped = ["unshare", "--user", f"--map-user={nobody.pw_uid}", f"--map-group={nobody.pw_gid}", "--"]
        for words in (root, mapped):
            if _runs([*words, str(programs / "postgres"), "--version"]):
                return words
    if os.geteuid() != 0:
        raise NotStarted(f"Postgres needs a name for its user, and /etc/passwd has none for {os.geteuid()}.")
    raise NotStarted("Postgres does not run as root, and it cannot be run here as the user nobody.")


def _user(known_by: int | str):
    """The entry of a user in /etc/passwd, or None."""
    import pwd

    with contextlib.suppress(KeyError):
        return pwd.getpwnam(known_by) if isinstance(known_by, str) else pwd.getpwuid(known_by)


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, env=_environment()).returncode == 0
    except OSError:
        return False


def _make_cluster(initdb: list[str], folder: Path, data: Path) -> None:
    """Made beside its place and moved there when it is whole."""
    unfinished = data.with_name(data.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    password = folder / PASSWORD
    if not password.exists():
        password.touch(mode=0o600)
        password.write_text(secrets.token_urlsafe(32), encoding="ascii")
    done = subprocess.run(
        [
            *initdb,
            f"--pgdata={unfinished}",
            f"--username={SUPERUSER}",
            f"--pwfile={password}",
            f"--auth={'trust' if _WITH_SOCKETS else 'scram-sha-256'}",
            *("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--wal-segsize=1", "--no-sync", "--no-instructions"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=_environment(),
        cwd=folder,
    )
    if done.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise NotStarted(_in_short(done.stderr))
    unfinished.rename(data)


def _remove_false_claim(data: Path) -> None:
    """A killed server's claim stops the next one where its process id is somebody else's by now.

    Where it is a server that has lost its keeper, it is stopped. Where there is no such process, the server
    itself sees to it that nothing of the old one is left.
    """
    import psutil

    lines = claim(data)
    if not lines or not lines[0].isdecimal() or not psutil.pid_exists(int(lines[0])):
        return
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(int(lines[0]))
        if str(data) in process.cmdline():
            process.send_signal(signal.SIGINT if _WITH_SOCKETS else signal.SIGTERM)
            process.wait(STOP_SECONDS)
            return
        (data / "postmaster.pid").unlink(missing_ok=True)


def _place_to_listen(folder: Path) -> dict[str, str]:
    """A socket that nobody else can open; where there are none, a port of this computer alone."""
    if _WITH_SOCKETS:
        return {
            "listen_addresses": "",
            "unix_socket_directories": '"{}"'.format(str(socket_folder(folder)).replace('"', '""')),
            "unix_socket_permissions": "0700",
        }
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return {"listen_addresses": "127.0.0.1", "port": str(free.getsockname()[1])}


def socket_folder(folder: Path) -> Path:
    """The folder itself, or a private one for temporary files where its path is too long for a socket."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    name = f"hybrid-search-{os.geteuid()}-{digest}"
    for place in (folder, Path(tempfile.gettempdir(), name), Path("/tmp", name)):
        if len(os.fsencode(place / ".s.PGSQL.5432")) <= _SOCKET_PATH_BYTES:
            break
    if place != folder:
        place.mkdir(mode=0o700, exist_ok=True)
        status = place.lstat()
        if status.st_uid != os.geteuid() or status.st_mode & 0o077 or place.is_symlink():
            raise NotStarted(f"{place} belongs to somebody else.")
    return place


def stop(server: subprocess.Popen) -> None:
    """End the server: in order, at once where that takes too long, by force at last."""
    in_order, at_once = (signal.SIGINT, signal.SIGQUIT) if _WITH_SOCKETS else (signal.SIGTERM, signal.SIGTERM)
    for number, seconds in ((in_order, STOP_SECONDS), (at_once, 5)):
        if server.poll() is None:
            server.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(seconds)
    if server.poll() is None:
        server.kill()
        server.wait()


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _VARIABLES if name in os.environ} | {"LC_ALL": "C"}


def _in_short(log: str) -> str:
    """What a log says is wrong, in one line."""
    lines = [re.sub(r"^[\d-]+ [\d:.]+ \w+ \[\d+\] ", "", line) for line in log.splitlines()]
    wrong = [line for line in lines if re.search("FATAL|ERROR|error:|DETAIL|HINT|WARNING", line)]
    return " ".join(" ".join(wrong or lines).split())[-500:] or "It said nothing."


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
