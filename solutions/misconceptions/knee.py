"""Unit 09: wrong knees, wrong beam searches, and wrong readings of what was pruned."""

import math
from collections import Counter
from types import SimpleNamespace

from hybrid_search.knees import knee

ROUNDING = 1e-9


class _Knee:
    """A right knee in small steps; each mistake below replaces one of them."""

    def __call__(self, scores, sensitivity=None):
        scores = self.given(scores)
        if self.is_flat(scores):
            return self.all_of(scores)
        distances = self.distances(self.ranks(scores), self.scaled(scores))
        largest = max(distances)
        if self.is_straight(largest):
            return self.all_of(scores)
        if sensitivity is None:
            return self.keep(self.farthest(distances, largest))
        return self.keep(self.last(distances, largest, sensitivity))

    def given(self, scores):
        return list(scores)

    def is_flat(self, scores):
        return len(scores) < 3 or scores[0] == scores[-1]

    def all_of(self, scores):
        return len(scores)

    def ranks(self, scores):
        return [i / (len(scores) - 1) for i in range(len(scores))]

    def scaled(self, scores):
        return [(score - scores[-1]) / (scores[0] - scores[-1]) for score in scores]

    def distances(self, x, y):
        return [abs(a + b - 1) / math.sqrt(2) for a, b in zip(x, y, strict=True)]

    def is_straight(self, largest):
        return largest <= ROUNDING

    def farthest(self, distances, largest):
        return next(i for i, distance in enumerate(distances) if distance >= largest - ROUNDING)

    def last(self, distances, largest, sensitivity):
        return max(i for i, d in enumerate(distances) if d >= sensitivity * largest - ROUNDING)

    def keep(self, i):
        return i + 1


class AscendingScores(_Knee):
    def given(self, scores):
        return sorted(scores)


class KneeNotKept(_Knee):
    def keep(self, i):
        return i


class OneMoreKept(_Knee):
    def keep(self, i):
        return i + 2


class RestCounted(_Knee):
    """How many are cut off, instead of how many are kept."""

    def given(self, scores):
        self.count = len(scores)
        return super().given(scores)

    def keep(self, i):
        return self.count - (i + 1)


class LastOfEquals(_Knee):
    def farthest(self, distances, largest):
        return max(i for i, distance in enumerate(distances) if distance >= largest - ROUNDING)


class FirstBend(_Knee):
    """The first point that is farther from the chord than its neighbours."""

    def farthest(self, distances, largest):
        return next(
            i
            for i in range(1, len(distances) - 1)
            if distances[i] > ROUNDING and distances[i] >= distances[i + 1] - ROUNDING
        )


class FirstOffTheChord(_Knee):
    def farthest(self, distances, largest):
        return next(i for i, distance in enumerate(distances) if distance > ROUNDING)


class BelowOnly(_Knee):
    def distances(self, x, y):
        return [max(0, 1 - a - b) / math.sqrt(2) for a, b in zip(x, y, strict=True)]


class AboveOnly(_Knee):
    def distances(self, x, y):
        return [max(0, a + b - 1) / math.sqrt(2) for a, b in zip(x, y, strict=True)]


class ScoresNotScaled(_Knee):
    def scaled(self, scores):
        return scores


class RanksNotScaled(_Knee):
    def ranks(self, scores):
        return list(range(len(scores)))


class DividedByTheBest(_Knee):
    def scaled(self, scores):
        return [score / scores[0] for score in scores]


class NearestToTheCorner(_Knee):
    """The point nearest to (0, 0), where few are kept of low scores, in the place of that farthest from the chord."""

    def distances(self, x, y):
        return [math.sqrt(2) - math.hypot(a, b) for a, b in zip(x, y, strict=True)]


class LargestGap:
    def __call__(self, scores, sensitivity=None):
        gaps = [one - other for one, other in zip(scores, scores[1:], strict=False)]
        if len(scores) < 3 or max(gaps) <= 0:
            return len(scores)
        largest = max(gaps)
        share = 1 if sensitivity is None else sensitivity
        places = [i for i, gap in enumerate(gaps, start=1) if gap >= share * largest - ROUNDING]
        return places[0] if sensitivity is None else places[-1]


class AboveTheMean:
    def __call__(self, scores, sensitivity=None):
        share = 1 if sensitivity is None else sensitivity
        return sum(score >= share * sum(scores) / len(scores) for score in scores)


class FlatCurveCut(_Knee):
    def is_flat(self, scores):
        return len(scores) < 3

    def scaled(self, scores):
        return super().scaled(scores) if scores[0] > scores[-1] else [0.0] * len(scores)


class FlatCurveFails(_Knee):
    def is_flat(self, scores):
        return len(scores) < 3


class StraightLineCut(_Knee):
    def is_straight(self, largest):
        return False


class ShortCurveCut(_Knee):
    def is_flat(self, scores):
        return len(scores) > 2 and scores[0] == scores[-1]

    def ranks(self, scores):
        return super().ranks(scores) if len(scores) > 2 else [0.5] * len(scores)

    def scaled(self, scores):
        return super().scaled(scores) if len(scores) > 2 else [1.0] * len(scores)

    def __call__(self, scores, sensitivity=None):
        return super().__call__(scores, sensitivity) if scores else 0


class ShortCurveFails(_Knee):
    def is_flat(self, scores):
        return len(scores) > 2 and scores[0] == scores[-1]


class NothingKept(_Knee):
    """No knee, so nothing is kept."""

    def all_of(self, scores):
        return 0


class SensitivityIgnored(_Knee):
    def __call__(self, scores, sensitivity=None):
        return super().__call__(scores)


class SensitivityOfTheScores(_Knee):
    def __call__(self, scores, sensitivity=None):
        if sensitivity is None:
            return super().__call__(scores)
        return sum(score >= sensitivity * scores[0] for score in scores)


class SensitivityOfTheCount(_Knee):
    def __call__(self, scores, sensitivity=None):
        kept = super().__call__(scores)
        return kept if sensitivity is None else max(1, round(sensitivity * len(scores)))


class FirstOfTheShare(_Knee):
    def last(self, distances, largest, sensitivity):
        return next(i for i, d in enumerate(distances) if d >= sensitivity * largest - ROUNDING)


class StopsBelowTheShare(_Knee):
    """From the knee on, as long as the points are far enough away; a later one is not seen."""

    def last(self, distances, largest, sensitivity):
        i = self.farthest(distances, largest)
        while distances[i + 1] >= sensitivity * largest - ROUNDING:
            i += 1
        return i


class SensitivityTurnedRound(_Knee):
    def last(self, distances, largest, sensitivity):
        return super().last(distances, largest, 1 - sensitivity)


class SensitivityIsADistance(_Knee):
    """The sensitivity itself is the least distance, instead of a share of the largest one."""

    def last(self, distances, largest, sensitivity):
        far = [i for i, d in enumerate(distances) if d >= sensitivity - ROUNDING]
        return far[-1] if far else self.farthest(distances, largest)


class ScoresReturned(_Knee):
    def __call__(self, scores, sensitivity=None):
        return list(scores[: super().__call__(scores, sensitivity)])


class _Beam:
    """A right beam search in small steps; each mistake below replaces one of them."""

    def __call__(self, index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
        given = SimpleNamespace(
            index=index, query=query, cut=cut, width=width, sensitivity=sensitivity, roots=max_roots, round=0
        )
        beam, before = self.start(given), []
        while self.goes_on(given, beam, before):
            given.round += 1
            before = beam
            beam = self.kept(given, self.ranked(given, beam))
        return self.result(given, beam)

    def start(self, given):
        return [node for node, _ in given.index.search_roots(given.query, given.roots)]

    def goes_on(self, given, beam, before):
        return ids(beam) != ids(before)

    def competing(self, given, beam):
        return [*beam, *(child for node in beam for child in given.index.children(node))]

    def ranked(self, given, beam):
        return given.index.rank(given.query, self.competing(given, beam))

    def kept(self, given, ranked):
        nodes = [node for node, _ in ranked]
        if given.cut != "fixed":
            nodes = nodes[: self.knee(given, [score for _, score in ranked])]
        return self.narrow(given, self.suppressed(nodes))

    def knee(self, given, scores):
        return knee(scores, given.sensitivity if given.cut == "sensitive" else None)

    def suppressed(self, nodes):
        kept = []
        for node in nodes:
            if not any(related(node, other) for other in kept):
                kept.append(node)
        return kept

    def narrow(self, given, nodes):
        return nodes[: given.width] if given.cut == "fixed" else nodes

    def result(self, given, beam):
        return beam


def ids(nodes):
    return {node["id"] for node in nodes}


def is_parent(one, other):
    return other["parent_id"] == one["id"]


def related(one, other):
    return is_parent(one, other) or is_parent(other, one)


class KneeAfterRemoving(_Beam):
    """Pruning after suppression."""

    def kept(self, given, ranked):
        kept = self.suppressed([node for node, _ in ranked])
        if given.cut != "fixed":
            left = ids(kept)
            kept = kept[: self.knee(given, [score for node, score in ranked if node["id"] in left])]
        return self.narrow(given, kept)


class KneeAtTheEnd(_Beam):
    def kept(self, given, ranked):
        given.last = ranked
        return self.narrow(given, self.suppressed([node for node, _ in ranked]))

    def result(self, given, beam):
        if given.cut == "fixed" or not beam:
            return beam
        kept = self.knee(given, [score for _, score in given.last])
        return self.suppressed([node for node, _ in given.last[:kept]])


class KneeInTheFirstRound(_Beam):
    def knee(self, given, scores):
        return super().knee(given, scores) if given.round == 1 else len(scores)


class WidthBeforeRemoving(_Beam):
    def kept(self, given, ranked):
        return super().kept(given, ranked[: given.width] if given.cut == "fixed" else ranked)


class WidthOfEachTree(_Beam):
    """The width is how many children of a node go on."""

    def narrow(self, given, nodes):
        if given.cut != "fixed":
            return nodes
        counts = Counter()
        kept = []
        for node in nodes:
            counts[node["parent_id"]] += 1
            if counts[node["parent_id"]] <= given.width:
                kept.append(node)
        return kept


class WidthNotUsed(_Beam):
    def narrow(self, given, nodes):
        return nodes


class WidthIgnored(_Beam):
    def narrow(self, given, nodes):
        return nodes[:3] if given.cut == "fixed" else nodes


class WidthAtTheEnd(_Beam):
    def narrow(self, given, nodes):
        return nodes

    def result(self, given, beam):
        return super().narrow(given, beam)


class WidthWithTheKnee(_Beam):
    def narrow(self, given, nodes):
        return nodes[: given.width]


class RemovedRemove(_Beam):
    def suppressed(self, nodes):
        return [
            node for place, node in enumerate(nodes) if not any(related(node, one) for one in nodes[:place])
        ]


class ChildrenAlwaysRemove(_Beam):
    """A parent goes wherever one of its children is still there."""

    def suppressed(self, nodes):
        return [node for node in nodes if not any(is_parent(node, other) for other in nodes)]


class ParentsAlwaysRemove(_Beam):
    def suppressed(self, nodes):
        return [node for node in nodes if not any(is_parent(other, node) for other in nodes)]


class OnlyChildrenRemove(_Beam):
    """A surviving parent leaves its children alone."""

    def suppressed(self, nodes):
        kept = []
        for node in nodes:
            if not any(is_parent(node, other) for other in kept):
                kept.append(node)
        return kept


class OnlyParentsRemove(_Beam):
    def suppressed(self, nodes):
        kept = []
        for node in nodes:
            if not any(is_parent(other, node) for other in kept):
                kept.append(node)
        return kept


class NobodyRemoves(_Beam):
    def suppressed(self, nodes):
        return nodes


class SiblingsLost(_Beam):
    def suppressed(self, nodes):
        kept = []
        for node in nodes:
            rivals = [other for other in kept if other["parent_id"] == node["parent_id"] != -1]
            if not rivals and not any(related(node, other) for other in kept):
                kept.append(node)
        return kept


class OneRound(_Beam):
    def goes_on(self, given, beam, before):
        return given.round < 1 and bool(beam)


class FixedRounds(_Beam):
    """Two rounds, whatever the trees are like."""

    def goes_on(self, given, beam, before):
        return given.round < 2 and bool(beam)


class DownToThePages(_Beam):
    """Goes on until only pages are left, which may never be."""

    def goes_on(self, given, beam, before):
        return any(node["child_ids"] for node in beam)


class ChildrenOnly(_Beam):
    """Children take their parent's place without having to beat it; pages stay."""

    def competing(self, given, beam):
        return [child for node in beam for child in given.index.children(node) or [node]]


class PagesLost(_Beam):
    def competing(self, given, beam):
        families = [[node, *given.index.children(node)] for node in beam]
        inner = [node for family in families if len(family) > 1 for node in family]
        return inner or beam


class RootsNotTested(_Beam):
    def start(self, given):
        roots = super().start(given)
        return [child for root in roots for child in given.index.children(root) or [root]]


class BestNodeOnly(_Beam):
    """Only the children of the best node are looked at."""

    def competing(self, given, beam):
        return [*beam, *given.index.children(beam[0])] if beam else []


class RankedApart(_Beam):
    """Each node with its own children, the results sorted by scores that cannot be compared."""

    def ranked(self, given, beam):
        pairs = [
            pair
            for node in beam
            for pair in given.index.rank(given.query, [node, *given.index.children(node)])
        ]
        return sorted(pairs, key=lambda pair: -pair[1])


class RootsFromWidth(_Beam):
    def start(self, given):
        return [node for node, _ in given.index.search_roots(given.query, given.width)]


class RootsIgnored(_Beam):
    def start(self, given):
        return [node for node, _ in given.index.search_roots(given.query, 20)]


class OneRoot(_Beam):
    def start(self, given):
        return [node for node, _ in given.index.search_roots(given.query, 1)]


class SensitiveIsKnee(_Beam):
    def knee(self, given, scores):
        return knee(scores)


class SensitivityFixed(_Beam):
    def knee(self, given, scores):
        return knee(scores, 0.85 if given.cut == "sensitive" else None)


class AlwaysSensitive(_Beam):
    def knee(self, given, scores):
        return knee(scores, given.sensitivity)


class AlwaysFixed(_Beam):
    def kept(self, given, ranked):
        return self.suppressed([node for node, _ in ranked])[: given.width]


class WorstFirst(_Beam):
    def result(self, given, beam):
        return beam[::-1]


class OrderOfTheIds(_Beam):
    def result(self, given, beam):
        return sorted(beam, key=lambda node: node["id"])


class BestOnly(_Beam):
    def result(self, given, beam):
        return beam[:1]


class PairsReturned(_Beam):
    def result(self, given, beam):
        return given.index.rank(given.query, beam)


class IdsReturned(_Beam):
    def result(self, given, beam):
        return sorted(ids(beam))


class NothingFoundFails(_Beam):
    def start(self, given):
        roots = super().start(given)
        best = roots[0]
        return [best, *roots[1:]]


def _pruning(agree=0.61, best=61 / 90, worst=51 / 90, irrelevant=0.807, relevant=0.268):
    return {
        "agree": agree,
        "best case": best,
        "worst case": worst,
        "irrelevant pruned": irrelevant,
        "relevant pruned": relevant,
    }


IMPLEMENTATIONS = {
    "knee": {
        "ascending_scores": (AscendingScores(),),
        "knee_not_kept": (KneeNotKept(),),
        "one_more_kept": (OneMoreKept(),),
        "rest_counted": (RestCounted(),),
        "last_of_equals": (LastOfEquals(),),
        "first_bend": (FirstBend(),),
        "first_off_the_chord": (FirstOffTheChord(),),
        "below_only": (BelowOnly(),),
        "above_only": (AboveOnly(),),
        "scores_not_scaled": (ScoresNotScaled(),),
        "ranks_not_scaled": (RanksNotScaled(),),
        "divided_by_the_best": (DividedByTheBest(),),
        "nearest_to_the_corner": (NearestToTheCorner(),),
        "largest_gap": (LargestGap(),),
        "above_the_mean": (AboveTheMean(),),
        "flat_curve_cut": (FlatCurveCut(),),
        "flat_curve_fails": (FlatCurveFails(),),
        "straight_line_cut": (StraightLineCut(),),
        "short_curve_cut": (ShortCurveCut(),),
        "short_curve_fails": (ShortCurveFails(),),
        "nothing_kept": (NothingKept(),),
        "sensitivity_ignored": (SensitivityIgnored(),),
        "sensitivity_of_the_scores": (SensitivityOfTheScores(),),
        "sensitivity_of_the_count": (SensitivityOfTheCount(),),
        "first_of_the_share": (FirstOfTheShare(),),
        "stops_below_the_share": (StopsBelowTheShare(),),
        "sensitivity_turned_round": (SensitivityTurnedRound(),),
        "sensitivity_is_a_distance": (SensitivityIsADistance(),),
        "scores_returned": (ScoresReturned(),),
    },
    "beam_search": {
        "knee_after_removing": (KneeAfterRemoving(),),
        "knee_at_the_end": (KneeAtTheEnd(),),
        "knee_in_the_first_round": (KneeInTheFirstRound(),),
        "width_before_removing": (WidthBeforeRemoving(),),
        "width_of_each_tree": (WidthOfEachTree(),),
        "width_not_used": (WidthNotUsed(),),
        "width_ignored": (WidthIgnored(),),
        "width_at_the_end": (WidthAtTheEnd(),),
        "width_with_the_knee": (WidthWithTheKnee(),),
        "removed_remove": (RemovedRemove(),),
        "children_always_remove": (ChildrenAlwaysRemove(),),
        "parents_always_remove": (ParentsAlwaysRemove(),),
        "only_children_remove": (OnlyChildrenRemove(),),
        "only_parents_remove": (OnlyParentsRemove(),),
        "nobody_removes": (NobodyRemoves(),),
        "siblings_lost": (SiblingsLost(),),
        "one_round": (OneRound(),),
        "fixed_rounds": (FixedRounds(),),
        "down_to_the_pages": (DownToThePages(),),
        "children_only": (ChildrenOnly(),),
        "pages_lost": (PagesLost(),),
        "roots_not_tested": (RootsNotTested(),),
        "best_node_only": (BestNodeOnly(),),
        "ranked_apart": (RankedApart(),),
        "roots_from_width": (RootsFromWidth(),),
        "roots_ignored": (RootsIgnored(),),
        "one_root": (OneRoot(),),
        "sensitive_is_knee": (SensitiveIsKnee(),),
        "sensitivity_fixed": (SensitivityFixed(),),
        "always_sensitive": (AlwaysSensitive(),),
        "always_fixed": (AlwaysFixed(),),
        "worst_first": (WorstFirst(),),
        "order_of_the_ids": (OrderOfTheIds(),),
        "best_only": (BestOnly(),),
        "pairs_returned": (PairsReturned(),),
        "ids_returned": (IdsReturned(),),
        "nothing_found_fails": (NothingFoundFails(),),
    },
    "pruning": {
        "kept_instead_of_pruned": (_pruning(0.39, 29 / 90, 39 / 90, 0.193, 0.732),),
        "divided_by_all": (_pruning(best=0.61, worst=0.51),),
        "cases_swapped": (_pruning(best=51 / 90, worst=61 / 90),),
        "all_pruned_counted": (_pruning(worst=61 / 90),),
        "relevant_not_counted_out": (_pruning(best=51 / 90),),
        "columns_swapped": (_pruning(irrelevant=0.268, relevant=0.807),),
        "sensitive_read": (_pruning(irrelevant=0.601, relevant=0.062),),
        "trees_read": (_pruning(irrelevant=0.713, relevant=0.188),),
        "quoted": (_pruning(irrelevant=0.62),),
        "percentages": (_pruning(61, 67.8, 56.7, 80.7, 26.8),),
    },
}
