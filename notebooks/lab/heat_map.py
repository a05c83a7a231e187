"""The picture of a sweep: a metric over k_rrf and candidates, for all queries and for each kind apart."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lab.drawing import WIDTH
from lab.language import _
from lab.picture import STAR, Picture

if TYPE_CHECKING:
    from pandas import DataFrame

    from lab.sweeps import Sweep

_CURRENT = "\u25cb"  # a circle
# White with a dark edge can be seen on every colour of the map, in either theme.
_EDGE = "#111111"
_MARKS = {
    STAR: {"marker": "*", "markersize": 13, "markerfacecolor": "white"},
    _CURRENT: {"marker": "o", "markersize": 11, "markerfacecolor": "none"},
}


def heat_map(sweep: "Sweep") -> Picture:
    """A sweep's means as colours, brighter is better. A star marks the best setting, a circle the current one.

    Each map has its own range of colours, from its lowest mean to its highest, which its heading gives. The rows
    of numbers are the settings that stand out; all means are in the sweep's tables.
    """
    maps = {kind: (table, sweep.best(kind)) for kind, table in sweep.by_kind.items()}
    counts = list(sweep.queries.values())
    if len(maps) > 1:
        maps = {_("all queries"): (sweep.table, sweep.best())} | maps
        counts = [sum(counts), *counts]

    def draw(ink):
        large, small = _panels(len(maps) - 1)
        for (name, (table, best)), count, axes in zip(maps.items(), counts, [large, *small], strict=True):
            _draw_map(axes, ink, table, best, sweep.current, every=1 if axes is large else 4)
            heading = _("{name} ({count}): {lowest:.2f} to {highest:.2f}").format(
                name=name, count=count, lowest=table.to_numpy().min(), highest=best.value
            )
            axes.set_title(heading, color=ink, fontsize=10 if axes is large else 8)
        large.set_xlabel(_("candidates of each index"), color=ink)
        large.set_ylabel("k_rrf", color=ink)
        _legend(large, ink, sweep.current)
        return large.figure

    return Picture(
        title=_("Mean {metric} of {count} queries by k_rrf and candidates (higher is better)").format(
            metric=sweep.metric, count=counts[0]
        ),
        alt=_alt(sweep, counts[0]),
        columns=(_("setting"), "k_rrf", "candidates", *maps),
        rows=list(_rows(sweep, [table for table, _best in maps.values()])),
        draw=draw,
    )


def _panels(small: int) -> tuple:
    """A large map, and below it a row of small ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 4.3 + (2.1 if small else 0)), layout="constrained")
    if not small:
        return figure.subplots(), []
    grid = figure.add_gridspec(2, small, height_ratios=[2.2, 1])
    return figure.add_subplot(grid[0, :]), [figure.add_subplot(grid[1, at]) for at in range(small)]


def _draw_map(axes, ink: str, table: "DataFrame", best, current, every: int) -> None:
    values = table.to_numpy()
    axes.patch.set_alpha(0)
    shown = axes.imshow(
        values,
        cmap="cividis",
        aspect="auto",
        origin="lower",
        interpolation="none",
    )
    for axis, steps in ((axes.xaxis, table.columns), (axes.yaxis, table.index)):
        places = range(0, len(steps), every)
        axis.set_ticks(places, [f"{steps[at]:g}" for at in places], fontsize=8)
    axes.tick_params(colors=ink)
    axes.spines[:].set_color(ink)
    for mark, setting in ((STAR, best[:2]), (_CURRENT, current)):
        if setting is not None:
            place = _place(setting[1], table.columns), _place(setting[0], table.index)
            size = 1 if every == 1 else 0.65
            style = _MARKS[mark] | {"color": "white", "markersize": _MARKS[mark]["markersize"] * size}
            if mark == _CURRENT:  # a white ring with a dark edge inside and outside
                axes.plot(*place, **style, markeredgecolor=_EDGE, markeredgewidth=4 * size)
                axes.plot(*place, **style, markeredgecolor="white", markeredgewidth=1.8 * size)
            else:
                axes.plot(*place, **style, markeredgecolor=_EDGE)
    if every == 1:
        bar = axes.figure.colorbar(shown, ax=axes, fraction=0.05, pad=0.01)
        bar.ax.tick_params(colors=ink, labelsize=8)
        bar.outline.set_edgecolor(ink)


def _place(value: float, steps: Sequence[float]) -> float:
    """Where a value stands on an axis whose steps are equally far apart; between two steps where it is no step."""
    import numpy as np

    return float(np.interp(value, steps, range(len(steps))))


def _legend(axes, ink: str, current) -> None:
    from matplotlib.lines import Line2D

    words = {STAR: _("best"), _CURRENT: _("current")}
    handles = [
        Line2D(
            [], [], linestyle="", markeredgecolor=ink, label=words[mark], **_MARKS[mark] | {"markersize": 9}
        )
        for mark in words
        if mark == STAR or current is not None
    ]
    axes.figure.legend(handles=handles, loc="outside upper right", ncols=2, frameon=False, labelcolor=ink)


def _rows(sweep: "Sweep", tables: list["DataFrame"]) -> Iterable[tuple[str, ...]]:
    settings = {f"{STAR} " + _("best"): sweep.best()[:2]}
    if len(sweep.by_kind) > 1:
        settings |= {_("best for {kind}").format(kind=kind): sweep.best(kind)[:2] for kind in sweep.by_kind}
    if sweep.current is not None:
        settings[_("current")] = sweep.current
    for name, (k_rrf, candidates) in settings.items():
        values = (_value(table, k_rrf, candidates) for table in tables)
        yield name, f"{k_rrf:g}", f"{candidates}", *values


def _value(table: "DataFrame", k_rrf: float, candidates: int) -> str:
    known = k_rrf in table.index and candidates in table.columns
    return f"{table.loc[k_rrf, candidates]:.4f}" if known else "-"


def _alt(sweep: "Sweep", count: int) -> str:
    best = sweep.best()
    return _(
        "Heat map of the mean {metric} of {count} queries for {rows} values of k_rrf and {columns} numbers of "
        "candidates, from {lowest:.3f} to {highest:.3f}. The best is at k_rrf = {k_rrf:g} with {candidates} "
        "candidates."
    ).format(
        metric=sweep.metric,
        count=count,
        rows=len(sweep.table.index),
        columns=len(sweep.table.columns),
        lowest=sweep.table.to_numpy().min(),
        highest=best.value,
        k_rrf=best.k_rrf,
        candidates=best.candidates,
    )
