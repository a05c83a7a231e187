"""Pictures of searches: distances, shares of a BM25 score, and how ranks are fused."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from lab.drawing import BLUE, FILLS, ORANGE, axes_of, clip, label_of, legend, name_rows, starred
from lab.language import _
from lab.picture import Picture

_MOST_ROWS = 20


def plot_similarity(results: Iterable[tuple[object, float]]) -> Picture:
    """The distances that a vector search gave: a bar a document, in the order given, the first with a star.

    ``results`` are pairs (document, cosine distance); lower is closer. Raises ValueError for anything else.
    """
    found = _pairs(results)
    labels, distances = [label for label, _distance in found], [distance for _label, distance in found]

    def draw(ink):
        axes = axes_of(ink, height=0.9 + 0.3 * len(found))
        rows = range(len(found))
        for row, distance in zip(rows, distances, strict=True):
            colour, hatch = (BLUE, "") if row == 0 else (ORANGE, "//")
            axes.barh(row, distance, color=colour, hatch=hatch, edgecolor=ink, linewidth=0.8, height=0.7)
            weight = "bold" if row == 0 else "normal"
            axes.text(distance, row, f" {distance:.3f}", va="center", color=ink, fontweight=weight)
        name_rows(axes, labels)
        axes.set_xlim(0, 1.12 * max([*distances, 0.01]))
        axes.set_xlabel(_("cosine distance: a shorter bar is a closer document"), color=ink)
        return axes.figure

    return Picture(
        title=_("Cosine distances (lower is closer)"),
        alt=_(
            "Bar chart of {count} cosine distances. The first document is {first} at {lowest:.3f}; the last is "
            "{last} at {highest:.3f}."
        ).format(
            count=len(found), first=labels[0], lowest=distances[0], last=labels[-1], highest=distances[-1]
        ),
        columns=(_("rank"), _("document"), _("distance")),
        rows=[
            (str(rank), starred(label, rank == 1), f"{distance:.3f}")
            for rank, (label, distance) in enumerate(found, start=1)
        ],
        draw=draw,
    )


def plot_term_weights(weights: Mapping[object, Mapping[str, float]]) -> Picture:
    """How much of each document's BM25 score comes from each term: a bar a document, cut into its terms.

    ``weights`` maps a document to {term: share of the score}, in the order to show, best first; the first
    has a star. Raises ValueError where it holds no document.
    """
    if not isinstance(weights, Mapping) or not weights:
        raise ValueError(_("There is nothing to draw: give a mapping such as {'Section 2': {'pump': 1.2}}."))
    shares = {label_of(document): dict(terms) for document, terms in list(weights.items())[:_MOST_ROWS]}
    shares, terms = _main_terms(shares)
    totals = {label: sum(of.values()) for label, of in shares.items()}

    def draw(ink):
        axes = axes_of(ink, height=1.4 + 0.42 * len(shares))
        fills = dict(zip(terms, FILLS, strict=False))
        start = dict.fromkeys(shares, 0.0)
        for term, (colour, hatch) in fills.items():
            for row, (label, of) in enumerate(shares.items()):
                share = of.get(term, 0)
                if not share:
                    continue
                axes.barh(
                    row,
                    share,
                    left=start[label],
                    color=colour,
                    hatch=hatch,
                    edgecolor=ink,
                    linewidth=0.8,
                    height=0.7,
                )
                start[label] += share
        for row, total in enumerate(totals.values()):
            axes.text(total, row, f" {total:.2f}", va="center", color=ink)
        name_rows(axes, list(shares))
        axes.set_xlim(0, 1.12 * max([*totals.values(), 0.01]))
        axes.set_xlabel(_("BM25 score: a longer bar fits better"), color=ink)
        legend(axes, ink, fills)
        return axes.figure

    first, of_first = next(iter(shares.items()))
    strongest = max(of_first, key=of_first.get, default="")
    return Picture(
        title=_("What each term adds to the BM25 score (higher is better)"),
        alt=_(
            "Bar chart of {count} BM25 scores, each bar cut into terms. {first} comes first with {total:.2f}, "
            "of which {term} gives {share:.2f}."
        ).format(
            count=len(shares),
            first=first,
            total=totals[first],
            term=strongest or _("no term"),
            share=of_first.get(strongest, 0),
        ),
        columns=(_("document"), *terms, _("score")),
        rows=[
            (
                starred(label, label == first),
                *(f"{of[term]:.2f}" if term in of else "-" for term in terms),
                f"{totals[label]:.2f}",
            )
            for label, of in shares.items()
        ],
        draw=draw,
    )


def plot_fusion(rankings: Mapping[str, Sequence[Hashable]], fused: Sequence[Hashable]) -> Picture:
    """Where the documents of each ranking end up in the fused one: a line from each rank to the fused rank.

    ``rankings`` maps a name to its documents, best first; ``fused`` are the documents in fused order. The
    first fused document has a star; a dashed line leads from a document that only one ranking found. At most
    20 documents of each list are drawn. Raises ValueError where there is nothing to draw.
    """
    if not isinstance(rankings, Mapping):
        raise ValueError(
            _("Give the rankings as a mapping from name to list: {'vector': [2, 7], 'BM25': [6, 2]}.")
        )
    lists = {
        str(name): list(dict.fromkeys(map(label_of, ranking)))[:_MOST_ROWS]
        for name, ranking in rankings.items()
    }
    order = list(dict.fromkeys(map(label_of, fused)))[:_MOST_ROWS]
    if not order or not any(lists.values()):
        raise ValueError(_("There is nothing to draw: give at least one ranking, and the fused order."))
    found_by = Counter(label for ranking in lists.values() for label in set(ranking))

    def draw(ink):
        columns, depth = _columns(lists)
        axes = axes_of(ink, height=0.7 + 0.34 * max(depth, len(order) + 1))
        axes.set_axis_off()
        middle = max(0, (depth - len(order) - 1) / 2)
        heights = {label: middle + 1 + row for row, label in enumerate(order)}
        _heading(axes, ink, _("fused"), 0, middle)
        for label, height in heights.items():
            first = label == order[0]
            axes.text(
                0,
                height,
                f"{height - middle:.0f}. {starred(clip(label, 16), first)}",
                ha="center",
                va="center",
                color=ink,
                fontweight="bold" if first else "normal",
            )
        for name, (side, top) in columns.items():
            _heading(axes, ink, name, side * 2, top)
            for rank, label in enumerate(lists[name], start=1):
                axes.text(
                    side * 2,
                    top + rank,
                    f"{rank}. {clip(label, 16)}",
                    ha="center",
                    va="center",
                    color=ink,
                    fontweight="bold" if label == order[0] else "normal",
                )
                if label in heights:
                    axes.plot(
                        [side * 1.4, side * 0.6],
                        [top + rank, heights[label]],
                        clip_on=False,
                        **_line(ink, first=label == order[0], alone=len(lists) > 1 and found_by[label] == 1),
                    )
        sides = [side for side, _top in columns.values()]
        axes.set_xlim(-2.6 if -1 in sides else -0.6, 2.6 if 1 in sides else 0.6)
        axes.set_ylim(max(depth, middle + len(order) + 1) - 0.4, -0.6)
        return axes.figure

    ranks = {
        name: {label: rank for rank, label in enumerate(list_, start=1)} for name, list_ in lists.items()
    }
    best = ", ".join(
        _("{name} {rank}").format(name=name, rank=ranks[name].get(order[0], _("not found"))) for name in lists
    )
    return Picture(
        title=_("From the rank in each list to the fused rank"),
        alt=_(
            "Lines lead from {count} rankings to the fused one. {first} is first in the fused ranking; its "
            "ranks are: {best}. The fused order is {order}."
        ).format(count=len(lists), first=order[0], best=best, order=", ".join(order)),
        columns=(_("fused rank"), _("document"), *(_("rank in {name}").format(name=name) for name in lists)),
        rows=[
            (str(rank), starred(label, rank == 1), *(str(ranks[name].get(label, "-")) for name in lists))
            for rank, label in enumerate(order, start=1)
        ],
        draw=draw,
    )


def plot_rrf_curve(k_rrfs: Sequence[float] = (1, 60), ranks: int = 20) -> Picture:
    """How fast 1 / (k_rrf + rank) falls: each rank's score as a share of the score of rank 1.

    ``k_rrfs`` are one to four constants, each at least 0; ``ranks`` is the last rank drawn, at least 2.
    Raises ValueError for other values.
    """
    constants = list(dict.fromkeys(k_rrfs))
    if not 1 <= len(constants) <= 4 or any(not k_rrf >= 0 for k_rrf in constants) or ranks < 2:
        raise ValueError(_("Give one to four values of k_rrf, each at least 0, and at least 2 ranks."))
    positions = list(range(1, ranks + 1))

    def share(k_rrf, rank):
        return (k_rrf + 1) / (k_rrf + rank)

    def draw(ink):
        axes = axes_of(ink, height=3.4)
        styles = ((BLUE, "-", "o"), (ORANGE, "--", "s"), ("#56B4E9", "-.", "^"), ("#CC79A7", ":", "D"))
        for k_rrf, (colour, line, marker) in zip(constants, styles, strict=False):
            axes.plot(
                positions,
                [share(k_rrf, rank) for rank in positions],
                color=colour,
                linestyle=line,
                linewidth=2,
                marker=marker,
                markersize=6,
                markeredgecolor=ink,
                markeredgewidth=0.7,
            )
            axes.text(
                ranks + 0.012 * ranks,
                share(k_rrf, ranks),
                f"  k_rrf = {k_rrf:g}",
                va="center",
                color=ink,
                fontweight="bold",
            )
        axes.set_xlim(0.5, ranks * 1.25)
        axes.set_ylim(0, 1.06)
        axes.set_xticks(_some_ranks(ranks))
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel(_("rank in one list"), color=ink)
        axes.set_ylabel(_("score, rank 1 = 100 %"), color=ink)
        return axes.figure

    ends = ", ".join(
        _("{share:.0%} for k_rrf = {k_rrf:g}").format(share=share(k_rrf, ranks), k_rrf=k_rrf)
        for k_rrf in constants
    )
    return Picture(
        title=_("What one list adds: 1 / (k_rrf + rank), and its share of the score of rank 1"),
        alt=_(
            "Falling curves of the RRF score by rank. At rank {ranks} what is left of the score of rank 1 is "
            "{ends}."
        ).format(ranks=ranks, ends=ends),
        columns=(_("rank"), *(f"k_rrf = {k_rrf:g}" for k_rrf in constants)),
        rows=[
            (str(rank), *(f"{_score(k_rrf, rank)} ({share(k_rrf, rank):.0%})" for k_rrf in constants))
            for rank in _some_ranks(ranks)
        ],
        draw=draw,
    )


def _heading(axes, ink: str, text: str, x: float, y: float) -> None:
    axes.text(x, y, clip(text, 20), ha="center", va="center", color=ink, fontstyle="italic")


def _columns(lists: Mapping[str, Sequence]) -> tuple[dict[str, tuple[int, int]], int]:
    """Where each ranking stands: its side of the fused one (-1 or 1) and its height; and the depth of all."""
    places, filled = {}, {-1: 0, 1: 0}
    for i, (name, ranking) in enumerate(lists.items()):
        side = 1 if i % 2 else -1
        places[name] = (side, filled[side])
        filled[side] += len(ranking) + 2
    return places, max(filled.values()) - 1


def _line(ink: str, first: bool, alone: bool) -> dict:
    return {
        "color": BLUE if first else ORANGE if alone else ink,
        "linestyle": "--" if alone else "-",
        "linewidth": 3 if first else 1.8 if alone else 1.2,
    }


def _main_terms(shares: dict[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """At most six terms, those that add most; the others are added up as one."""
    sums = Counter()
    for of in shares.values():
        sums.update(of)
    terms = [term for term, _total in sums.most_common()]
    if len(terms) <= len(FILLS):
        return shares, terms
    kept, rest = terms[: len(FILLS) - 1], _("other terms")
    shorter = {}
    for label, of in shares.items():
        shorter[label] = {term: of[term] for term in kept if term in of}
        if others := [share for term, share in of.items() if term not in kept]:
            shorter[label][rest] = sum(others)
    return shorter, [*kept, rest]


def _pairs(results: Iterable) -> list[tuple[str, float]]:
    try:
        pairs = [(label_of(document), float(value)) for document, value in results]
    except (TypeError, ValueError):
        raise ValueError(
            _("Give the results of a search: a list of pairs (document, distance), best first.")
        ) from None
    if not pairs:
        raise ValueError(_("There is nothing to draw: the search found no document."))
    return pairs[:_MOST_ROWS]


def _some_ranks(ranks: int) -> list[int]:
    return [rank for rank in (1, 2, 3, 5, 10, 20, 50, 100) if rank < ranks] + [ranks]


def _score(k_rrf: float, rank: int) -> str:
    return f"{1 / (k_rrf + rank):.4f}"
