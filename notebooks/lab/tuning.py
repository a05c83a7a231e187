"""The tuning lab: sliders for a fusion's settings, a ranking that moves with them, and what they are worth."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from pathlib import Path

import anywidget
import ipywidgets as widgets
import traitlets

from lab import tuning_words as words
from lab.corpora import Query
from lab.errors import PlainError
from lab.language import _
from lab.sweeps import Sweep
from lab.tuning_model import PRESETS, Settings, TuningModel

_HERE = Path(__file__).resolve().parent
_HIGHEST_WEIGHT = 2.0
# A weight is dragged through many values: the map is made for the one at which it rests.
_REST_SECONDS = 0.15
_SECONDS_BETWEEN = 0.1
# Changes of one control that follow each other this closely are one movement of the hand.
_GESTURE_SECONDS = 1.5
# In the chooser: a query that the learner wrote.
_OWN = -1


class TuningView(anywidget.AnyWidget):
    """Table, heat maps and intervals. It draws the data it is given: see lab.tuning_words."""

    _esm = _HERE / "tuning.js"
    _css = _HERE / "tuning.css"
    words = traitlets.Dict().tag(sync=True)
    indexes = traitlets.List().tag(sync=True)
    table = traitlets.Dict().tag(sync=True)
    maps = traitlets.Dict().tag(sync=True)
    point = traitlets.List().tag(sync=True)
    comparison = traitlets.Dict().tag(sync=True)
    losses = traitlets.Dict().tag(sync=True)
    stale = traitlets.Bool().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)
    work = traitlets.Dict().tag(sync=True)
    call = traitlets.Unicode().tag(sync=True)


class _Stopped(Exception):
    """The weights have changed again, so the map in the making is of no use."""


def _handler(method: Callable) -> Callable:
    """A method that reacts to a control: one at a time, and what goes wrong is said in the view."""

    @wraps(method)
    def guarded(self, *arguments) -> None:
        # JupyterLab may run a control's messages in another thread than a cell.
        with self._lock:
            if self._quiet:
                return
            try:
                method(self, *arguments)
            except Exception as error:
                self._view.problem = words.refused(self._model, _sentence(error))

    return guarded


def _sentence(error: Exception) -> str:
    text = str(error)
    return text if text and isinstance(error, PlainError | ValueError) else f"{type(error).__name__}: {text}"


class TuningLab(widgets.VBox):
    """Tune a retriever by hand: move k_rrf, candidates and weights, and see what happens on judged queries.

    ``retriever`` has ``indexes`` (else give ``indexes``) and ``search``; ``judged`` is a list such as
    lab.judged_queries gives. ``k_rrf``, ``candidates`` and ``metric`` ("MRR", or "nDCG@10" and the like) are
    where it starts. ``settings`` holds where it stands.

    Raises TuningError for what cannot be tuned, and SearchError where an index fails.
    """

    def __init__(
        self,
        retriever: object,
        judged: Sequence[Query],
        indexes: Iterable | None = None,
        k_rrf: float = 60,
        candidates: int = 20,
        metric: str = "MRR",
    ) -> None:
        self._model = TuningModel(retriever, judged, indexes, k_rrf, candidates, metric)
        self._lock = threading.RLock()
        self._quiet = False
        self._gesture: tuple[object, float] = (None, 0.0)
        self._all_losses = False
        self._work: asyncio.Task | None = None
        self._wanted: tuple | None = None
        self._view = TuningView(words=words.fixed_words(), indexes=self._model.rankings.names)
        self._make_controls()
        self._show_query()
        self._show_measured()
        super().__init__([self._layout(), self._view])
        self.add_class("lab-tuning")

    @property
    def settings(self) -> Settings:
        """The settings as they stand: k_rrf, candidates, weights, metric."""
        return self._model.settings

    @property
    def call(self) -> str:
        """The Python that gives the ranking shown."""
        return self._model.call()

    # ---- the controls

    def _make_controls(self) -> None:
        model, start = self._model, self._model.start
        wide = widgets.Layout(flex="1 1 45%", width="auto", min_width="310px")
        style = {"description_width": "112px"}
        self._choices = tuple(
            (f"{query.id} · {query.kind} · {query.text}", i) for i, query in enumerate(model.judged)
        )
        self._chosen = model.judged.index(model.query)
        self._query = widgets.Dropdown(
            description=words.name_of("query"),
            options=self._choices,
            value=self._chosen,
            layout=wide,
            style=style,
        )
        self._own = widgets.Text(
            description=words.name_of("own"),
            placeholder=_("write it and press Enter"),
            continuous_update=False,
            layout=wide,
            style=style,
        )
        self._k_rrf = widgets.SelectionSlider(
            description=words.name_of("k_rrf"),
            options=[(f"{k_rrf:g}", k_rrf) for k_rrf in model.k_rrfs],
            value=start.k_rrf,
            layout=wide,
            style=style,
        )
        self._candidates = widgets.SelectionSlider(
            description=words.name_of("candidates"),
            options=model.depths,
            value=start.candidates,
            layout=wide,
            style=style,
        )
        self._weights = [
            widgets.FloatSlider(
                description=words.name_of("weights", name),
                min=0,
                max=max(_HIGHEST_WEIGHT, weight),
                step=0.05,
                value=weight,
                layout=wide,
                style=style,
            )
            for name, weight in zip(model.rankings.names, start.weights, strict=True)
        ]
        self._metric = widgets.Dropdown(
            description=words.name_of("metric"),
            options=model.metrics,
            value=start.metric,
            layout=widgets.Layout(width="240px"),
            style=style,
        )
        for control in (self._k_rrf, self._candidates):
            control.add_class("lab-tuning-steps")  # only some numbers: none can be typed
        self._query.observe(self._on_query, "value")
        self._own.observe(self._on_own, "value")
        for control in (self._k_rrf, self._candidates, *self._weights, self._metric):
            control.observe(self._on_setting, "value")
        self._view.on_msg(self._on_message)

    def _layout(self) -> widgets.Box:
        buttons = [
            self._button(f"k_rrf = {k_rrf}", lambda k_rrf=k_rrf: self._preset(k_rrf)) for k_rrf in PRESETS
        ]
        buttons.append(self._button(_("reset"), self._reset))
        buttons.append(self._button(_("show the call"), self._show_call))
        row = widgets.Layout(flex_flow="row wrap", align_items="center")
        controls = widgets.VBox(
            [
                widgets.Box([self._query, self._own], layout=row),
                widgets.Box([self._k_rrf, self._candidates, *self._weights], layout=row),
                widgets.Box([self._metric, *buttons], layout=row),
            ]
        )
        controls.add_class("lab-tuning-controls")
        return controls

    def _button(self, text: str, action: Callable[[], None]) -> widgets.Button:
        button = widgets.Button(description=text, layout=widgets.Layout(width="auto"))
        button.on_click(lambda _button: action())
        return button

    @contextlib.contextmanager
    def _quietly(self) -> Iterator[None]:
        """Controls set here do not report back."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    # ---- what moves them

    @_handler
    def _on_setting(self, change) -> None:
        self._move(change["owner"])

    @_handler
    def _on_query(self, _change) -> None:
        if self._query.value == _OWN:
            return
        with self._quietly():
            self._own.value = ""
        self._chosen = self._query.value
        self._ask(self._model.judged[self._chosen])

    @_handler
    def _on_own(self, _change) -> None:
        self._ask(self._own.value.strip() or self._model.judged[self._chosen])

    @_handler
    def _on_message(self, _view, content: dict, _buffers) -> None:
        """A click in the view: on a place of a heat map, on a query that was lost, or for all of these."""
        if "point" in content:
            row, column = content["point"]
            with self._quietly():
                self._k_rrf.value = self._model.k_rrfs[row]
                self._candidates.value = self._model.depths[column]
            self._move()
        elif "query" in content:
            ids = [str(query.id) for query in self._model.judged]
            self._query.value = ids.index(content["query"])
        elif "losses" in content:
            self._all_losses = content["losses"] == "all"
            self._view.losses = words.losses(self._model, self._all_losses)

    @_handler
    def _preset(self, k_rrf: float) -> None:
        with self._quietly():
            self._k_rrf.value = k_rrf
        self._move()

    @_handler
    def _reset(self) -> None:
        start = self._model.start
        with self._quietly():
            self._k_rrf.value, self._candidates.value = start.k_rrf, start.candidates
            self._metric.value = start.metric
            for control, weight in zip(self._weights, start.weights, strict=True):
                control.value = weight
        self._move()

    @_handler
    def _show_call(self) -> None:
        self._view.call = self._model.call()

    def _move(self, control: widgets.Widget | None = None) -> None:
        """Take the settings from the controls. ``control`` is the one that the learner moves, if it is one."""
        before, now = self._model.settings, time.monotonic()
        last, moved_at = self._gesture
        self._model.change(
            continued=control is not None and control is last and now - moved_at < _GESTURE_SECONDS,
            k_rrf=self._k_rrf.value,
            candidates=self._candidates.value,
            weights=tuple(round(control.value, 6) for control in self._weights),
            metric=self._metric.value,
        )
        self._gesture = (control, now)
        if self._model.settings == before:
            self._view.problem = ""
            return
        if self._model.stale and (known := self._model.known(self._model.settings)):
            self._model.accept(self._model.settings, known)
            self._view.maps = words.maps(self._model)
        with self._view.hold_sync():
            self._show_ranking()
            self._view.point = list(self._model.point)
            self._view.stale = self._model.stale
            self._view.status = words.status(self._model, self._model.since)
            if not self._model.stale:
                self._show_comparison()
        self._measure_later()

    def _ask(self, query: Query | str) -> None:
        self._model.ask(query)
        self._gesture = (None, 0.0)
        self._show_choice()
        self._show_query()
        self._move()  # settings that were refused before are refused still

    # ---- what is shown

    def _show_choice(self) -> None:
        """The chooser names the query that is shown, or says that it is the learner's own."""
        query, choices = self._model.query, self._choices
        if isinstance(query, str):
            choices, value = (*choices, (_("(your own)"), _OWN)), _OWN
        else:
            value = self._model.judged.index(query)
        with self._quietly(), self._query.hold_sync():
            if self._query.options != choices:
                self._query.options = choices
            self._query.value = value

    def _show_query(self) -> None:
        with self._view.hold_sync():
            self._show_ranking()
            self._view.status = words.status(self._model)

    def _show_ranking(self) -> None:
        self._view.table = words.table(self._model)
        self._view.problem = ""
        if self._view.call:
            self._view.call = self._model.call()

    def _show_comparison(self) -> None:
        self._view.comparison = words.comparison(self._model)
        self._view.losses = words.losses(self._model, self._all_losses)

    def _show_measured(self) -> None:
        with self._view.hold_sync():
            self._view.maps = words.maps(self._model)
            self._view.point = list(self._model.point)
            self._view.stale = self._model.stale
            self._show_comparison()

    # ---- long work

    def _measure_later(self) -> None:
        """Make the map where it is stale, beside the kernel's other work, so that the sliders stay alive."""
        wanted = self._model.settings.of_map if self._model.stale else None
        if wanted == self._wanted:
            return
        if self._work:
            self._work.get_loop().call_soon_threadsafe(self._work.cancel)
        self._wanted, self._work = wanted, None
        if wanted is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no kernel, such as in a test
            settings, self._wanted = self._model.settings, None
            self._accept(settings, self._model.sweep_for(settings))
        else:
            self._work = loop.create_task(self._measure(self._model.settings))

    def _accept(self, settings: Settings, made: Sweep) -> None:
        self._model.accept(settings, made)
        self._wanted = self._work = None
        with self._view.hold_sync():
            self._show_measured()
            self._view.status = f"{self._view.status} {words.score(self._model)}"

    async def _measure(self, settings: Settings) -> None:
        loop, stopped = asyncio.get_running_loop(), threading.Event()

        def show(text: str, done: int, total: int) -> None:
            if not stopped.is_set():
                self._view.work = {"text": text, "done": done, "total": total}

        def watched(queries: Sequence, label: str) -> Iterator:
            due = 0.0
            for done, query in enumerate(queries):
                if stopped.is_set():
                    raise _Stopped
                if time.monotonic() >= due:
                    due = time.monotonic() + _SECONDS_BETWEEN
                    loop.call_soon_threadsafe(show, label, done, len(queries))
                yield query

        try:
            await asyncio.sleep(_REST_SECONDS)
            made = await asyncio.to_thread(self._model.sweep_for, settings, watched)
            with self._lock:
                if settings.of_map == self._wanted:
                    self._accept(settings, made)
        except Exception as error:
            with self._lock:
                if settings.of_map == self._wanted:
                    self._wanted = self._work = None  # the next step tries again
                self._view.problem = _sentence(error)
        finally:
            stopped.set()
            self._view.work = {}

    # ---- where no widget can be drawn

    def _repr_mimebundle_(self, **arguments) -> dict:
        """The widget, and before it, as an output of its own, a picture for those who read without a kernel."""
        from IPython.display import HTML, display

        from lab.tuning_fallback import fallback

        display(HTML(fallback(self._model)))
        bundle = super()._repr_mimebundle_(**arguments)
        bundle["text/plain"] = _("The tuning lab. Run this cell to use it.")
        return bundle
