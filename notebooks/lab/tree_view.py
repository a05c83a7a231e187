"""The trees of a search drawn, with the branches it took, one step at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape

import ipywidgets as widgets

from lab.drawing import BLUE, ORANGE, axes_of, clip
from lab.language import _
from lab.picture import STAR, Picture
from lab.tree_walk import FINAL, LOST, PASSED, WAITING, Walk, in_words

# A tree of more pages is drawn only where the search has looked.
_MOST_PAGES = 16
_GREY = "#999999"
_DARK = "#111111"  # pure black is left out of an SVG, and would turn light on a dark page
_BELOW_LABEL = 0.54  # where the lines to the children begin
# Shape and colour of a node, its size, and what a legend calls it. Those that nobody has looked at come last.
_UNSEEN = "unseen"
_LOOKS = {
    FINAL: ("*", BLUE, 15, _("final")),
    WAITING: ("o", BLUE, 10, _("goes on")),
    PASSED: ("o", "#56B4E9", 6, _("gave way")),
    LOST: ("X", _GREY, 9, _("not taken")),
    _UNSEEN: ("o", "none", 6, _("not looked at")),
}


@dataclass
class _Place:
    """A node in a drawing: how far right, how far down, and where its parent is."""

    node: dict
    x: float
    y: float
    parent: "_Place | None"
    closed: bool  # it has children that are not drawn


def plot_walk(walk: Walk, step: int = 1) -> Picture:
    """One step of a watched search (``lab.watch_search``): its trees, and the ranking of this step as a table.

    Nodes of the ranking have a square around them, with their rank. Stars are final nodes, full circles go on, crosses
    are not taken. Of a document of more than 16 pages only the nodes that were looked at are drawn; a triangle stands
    for what is below the others. Steps count from 1. Raises ValueError where there is no such step.
    """
    if not 1 <= step <= len(walk.steps):
        raise ValueError(
            _("This search has {count} steps: choose a number from 1 to {count}.").format(
                count=len(walk.steps)
            )
        )
    shown = walk.steps[step - 1]
    places, names, height = _layout(walk)
    states: dict[int, str] = {}
    for earlier in walk.steps[:step]:
        states |= earlier.states
    ranks = {node["id"]: rank for rank, (node, _score) in enumerate(shown.ranked, start=1)}

    def draw(ink):
        axes = axes_of(ink, height=0.75 + 0.6 * height)
        axes.set_axis_off()
        for x, y, text in names:
            axes.text(x, y, clip(text, 40), ha="left", va="center", color=ink, fontstyle="italic")
        for place in places.values():
            _draw_line(axes, ink, place, states)
        for place in places.values():
            _draw_node(axes, ink, place, states.get(place.node["id"], _UNSEEN), ranks)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(height, -0.5)
        _legend(axes, ink)
        return axes.figure

    first = shown.ranked[0][0] if shown.ranked else None
    return Picture(
        title=_("Step {step} of {count}: {title}").format(
            step=step, count=len(walk.steps), title=shown.title
        ),
        alt=_alt(walk, step, first),
        columns=(_("rank"), _("node"), _("file"), _("pages"), _("score"), _("what becomes of it")),
        rows=[
            (
                str(rank),
                f"{STAR} {node['id']}" if shown.states[node["id"]] == FINAL else str(node["id"]),
                node["file_name"],
                _pages(node),
                f"{score:.5f}",
                shown.said(node),
            )
            for rank, (node, score) in enumerate(shown.ranked, start=1)
        ],
        draw=draw,
    )


class WalkView(widgets.VBox):
    """A watched search (``lab.watch_search``) with a slider for its steps: drag it, or use the arrow keys.

    ``slider`` is an ipywidgets slider; ``picture`` what is shown. Raises ValueError for a search without a step.
    """

    def __init__(self, walk: Walk, step: int = 1) -> None:
        self._picture = cache(lambda number: plot_walk(walk, number))
        self.slider = widgets.IntSlider(
            value=step,
            min=1,
            max=len(walk.steps),
            description=_("step"),
            layout=widgets.Layout(width="420px"),
        )
        self._drawing = widgets.HTML(self._html(step))
        self.slider.observe(
            lambda change: setattr(self._drawing, "value", self._html(change["new"])), "value"
        )
        self._heading = _("The search for {query}").format(query=repr(walk.query))
        super().__init__(
            [widgets.HTML(f"<strong>{escape(self._heading)}</strong>"), self.slider, self._drawing]
        )

    @property
    def picture(self) -> Picture:
        """The picture of the step that is shown."""
        return self._picture(self.slider.value)

    def _html(self, step: int) -> str:
        return self._picture(step)._repr_html_()

    def _repr_mimebundle_(self, **arguments) -> dict:
        """The widget; where no kernel runs, a picture of its last step."""
        note = _("{heading}, as it ended. Run the cell for a slider through its steps.").format(
            heading=self._heading
        )
        last = self._picture(self.slider.max)
        bundle = super()._repr_mimebundle_(**arguments)
        bundle["text/html"] = f"<div><p>{escape(note)}</p>{last.png_html()}</div>"
        bundle["text/plain"] = repr(self.picture)
        return bundle


def _pages(node: dict) -> str:
    return "-".join(dict.fromkeys((str(node["first_page"]), str(node["last_page"]))))


def _alt(walk: Walk, step: int, first: dict | None) -> str:
    shown = walk.steps[step - 1]
    if first is None:
        return _("Step {step} of {count} of a search: nothing was found.").format(
            step=step, count=len(walk.steps)
        )
    names = {
        state: [node["id"] for node, _score in shown.ranked if shown.states[node["id"]] == state]
        for state in _LOOKS
    }
    parts = [
        _("{state}: {ids}").format(state=_LOOKS[state][3], ids=", ".join(map(str, ids)))
        for state, ids in names.items()
        if ids
    ]
    return _(
        "Trees of summaries, step {step} of {count} of a search: {title}. First in the ranking is node {id} "
        "({pages}); {parts}."
    ).format(
        step=step,
        count=len(walk.steps),
        title=shown.title,
        id=first["id"],
        pages=in_words(first),
        parts="; ".join(parts),
    )


# ---- where the nodes stand


def _layout(walk: Walk) -> tuple[dict[int, _Place], list[tuple[float, float, str]], float]:
    """The places of all nodes by their ids, the names of the files with theirs, and the height of all trees."""
    ranked = {node["id"] for step in walk.steps for node, _score in step.ranked}
    roots = [node for node, _score in walk.steps[0].ranked]
    trees = [list(_drawn(walk.index, root, ranked, None, 0)) for root in roots]
    slots = max([*(_ends(tree) for tree in trees), 7])
    places, names, top = {}, [], 0.0
    for root, tree in zip(roots, trees, strict=True):
        parents = {id(place.parent) for place in tree}
        ends = [place for place in tree if id(place) not in parents]
        for slot, place in enumerate(ends):
            place.x = (slot + 0.5 + (slots - len(ends)) / 2) / slots
        for place in reversed(tree):  # children before their parents
            if below := [other.x for other in tree if other.parent is place]:
                place.x = (min(below) + max(below)) / 2
        for place in tree:
            place.y += top
            places[place.node["id"]] = place
        names.append((0.0, top, root["file_name"]))
        top = max(place.y for place in tree) + 1.4
    return places, names, max(top - 0.4, 1.0)


def _drawn(
    index, node: dict, ranked: set, parent: _Place | None, depth: int, whole: bool = False
) -> Iterator[_Place]:
    """A node and what is drawn below it, each node before its children, from left to right."""
    whole = whole or (parent is None and node["last_page"] - node["first_page"] < _MOST_PAGES)
    is_open = bool(node["child_ids"]) and (whole or not ranked.isdisjoint(node["child_ids"]))
    place = _Place(node, 0.0, float(depth), parent, bool(node["child_ids"]) and not is_open)
    yield place
    for child in index.children(node) if is_open else ():
        yield from _drawn(index, child, ranked, place, depth + 1, whole)


def _ends(tree: list[_Place]) -> int:
    """How many of these nodes have nothing drawn below them."""
    parents = {id(place.parent) for place in tree}
    return sum(id(place) not in parents for place in tree)


# ---- how they are drawn


def _draw_line(axes, ink: str, place: _Place, states: dict[int, str]) -> None:
    if place.parent is not None:
        taken = states.get(place.node["id"], LOST) != LOST and states.get(place.parent.node["id"]) == PASSED
        axes.plot(
            [place.parent.x, place.x],
            [place.parent.y + _BELOW_LABEL, place.y],
            color=BLUE if taken else ink,
            linewidth=3 if taken else 0.6,
            zorder=1,
        )


def _draw_node(axes, ink: str, place: _Place, state: str, ranks: dict[int, int]) -> None:
    marker, colour, size, _name = _LOOKS[state]
    at = (place.x, place.y)
    if place.closed:
        axes.plot(place.x, place.y + 0.6, zorder=1, **_mark("^", "none", ink, 8))
    axes.plot(*at, zorder=3, **_mark(marker, colour, ink, size))
    rank = ranks.get(place.node["id"])
    write = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 8, "zorder": 4}
    if rank is not None:
        axes.plot(*at, zorder=2, **_mark("s", "none", ORANGE, 19, edge=2.5))
        # On a ground of its own, since lines and other squares may run below it.
        ground = {"boxstyle": "square,pad=0.12", "facecolor": ORANGE, "edgecolor": "none"}
        axes.annotate(str(rank), at, xytext=(9.5, 9.5), color=_DARK, fontweight="bold", bbox=ground, **write)
    below = -16 if rank is not None else -12
    axes.annotate(_pages(place.node), at, xytext=(0, below), color=ink, **write)


def _mark(marker: str, colour: str, ink: str, size: float, edge: float = 1) -> dict:
    return {
        "linestyle": "",
        "marker": marker,
        "markerfacecolor": colour,
        "markeredgecolor": ink,
        "markeredgewidth": edge,
        "markersize": size,
    }


def _legend(axes, ink: str) -> None:
    from matplotlib.lines import Line2D

    ranked = Line2D(
        [], [], label=_("in this ranking, with its rank"), **_mark("s", "none", ORANGE, 11, edge=2)
    )
    states = [
        Line2D([], [], label=name, **_mark(marker, colour, ink, min(size, 11)))
        for marker, colour, size, name in _LOOKS.values()
    ]
    below = Line2D([], [], label=_("below it are nodes that are not drawn"), **_mark("^", "none", ink, 8))
    axes.figure.legend(
        handles=[ranked, *states, below],
        loc="outside upper center",
        ncols=4,
        frameon=False,
        labelcolor=ink,
        fontsize=8,
        handletextpad=0.2,
        columnspacing=0.9,
    )
