"""JupyterLab in a real browser, for tests: the course's own server, Chromium, and a notebook's cells.

Used as context managers, closed before the module ends: while Playwright's synchronous interface is open,
nothing else in the same thread can run an asyncio loop.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT, need, released

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LAPTOP = {"width": 1400, "height": 900}
TABLET = {"width": 820, "height": 1100}
SECONDS_TO_START = 60


def copy_course(folder: Path) -> Path:
    """A copy of the project in which a test may run and change notebooks."""
    leave_out = shutil.ignore_patterns(
        "__pycache__", ".ipynb_checkpoints", "submitted", "autograded", "feedback", "exchange", "gradebook.db"
    )
    for name in ("notebooks", "solutions", "grader", "assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave_out)
    for path in folder.glob("notebooks/[0-9]*/*.ipynb"):
        if path.stem == path.parent.name:
            path.write_text(released(path.stem), encoding="utf-8", newline="\n")
    return folder


def course_environment(root: Path, home: Path) -> dict[str, str]:
    """The environment in which ``root`` is the course, and nothing outside ``home`` is written."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "XDG_"))}
    kept.pop("DISPLAY", None)
    kept.pop("WAYLAND_DISPLAY", None)
    settings = home / "test-settings"
    settings.mkdir(parents=True, exist_ok=True)
    # The helpers below ask JupyterLab itself for its cells.
    exposed = {"LabApp": {"expose_app_in_browser": True}}
    (settings / "jupyter_server_config.json").write_text(json.dumps(exposed), encoding="utf-8")
    return kept | {
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join(str(root / name) for name in ("notebooks", "solutions", ".")),
        "PYTHONUNBUFFERED": "1",
        "JUPYTER_CONFIG_PATH": str(settings),
    }


@dataclass
class Lab:
    """A running ``python -m lab``: its first address, everything it printed, and the process."""

    url: str
    printed: list[str]
    process: subprocess.Popen

    @property
    def base(self) -> str:
        return re.match(r"http://[^/]+", self.url).group()

    @property
    def token(self) -> str:
        return self.url.partition("token=")[2]

    def interrupt(self, seconds: float = 30) -> int:
        """Press Ctrl-C once; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=seconds)


@contextmanager
def running_lab(root: Path, home: Path, *options: str, cwd: Path | None = None) -> Iterator[Lab]:
    """Start ``python -m lab --no-browser`` and stop it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "--no-browser", *options],
        cwd=cwd or root,
        env=course_environment(root, home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lab = Lab(url="", printed=[], process=process)
    reader = threading.Thread(target=lambda: lab.printed.extend(process.stdout), daemon=True)
    reader.start()
    try:
        end = time.monotonic() + SECONDS_TO_START
        while not any("Ctrl-C" in line for line in lab.printed):
            if process.poll() is not None or time.monotonic() > end:
                reader.join(5)
                raise RuntimeError("JupyterLab did not start:\n" + "".join(lab.printed))
            time.sleep(0.05)
        lab.url = next(line.strip() for line in lab.printed if "/lab/tree/" in line)
        yield lab
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        reader.join(5)


def chromium_path() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def browser_page(size: dict[str, int] = LAPTOP) -> Iterator:
    """A page of a headless Chromium. ``page.problems`` lists failed and foreign requests and page errors."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    need(sync_playwright, "playwright (the extra 'browser')")
    need(chromium_path(), "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), headless=True, args=CHROMIUM_FLAGS
        )
        page = browser.new_page(viewport=size)
        page.set_default_timeout(30_000)
        page.problems = []
        page.on("dialog", lambda dialog: dialog.accept())
        page.on("pageerror", lambda error: page.problems.append(f"error: {error}"))
        page.on("response", lambda response: _note_failure(page, response))
        page.on("request", lambda request: _note_foreign(page, request))
        yield page
        browser.close()


def _note_failure(page, response) -> None:
    if response.status >= 400:
        page.problems.append(f"{response.status} {response.url}")


def _note_foreign(page, request) -> None:
    if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
        page.problems.append(f"request to {request.url}")


def screenshot(page, name: str) -> Path:
    """Save what the page shows as ``name``.png, in the folder SCREENSHOTS names or a temporary one."""
    folder = os.environ.get("SCREENSHOTS")
    path = Path(folder or tempfile.mkdtemp(prefix="screenshots-")) / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    return path


class Notebook:
    """The notebook that is open in JupyterLab. A cell is named by its id or its index."""

    def __init__(self, page):
        self.page = page

    @classmethod
    def open(cls, page, lab: Lab, path: str | None = None) -> "Notebook":
        """Open the notebook at ``path`` below the course's root, or the one the course starts with."""
        page.goto(lab.url if path is None else f"{lab.base}/lab/tree/{path}?reset&token={lab.token}")
        page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell", timeout=60_000)
        notebook = cls(page)
        page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
            timeout=60_000,
        )
        return notebook

    def index(self, cell: int | str) -> int:
        found = self.page.evaluate(
            """cell => {
              const cells = jupyterapp.shell.currentWidget.content.widgets;
              return typeof cell === 'number' ? cell : cells.findIndex(one => one.model.id === cell);
            }""",
            cell,
        )
        if found < 0:
            raise LookupError(f"the notebook has no cell {cell!r}")
        return found

    def locate(self, cell: int | str):
        """The cell on the page, scrolled into view (JupyterLab leaves far cells out of the page)."""
        index = self.index(cell)
        self.page.evaluate(
            """async index => {
              const content = jupyterapp.shell.currentWidget.content;
              content.activeCellIndex = index;
              await content.scrollToItem(index, 'center');
            }""",
            index,
        )
        found = self.page.locator(
            f'.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell[data-windowed-list-index="{index}"]'
        )
        found.scroll_into_view_if_needed()
        return found

    def source(self, cell: int | str) -> str:
        return self.page.evaluate(
            "index => jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.getSource()",
            self.index(cell),
        )

    def write(self, cell: int | str, source: str) -> None:
        """Replace what stands in the cell, through the keyboard."""
        self.locate(cell).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)
        if self.source(cell) != source:
            raise AssertionError(f"the cell holds {self.source(cell)!r}")

    def run(self, cell: int | str, seconds: float = 60) -> str:
        """Run one cell; the text of its output."""
        self.locate(cell)
        self._command("notebook:run-cell", seconds)
        return self.output(cell)

    def run_all(self, seconds: float = 120) -> None:
        self._command("notebook:run-all-cells", seconds)

    def output(self, cell: int | str) -> str:
        """The text that the cell's output shows on the page; empty where there is none."""
        outputs = self.locate(cell).locator(".jp-Cell-outputArea")
        return outputs.inner_text() if outputs.count() else ""

    def errors(self) -> list[str]:
        """The errors among all outputs, as "Name: message"."""
        return self.page.evaluate(
            """() => jupyterapp.shell.currentWidget.content.widgets
              .flatMap(cell => cell.model.type === 'code' ? cell.model.outputs.toJSON() : [])
              .filter(output => output.output_type === 'error')
              .map(output => `${output.ename}: ${output.evalue}`)"""
        )

    def save(self) -> None:
        self._command("docmanager:save", 30)

    def validate(self, seconds: float = 60) -> str:
        """Press nbgrader's Validate; the text of the dialog, which is then closed."""
        self.page.get_by_role("button", name="Validate").first.click()
        dialog = self.page.locator(".jp-Dialog", has_text="alidat").last
        dialog.wait_for(timeout=seconds * 1000)
        text = dialog.inner_text()
        screenshot(self.page, "validate")
        self.page.keyboard.press("Escape")
        return text

    def _command(self, name: str, seconds: float) -> None:
        finished = self.page.evaluate(
            """async ([name, seconds]) => {
              const panel = jupyterapp.shell.currentWidget;
              const late = new Promise(resolve => setTimeout(() => resolve('late'), seconds * 1000));
              const run = async () => {
                await jupyterapp.commands.execute(name);
                // The last outputs arrive before the kernel is idle.
                while (panel.sessionContext.session.kernel.status !== 'idle')
                  await new Promise(resolve => setTimeout(resolve, 50));
              };
              return await Promise.race([run(), late]);
            }""",
            [name, seconds],
        )
        if finished == "late":
            raise TimeoutError(f"{name} took more than {seconds} seconds")
