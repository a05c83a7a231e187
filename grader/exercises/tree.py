"""Unit 08: a tree of summaries over the pages of a document, and the search that goes down its branches."""

from collections.abc import Mapping, Sequence
from random import Random

from ..compare import Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from .drawing import letters, shuffled, words

_UNIT = "08_tree"
_MISSING = "missing"


class _StubSummariser:
    """Knows what the pages are about; of any other text it puts the lines into brackets."""

    def __init__(self, pages: Sequence[tuple[str, list[str]]]) -> None:
        self.known = {_text_of(summary): (summary, keywords) for summary, keywords in pages}

    def __call__(self, text: str) -> dict:
        if not isinstance(text, str):
            raise TypeError(f"summarise needs one text, and got {type(text).__name__}")
        summary, keywords = self.known.get(text, (f"({' / '.join(text.splitlines())})", ["of the summaries"]))
        return {"summary": summary, "keywords": list(keywords)}

    def __repr__(self) -> str:
        return f"_StubSummariser({self.known!r})"


def _text_of(summary: str) -> str:
    return f"The text of {summary}." if summary else ""


def _tree_answer(build_tree, pages, look, **settings):
    nodes = build_tree(
        [_text_of(summary) for summary, _ in pages],
        _StubSummariser([(summary, keywords) for summary, keywords in pages]),
        **settings,
    )
    return _seen(nodes, look)


def _seen(made: object, look: Sequence[str]) -> object:
    """Of each dict of a list what is looked at; anything else as it is."""
    if made is None or isinstance(made, Mapping | str) or not hasattr(made, "__iter__"):
        return made
    return [
        {name: one.get(name, _MISSING) for name in look} if isinstance(one, Mapping) else one for one in made
    ]


def _tree_probe(pages: Sequence, look: str, **settings) -> Probe:
    """``pages`` are summaries, or pairs of a summary and its keywords."""
    pages = [[page, []] if isinstance(page, str) else list(page) for page in pages]
    call = ", ".join(["pages", "summarise", *(f"{name}={value!r}" for name, value in settings.items())])
    lines = [f"build_tree({call})"]
    if not pages:
        lines.append("no pages")
    elif "keywords" in look:
        lines += [
            f"page {number}: {summary or '(blank)'}; keywords: {', '.join(keywords) or 'none'}"
            for number, (summary, keywords) in enumerate(pages, start=1)
        ]
    else:
        lines.append(f"{len(pages)} pages: {', '.join(summary or '(blank)' for summary, _ in pages)}")
    lines.append(f"looked at: {look.replace(' ', ', ')}")
    return Probe({"pages": pages, "look": look.split(), **settings}, "\n".join(lines))


_PAGES, _LINKS = "id first_page last_page level", "id parent_id child_ids"
_ALL = "id file_name first_page last_page level parent_id child_ids summary keywords"


def _with_keywords(random: Random, summaries: Sequence[str]) -> list[list]:
    """Neighbouring pages share keywords, a page's own are in no alphabetical order, and each has a new one."""
    new = sorted(words(random, 2 * len(summaries)), reverse=True)
    pages: list[list] = []
    for place, summary in enumerate(summaries):
        own = [new[2 * place], new[2 * place + 1]]
        pages.append([summary, [own[0], pages[-1][1][-1], own[1]] if pages else own])
    return pages


def _draw_pages(random: Random) -> tuple[Probe, ...]:
    return (
        _tree_probe(letters(random, random.choice([4, 7, 13])), _PAGES),
        _tree_probe(letters(random, random.choice([10, 16])), _PAGES, width=3),
        _tree_probe(letters(random, random.choice([5, 7, 11])), _PAGES, width=2),
        _tree_probe(letters(random, random.choice([14, 15, 18, 19])), _PAGES, width=4),
    )


def _draw_links(random: Random) -> tuple[Probe, ...]:
    return (
        _tree_probe(letters(random, random.choice([4, 7, 10])), _LINKS),
        _tree_probe(letters(random, random.choice([7, 8, 11])), _LINKS, width=3),
        _tree_probe(
            letters(random, random.choice([5, 6, 7])), _LINKS, width=2, first_id=random.randrange(20, 400)
        ),
    )


def _draw_contents(random: Random) -> tuple[Probe, ...]:
    return (
        _tree_probe(letters(random, random.choice([4, 5])), "id summary"),
        _tree_probe(letters(random, random.choice([7, 8])), "id summary"),
        _tree_probe(_with_keywords(random, letters(random, random.choice([4, 5]))), "id keywords"),
        _tree_probe(
            _with_keywords(random, letters(random, random.choice([5, 6, 7]))), "id keywords", width=2
        ),
    )


def _draw_edges(random: Random) -> tuple[Probe, ...]:
    one, two, three, four, five = letters(random, 5)
    return (
        _tree_probe([[one, words(random, 2)]], _ALL, file_name=f"{words(random, 1)[0]}.txt"),
        _tree_probe([], _ALL, width=random.randrange(2, 7), first_id=random.randrange(1, 500)),
        _tree_probe(random.choice([[one, "", two, three], [one, two, "", three]]), "id last_page summary"),
        _tree_probe(
            [one, two, three, four, five],
            "id file_name",
            file_name=f"{words(random, 1)[0]}.txt",
            first_id=random.randrange(20, 400),
        ),
    )


_KEYWORDS = [
    ["a", ["turbine", "valve"]],
    ["b", ["valve", "pump"]],
    ["c", ["seal"]],
    ["d", ["pump", "oil"]],
]
_MANY_KEYWORDS = [
    ["a", ["signal", "cable"]],
    ["b", ["socket", "cable", "battery"]],
    ["c", ["rocket", "signal"]],
    ["d", ["antenna", "cable"]],
    ["e", ["lantern"]],
]

BUILD_TREE = Exercise(
    id="build_tree",
    unit=_UNIT,
    title=N_("A tree of summaries over the pages of a document"),
    objects=("build_tree",),
    answer=_tree_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("from pages to one root: which pages each node covers"),
            1,
            (
                _tree_probe("abcd", _PAGES),
                _tree_probe("abcdefghij", _PAGES, width=3),
                _tree_probe("abcdefg", _PAGES, width=2),
                _tree_probe("abcdefghijklmn", _PAGES, width=4),
            ),
            _draw_pages,
        ),
        Criterion(
            N_("who is whose parent"),
            0.5,
            (
                _tree_probe("abcd", _LINKS),
                _tree_probe("abcdefg", _LINKS, width=3),
                _tree_probe("abcde", _LINKS, width=2, first_id=21),
            ),
            _draw_links,
        ),
        Criterion(
            N_("summaries and keywords"),
            1,
            (
                _tree_probe("abcd", "id summary"),
                _tree_probe("abcdefg", "id summary"),
                _tree_probe(_KEYWORDS, "id keywords"),
                _tree_probe(_MANY_KEYWORDS, "id keywords", width=2),
            ),
            _draw_contents,
        ),
        Criterion(
            N_("one page, no page, a blank page, and the file's name"),
            0.5,
            (
                _tree_probe([["a", ["valve", "pump"]]], _ALL, file_name="manual.txt"),
                _tree_probe([], _ALL),
                _tree_probe(["a", "", "b", "c"], "id last_page summary"),
                _tree_probe("abcde", "id file_name", file_name="manual.txt", first_id=101),
            ),
            _draw_edges,
        ),
    ),
    hints=(
        N_(
            "Build it level by level. The nodes of the pages are the first level. What has to be done with a level, "
            "again and again, until one node is left?"
        ),
        N_(
            "level[start:start + width], for start in range(0, len(level), width), gives one group after the other. A "
            "group of one goes into the next level as it is. dict.fromkeys drops what comes twice, and keeps the order."
        ),
        N_(
            "nodes = a node for each page; level = list(nodes). while len(level) > 1: above = []; for each group: a "
            "group of one goes into above as it is; else make the parent (id first_id + len(nodes)), write its id into "
            "the parent_id of its children, and append it to nodes and to above. Then level = above. Return nodes."
        ),
        N_("The finished function is build_tree in solutions/hybrid_search/trees.py."),
    ),
    misconceptions={
        "interleaved": N_(
            "Your groups take every so many-th page. A group is made of neighbours: pages 1 to 3, pages 4 to 6."
        ),
        "balanced_groups": N_(
            "You make the groups equally large. Each group has width nodes; only the last may have fewer."
        ),
        "overlapping_groups": N_(
            "Your groups overlap: the next one begins one node further. It begins where the last one ended, width "
            "nodes further."
        ),
        "leftover_wrapped": N_(
            "A node that is left over alone gets a parent of its own, which says the same once more. Take the node "
            "itself up to the next level."
        ),
        "leftover_joined": N_(
            "You put a node that is left over into the group before it. That group then has more than width nodes: "
            "take the node up to the next level as it is."
        ),
        "leftover_dropped": N_("What does not fill a group is lost. The last group may be smaller than width."),
        "leftover_first": N_(
            "A node that is left over comes first in the next level. It must come last, as its pages do."
        ),
        "flat_root": N_(
            "Your root takes all nodes of the second level as children, however many. Group each level by width, until "
            "one node is left."
        ),
        "no_root": N_("You stop too early: more than one node is left without a parent. Go on until one is."),
        "width_ignored": N_("You always group by 3. Use the argument width."),
        "level_of_last_child": N_(
            "A parent's level is one more than its last child's. Take the highest child's: the last one may be a page "
            "that was left over."
        ),
        "depth_as_level": N_("Your levels count from the root down. A page has level 0, and its parent level 1."),
        "pages_from_zero": N_("Your pages count from 0. The first page is page 1."),
        "last_page_exclusive": N_(
            "Your last_page is the page behind the last one, as in a range. It is the last page itself."
        ),
        "ids_reused": N_(
            "Your ids begin again in each level, so two nodes have the same one. Go on counting: first_id + len(nodes)."
        ),
        "ids_from_zero": N_("Your ids count from 0, whatever first_id is. The first page gets first_id."),
        "first_id_ignored": N_("Your ids count from 1, whatever first_id is. The first page gets first_id."),
        "root_first": N_("You return the root first. Return the pages first, then level by level, the root last."),
        "only_root": N_("You return the root alone. Return all nodes: pages, parents, root."),
        "pages_missing": N_("The pages are missing from what you return. They are nodes as well."),
        "no_parent_ids": N_(
            "Every node has the parent_id -1. When you make a parent, write its id into its children's parent_id."
        ),
        "root_without_parent_id": N_("Your root's parent_id is None. Write -1: then a search can ask for it."),
        "root_is_its_own_parent": N_("Your root is its own parent. Its parent_id is -1."),
        "parent_ids_shifted": N_(
            "Each parent_id is one too high: it is the id of the node behind the parent. Fix the parent's id before "
            "you append it."
        ),
        "child_ids_missing": N_("Your parents have no child_ids. List the ids of the group's nodes."),
        "children_instead_of_ids": N_("Your child_ids hold the nodes themselves. List their ids."),
        "pages_as_children": N_(
            "Your child_ids are the ids of all pages below. List those of the nodes directly below, of the group."
        ),
        "summary_of_pages": N_(
            "You summarise the texts of all pages below. Give summarise the summaries of the children, one a line: "
            "the text of a whole document would be far too long."
        ),
        "not_summarised": N_("A parent's summary is its children's, joined. Give the joined text to summarise."),
        "joined_without_line_breaks": N_(
            'You join the summaries with a space. Put each on a line of its own: "\\n".join(...).'
        ),
        "first_summary": N_("A parent has the summary of its first child. Join those of all, and summarise that."),
        "page_text_as_summary": N_("A page's summary is its whole text. Give the text to summarise first."),
        "keywords_twice": N_("A keyword of two children stands there twice. Keep each one once."),
        "keywords_sorted": N_("Your keywords are sorted. Keep them in the order in which they are first seen."),
        "keywords_of_summary": N_(
            "You take the keywords that summarise finds in the children's summaries. Take the children's own: nothing "
            "that a page names may get lost on the way up."
        ),
        "common_keywords": N_(
            "You keep only keywords that all children have. Keep all that at least one child has."
        ),
        "last_keywords_first": N_(
            "The last child's keywords come first. Go through the children in the order of the pages."
        ),
        "keywords_in_children": N_(
            "Keywords of a neighbour turn up in a page. You add them to the first child's own list: make a new list."
        ),
        "file_name_of_pages_only": N_("Only the pages have the file's name. Write it into every node."),
        "blank_page_skipped": N_(
            "You leave out blank pages, so all pages behind get a wrong number. A blank page is a page."
        ),
        "one_page_wrapped": N_(
            "A document of one page gets a root above the page. There is one node, page and root at once."
        ),
        "no_pages_fail": N_("Without pages your function raises an error. It should return []."),
    },
)  # fmt: skip


class _StubTree:
    """Stands in for a TreeIndex: trees whose nodes two rankings put in order, and the fusion of both.

    ``trees`` has a tree for each file name: a page is its id, any other node a pair of its id and its children.
    ``dense`` are the ids of all nodes, best first, ``words`` those of the nodes that share a word with the query.
    """

    def __init__(self, trees: Mapping[str, object], dense: Sequence[int], words: Sequence[int]) -> None:
        self.trees, self.rankings = trees, (dense, words)
        self.nodes: dict[int, dict] = {}
        for file_name, tree in trees.items():
            self._take(file_name, tree, -1, 1)

    def _take(self, file_name: str, tree: object, parent: int, page: int) -> dict:
        own, below = tree if isinstance(tree, list) else (tree, [])
        children: list[dict] = []
        for one in below:
            children.append(
                self._take(file_name, one, own, children[-1]["last_page"] + 1 if children else page)
            )
        self.nodes[own] = {
            "id": own,
            "file_name": file_name,
            "first_page": page,
            "last_page": children[-1]["last_page"] if children else page,
            "level": 1 + max((child["level"] for child in children), default=-1),
            "parent_id": parent,
            "child_ids": [child["id"] for child in children],
            "summary": f"The summary of node {own}.",
            "keywords": [f"keyword {own}"],
        }
        return self.nodes[own]

    def search_roots(self, query: str, k: int) -> list[tuple[dict, float]]:
        roots = [self._copy(node["id"]) for node in self.nodes.values() if node["parent_id"] == -1]
        return self.rank(query, roots)[:k]

    def rank(self, query: str, nodes: Sequence[dict]) -> list[tuple[dict, float]]:
        if not isinstance(query, str):
            raise TypeError(f"rank needs the query first, which is a text, and got {type(query).__name__}")
        if isinstance(nodes, Mapping):
            raise TypeError("rank needs a list of nodes, and got one node: put it in [ ]")
        given = {_id_of(node): node for node in nodes}
        ranks = [
            {one: rank for rank, one in enumerate((one for one in ranking if one in given), start=1)}
            for ranking in self.rankings
        ]
        found = [one for one in self.rankings[0] if one in given]
        scores = {one: sum(1 / (60 + of[one]) for of in ranks if one in of) for one in found}
        best = {one: min(of[one] for of in ranks if one in of) for one in found}
        return [(given[one], scores[one]) for one in sorted(found, key=lambda one: (-scores[one], best[one]))]

    def children(self, node: dict) -> list[dict]:
        return [self._copy(child) for child in self.nodes[_id_of(node)]["child_ids"]]

    def text(self, node: dict) -> str:
        node = self.nodes[_id_of(node)]
        pages = range(node["first_page"], node["last_page"] + 1)
        return "\n".join(f"Page {page} of {node['file_name']}." for page in pages)

    def _copy(self, node_id: int) -> dict:
        node = self.nodes[node_id]
        return {**node, "child_ids": list(node["child_ids"]), "keywords": list(node["keywords"])}

    def __repr__(self) -> str:
        return f"_StubTree({self.trees!r}, {self.rankings!r})"


def _id_of(node: object) -> int:
    if not isinstance(node, Mapping) or "id" not in node:
        raise TypeError(f"the index needs a node, a dict with an id, and got {type(node).__name__}")
    return node["id"]


def _branch_answer(branch_search, trees, dense, words, look, query="pump leak", **settings):
    found = _seen(branch_search(_StubTree(trees, dense, words), query, **settings), look)
    # Where only the ids are looked at, it is asked who is found, and not in which order.
    if look == ["id"] and isinstance(found, list):
        ids = [one["id"] if isinstance(one, dict) else one for one in found]
        return sorted(ids) if all(isinstance(one, int) for one in ids) else ids
    return found


def _branch_probe(trees: dict, dense: list[int], words: list[int], look: str, **given) -> Probe:
    called = [f'"{given.get("query", "pump leak")}"']
    called += [f"{name}={value}" for name, value in given.items() if name != "query"]
    lines = [f"branch_search(index, {', '.join(called)})"]
    lines += [f"{file_name}: {_written(tree)}" for file_name, tree in trees.items()] or ["no trees"]
    lines += [
        f"by meaning: {', '.join(map(str, dense))}",
        f"by words: {', '.join(map(str, words)) or 'none'}",
    ]
    lines.append("looked at: " + ("which ids are found" if look == "id" else look.replace(" ", ", ")))
    given = {"trees": trees, "dense": dense, "words": words, "look": look.split(), **given}
    return Probe(given, "\n".join(lines))


def _written(tree: object) -> str:
    """A node, and in brackets its children."""
    if not isinstance(tree, list):
        return str(tree)
    return f"{tree[0]} ({', '.join(map(_written, tree[1]))})"


# What happens in a search, with letters for the nodes: the trees, and the two rankings. In a drawn probe the letters
# become other numbers, and children stand in another order.
_NOBODY_WINS = (["r", list("abc")],), "rabc", "ra"
_TWO_WIN = (["r", list("abcd")],), "abrcd", "bar"
# a and r have the same score, and a is listed first.
_TIE = (["r", list("abc")],), "arcb", "rabc"
_INNER_NODE = (["r", [["p", list("abc")], ["q", list("de")], "f"]],), "pfardbqce", "pfrade"
# In a ranking of two, r and a would have the same score.
_ALL_IN_ONE = (["r", list("abc")],), "rabc", "abrc"
# p is behind q when it wins, and in front of its own children.
_OWN_SCORE_AGAIN = (["r", [["p", list("ab")], ["q", list("cd")]]],), "qpabrcd", "qpabrcd"
_DOWN_TO_A_PAGE = (["r", [["p", [["s", list("ab")], "c"]], ["q", list("de")]]],), "bspraqced", "bspr"
_FOUR_TREES = (["r", list("ab")], ["s", list("cd")], "t", ["u", list("ef")]), "ctrausbdef", "trausc"
_THREE_TREES = (["r", list("ab")], ["s", list("cd")], ["t", list("ef")]), "saftecrbd", "srtafd"
_ORDER = (["r", list("ab")], ["s", list("cd")], ["t", list("ef")]), "cdatbsref", "cdbatsr"
_THREE_PATHS = (["r", [["p", list("ab")], "c"]], ["s", list("de")]), "bcpdrsae", "bpcsrd"
_ONE_PAGE = ("t",), "t", "t"


def _of(template: tuple, look: str, random: Random | None = None, **given) -> Probe:
    """The probe of a template: its letters become the numbers 1, 2, ..., pages first, or numbers that are drawn."""
    trees, dense, by_words = template
    levels = {name: level for tree in trees for name, level in _levels(tree)}
    order = sorted(levels, key=lambda name: (levels[name], sorted(levels).index(name)))
    numbers = range(1, len(order) + 1) if random is None else random.sample(range(10, 500), len(order))
    ids = dict(zip(order, numbers, strict=True))
    names = ["pump.txt", "valve.txt", "motor.txt", "crane.txt"]
    if random is not None:
        names = [f"{word}.txt" for word in words(random, len(trees))]
        given["query"] = " ".join(words(random, 2))
    made = dict(zip(names, (_numbered(tree, ids, random) for tree in trees), strict=False))
    return _branch_probe(made, [ids[one] for one in dense], [ids[one] for one in by_words], look, **given)


def _levels(tree: object) -> list[tuple[str, int]]:
    if not isinstance(tree, list):
        return [(tree, 0)]
    below = [pair for child in tree[1] for pair in _levels(child)]
    return [*below, (tree[0], 1 + max(level for _, level in below))]


def _numbered(tree: object, ids: Mapping[str, int], random: Random | None) -> object:
    if not isinstance(tree, list):
        return ids[tree]
    children = tree[1] if random is None else shuffled(random, tree[1])
    return [ids[tree[0]], [_numbered(child, ids, random) for child in children]]


_WINNERS = (_NOBODY_WINS, _TWO_WIN, _TIE, _INNER_NODE, _ALL_IN_ONE, _OWN_SCORE_AGAIN, _DOWN_TO_A_PAGE)
_PLACE = "file_name first_page last_page"


def _draw_winners(random: Random) -> tuple[Probe, ...]:
    return tuple(_of(template, "id", random) for template in _WINNERS)


def _draw_roots(random: Random) -> tuple[Probe, ...]:
    return (
        _of(_FOUR_TREES, "id", random),
        _of(_THREE_TREES, "id", random, roots=2),
        _of(_FOUR_TREES, "id", random, roots=random.choice([4, 5, 6])),
    )


def _draw_order(random: Random) -> tuple[Probe, ...]:
    return _of(_ORDER, "id score", random), _of(_INNER_NODE, "id score", random)


def _draw_chunks(random: Random) -> tuple[Probe, ...]:
    return (
        _of(_THREE_PATHS, "path", random),
        _of(_INNER_NODE, _PLACE, random),
        _of(_INNER_NODE, "text", random),
        _branch_probe({}, [], [], "id path", query=" ".join(words(random, 2))),
    )


BRANCH_SEARCH = Exercise(
    id="branch_search",
    unit=_UNIT,
    title=N_("Go down a tree where a child fits better"),
    objects=("branch_search",),
    answer=_branch_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("a node against its children: who goes on, and who is final"),
            1,
            tuple(_of(template, "id") for template in _WINNERS),
            _draw_winners,
        ),
        Criterion(
            N_("the best roots, each with its tree"),
            0.5,
            (_of(_FOUR_TREES, "id"), _of(_THREE_TREES, "id", roots=2), _of(_FOUR_TREES, "id", roots=4)),
            _draw_roots,
        ),
        Criterion(
            N_("the last ranking: order and scores"),
            1,
            (_of(_ORDER, "id score"), _of(_INNER_NODE, "id score")),
            _draw_order,
        ),
        Criterion(
            N_("what a chunk says, and nothing found"),
            0.5,
            (
                _of(_THREE_PATHS, "path"),
                _of(_INNER_NODE, _PLACE),
                _of(_INNER_NODE, "text"),
                _branch_probe({}, [], [], "id path"),
            ),
            _draw_chunks,
        ),
    ),
    hints=(
        N_(
            "Keep a list of nodes that still have to be tested. It begins with the roots. What do you do with one node "
            "of it, and what comes into the list then?"
        ),
        N_(
            "index.rank(query, [node, *index.children(node)]) puts a node and its children into one ranking. Find the "
            "node's own score in it. A child goes on if its score is higher, not if it is equal."
        ),
        N_(
            "waiting = pairs (node, path) of the roots; final = []. while waiting: take one off; rank it with its "
            "children; winners = the children whose score is above its own. If there are any, put each into waiting, "
            "its id added to the path; else put the node into final. At the end: for node, score in index.rank(query, "
            "the final nodes), make the chunk."
        ),
        N_("The finished function is branch_search in solutions/hybrid_search/branch.py."),
    ),
    misconceptions={
        "root_not_tested": N_(
            "You begin with the roots' children. Test the root first, as any other node: it is final if no child "
            "beats it."
        ),
        "tie_to_child": N_(
            "A child with the same score goes on. It must beat its parent: its score must be higher, > and not >=."
        ),
        "siblings_lost": N_(
            "Only the best child goes on. All children that beat their parent do, each by itself."
        ),
        "first_place_wins": N_(
            "You follow whoever is first in the ranking. Compare scores: with an equal one a child may stand first, "
            "and several children may be above their parent."
        ),
        "all_children_go_on": N_("Where one child wins, all go on. Only those that beat their parent do."),
        "all_must_win": N_(
            "You go on only where all children beat their parent. One is enough, and then only the winners go on."
        ),
        "parent_stays": N_(
            "A node whose children go on is found as well, so its pages come twice. It is final only where no child "
            "beats it."
        ),
        "always_down": N_(
            "You go down to a page each time. Stop where no child beats its parent: then the parent fits best."
        ),
        "one_level": N_("You go down one level only. The children that win are tested against their own children."),
        "pages_only": N_("You return pages only. A node above them that no child beats is final, too."),
        "pages_lost": N_("Pages are lost: they have no children, so nothing beats them. They are final."),
        "old_score_kept": N_(
            "You compare children with the score that their parent had in another ranking. A score holds within its "
            "ranking only: rank the node together with its children."
        ),
        "children_ranked_apart": N_(
            "You rank node and children in two rankings. Scores of two rankings cannot be compared: put all into one."
        ),
        "pair_by_pair": N_(
            "You rank the node with one child at a time. Rank it once, with all its children: places depend on who "
            "else is there."
        ),
        "one_pool": N_(
            "You rank all nodes of a round together, those of other trees and branches too. A node is ranked with its "
            "own children alone."
        ),
        "one_root": N_("You search the best tree only. Take as many roots as the argument roots says."),
        "roots_ignored": N_("You always take 3 roots. Use the argument roots."),
        "all_roots": N_("You search all trees. Take only the best ones, as many as roots says."),
        "best_only": N_("You return one chunk only. Return all final nodes."),
        "not_ranked_again": N_(
            "Your chunks come in the order in which the search ended, with scores of different rankings. Rank all "
            "final nodes together at the end."
        ),
        "sorted_by_old_scores": N_(
            "You sort the final nodes by scores of different rankings, which cannot be compared. Rank them together at "
            "the end."
        ),
        "worst_first": N_("The worst chunk comes first. A higher score is better."),
        "summary_as_text": N_("A chunk's text is its node's summary. Take index.text(node), the text of its pages."),
        "path_is_id": N_("The path is the node alone. It begins with the root, and every node on the way is in it."),
        "path_upwards": N_("Your path goes from the node up to the root. It should begin with the root."),
        "path_without_node": N_("The node itself is missing at the end of its path."),
        "path_without_root": N_("The root is missing at the beginning of the path."),
        "first_page_only": N_("A chunk ends with its first page. Its last_page is the node's."),
        "pairs_returned": N_(
            "You return pairs (node, score). Make a chunk of each, a dict with the keys in the statement."
        ),
        "nothing_found_fails": N_("Where there is no tree, your search raises an error. It should return []."),
    },
)  # fmt: skip

EXERCISES = (BUILD_TREE, BRANCH_SEARCH)
