"""Unit 09: the knee of a curve of scores, a beam search that cuts at it, and what the share it prunes tells."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from ..compare import Row, Value, same
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..outcome import Outcome
from .drawing import shuffled, words
from .tuning import Share

_UNIT = "09_knee"


def _knee_answer(knee, scores, sensitivity=None):
    return knee(scores) if sensitivity is None else knee(scores, sensitivity)


def _knee_probe(scores: list[float], sensitivity: float | None = None) -> Probe:
    given = {"scores": scores}
    if sensitivity is not None:
        given["sensitivity"] = sensitivity
    extra = "" if sensitivity is None else f", sensitivity={sensitivity}"
    return Probe(given, f"knee([{', '.join(f'{score:g}' for score in scores)}]{extra})")


def _agreeing_probe(count: int, k_rrf: int = 60, sensitivity: float | None = None) -> Probe:
    """The scores where two rankers agree: they depend on nothing but how many there are."""
    scores = [2 / (k_rrf + rank) for rank in range(1, count + 1)]
    extra = "" if sensitivity is None else f", sensitivity={sensitivity}"
    return Probe(
        _knee_probe(scores, sensitivity).input,
        f"knee(scores{extra}), scores: 2 / ({k_rrf} + rank) for the ranks 1 to {count}",
    )


# Curves from 1 to 0. In the first the largest gap comes before the knee, in the second a smaller bend does.
_GAP = [1, 0.945, 0.589, 0.315, 0.178, 0.096, 0.041, 0]
_BEND = [1, 0.7, 0.68, 0.2, 0.15, 0.1, 0.05, 0]
# Far from the chord, nearer to it, the knee, nearer, far once more.
_TWO_DROPS = [1, 0.5, 0.45, 0.2, 0.195, 0.01, 0.005, 0.003, 0]
# In eighths: two points are equally far from the chord, one on each side, both below, both above.
_EACH_SIDE, _BOTH_BELOW, _BOTH_ABOVE = (
    [8, 6, 4, 4, 4, 4, 4, 2, 0],
    [8, 4, 2, 1, 0],
    [8, 8, 8, 8, 7, 4, 2, 1, 0],
)


def _scaled(random: Random, curve: list[float], jitter: float = 0.0) -> list[float]:
    """The curve in other units, its inner points moved a little; still in descending order."""
    low, span = random.randrange(5, 60) / 100, random.randrange(30, 400) / 100
    moved = [value + jitter * random.randrange(-10, 11) / 10 for value in curve[1:-1]]
    moved = sorted((min(1.0, max(0.0, value)) for value in moved), reverse=True)
    return [round(low + span * value, 5) for value in (1, *moved, 0)]


def _drop(random: Random, count: int, high: int) -> list[float]:
    """A curve of ``count`` points of which the first ``high`` are high, and the others low."""
    tops = sorted(random.sample(range(880, 990), high - 1), reverse=True)
    bottoms = sorted(random.sample(range(10, 110), count - high - 1), reverse=True)
    return [1, *(value / 1000 for value in (*tops, *bottoms)), 0]


def _one_list(random: Random) -> list[float]:
    """Scores of a fusion: the first are in both lists, the others in one."""
    both, single, k_rrf = random.randrange(2, 5), random.randrange(5, 9), random.choice([40, 50, 60, 70])
    ranks = sorted(random.sample(range(1, 12), 2 * both))
    scores = [
        1 / (k_rrf + one) + 1 / (k_rrf + other) for one, other in zip(ranks[::2], ranks[1::2], strict=True)
    ]
    scores += [1 / (k_rrf + rank) for rank in sorted(random.sample(range(1, 14), single))]
    return [round(score, 6) for score in scores]


def _draw_knees(random: Random) -> tuple[Probe, ...]:
    count = random.randrange(8, 14)
    bend = [*_BEND[:3], *(0.2 - 0.2 * i / (count - 4) for i in range(count - 4)), 0]
    return (
        _knee_probe(_scaled(random, _drop(random, count, random.randrange(2, count // 2)))),
        _knee_probe(_one_list(random)),
        _agreeing_probe(random.randrange(12, 40), random.randrange(10, 100)),
        _agreeing_probe(random.randrange(60, 140), random.randrange(10, 100)),
        _knee_probe(_scaled(random, _GAP, 0.012)),
        _knee_probe(_scaled(random, bend, 0.008)),
    )


def _draw_sides(random: Random) -> tuple[Probe, ...]:
    count = random.randrange(6, 12)
    low, step = random.randrange(1, 40), random.randrange(1, 30)
    one_side = random.choice([_BOTH_BELOW, _BOTH_ABOVE])
    points, start, fall = random.randrange(4, 12), random.randrange(300, 500), random.randrange(3, 25)
    value, other, more, less = (random.randrange(1, 10_000) / 10_000 for _ in range(4))
    return (
        _knee_probe(_scaled(random, _drop(random, count, random.randrange(count // 2 + 2, count)))),
        _knee_probe([low + step * eighths for eighths in one_side]),
        _knee_probe([step + low * eighths for eighths in _EACH_SIDE]),
        _knee_probe([value] * random.randrange(3, 12)),
        _knee_probe([start - fall * i for i in range(points)]),
        _knee_probe([other] * random.randrange(3, 12)),
        _knee_probe([random.randrange(1, 10_000) / 10_000]),
        _knee_probe([max(more, less) + 0.1, min(more, less)]),
    )


def _draw_sensitivities(random: Random) -> tuple[Probe, ...]:
    count = random.randrange(9, 14)
    return (
        _knee_probe(_scaled(random, _TWO_DROPS, 0.003), random.choice([0.81, 0.82, 0.83, 0.84, 0.85])),
        _knee_probe(
            _scaled(random, _drop(random, count, random.randrange(2, count // 2 - 1))),
            random.randrange(20, 45) / 100,
        ),
        _agreeing_probe(
            random.randrange(15, 60), random.randrange(30, 90), random.choice([0.7, 0.75, 0.8, 0.9])
        ),
        _knee_probe(_scaled(random, _TWO_DROPS, 0.003), random.randrange(12, 26) / 100),
    )


KNEE = Exercise(
    id="knee",
    unit=_UNIT,
    title=N_("The knee of a curve of scores"),
    objects=("knee",),
    answer=_knee_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("the point farthest from the chord is the last that is kept"),
            1,
            (
                _knee_probe([1, 0.95, 0.2, 0.18, 0.16, 0.15]),
                _knee_probe([0.0325, 0.032, 0.0164, 0.0161, 0.0159, 0.0156, 0.0154]),
                _agreeing_probe(20),
                _agreeing_probe(100),
                _knee_probe([0.05 + 0.4 * value for value in _GAP]),
                _knee_probe([round(0.1 + 0.7 * value, 4) for value in _BEND]),
            ),
            _draw_knees,
        ),
        Criterion(
            N_("either side of the chord, the first of equals, and curves without a knee"),
            1,
            (
                _knee_probe([1, 0.98, 0.96, 0.94, 0.3]),
                _knee_probe([0.0328, 0.0325, 0.0323, 0.0164, 0.0161, 0.0159]),
                _knee_probe([1, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0]),
                _knee_probe([0.5, 0.5, 0.5, 0.5]),
                _knee_probe([1, 0.75, 0.5, 0.25, 0]),
                _knee_probe([]),
                _knee_probe([0.7]),
                _knee_probe([0.9, 0.2]),
            ),
            _draw_sides,
        ),
        Criterion(
            N_("with a sensitivity: the last point that is far enough away"),
            1,
            (
                _knee_probe(_TWO_DROPS, 0.85),
                _knee_probe([1, 0.95, 0.2, 0.18, 0.16, 0.15, 0.12, 0.1, 0.05], 0.4),
                _agreeing_probe(20, sensitivity=0.85),
                _knee_probe(_TWO_DROPS, 0.2),
            ),
            _draw_sensitivities,
        ),
    ),
    hints=(
        N_("Draw the curve on paper, and the chord: the straight line from its first point to its last."),
        N_(
            "Scale both axes, and the chord goes from (0, 1) to (1, 0): the line on which x + y = 1. How far a point "
            "is from it follows from x + y - 1; its sign says on which side it is. Before you scale: when would you "
            "divide by zero?"
        ),
        N_(
            "Fewer than 3 scores, or first == last: return their number. x = i / (n - 1), y = (score - last) / "
            "(first - last), distance = abs(x + y - 1). largest = max(distances); if it is 1e-9 or less: return the "
            "number of scores. Without a sensitivity, take the first i with distance >= largest - 1e-9; with one, the "
            "last i with distance >= sensitivity * largest - 1e-9. Return i + 1."
        ),
        N_("The finished function is knee in solutions/hybrid_search/knees.py."),
    ),
    misconceptions={
        "ascending_scores": N_(
            "You sort the scores in ascending order. They come best first, and so the curve falls: leave them as they "
            "are."
        ),
        "knee_not_kept": N_(
            "You keep the scores before the knee. The knee is kept, too: the point number i, counted from 0, is the "
            "score number i + 1."
        ),
        "one_more_kept": N_("You keep one score behind the knee. The knee itself is the last that is kept."),
        "rest_counted": N_("You return how many are cut off. Return how many are kept."),
        "last_of_equals": N_(
            "Where two points are equally far from the chord, you take the last. Take the first of them."
        ),
        "first_bend": N_(
            "You stop at the first bend. A later point may be farther from the chord: look at all of them."
        ),
        "first_off_the_chord": N_(
            "You take the first point that is off the chord. Take the one that is farthest from it."
        ),
        "below_only": N_(
            "You look below the chord only. A curve that stays high and falls at the end is above it: take the "
            "distance without its sign, with abs()."
        ),
        "above_only": N_(
            "You look above the chord only. A curve that falls at once is below it: take the distance without its "
            "sign, with abs()."
        ),
        "scores_not_scaled": N_(
            "The scores are not scaled, so the chord does not go from (0, 1) to (1, 0): take (score - last) / (first - "
            "last)."
        ),
        "ranks_not_scaled": N_(
            "The places 0, 1, 2 ... are not scaled, so the chord does not go from (0, 1) to (1, 0): divide them by n - "
            "1."
        ),
        "divided_by_the_best": N_(
            "You divide the scores by the best one, so the lowest is not 0. Subtract the lowest first, from the score "
            "and from the best."
        ),
        "nearest_to_the_corner": N_(
            "You take the point nearest to the corner (0, 0). The knee is the point farthest from the chord."
        ),
        "largest_gap": N_(
            "You cut at the largest gap between two neighbours. The knee looks at the whole curve: which point is "
            "farthest from the chord?"
        ),
        "above_the_mean": N_(
            "You keep what is above the mean. The knee is where the curve bends: the point farthest from the chord."
        ),
        "flat_curve_cut": N_("You cut a curve of equal scores. It has no knee: keep all of them."),
        "flat_curve_fails": N_(
            "Where all scores are equal, you divide by zero. Such a curve has no knee: return the number of scores "
            "before you divide."
        ),
        "straight_line_cut": N_(
            "You cut a straight line: all its points are on the chord, but for a rounding error. Where no point is "
            "farther away than 1e-9, keep all."
        ),
        "short_curve_cut": N_("You cut a curve of one or two scores. Fewer than three have no knee: keep all."),
        "short_curve_fails": N_(
            "Your code fails for fewer than three scores. They have no knee: return their number first."
        ),
        "nothing_kept": N_("Where there is no knee, you keep nothing. There is no reason to cut: keep all."),
        "sensitivity_ignored": N_(
            "The sensitivity changes nothing. With one, take the last point whose distance is at least that share of "
            "the largest distance."
        ),
        "sensitivity_of_the_scores": N_(
            "You compare the scores with a share of the best score. The sensitivity is a share of the largest "
            "distance from the chord."
        ),
        "sensitivity_of_the_count": N_(
            "You keep that share of the scores. The sensitivity is a share of the largest distance from the chord."
        ),
        "first_of_the_share": N_(
            "With a sensitivity you take the first point that is far enough away. Take the last one: it keeps more."
        ),
        "stops_below_the_share": N_(
            "With a sensitivity you stop at the first point that is too near. A later one may be far enough away "
            "again: take the last of all."
        ),
        "sensitivity_turned_round": N_(
            "You use 1 - sensitivity. At 0.85 a point must be at least 0.85 times as far away as the knee."
        ),
        "sensitivity_is_a_distance": N_(
            "You compare the distance with the sensitivity itself. Multiply it by the largest distance first."
        ),
        "scores_returned": N_("You return the scores that are kept. Return how many they are: a number."),
    },
)  # fmt: skip


class _StubTrees:
    """Stands in for a TreeIndex: trees drawn by hand, in which each node has a number that says how well it fits.

    ``trees`` are nested lists [id, number, children]. The score in a ranking is the number divided by how many nodes
    are ranked: so, as in a fusion, scores of two rankings cannot be compared.
    """

    def __init__(self, trees: list) -> None:
        self.trees = trees
        self.fits: dict[int, float] = {}
        self.nodes: dict[int, dict] = {}
        self._rankings = 0
        page = 1
        for tree in trees:
            page = self._add(tree, -1, page)

    def _add(self, tree: list, parent_id: int, first_page: int) -> int:
        """Add a node and those below it; the page behind them."""
        node_id, fit, children = tree
        page = first_page
        for child in children:
            page = self._add(child, node_id, page)
        page += not children
        self.fits[node_id] = fit
        self.nodes[node_id] = {
            "id": node_id,
            "file_name": "manual.txt",
            "first_page": first_page,
            "last_page": page - 1,
            "level": _height(tree),
            "parent_id": parent_id,
            "child_ids": [child[0] for child in children],
            "summary": f"The summary of node {node_id}.",
            "keywords": [f"keyword {node_id}"],
        }
        return page

    def search_roots(self, query: str, k: int) -> list[tuple[dict, float]]:
        if not isinstance(k, int):
            raise TypeError(f"search_roots needs the query and a number of roots, and got {k!r}")
        return self.rank(query, [self._copy(tree[0]) for tree in self.trees])[:k]

    def rank(self, query: str, nodes: list[dict]) -> list[tuple[dict, float]]:
        if not isinstance(query, str) or isinstance(nodes, Mapping):
            raise TypeError("rank needs the query, which is one string, and a list of nodes")
        self._rankings += 1
        if self._rankings > 200:
            raise RuntimeError("200 rankings, and no end: stop when the nodes that are kept no longer change")
        given = {self._id(node): node for node in nodes}
        order = sorted(given, key=lambda node_id: (-self.fits[node_id], node_id))
        return [(given[node_id], self.fits[node_id] / len(order)) for node_id in order]

    def children(self, node: dict) -> list[dict]:
        return [self._copy(child) for child in self.nodes[self._id(node)]["child_ids"]]

    def text(self, node: dict) -> str:
        return f"The text of node {self._id(node)}."

    def _copy(self, node_id: int) -> dict:
        node = self.nodes[node_id]
        return {**node, "child_ids": list(node["child_ids"]), "keywords": list(node["keywords"])}

    def _id(self, node: object) -> int:
        if not isinstance(node, Mapping) or node.get("id") not in self.nodes:
            raise TypeError(f"the index needs a node, a dict with its id, and got {type(node).__name__}")
        return node["id"]

    def __repr__(self) -> str:
        return f"_StubTrees({self.trees!r})"


def _height(tree: list) -> int:
    return 1 + max(map(_height, tree[2]), default=-1)


def _beam_answer(beam_search, trees, query="pump leak", **settings):
    found = beam_search(_StubTrees(trees), query, **settings)
    if found is None or isinstance(found, Mapping | str) or not hasattr(found, "__iter__"):
        return found
    # Ids are no nodes, and are shown as what they are.
    return [{"node": node["id"]} if isinstance(node, Mapping) and "id" in node else node for node in found]


def _beam_probe(trees: list, **given) -> Probe:
    called = [f'"{given.get("query", "pump leak")}"']
    called += [f"{name}={value!r}" for name, value in given.items() if name != "query"]
    lines = [f"beam_search(index, {', '.join(called)}): the ids of the nodes"]
    if trees:
        lines.append("how well each node fits, in brackets")
        lines.append(f"roots: {_written(trees)}")
        lines += [f"below {node[0]}: {_written(node[2])}" for node in _inner(trees)]
    else:
        lines.append("no trees")
    return Probe({"trees": trees, **given}, "\n".join(lines))


def _written(trees: list) -> str:
    return ", ".join(f"{node_id} ({fit})" for node_id, fit, _children in trees)


def _inner(trees: list) -> list:
    """The nodes that have children, from the roots down."""
    level, found = list(trees), []
    while level:
        found += [node for node in level if node[2]]
        level = [child for node in level for child in node[2]]
    return found


# What happens in a search, with letters for the nodes: trees of pairs and triples (node, how well it fits, children).
# In a probe the letters become numbers. A drawn one has other numbers, the fits in the same proportions, so that the
# knees stay where they are, and the children in another order.
_DEEP = [("r", 50, [("p", 60, [("a", 70), ("b", 20)]), ("q", 40, [("c", 90), ("d", 10)])])]
_STAYS = [("r", 80, [("a", 30), ("b", 40)]), ("s", 50, [("c", 70), ("d", 60)]), ("t", 45)]
_DEEPER = [
    ("r", 30, [("p", 40, [("m", 45, [("a", 90), ("b", 50)]), ("c", 35)]), ("q", 20)]),
    ("s", 60, [("d", 10), ("e", 15)]),
]
_BETWEEN = [("r", 50, [("a", 70), ("b", 60), ("c", 30)]), ("s", 55, [("d", 65), ("e", 20)])]
_PARENT_SECOND = [("r", 65, [("a", 70), ("b", 40)]), ("s", 60, [("c", 50), ("d", 55)])]
_MANY_WIN = [("r", 20, [("a", 90), ("b", 80), ("c", 70), ("d", 60)]), ("s", 75, [("e", 30), ("f", 65)])]
# v would be the best, but the way there is not wide enough.
_TOO_LATE = [
    ("r", 80, [("a", 30), ("b", 40)]),
    ("s", 70, [("c", 20), ("d", 25)]),
    ("t", 45, [("u", 48, [("v", 95), ("w", 12)]), ("x", 5)]),
]
_TWO_HIGH = [
    ("r", 94, [("a", 100), ("b", 96), ("c", 20), ("d", 12)]),
    ("s", 90, [("e", 15), ("f", 10), ("g", 8)]),
    ("t", 24, [("h", 11), ("i", 6)]),
]
_KNEE_EACH_ROUND = [
    ("r", 72, [("p", 99, [("a", 57), ("b", 9)]), ("c", 55)]),
    ("s", 29, [("q", 39, [("d", 82), ("e", 13)]), ("f", 81), ("m", 26, [("g", 19), ("h", 97)])]),
]
_KNEE_CUTS_MORE = [
    ("r", 74, [("p", 62, [("a", 81), ("b", 54)]), ("q", 99, [("c", 37), ("d", 61)])]),
    ("s", 15, [("e", 78), ("f", 51), ("g", 16)]),
]
_SENSITIVE = [
    ("r", 39, [("p", 29, [("a", 83), ("b", 17)]), ("c", 31)]),
    ("s", 3, [("d", 30), ("e", 34), ("q", 22, [("f", 33), ("g", 84)])]),
]
_MORE_SENSITIVE = [
    ("t", 95),
    ("r", 39, [("p", 32, [("a", 77), ("b", 79), ("c", 36)]), ("d", 27), ("q", 81, [("e", 62), ("f", 42)])]),
]
_LAST_ROOT = [
    ("r", 80, [("a", 30), ("b", 40)]),
    ("s", 50, [("c", 70), ("d", 60)]),
    ("t", 45, [("u", 95), ("v", 20)]),
]


def _of(template: list, random: Random | None = None, **given) -> Probe:
    """The probe of a template: its letters become some of the numbers from 1 on, or numbers that are drawn."""
    names = sorted(_names(template))
    numbers, low, step = Random("09 knee").sample(range(1, len(names) + 1), len(names)), 0, 1
    if random is not None:
        numbers = random.sample(range(10, 500), len(names))
        low, step = random.randrange(0, 90), random.randrange(1, 9)
        given = {"query": " ".join(words(random, 2)), **given}
    ids = dict(zip(names, numbers, strict=True))

    def numbered(node: tuple) -> list:
        name, fit, *below = node
        children = [numbered(child) for child in (below[0] if below else [])]
        return [ids[name], low + step * fit, children if random is None else shuffled(random, children)]

    return _beam_probe([numbered(tree) for tree in template], **given)


def _names(trees: list) -> list[str]:
    return [name for node, _fit, *below in trees for name in (node, *(_names(below[0]) if below else []))]


_ROUNDS = ((_DEEP, {}), (_STAYS, {}), (_DEEPER, {"width": 2}))
_REMOVALS = (
    (_BETWEEN, {"width": 4}),
    (_PARENT_SECOND, {"width": 2}),
    (_MANY_WIN, {"width": 5}),
    (_TOO_LATE, {"width": 2}),
)
_KNEES = tuple((template, {"cut": "knee"}) for template in (_TWO_HIGH, _KNEE_CUTS_MORE, _KNEE_EACH_ROUND))
_REST = (
    (_SENSITIVE, {"cut": "sensitive"}),
    (_MORE_SENSITIVE, {"cut": "sensitive", "sensitivity": 0.5}),
    (_LAST_ROOT, {"max_roots": 2}),
    (_LAST_ROOT, {"width": 1}),
)


def _probes(templates: tuple, random: Random | None = None) -> tuple[Probe, ...]:
    return tuple(_of(template, random, **given) for template, given in templates)


def _draw_rounds(random: Random) -> tuple[Probe, ...]:
    return _probes(_ROUNDS, random)


def _draw_removals(random: Random) -> tuple[Probe, ...]:
    return _probes(_REMOVALS, random)


def _draw_cuts(random: Random) -> tuple[Probe, ...]:
    return _probes(_KNEES, random)


def _draw_rest(random: Random) -> tuple[Probe, ...]:
    return (*_probes(_REST, random), _beam_probe([], query=" ".join(words(random, 2))))


BEAM_SEARCH = Exercise(
    id="beam_search",
    unit=_UNIT,
    title=N_("A beam of nodes, cut at a width or at a knee"),
    objects=("beam_search",),
    answer=_beam_answer,
    compare=Value(),
    criteria=(
        Criterion(N_("round by round, until nothing changes"), 1, _probes(_ROUNDS), _draw_rounds),
        Criterion(N_("who removes whom, and then the width"), 1, _probes(_REMOVALS), _draw_removals),
        Criterion(
            N_("the knee, before parents and children remove each other"), 1, _probes(_KNEES), _draw_cuts
        ),
        Criterion(
            N_("the sensitive cut, the number of roots, and nothing found"),
            1,
            (*_probes(_REST), _beam_probe([])),
            _draw_rest,
        ),
    ),
    hints=(
        N_(
            "One round takes a beam, a list of nodes, and gives the next one. Write the round first: what is ranked, "
            "and in which order is the ranking made shorter?"
        ),
        N_(
            "Within a round: rank, cut (knee and sensitive), remove relatives, cut (fixed). For the relatives go "
            "through the ranking from the best down, and take a node only if neither its parent nor a child of it has "
            'been taken: compare node["parent_id"] and node["id"].'
        ),
        N_(
            "beam = the nodes of index.search_roots(query, max_roots); before = no ids. while the ids of beam are "
            "others than before: before = the ids of beam; ranked = index.rank(query, beam + all children of its "
            'nodes); if cut is not "fixed": ranked = ranked[:knee(the scores)], with the sensitivity for "sensitive"; '
            "kept = []; for each node in ranked: append it if no node in kept is its parent or its child; beam = kept, "
            'for "fixed" kept[:width]. Return beam.'
        ),
        N_("The finished function is beam_search in solutions/hybrid_search/beam.py."),
    ),
    misconceptions={
        "knee_after_removing": N_(
            "You look for the knee when parents and children have removed each other. Cut first: the curve is that of "
            "the whole ranking."
        ),
        "knee_at_the_end": N_("You cut at the knee once, at the end. Cut in each round."),
        "knee_in_the_first_round": N_("You cut at the knee in the first round only. Cut in each round."),
        "width_before_removing": N_(
            "You cut to the width before parents and children remove each other. Then a parent takes the place of "
            "another node, and is removed: remove first, cut to the width last."
        ),
        "width_of_each_tree": N_("You keep width nodes of each parent. The width is that of the whole beam."),
        "width_not_used": N_('With cut="fixed" you keep all nodes. Keep the first width of them, in each round.'),
        "width_ignored": N_("You always keep 3 nodes. Use the argument width."),
        "width_at_the_end": N_("You cut to the width once, at the end. Cut in each round."),
        "width_with_the_knee": N_('You cut to the width in each mode. Only cut="fixed" has a width.'),
        "removed_remove": N_(
            "A node that was removed removes others. Go from the best down, and let only nodes remove that are still "
            "there."
        ),
        "children_always_remove": N_(
            "A child removes its parent even where the parent is ranked before it. Whoever of the two comes first "
            "removes the other."
        ),
        "parents_always_remove": N_(
            "A parent removes its children even where they are ranked before it. Whoever of the two comes first "
            "removes the other."
        ),
        "only_children_remove": N_("A parent that is still there must remove the children that are ranked behind it."),
        "only_parents_remove": N_("A child that is still there must remove its parent, if that is ranked behind it."),
        "nobody_removes": N_(
            "A node and its parent are both kept, so the same pages come twice. Whoever of the two comes first removes "
            "the other."
        ),
        "siblings_lost": N_("A node removes its siblings. It removes its parent and its children, and nobody else."),
        "one_round": N_("You stop after one round. Go on until a round leaves the beam as it was."),
        "fixed_rounds": N_(
            "You stop after a number of rounds that is always the same. Go on until a round leaves the beam as it was."
        ),
        "down_to_the_pages": N_(
            "Your search goes on until only pages are left, and that may never be: a parent can win. Stop when a round "
            "leaves the beam as it was."
        ),
        "children_only": N_(
            "You rank the children without their parents. A child must beat its parent: rank the beam, too."
        ),
        "pages_lost": N_("Nodes without children are lost. They stay in the ranking, next to all others."),
        "roots_not_tested": N_(
            "You begin with the children of the roots. Begin with the roots: one that beats its children stays."
        ),
        "best_node_only": N_(
            "Only the best node's children compete. Take the children of all nodes in the beam."
        ),
        "ranked_apart": N_(
            "You rank each node with its own children, and compare scores of different rankings. Rank the beam and all "
            "children at once."
        ),
        "roots_from_width": N_("You begin with width roots. Begin with max_roots of them."),
        "roots_ignored": N_("You begin with the same number of roots each time. Use the argument max_roots."),
        "one_root": N_("You begin with the best root only. Begin with max_roots of them."),
        "sensitive_is_knee": N_(
            'cut="sensitive" does the same as cut="knee". Give the sensitivity to your function knee.'
        ),
        "sensitivity_fixed": N_("The sensitivity is always the same. Use the argument sensitivity."),
        "always_sensitive": N_('You use the sensitivity with cut="knee", too. Leave it out there.'),
        "always_fixed": N_("You cut to the width whatever cut says. There are three modes."),
        "worst_first": N_("The worst node comes first. Keep the order of the last ranking: best first."),
        "order_of_the_ids": N_("Your nodes are in the order of their ids. Keep the order of the last ranking."),
        "best_only": N_("You return the best node only. Return the whole beam."),
        "pairs_returned": N_("You return pairs (node, score). Return the nodes alone."),
        "ids_returned": N_("You return ids. Return the nodes themselves."),
        "nothing_found_fails": N_("Where there are no trees, your search fails. Return [] there."),
    },
)  # fmt: skip


class Reading(Share):
    """A share worked out by hand, or one read off a measurement, which may be ``within`` (of the probe's input)."""

    def expected(self, run: Callable[[Mapping[str, Any]], Outcome], given: Mapping[str, Any]) -> Outcome:
        return {"value": {"share": run(given)["value"], "within": given["within"]}}

    def rows(self, expected: Outcome, yours: Any) -> list[Row]:
        return super().rows({"value": expected["value"]["share"]}, yours)

    def _right(self, expected: Any, yours: Any) -> bool:
        return same(expected["share"], yours, expected["within"] + 1e-9)


def _pruning_answer(pruning, name, within):
    if pruning[name] is None:
        raise NotImplementedError
    return pruning[name]


def _pruning_probe(name: str, about: str, within: float = 0.005) -> Probe:
    return Probe({"name": name, "within": within}, f'pruning["{name}"]: {about}')


# Numbers that are worked out once, and read off one measurement: there is nothing to draw.
PRUNING = Exercise(
    id="pruning",
    unit=_UNIT,
    title=N_("What the share that is pruned tells"),
    objects=("pruning",),
    keys=("agree", "best case", "worst case", "irrelevant pruned", "relevant pruned"),
    answer=_pruning_answer,
    compare=Reading(),
    criteria=(
        Criterion(
            N_("100 nodes on which two rankers agree"),
            0.5,
            (
                _pruning_probe("agree", "of all 100 nodes, of which 39 are kept"),
                _pruning_probe("best case", "of the 90 irrelevant nodes, the 10 relevant ones being first"),
                _pruning_probe("worst case", "of the 90 irrelevant nodes, the 10 relevant ones being last"),
            ),
        ),
        Criterion(
            N_("what the knee pruned of the 100 pages, in the mean"),
            0.5,
            (
                _pruning_probe("irrelevant pruned", "in the row of the knee", 0.07),
                _pruning_probe("relevant pruned", "in the row of the knee", 0.07),
            ),
        ),
    ),
    hints=(
        N_("Draw the ranking as a line of 100 nodes, with a cut behind the 39th. Where are the relevant ones?"),
        N_(
            "A share is divided by how many there are of that kind: 100 nodes in all, 90 of them irrelevant. The two "
            "measured numbers stand in the table of the cuts."
        ),
        N_(
            "61 nodes are pruned. In the best case all of them are irrelevant: divide by 90. In the worst case 10 of "
            "them are relevant: how many irrelevant ones are left, divided by 90?"
        ),
        N_("The numbers are in pruning in solutions/hybrid_search/pruned.py."),
    ),
    misconceptions={
        "kept_instead_of_pruned": N_(
            "You give the share that is kept. Of 100 nodes 39 are kept, so 61 are pruned."
        ),
        "divided_by_all": N_("You divide by all 100 nodes. Of the irrelevant ones there are 90: divide by these."),
        "cases_swapped": N_(
            "Best and worst case have changed places. Where the relevant nodes are first, all that is pruned is "
            "irrelevant."
        ),
        "all_pruned_counted": N_(
            "In the worst case 10 of the 61 pruned nodes are relevant. Count the other 51 only."
        ),
        "relevant_not_counted_out": N_(
            "In the best case the 10 relevant nodes are among those that are kept, so all 61 pruned ones are "
            "irrelevant: divide 61 by 90."
        ),
        "columns_swapped": N_(
            'The two columns have changed places. "irrelevant pruned" is the larger one: the ranking is better than '
            "chance."
        ),
        "sensitive_read": N_("You read the row of the sensitive cut. Read that of the knee."),
        "trees_read": N_(
            "You read the share of the nodes of a tree. Read the table of the cuts: the first 100 pages of a flat "
            "search."
        ),
        "quoted": N_("That is the number that is quoted. Read the one that you measured."),
        "percentages": N_("You give percentages. Give shares between 0 and 1: half is 0.5."),
    },
)  # fmt: skip

EXERCISES = (KNEE, BEAM_SEARCH, PRUNING)
