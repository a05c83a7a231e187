"""A picture of what accuracy costs: each setting of a search at its latency and its metric."""

from typing import TYPE_CHECKING

from lab.drawing import BLUE, ORANGE, axes_of
from lab.language import _
from lab.picture import Picture

if TYPE_CHECKING:
    from pandas import DataFrame

_STYLES = ((ORANGE, "s", "--"), (BLUE, "o", "-"), ("#CC79A7", "^", ":"))


def plot_tradeoff(table: "DataFrame", metric: str) -> Picture:
    """Accuracy against latency: a point a row, and a line through the points of each search.

    ``table`` has the columns "search", "candidates", "milliseconds", and those of ``metric`` and the ends of its
    interval, such as "MRR", "MRR low" and "MRR high". Further left is faster, further up is better. The interval of
    the last search is drawn; those of all stand in the table below. Raises ValueError for a missing column, a table
    without rows, more than three searches, or a time that is not above 0.
    """
    needed = ("search", "candidates", "milliseconds", metric, f"{metric} low", f"{metric} high")
    missing = [name for name in needed if name not in table.columns]
    if missing or not len(table):
        raise ValueError(
            _("The table needs at least one row, and the columns {columns}.").format(
                columns=", ".join(needed)
            )
        )
    points = {
        str(name): rows.sort_values("candidates")
        for name, rows in table.groupby("search", sort=False, observed=True)
    }
    if len(points) > len(_STYLES) or not (table["milliseconds"] > 0).all():
        raise ValueError(_("Give at most three searches, each with times above 0."))
    best = table.loc[table[metric].idxmax()]

    def draw(ink):
        axes = axes_of(ink, height=3.8)
        axes.set_xscale("log")
        axes.tick_params(which="both", colors=ink)
        axes.xaxis.set_major_formatter(lambda value, _position: _milliseconds(value))
        for (name, rows), (colour, marker, line) in zip(points.items(), _STYLES, strict=False):
            axes.plot(
                rows["milliseconds"],
                rows[metric],
                color=colour,
                marker=marker,
                linestyle=line,
                markersize=8,
                markeredgecolor=ink,
                markeredgewidth=0.7,
                linewidth=1.8,
                label=name,
            )
            if rows is list(points.values())[-1]:
                axes.vlines(
                    rows["milliseconds"],
                    rows[f"{metric} low"],
                    rows[f"{metric} high"],
                    color=colour,
                    linewidth=1,
                )
            for _row, row in rows.iterrows():
                axes.annotate(
                    f"{row['candidates']:g}",
                    (row["milliseconds"], row[metric]),
                    xytext=(7, -13),
                    textcoords="offset points",
                    color=ink,
                )
        axes.set_xlabel(_("milliseconds a query, on a logarithmic scale: further left is faster"), color=ink)
        axes.set_ylabel(metric, color=ink)
        axes.margins(x=0.12)
        axes.legend(frameon=False, labelcolor=ink, loc="lower center", ncols=3, bbox_to_anchor=(0.5, 1))
        return axes.figure

    return Picture(
        title=_("{metric} against latency; the numbers at the points are the candidates").format(
            metric=metric
        ),
        alt=_(
            "{count} points, {metric} against milliseconds a query, for {searches}. The highest {metric}, {value:.3f}, "
            "is that of {best} with {candidates:g} candidates, at {milliseconds} milliseconds."
        ).format(
            count=len(table),
            metric=metric,
            searches=", ".join(points),
            value=best[metric],
            best=best["search"],
            candidates=best["candidates"],
            milliseconds=_milliseconds(best["milliseconds"]),
        ),
        columns=(_("search"), _("candidates"), _("milliseconds"), metric, _("95 % interval")),
        rows=[
            (
                name,
                f"{row['candidates']:g}",
                _milliseconds(row["milliseconds"]),
                f"{row[metric]:.3f}",
                f"{row[f'{metric} low']:.3f} to {row[f'{metric} high']:.3f}",
            )
            for name, rows in points.items()
            for _row, row in rows.iterrows()
        ],
        draw=draw,
    )


def _milliseconds(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")
