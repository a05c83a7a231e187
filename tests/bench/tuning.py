"""The tuning lab's answer to a slider: milliseconds in the kernel, and from a key press to the changed page.

The retriever searches the language reference of the running Python by vectors and BM25. In the kernel a step is
what a moved slider sets off: fusing, measuring, and writing the message to the page. In the browser, a headless
Chromium with JupyterLab, a step ends when the page has changed and been laid out anew; a bare slider with a label
that the kernel writes is measured in the same run, key by key in turn, and says what any slider needs.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex

from .results import Result, Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests' own helpers

RETRIEVER = """import lab
from hybrid_search import BM25Index, Retriever, VectorIndex

retriever = Retriever(VectorIndex(lab.embedder()), BM25Index(tokenize=lab.python_tokens))
retriever.add_documents(lab.python_reference())"""
TUNING = 'tuning = lab.TuningLab(retriever, lab.judged_queries("python"))\ntuning'
BARE = """import ipywidgets as widgets
from IPython.display import display

bare, label = widgets.IntSlider(description="bare", max=200, value=100), widgets.Label("100")
label.add_class("bare-label")
bare.observe(lambda change: setattr(label, "value", str(change["new"])), "value")
display(widgets.VBox([bare, label]))"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=40, help="steps of each slider (40)")
    parser.add_argument("--kernel-only", action="store_true", help="leave the browser out")


def run(options: argparse.Namespace) -> Iterator[Result]:
    size, steps = kernel_steps(options.steps)
    yield Table(
        f"In the kernel, milliseconds a step; {size}",
        ("slider", "median", "95th"),
        [(name, *summary(milliseconds)) for name, milliseconds in steps.items()],
    )
    if options.kernel_only:
        return
    own, bare = browser_steps(options.steps)
    yield Table(
        "From the key press to the changed page, milliseconds",
        ("slider", "median", "95th"),
        [("bare slider", *summary(bare)), ("tuning lab, k_rrf", *summary(own))],
    )
    yield f"ratio of the medians: {statistics.median(own) / statistics.median(bare):.2f}"


def summary(milliseconds: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    ordered = sorted(milliseconds)
    return statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]


# ---- in the kernel


def kernel_steps(steps: int) -> tuple[str, dict[str, list[float]]]:
    """What is searched, and milliseconds of each step of each slider, for the query whose fused ranking is longest."""
    retriever = Retriever(VectorIndex(lab.embedder()), BM25Index(tokenize=lab.python_tokens))
    retriever.add_documents(lab.python_reference())
    tuning = lab.TuningLab(retriever, lab.judged_queries("python"))
    size = f"{tuning._model.size} documents, {len(tuning._model.judged)} judged queries, two indexes"
    # There is no page here: a message is written, as for one, and goes nowhere.
    tuning._view.comm.publish_msg = lambda _kind, data=None, **_more: json.dumps(data)
    depths = tuning._model.depths
    timed = {"k_rrf": _timed(tuning._k_rrf, "index", _to_and_fro(len(tuning._model.k_rrfs)), steps)}
    timed["candidates"] = _timed(tuning._candidates, "index", _to_and_fro(len(depths)), steps)
    tuning._candidates.value = depths[-1]
    timed["k_rrf, all candidates"] = _timed(
        tuning._k_rrf, "index", _to_and_fro(len(tuning._model.k_rrfs)), steps
    )
    tuning._candidates.value = 20
    # Without a kernel the maps would be made within the step: here, as there, they come later.
    tuning._measure_later = lambda: None
    timed["weight"] = _timed(tuning._weights[1], "value", (i / 20 for i in _to_and_fro(40)), steps)
    return size, timed


def _to_and_fro(count: int) -> Iterable[int]:
    return chain.from_iterable(repeat([*range(1, count), *range(count - 2, -1, -1)]))


def _timed(control, trait: str, values: Iterable, steps: int) -> list[float]:
    milliseconds = []
    for _step, value in zip(range(steps), values, strict=False):
        started = time.perf_counter()
        control.set_state({trait: value})
        milliseconds.append(1000 * (time.perf_counter() - started))
    return milliseconds


# ---- in the browser

# Presses are Playwright's; this notes when the key came and when the page had changed and was laid out.
WATCH = """selector => {
  const target = document.querySelector(selector);
  window.benchStep = new Promise(done => {
    let pressed;
    addEventListener('keydown', () => { pressed = performance.now(); }, {capture: true, once: true});
    const observer = new MutationObserver(() => {
      if (pressed === undefined) return;
      document.body.getBoundingClientRect();
      observer.disconnect();
      done(performance.now() - pressed);
    });
    observer.observe(target, {childList: true, characterData: true, subtree: true});
  });
}"""


def browser_steps(steps: int) -> tuple[list[float], list[float]]:
    """Milliseconds from key press to changed page: of the tuning lab's k_rrf slider, and of a bare slider."""
    from browser import browser_page, chromium_path, copy_course, running_lab
    from tuning_page import TuningPage, write_notebook

    if not chromium_path():
        raise ValueError("there is no chromium here: use --kernel-only, or install it")
    with tempfile.TemporaryDirectory() as folder:
        course = copy_course(Path(folder) / "course")
        write_notebook(course, RETRIEVER, TUNING, BARE)
        home = Path(folder) / "home"
        home.mkdir()
        with running_lab(course, home) as server, browser_page({"width": 1280, "height": 2400}) as page:
            tuning = TuningPage.open(page, server, seconds=300)
            own, bare = [], []
            for step in range(steps + 5):
                key = "ArrowLeft" if step % 20 < 10 else "ArrowRight"
                own.append(_step(page, tuning.slider("k_rrf"), ".lt-fused tbody", key))
                bare.append(_step(page, page.locator(".widget-slider").last, ".bare-label", key))
            return own[5:], bare[5:]  # the first ones find everything cold


def _step(page, slider, target: str, key: str) -> float:
    handle = slider if slider.get_attribute("role") == "slider" else slider.get_by_role("slider")
    handle.focus()
    page.evaluate(WATCH, target)
    page.keyboard.press(key)
    return page.evaluate("window.benchStep")
