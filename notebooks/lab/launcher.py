"""Open the course in JupyterLab: find its folder and the unit, and start a server with the course's settings."""

import atexit
import errno
import hashlib
import os
import secrets
import shutil
import signal
import socket
import sys
import sysconfig
import tempfile
import webbrowser
from pathlib import Path
from urllib.parse import quote

from lab.language import _

HERE = Path(__file__).resolve().parent
SETTINGS = HERE / "jupyter"
# Only a wheel carries the notebooks inside the package; a checkout has them beside it.
BUNDLED = HERE / "notebooks"
COPY_NAME = "hybrid-search-course"
PORTS = range(8888, 8938)


class LaunchError(Exception):
    """The course cannot be opened; the message says why and what to do."""


def course_root(cwd: Path) -> Path:
    """The folder that JupyterLab shows: the project, or a copy of the notebooks made below ``cwd``.

    Where the course is installed without its project, the notebooks are copied to
    ``cwd/hybrid-search-course``. Files already there are the learner's own and stay as they are.
    """
    if not BUNDLED.is_dir():
        return HERE.parents[1]
    root = cwd if cwd.name == COPY_NAME and units(cwd) else cwd / COPY_NAME
    try:
        copy_missing(BUNDLED, root / "notebooks")
        if (HERE / "assets" / "figures").is_dir():
            copy_missing(HERE / "assets" / "figures", root / "assets" / "figures")
    except OSError as error:
        raise LaunchError(
            _("Cannot copy the notebooks to {folder}: {reason}. Start again in a folder of your own.").format(
                folder=root, reason=error.strerror or error
            )
        ) from error
    return root


def copy_missing(source: Path, target: Path) -> None:
    """Copy the files below ``source`` that ``target`` does not have yet."""
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def units(root: Path) -> dict[str, Path]:
    """The units below ``root``: name to notebook, in the course's order."""
    notebooks = sorted((root / "notebooks").glob("[0-9][0-9]_*/*.ipynb"))
    return {path.stem: path for path in notebooks if path.stem == path.parent.name}


def find_unit(root: Path, name: str | None) -> Path:
    """The notebook of the unit called ``name``, or of the first unit."""
    known = units(root)
    if not known:
        raise LaunchError(_("There is no unit in {folder}.").format(folder=root / "notebooks"))
    if name is None:
        return next(iter(known.values()))
    if name not in known:
        listed = "\n".join(f"  {unit}" for unit in known)
        raise LaunchError(_("There is no unit {name}. The units are:").format(name=name) + "\n" + listed)
    return known[name]


def user_folders() -> dict[str, Path]:
    """The folders that Jupyter, IPython and Matplotlib write to, by the variable that names each.

    Jupyter's settings are the course's, apart from the user's own.
    """
    from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir
    from platformdirs import user_config_path, user_data_path

    return {
        "JUPYTER_CONFIG_DIR": user_data_path("hybrid-search-course", appauthor=False) / "jupyter",
        "JUPYTER_DATA_DIR": Path(jupyter_data_dir()),
        "JUPYTER_RUNTIME_DIR": Path(jupyter_runtime_dir()),
        "IPYTHONDIR": Path(os.environ.get("IPYTHONDIR") or "~/.ipython").expanduser(),
        "MPLCONFIGDIR": Path(os.environ.get("MPLCONFIGDIR") or user_config_path("matplotlib")),
    }


def can_write(folder: Path) -> bool:
    """Whether files can be made in ``folder``, which need not exist yet."""
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def use_writable_folders() -> None:
    """Give Jupyter, IPython and Matplotlib a temporary folder for each of theirs that cannot be written."""
    from jupyter_core.paths import jupyter_path

    folders = user_folders()
    os.environ["JUPYTER_CONFIG_DIR"] = str(folders["JUPYTER_CONFIG_DIR"])
    blocked = [name for name, folder in folders.items() if not can_write(folder)]
    if not blocked:
        return
    try:
        temporary = Path(tempfile.mkdtemp(prefix="hybrid-search-course-"))
    except OSError as error:
        raise LaunchError(
            _(
                "Jupyter cannot write to {folder}, and there is no temporary folder. "
                "Set TMPDIR to a folder of your own."
            ).format(folder=folders[blocked[0]])
        ) from error
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    # Kernels are still looked for where they were, and in the same order.
    os.environ["JUPYTER_PATH"] = os.pathsep.join(jupyter_path())
    for name in blocked:
        os.environ[name] = str(temporary / name)


def use_course_settings(root: Path, instructor: bool) -> None:
    """Point Jupyter at the course's settings, away from the user's own."""
    use_writable_folders()
    folders = [SETTINGS / "learner"]
    if instructor:
        folders = [root / "grader", SETTINGS / "instructor", *folders]
        # Where nbgrader_config.py places the exchange: without the folder the formgrader warns.
        exchange = root / "grader" / "exchange"
        if not can_write(exchange):
            raise LaunchError(
                _(
                    "nbgrader keeps its files in {folder}, which cannot be written. "
                    "Copy the project to a folder of your own and start there."
                ).format(folder=exchange.parent)
            )
        exchange.mkdir(exist_ok=True)
    inherited = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        [*map(str, folders), *([inherited] if inherited else [])]
    )
    # nbgrader and the terminals call programs by name, also where the environment was not activated.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    for name in (
        "JUPYTER_NO_CONFIG",
        "JUPYTERLAB_DIR",
        "JUPYTERLAB_SETTINGS_DIR",
        "JUPYTERLAB_WORKSPACES_DIR",
    ):
        os.environ.pop(name, None)


def is_taken(port: int) -> bool:
    """Whether something on this machine already answers on ``port``."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def listen(port: int | None) -> socket.socket:
    """A socket that listens on this machine alone, on ``port`` or the first free one of PORTS.

    Raises LaunchError where there is none.
    """
    for candidate in PORTS if port is None else [port]:
        if is_taken(candidate):
            continue
        try:
            return socket.create_server(("127.0.0.1", candidate), backlog=128)
        except OSError as error:
            # Something else may have taken the port since it was looked at.
            if port is not None and error.errno != errno.EADDRINUSE:
                raise LaunchError(
                    _("Port {port} cannot be used: {reason}. Give another one, or leave --port out.").format(
                        port=port, reason=error.strerror or error
                    )
                ) from error
    if port is None:
        raise LaunchError(
            _("The ports from {first} to {last} are all in use. Give another one with --port.").format(
                first=PORTS[0], last=PORTS[-1]
            )
        )
    raise LaunchError(_("Port {port} is in use. Give another one, or leave --port out.").format(port=port))


def has_browser() -> bool:
    """Whether a browser with a window can be opened from here."""
    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        return False  # What is found then is a browser in the terminal, which cannot show JupyterLab.
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def lab_app() -> type:
    """JupyterLab's application, a second earlier than by a plain import.

    For the format "iri", which no schema of Jupyter's has, jsonschema builds 40 grammars where rfc3987_syntax is
    installed.
    """
    known = "rfc3987_syntax" in sys.modules
    if not known:
        sys.modules["rfc3987_syntax"] = None
    try:
        from jupyterlab.labapp import LabApp
    finally:
        if not known:
            del sys.modules["rfc3987_syntax"]
    return LabApp


def course_server(held: socket.socket) -> type:
    """Jupyter's server, but on the socket ``held``, and stopped by Ctrl-C without a question.

    Jupyter's own looks for a free port, lets go of it, and binds it some time after.
    """
    from jupyter_server.serverapp import ServerApp

    class CourseServer(ServerApp):
        def _find_http_port(self) -> None:
            self.port = held.getsockname()[1]

        def _bind_http_server_tcp(self) -> bool:
            held.setblocking(False)
            self.http_server.add_sockets([held])
            return True

        def init_signal(self) -> None:
            super().init_signal()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: self.stop(from_signal=True))

    return CourseServer


def launch(
    unit: str | None = None, instructor: bool = False, port: int | None = None, browser: bool = True
) -> None:
    """Open a unit in JupyterLab and stay until Ctrl-C.

    The server listens on this machine alone (127.0.0.1), on ``port`` or the first free one of PORTS.
    ``instructor`` adds nbgrader's formgrader. Raises LaunchError where the course cannot be opened.
    """
    root = course_root(Path.cwd())
    notebook = find_unit(root, unit)
    if instructor and not (root / "grader" / "nbgrader_config.py").is_file():
        raise LaunchError(
            _("--instructor works from the project's own folder only: clone it and start there.")
        )
    browser = browser and has_browser()

    held = listen(port)
    use_course_settings(root, instructor)
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    page = f"/lab/tree/{quote(notebook.relative_to(root).as_posix())}"
    print(_("Starting JupyterLab ..."), flush=True)

    application = lab_app()
    application.serverapp_class = course_server(held)
    name = hashlib.sha256(str(root).encode()).hexdigest()[:12]
    workspaces = Path(os.environ["JUPYTER_CONFIG_DIR"], "lab", "workspaces", name)
    server = application.initialize_server(
        argv=[
            # The address below is right only with these, whatever a settings file of the machine says.
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.base_url=/",
            "--ServerApp.certfile=",
            "--ServerApp.keyfile=",
            "--ServerApp.sock=",
            f"--ServerApp.root_dir={root}",
            f"--ServerApp.open_browser={browser}",
            f"--IdentityProvider.token={token}",
            f"--LabApp.default_url={page}",
            f"--LabApp.workspaces_dir={workspaces}",
            # Containers and course machines often have no other user.
            "--ServerApp.allow_root=True",
            "--ServerApp.log_level=ERROR",
            "--LabApp.log_level=ERROR",
        ]
    )

    def announce() -> None:
        address = f"http://127.0.0.1:{server.port}"
        if browser:
            print(_("The course opens in your browser. If it does not, open this address yourself:"))
        else:
            print(_("Open this address in your browser:"))
        print(f"\n    {address}{page}?token={token}\n")
        if instructor:
            print(_("The formgrader is in the menu Nbgrader, and at this address:"))
            print(f"\n    {address}/formgrader?token={token}\n")
        print(_("Press Ctrl-C here to stop."), flush=True)

    # From the loop, because only then is somebody there who answers at the address.
    server.io_loop.add_callback(announce)
    server.start()
    print(_("JupyterLab has stopped."), flush=True)
