"""Unit 08: wrong trees of summaries, and wrong ways down their branches."""

import math


class _Builder:
    """A right build_tree in small steps; each mistake below replaces one of them."""

    def build(self, pages, summarise, width=3, file_name="", first_id=1):
        self.summarise, self.width, self.first_id = summarise, width, first_id
        self.file_name, self.pages = file_name, self.kept(pages)
        self.nodes = []
        for number, text in enumerate(self.pages, start=1):
            self.nodes.append(self.leaf(number, text))
        level = list(self.nodes)
        while self.goes_on(level):
            level = self.above(self.groups(level))
        return self.finished(self.nodes)

    def kept(self, pages):
        return pages

    def leaf(self, number, text):
        about = self.summarise(text)
        return {
            "id": self.next_id(),
            "file_name": self.file_name,
            "first_page": number,
            "last_page": number,
            "level": 0,
            "parent_id": -1,
            "child_ids": [],
            "summary": about["summary"],
            "keywords": list(about["keywords"]),
        }

    def next_id(self):
        return self.first_id + len(self.nodes)

    def goes_on(self, level):
        return len(level) > 1

    def groups(self, level):
        return [level[start : start + self.width] for start in range(0, len(level), self.width)]

    def above(self, groups):
        return [self.one_above(group) for group in groups]

    def one_above(self, group):
        return group[0] if len(group) == 1 else self.parent(group)

    def parent(self, group):
        node = {
            "id": self.next_id(),
            "file_name": self.name_of_parent(),
            "first_page": group[0]["first_page"],
            "last_page": group[-1]["last_page"],
            "level": self.level(group),
            "parent_id": -1,
            "child_ids": self.child_ids(group),
            "summary": self.summary(group),
            "keywords": self.keywords(group),
        }
        self.join(node, group)
        self.nodes.append(node)
        return node

    def name_of_parent(self):
        return self.file_name

    def level(self, group):
        return 1 + max(child["level"] for child in group)

    def child_ids(self, group):
        return [child["id"] for child in group]

    def join(self, node, group):
        for child in group:
            child["parent_id"] = node["id"]

    def summary(self, group):
        return self.summarise("\n".join(child["summary"] for child in group))["summary"]

    def keywords(self, group):
        return list(dict.fromkeys(word for child in group for word in child["keywords"]))

    def finished(self, nodes):
        return nodes


def _as_function(builder):
    def build_tree(pages, summarise, width=3, file_name="", first_id=1):
        return builder().build(pages, summarise, width, file_name, first_id)

    return (build_tree,)


class Interleaved(_Builder):
    def groups(self, level):
        count = math.ceil(len(level) / self.width)
        return [level[start::count] for start in range(count)]

    def parent(self, group):
        node = super().parent(group)
        node["last_page"] = max(child["last_page"] for child in group)
        return node


class BalancedGroups(_Builder):
    def groups(self, level):
        count = math.ceil(len(level) / self.width)
        ends = [len(level) * number // count for number in range(count + 1)]
        return [level[start:end] for start, end in zip(ends, ends[1:], strict=False)]


class OverlappingGroups(_Builder):
    def groups(self, level):
        last = max(1, len(level) - self.width + 1)
        return [level[start : start + self.width] for start in range(last)]


class LeftoverWrapped(_Builder):
    def one_above(self, group):
        return self.parent(group)


class LeftoverJoined(_Builder):
    def groups(self, level):
        groups = super().groups(level)
        if len(groups) > 1 and len(groups[-1]) == 1:
            last = groups.pop()
            groups[-1] = groups[-1] + last
        return groups


class LeftoverDropped(_Builder):
    def groups(self, level):
        if len(level) < self.width:
            return [level]
        return [group for group in super().groups(level) if len(group) == self.width]


class LeftoverFirst(_Builder):
    def above(self, groups):
        above = super().above(groups)
        return above[-1:] + above[:-1] if len(groups[-1]) == 1 else above

    def parent(self, group):
        node = super().parent(group)
        node["first_page"] = min(child["first_page"] for child in group)
        node["last_page"] = max(child["last_page"] for child in group)
        return node


class FlatRoot(_Builder):
    def groups(self, level):
        return [level] if any(node["level"] for node in level) else super().groups(level)


class NoRoot(_Builder):
    def goes_on(self, level):
        return len(level) > self.width


class WidthIgnored(_Builder):
    def groups(self, level):
        return [level[start : start + 3] for start in range(0, len(level), 3)]


class LevelOfLastChild(_Builder):
    def level(self, group):
        return 1 + group[-1]["level"]


class DepthAsLevel(_Builder):
    def finished(self, nodes):
        by_id = {node["id"]: node for node in nodes}
        for node in reversed(nodes):
            parent = by_id.get(node["parent_id"])
            node["level"] = parent["level"] + 1 if parent else 0
        return nodes


class PagesFromZero(_Builder):
    def leaf(self, number, text):
        return super().leaf(number - 1, text)


class LastPageExclusive(_Builder):
    def leaf(self, number, text):
        return {**super().leaf(number, text), "last_page": number + 1}


class IdsReused(_Builder):
    def next_id(self):
        return self.first_id + self.in_level

    def leaf(self, number, text):
        self.in_level = number - 1
        return super().leaf(number, text)

    def above(self, groups):
        above = []
        for group in groups:
            self.in_level = len([one for one in above if one["level"]])
            above.append(self.one_above(group))
        return above


class IdsFromZero(_Builder):
    def next_id(self):
        return len(self.nodes)


class FirstIdIgnored(_Builder):
    def next_id(self):
        return 1 + len(self.nodes)


class RootFirst(_Builder):
    def finished(self, nodes):
        return nodes[::-1]


class OnlyRoot(_Builder):
    def finished(self, nodes):
        return nodes[-1:]


class PagesMissing(_Builder):
    def finished(self, nodes):
        return [node for node in nodes if node["child_ids"]]


class NoParentIds(_Builder):
    def join(self, node, group):
        pass


class RootWithoutParentId(_Builder):
    def finished(self, nodes):
        for node in nodes[-1:]:
            node["parent_id"] = None
        return nodes


class RootIsItsOwnParent(_Builder):
    def finished(self, nodes):
        for node in nodes[-1:]:
            node["parent_id"] = node["id"]
        return nodes


class ParentIdsShifted(_Builder):
    def join(self, node, group):
        for child in group:
            child["parent_id"] = node["id"] + 1


class ChildIdsMissing(_Builder):
    def child_ids(self, group):
        return []


class ChildrenInsteadOfIds(_Builder):
    def child_ids(self, group):
        return [dict(child) for child in group]


class PagesAsChildren(_Builder):
    def child_ids(self, group):
        pages = range(group[0]["first_page"], group[-1]["last_page"] + 1)
        return [self.first_id + page - 1 for page in pages]


class SummaryOfPages(_Builder):
    def summary(self, group):
        pages = self.pages[group[0]["first_page"] - 1 : group[-1]["last_page"]]
        return self.summarise("\n".join(pages))["summary"]


class NotSummarised(_Builder):
    def summary(self, group):
        return "\n".join(child["summary"] for child in group)


class JoinedWithoutLineBreaks(_Builder):
    def summary(self, group):
        return self.summarise(" ".join(child["summary"] for child in group))["summary"]


class FirstSummary(_Builder):
    def summary(self, group):
        return group[0]["summary"]


class PageTextAsSummary(_Builder):
    def leaf(self, number, text):
        return {**super().leaf(number, text), "summary": text}


class KeywordsTwice(_Builder):
    def keywords(self, group):
        return [word for child in group for word in child["keywords"]]


class KeywordsSorted(_Builder):
    def keywords(self, group):
        return sorted(super().keywords(group))


class KeywordsOfSummary(_Builder):
    def keywords(self, group):
        return self.summarise("\n".join(child["summary"] for child in group))["keywords"]


class CommonKeywords(_Builder):
    def keywords(self, group):
        return [word for word in super().keywords(group) if all(word in child["keywords"] for child in group)]


class LastKeywordsFirst(_Builder):
    def keywords(self, group):
        return super().keywords(group[::-1])


class KeywordsInChildren(_Builder):
    def keywords(self, group):
        found = group[0]["keywords"]
        for child in group[1:]:
            found += [word for word in child["keywords"] if word not in found]
        return found


class FileNameOfPagesOnly(_Builder):
    def name_of_parent(self):
        return ""


class BlankPageSkipped(_Builder):
    def kept(self, pages):
        return [page for page in pages if page.strip()]


class OnePageWrapped(_Builder):
    def goes_on(self, level):
        return bool(level) and (len(level) > 1 or not level[0]["child_ids"])

    def one_above(self, group):
        return self.parent(group) if len(self.pages) == 1 else super().one_above(group)


class NoPagesFail(_Builder):
    def finished(self, nodes):
        nodes[-1]["parent_id"] = -1
        return nodes


class _Search:
    """A right branch search in small steps; each mistake below replaces one of them."""

    def search(self, index, query, roots=3):
        self.index, self.query, self.old = index, query, {}
        found = self.best(roots)
        self.old.update((node["id"], score) for node, score in found)
        waiting = self.start([(node, [node["id"]]) for node, _ in found])
        self.final = []
        while waiting:
            waiting = self.round(waiting)
        paths = {node["id"]: path for node, path in self.final}
        return self.chosen(
            [self.chunk(node, score, paths[node["id"]]) for node, score in self.ordered(self.final)]
        )

    def best(self, roots):
        return self.index.search_roots(self.query, roots)

    def start(self, waiting):
        return waiting

    def round(self, waiting):
        following = []
        for node, path in waiting:
            following += self.tested(node, path)
        return following

    def tested(self, node, path):
        """The nodes that go on from here; where there are none, the node is final."""
        children = self.index.children(node)
        winners = self.winners(node, children)
        if not winners:
            self.is_final(node, path, children)
        return [(child, [*path, child["id"]]) for child in winners]

    def is_final(self, node, path, children):
        self.final.append((node, path))

    def winners(self, node, children):
        return self.above(node, self.ranked(node, children))

    def ranked(self, node, children):
        ranked = self.index.rank(self.query, [node, *children])
        self.old.update((one["id"], score) for one, score in ranked)
        return ranked

    def above(self, node, ranked):
        own = self.own(node, ranked)
        return [child for child, score in ranked if score > own]

    def own(self, node, ranked):
        return next(score for one, score in ranked if one["id"] == node["id"])

    def ordered(self, final):
        return self.index.rank(self.query, [node for node, _ in final])

    def chunk(self, node, score, path):
        return {
            "id": node["id"],
            "file_name": node["file_name"],
            "first_page": node["first_page"],
            "last_page": self.last_page(node),
            "text": self.text(node),
            "score": score,
            "path": self.path(node, path),
        }

    def last_page(self, node):
        return node["last_page"]

    def text(self, node):
        return self.index.text(node)

    def path(self, node, path):
        return path

    def chosen(self, chunks):
        return chunks


def _as_search(kind):
    def branch_search(index, query, roots=3):
        return kind().search(index, query, roots)

    return (branch_search,)


class RootNotTested(_Search):
    def start(self, waiting):
        started = []
        for node, path in waiting:
            children = self.index.children(node)
            started += [(child, [*path, child["id"]]) for child in children] or [(node, path)]
        return started


class TieToChild(_Search):
    def above(self, node, ranked):
        own = self.own(node, ranked)
        return [child for child, score in ranked if score >= own and child["id"] != node["id"]]


class SiblingsLost(_Search):
    def winners(self, node, children):
        return super().winners(node, children)[:1]


class FirstPlaceWins(_Search):
    def above(self, node, ranked):
        first = ranked[0][0]
        return [] if first["id"] == node["id"] else [first]


class AllChildrenGoOn(_Search):
    def winners(self, node, children):
        return children if super().winners(node, children) else []


class AllMustWin(_Search):
    def winners(self, node, children):
        winners = super().winners(node, children)
        return winners if len(winners) == len(children) else []


class ParentStays(_Search):
    def tested(self, node, path):
        following = super().tested(node, path)
        if following:
            self.final.append((node, path))
        return following


class AlwaysDown(_Search):
    def above(self, node, ranked):
        return [child for child, _ in ranked if child["id"] != node["id"]][:1]


class OneLevel(_Search):
    def round(self, waiting):
        self.final += super().round(waiting)
        return []


class PagesOnly(_Search):
    def is_final(self, node, path, children):
        if not children:
            self.final.append((node, path))


class PagesLost(_Search):
    def is_final(self, node, path, children):
        if children:
            self.final.append((node, path))


class OldScoreKept(_Search):
    def winners(self, node, children):
        own = self.old[node["id"]]
        ranked = self.index.rank(self.query, [node, *children])
        self.old.update((one["id"], score) for one, score in ranked)
        return [child for child, score in ranked if score > own and child["id"] != node["id"]]


class ChildrenRankedApart(_Search):
    def ranked(self, node, children):
        alone = self.index.rank(self.query, [node])
        return [*self.index.rank(self.query, children), *alone]

    def above(self, node, ranked):
        own = self.own(node, ranked)
        return [child for child, score in ranked if score >= own and child["id"] != node["id"]]


class PairByPair(_Search):
    def winners(self, node, children):
        return [
            child
            for child in children
            if super(PairByPair, self).above(node, self.index.rank(self.query, [node, child]))
        ]


class OnePool(_Search):
    def round(self, waiting):
        children = {node["id"]: self.index.children(node) for node, _ in waiting}
        everyone = [node for node, _ in waiting] + [child for some in children.values() for child in some]
        scores = {node["id"]: score for node, score in self.index.rank(self.query, everyone)}
        following = []
        for node, path in waiting:
            winners = [child for child in children[node["id"]] if scores[child["id"]] > scores[node["id"]]]
            following += [(child, [*path, child["id"]]) for child in winners]
            if not winners:
                self.final.append((node, path))
        return following


class OneRoot(_Search):
    def best(self, roots):
        return super().best(1)


class RootsIgnored(_Search):
    def best(self, roots):
        return super().best(3)


class AllRoots(_Search):
    def best(self, roots):
        return super().best(1000)


class BestOnly(_Search):
    def chosen(self, chunks):
        return chunks[:1]


class NotRankedAgain(_Search):
    def ordered(self, final):
        return [(node, self.old[node["id"]]) for node, _ in final]


class SortedByOldScores(_Search):
    def ordered(self, final):
        scored = [(node, self.old[node["id"]]) for node, _ in final]
        return sorted(scored, key=lambda pair: pair[1], reverse=True)


class WorstFirst(_Search):
    def chosen(self, chunks):
        return chunks[::-1]


class SummaryAsText(_Search):
    def text(self, node):
        return node["summary"]


class PathIsId(_Search):
    def path(self, node, path):
        return [node["id"]]


class PathUpwards(_Search):
    def path(self, node, path):
        return path[::-1]


class PathWithoutNode(_Search):
    def path(self, node, path):
        return path[:-1]


class PathWithoutRoot(_Search):
    def path(self, node, path):
        return path[1:]


class FirstPageOnly(_Search):
    def last_page(self, node):
        return node["first_page"]


class PairsReturned(_Search):
    def chunk(self, node, score, path):
        return (node, score)


class NothingFoundFails(_Search):
    def start(self, waiting):
        self.best_root = waiting[0]
        return waiting


IMPLEMENTATIONS = {
    "build_tree": {
        name: _as_function(builder)
        for name, builder in {
            "interleaved": Interleaved,
            "balanced_groups": BalancedGroups,
            "overlapping_groups": OverlappingGroups,
            "leftover_wrapped": LeftoverWrapped,
            "leftover_joined": LeftoverJoined,
            "leftover_dropped": LeftoverDropped,
            "leftover_first": LeftoverFirst,
            "flat_root": FlatRoot,
            "no_root": NoRoot,
            "width_ignored": WidthIgnored,
            "level_of_last_child": LevelOfLastChild,
            "depth_as_level": DepthAsLevel,
            "pages_from_zero": PagesFromZero,
            "last_page_exclusive": LastPageExclusive,
            "ids_reused": IdsReused,
            "ids_from_zero": IdsFromZero,
            "first_id_ignored": FirstIdIgnored,
            "root_first": RootFirst,
            "only_root": OnlyRoot,
            "pages_missing": PagesMissing,
            "no_parent_ids": NoParentIds,
            "root_without_parent_id": RootWithoutParentId,
            "root_is_its_own_parent": RootIsItsOwnParent,
            "parent_ids_shifted": ParentIdsShifted,
            "child_ids_missing": ChildIdsMissing,
            "children_instead_of_ids": ChildrenInsteadOfIds,
            "pages_as_children": PagesAsChildren,
            "summary_of_pages": SummaryOfPages,
            "not_summarised": NotSummarised,
            "joined_without_line_breaks": JoinedWithoutLineBreaks,
            "first_summary": FirstSummary,
            "page_text_as_summary": PageTextAsSummary,
            "keywords_twice": KeywordsTwice,
            "keywords_sorted": KeywordsSorted,
            "keywords_of_summary": KeywordsOfSummary,
            "common_keywords": CommonKeywords,
            "last_keywords_first": LastKeywordsFirst,
            "keywords_in_children": KeywordsInChildren,
            "file_name_of_pages_only": FileNameOfPagesOnly,
            "blank_page_skipped": BlankPageSkipped,
            "one_page_wrapped": OnePageWrapped,
            "no_pages_fail": NoPagesFail,
        }.items()
    },
    "branch_search": {
        name: _as_search(kind)
        for name, kind in {
            "root_not_tested": RootNotTested,
            "tie_to_child": TieToChild,
            "siblings_lost": SiblingsLost,
            "first_place_wins": FirstPlaceWins,
            "all_children_go_on": AllChildrenGoOn,
            "all_must_win": AllMustWin,
            "parent_stays": ParentStays,
            "always_down": AlwaysDown,
            "one_level": OneLevel,
            "pages_only": PagesOnly,
            "pages_lost": PagesLost,
            "old_score_kept": OldScoreKept,
            "children_ranked_apart": ChildrenRankedApart,
            "pair_by_pair": PairByPair,
            "one_pool": OnePool,
            "one_root": OneRoot,
            "roots_ignored": RootsIgnored,
            "all_roots": AllRoots,
            "best_only": BestOnly,
            "not_ranked_again": NotRankedAgain,
            "sorted_by_old_scores": SortedByOldScores,
            "worst_first": WorstFirst,
            "summary_as_text": SummaryAsText,
            "path_is_id": PathIsId,
            "path_upwards": PathUpwards,
            "path_without_node": PathWithoutNode,
            "path_without_root": PathWithoutRoot,
            "first_page_only": FirstPageOnly,
            "pairs_returned": PairsReturned,
            "nothing_found_fails": NothingFoundFails,
        }.items()
    },
}
