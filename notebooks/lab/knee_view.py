"""Pictures of a cut: the curve of scores with its chord and its knee; what is kept, dropped, and relevant."""

import math
from collections.abc import Iterable, Sequence

from lab.drawing import BLUE, ORANGE, axes_of, clip, starred
from lab.language import _
from lab.picture import Picture

_KEPT, _DROPPED = (BLUE, "o"), (ORANGE, "X")
_MOST_ROWS = 12


def plot_knee(scores: Sequence[float], kept: int | None = None) -> Picture:
    """The curve of scores, best first, and its chord, both axes scaled to [0, 1].

    With ``kept``, how many are kept, the last of these is marked as the knee, with its distance from the chord, and
    those behind it are drawn as dropped. The table has the scores around the knee, else the first of all. Raises
    ValueError for fewer than two scores, for equal ones only, and for a ``kept`` that is not between 1 and their
    number.
    """
    scores = [float(score) for score in scores]
    if len(scores) < 2 or scores[0] <= scores[-1] or not all(map(math.isfinite, scores)):
        raise ValueError(_("A curve needs at least two scores, best first, that are not all equal."))
    count = len(scores)
    if kept is not None and not 1 <= kept <= count:
        raise ValueError(
            _("kept must be between 1 and {count}, the number of scores: got {kept!r}.").format(
                count=count, kept=kept
            )
        )
    across = [place / (count - 1) for place in range(count)]
    up = [(score - scores[-1]) / (scores[0] - scores[-1]) for score in scores]
    inside = count if kept is None else kept

    def draw(ink):
        axes = axes_of(ink, height=3.8)
        axes.plot([0, 1], [1, 0], color=ink, linestyle="--", linewidth=1, label=_("chord"))
        axes.plot(across, up, color=ink, linewidth=0.8, alpha=0.6)
        _points(axes, ink, across[:inside], up[:inside], _KEPT, _("kept") if kept else _("score"))
        _points(axes, ink, across[inside:], up[inside:], _DROPPED, _("dropped"))
        if kept is not None:
            x, y = across[kept - 1], up[kept - 1]
            foot = (x + (1 - x - y) / 2, y + (1 - x - y) / 2)
            axes.plot([x, foot[0]], [y, foot[1]], color=ink, linewidth=2.2, label=_("its distance"))
            axes.plot(
                [x],
                [y],
                linestyle="none",
                marker="o",
                markersize=15,
                markerfacecolor="none",
                markeredgecolor=ink,
                label=_("knee: {kept} of {count} kept").format(kept=kept, count=count),
            )
        axes.set_aspect("equal")
        axes.margins(0.06)
        axes.set_xlabel(_("place in the ranking, 0 the first, 1 the last"), color=ink)
        axes.set_ylabel(_("score, scaled"), color=ink)
        axes.legend(frameon=False, labelcolor=ink, loc="center left", bbox_to_anchor=(1.02, 0.5))
        return axes.figure

    shown = _around(kept, count)
    alt = _(
        "A curve of {count} scores falls from {highest} to {lowest}, and a straight line, the chord, joins its ends."
    ).format(count=count, highest=_score(scores[0]), lowest=_score(scores[-1]))
    if kept is not None:
        alt += " " + _("The knee is score number {kept}: {inside} are kept and {outside} dropped.").format(
            kept=kept, inside=kept, outside=count - kept
        )
    return Picture(
        title=_("The scores, their chord, and the knee") if kept else _("The scores and their chord"),
        alt=alt,
        columns=(_("rank"), _("score"), _("place"), _("scaled score"), _("distance from the chord")),
        rows=[
            (
                starred(str(i + 1), i + 1 == kept),
                _score(scores[i]),
                f"{across[i]:.3f}",
                f"{up[i]:.3f}",
                f"{abs(across[i] + up[i] - 1) / math.sqrt(2):.3f}",
            )
            for i in shown
        ],
        draw=draw,
    )


def plot_kept(ranked: Sequence[tuple[dict, float]], kept: int, relevant: Iterable[str] = ()) -> Picture:
    """A ranking of nodes, what a cut keeps of it and what it drops, the relevant nodes marked with a star.

    ``ranked`` are pairs (node, score), best first; ``kept`` is how many are kept; ``relevant`` are judged pages, as
    "file_name:page": a node is relevant if it covers one of them. The table has the relevant nodes. Raises ValueError
    without a node, and for a ``kept`` that is not between 0 and their number.
    """
    from lab.tree_evaluation import is_relevant

    ranked, relevant = list(ranked), set(relevant)
    if not ranked or not 0 <= kept <= len(ranked):
        raise ValueError(_("Give at least one node, and how many of them are kept."))
    scores = [score for _node, score in ranked]
    hits = [place for place, (node, _score) in enumerate(ranked) if is_relevant(node, relevant)]
    found = sum(place < kept for place in hits)

    def draw(ink):
        axes = axes_of(ink, height=3.4)
        ranks = list(range(1, len(ranked) + 1))
        _points(axes, ink, ranks[:kept], scores[:kept], _KEPT, _("kept"))
        _points(axes, ink, ranks[kept:], scores[kept:], _DROPPED, _("dropped"))
        axes.axvline(kept + 0.5, color=ink, linestyle="--", linewidth=1)
        axes.plot(
            [place + 1 for place in hits],
            [scores[place] for place in hits],
            linestyle="none",
            marker="*",
            markersize=19,
            markerfacecolor="none",
            markeredgecolor=ink,
            markeredgewidth=1.3,
            label=_("relevant"),
        )
        axes.margins(x=0.04, y=0.14)
        axes.set_xlabel(_("rank: behind the dashed line is what is dropped"), color=ink)
        axes.set_ylabel(_("score"), color=ink)
        axes.legend(frameon=False, labelcolor=ink, loc="upper right")
        return axes.figure

    return Picture(
        title=_("{kept} of {count} nodes are kept; of the {hits} relevant ones, {found}").format(
            kept=kept, count=len(ranked), hits=len(hits), found=found
        ),
        alt=_(
            "A falling curve of {count} scores, the first {kept} drawn as kept, the others as dropped. {hits} nodes "
            "are relevant: {found} of them are kept, {lost} dropped."
        ).format(count=len(ranked), kept=kept, hits=len(hits), found=found, lost=len(hits) - found),
        columns=(_("rank"), _("relevant node"), _("pages"), _("score"), _("outcome")),
        rows=[
            (
                str(place + 1),
                starred(clip(ranked[place][0]["file_name"]), True),
                _pages(ranked[place][0]),
                _score(scores[place]),
                _("kept") if place < kept else _("dropped"),
            )
            for place in hits[:_MOST_ROWS]
        ],
        draw=draw,
    )


def _points(axes, ink: str, xs: list, ys: list, style: tuple[str, str], label: str) -> None:
    """Points of a colour and a sign, so that neither has to be told from the other alone."""
    colour, marker = style
    if xs:
        axes.plot(
            xs,
            ys,
            linestyle="none",
            marker=marker,
            markersize=7 if len(xs) < 40 else 5,
            color=colour,
            markeredgecolor=ink,
            markeredgewidth=0.6,
            label=label,
        )


def _around(kept: int | None, count: int) -> list[int]:
    """Which rows of the table to show, from 0: the first, those around the knee, the last."""
    if count <= _MOST_ROWS:
        return list(range(count))
    middle = 3 if kept is None else kept - 1
    return sorted({0, count - 1, *(i for i in range(middle - 3, middle + 4) if 0 <= i < count)})


def _score(score: float) -> str:
    return f"{score:.4g}"


def _pages(node: dict) -> str:
    return "-".join(dict.fromkeys((str(node["first_page"]), str(node["last_page"]))))
