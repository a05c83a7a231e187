"""A document as a tree of summaries: what build_tree makes, and what check_tree refuses."""

import copy

import pytest
from conftest import need

from hybrid_search import build_tree, check_tree

try:
    from hypothesis import given, settings
    from hypothesis import strategies as st
except ImportError:
    given = None


def summarise(text):
    """The summary tells what it is of, the keywords are the text's capitals."""
    return {
        "summary": f"({text.replace(chr(10), ' ')})",
        "keywords": [letter for letter in text if letter.isupper()],
    }


def shape(nodes):
    return [
        (
            node["id"],
            node["level"],
            node["first_page"],
            node["last_page"],
            node["parent_id"],
            node["child_ids"],
        )
        for node in nodes
    ]


@pytest.mark.parametrize(("pages", "nodes"), [(0, 0), (1, 1), (2, 3), (3, 4), (4, 6), (7, 10), (10, 15)])
def test_so_many_nodes_stand_over_so_many_pages_at_width_3(pages, nodes):
    assert len(build_tree(["text"] * pages, summarise)) == nodes


def test_no_pages_are_no_tree_and_one_page_is_root_and_leaf():
    assert build_tree([], summarise) == []
    assert build_tree(["only A"], summarise, file_name="one.txt", first_id=7) == [
        {
            "id": 7,
            "file_name": "one.txt",
            "first_page": 1,
            "last_page": 1,
            "level": 0,
            "parent_id": -1,
            "child_ids": [],
            "summary": "(only A)",
            "keywords": ["A"],
        }
    ]


def test_seven_pages_make_two_parents_and_the_seventh_waits_for_the_root():
    #              10
    #       8      |      9          the root's children come in the order of the pages: 8, 9, 7
    #    1  2  3   7   4  5  6
    nodes = build_tree(list("abcdefg"), summarise, width=3)
    assert shape(nodes) == [
        *((page, 0, page, page, parent, []) for page, parent in enumerate([8, 8, 8, 9, 9, 9, 10], start=1)),
        (8, 1, 1, 3, 10, [1, 2, 3]),
        (9, 1, 4, 6, 10, [4, 5, 6]),
        (10, 2, 1, 7, -1, [8, 9, 7]),
    ]


def test_a_leftover_moves_up_level_by_level_as_it_is():
    # Ten pages: 11, 12, 13 stand over nine, the tenth is left over; 14 stands over these three, and the tenth again.
    nodes = build_tree(["text"] * 10, summarise)
    assert shape(nodes)[9:] == [
        (10, 0, 10, 10, 15, []),
        (11, 1, 1, 3, 14, [1, 2, 3]),
        (12, 1, 4, 6, 14, [4, 5, 6]),
        (13, 1, 7, 9, 14, [7, 8, 9]),
        (14, 2, 1, 9, 15, [11, 12, 13]),
        (15, 3, 1, 10, -1, [14, 10]),
    ]


def test_a_parent_is_one_level_above_its_highest_child():
    # Width 2, five pages: 6 = (1, 2), 7 = (3, 4), 5 left over; 8 = (6, 7), 5 again; 9 = (8, 5).
    nodes = build_tree(["text"] * 5, summarise, width=2)
    assert [(node["id"], node["level"]) for node in nodes[5:]] == [(6, 1), (7, 1), (8, 2), (9, 3)]


def test_a_parent_sums_up_the_summaries_of_its_children_and_joins_their_keywords():
    asked = []

    def listening(text):
        asked.append(text)
        return summarise(text)

    nodes = build_tree(["B a A", "c C A", "d"], listening, width=2)
    assert asked == ["B a A", "c C A", "d", "(B a A)\n(c C A)", "((B a A) (c C A))\n(d)"]
    parent, root = nodes[3:]
    assert parent["summary"] == "((B a A) (c C A))"
    assert root["summary"] == "(((B a A) (c C A)) (d))"
    assert parent["keywords"] == root["keywords"] == ["B", "A", "C"]  # as first seen, each once


def test_ids_count_from_the_first_one_and_the_file_is_named_on_every_node():
    nodes = build_tree(["text"] * 4, summarise, file_name="x.pdf", first_id=100)
    assert [node["id"] for node in nodes] == [100, 101, 102, 103, 104, 105]
    assert nodes[5]["child_ids"] == [104, 103] and nodes[0]["parent_id"] == 104
    assert {node["file_name"] for node in nodes} == {"x.pdf"}
    check_tree(nodes)


def test_blank_pages_are_leaves_like_others():
    nodes = build_tree(["", " \n", "\f", ""], lambda text: {"summary": text.strip(), "keywords": []})
    assert [node["summary"] for node in nodes] == [""] * 6
    check_tree(nodes)


def test_the_keywords_of_two_nodes_are_two_lists():
    shared = ["A"]
    nodes = build_tree(["x", "y"], lambda text: {"summary": text, "keywords": shared})
    nodes[0]["keywords"].append("B")
    assert nodes[1]["keywords"] == nodes[2]["keywords"] == shared == ["A"]


@pytest.mark.parametrize("width", [1, 0, -3])
def test_a_width_below_2_is_refused(width):
    with pytest.raises(ValueError, match="width must be at least 2"):
        build_tree(["a", "b"], summarise, width)


def test_a_width_that_is_no_whole_number_is_refused():
    with pytest.raises(TypeError, match="width must be a whole number"):
        build_tree(["a", "b"], summarise, 2.5)


def test_pages_that_are_no_texts_are_refused():
    with pytest.raises(TypeError, match="pages must be a list of texts"):
        build_tree("one text", summarise)
    with pytest.raises(TypeError, match="page 2 must be a text: got bytes"):
        build_tree(["one", b"two"], summarise)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "a text",
        {"summary": "no keywords"},
        {"summary": 1, "keywords": []},
        {"summary": "", "keywords": "a b"},
    ]
    + [
        {"summary": "", "keywords": [1]},
        {"summary": "", "keywords": None},
        {"summary": "", "keywords": [[]]},
    ],
)
def test_a_summariser_that_answers_with_something_else_is_refused(answer):
    with pytest.raises(TypeError, match="summarise must give .* of page 1 it gave"):
        build_tree(["text"], lambda text: answer)


def test_what_a_summariser_raises_comes_through():
    def failing(text):
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        build_tree(["text"], failing)


# ---- what is no tree


@pytest.fixture
def nodes():
    """The tree over seven pages: 8 over 1 to 3, 9 over 4 to 6, 10 over 8, 9 and 7."""
    return build_tree(["text"] * 7, summarise)


def broken(nodes, node_id, **changes):
    changed = copy.deepcopy(nodes)
    next(node for node in changed if node["id"] == node_id).update(changes)
    return changed


def test_a_tree_is_let_through_in_any_order_of_its_nodes(nodes):
    check_tree(nodes)
    check_tree(nodes[::-1])
    check_tree([])


@pytest.mark.parametrize(
    ("node_id", "changes", "message"),
    [
        (8, {"parent_id": 99}, "node 8 has two parents: it is a child of node 10, and its parent_id is 99"),
        (8, {"parent_id": -1}, "node 8 has two parents: it is a child of node 10, and its parent_id is -1"),
        (10, {"child_ids": [8, 9]}, "node 7 is an orphan: its parent_id is 10"),
        (10, {"parent_id": 3}, "node 10 is an orphan: its parent_id is 3"),
        (9, {"child_ids": [3, 4, 5, 6]}, "node 3 has two parents: nodes 8 and 9"),
        (9, {"child_ids": [4, 4, 5, 6]}, "node 4 has two parents: nodes 9 and 9"),
        (9, {"child_ids": [4, 5, 6, 77]}, "node 9 has a child 77 that is not among the nodes"),
        (2, {"id": 1}, "two nodes have the id 1"),
        (
            8,
            {"child_ids": [2, 1, 3]},
            r"node 8 \(pages 1 to 3, level 1\) must cover its children's pages in order",
        ),
        (8, {"last_page": 4}, "node 8 .* must cover its children's pages"),
        (9, {"first_page": 3}, "node 9 .* must cover its children's pages"),
        (8, {"level": 2}, "node 8 .* one level above the highest"),
        (7, {"last_page": 8}, "node 7 .* must be a page"),
        (7, {"level": 1}, "node 7 .* must be a page"),
    ],
)
def test_what_is_no_tree_is_refused_and_the_node_is_named(nodes, node_id, changes, message):
    with pytest.raises(ValueError, match=message):
        check_tree(broken(nodes, node_id, **changes))


def test_a_cycle_is_refused(nodes):
    # 8 and 9 have each other as parent and child, and the root only 7.
    changed = broken(nodes, 10, child_ids=[7], first_page=7)
    changed = broken(changed, 8, parent_id=9, child_ids=[1, 2, 3, 9])
    changed = broken(changed, 9, parent_id=8, child_ids=[4, 5, 6, 8])
    with pytest.raises(ValueError, match="node 1 is in a cycle, or below one"):
        check_tree(changed)


def test_a_node_that_is_its_own_parent_is_refused(nodes):
    with pytest.raises(ValueError, match="node 1 is in a cycle, or below one"):
        check_tree(broken(nodes, 10, parent_id=10, child_ids=[8, 9, 7, 10]))


def test_two_trees_are_not_one(nodes):
    other = build_tree(["text"] * 2, summarise, first_id=50)
    with pytest.raises(ValueError, match="nodes 10 and 52 are both roots"):
        check_tree([*nodes, *other])


def test_pages_count_from_1(nodes):
    moved = [
        {**node, "first_page": node["first_page"] + 1, "last_page": node["last_page"] + 1} for node in nodes
    ]
    with pytest.raises(ValueError, match="pages count from 1: the root, node 10"):
        check_tree(moved)


if given:

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, 300), st.integers(2, 8), st.integers(0, 1000))
    def test_any_number_of_pages_and_any_width_make_a_tree_over_them(count, width, first_id):
        pages = [f"page {number}" for number in range(1, count + 1)]
        nodes = build_tree(pages, summarise, width, "any.txt", first_id)
        check_tree(nodes)
        # The same said again, without check_tree.
        by_id = {node["id"]: node for node in nodes}
        assert list(by_id) == list(range(first_id, first_id + len(nodes)))
        leaves = [node for node in nodes if not node["child_ids"]]
        assert [(node["first_page"], node["last_page"]) for node in leaves] == [
            (n, n) for n in range(1, count + 1)
        ]
        assert [node["summary"] for node in leaves] == [f"({page})" for page in pages]
        assert [node["id"] for node in nodes if node["parent_id"] == -1] == [
            node["id"] for node in nodes[-1:]
        ]
        for node in nodes:
            children = [by_id[child] for child in node["child_ids"]]
            assert all(child["parent_id"] == node["id"] for child in children)
            assert len(children) in ({0} | set(range(2, width + 1)))
            if children:
                covered = [
                    page for child in children for page in range(child["first_page"], child["last_page"] + 1)
                ]
                assert covered == list(range(node["first_page"], node["last_page"] + 1))
        assert nodes == build_tree(pages, summarise, width, "any.txt", first_id)

    @settings(max_examples=200, deadline=None)
    @given(st.integers(2, 40), st.integers(2, 5), st.data())
    def test_a_tree_with_one_wrong_link_is_refused(count, width, data):
        nodes = build_tree(["text"] * count, summarise, width)
        node = data.draw(st.sampled_from(nodes))
        other = data.draw(st.sampled_from([-1, *(node["id"] for node in nodes), 10_000]))
        links = {"parent_id": other, "child_ids": [*node["child_ids"], other]}
        name = data.draw(st.sampled_from(sorted(links)))
        changed = broken(nodes, node["id"], **{name: links[name]})
        if changed != nodes:
            with pytest.raises(ValueError, match="node|nodes"):
                check_tree(changed)

else:

    def test_any_number_of_pages_and_any_width_make_a_tree_over_them():
        need(given, "hypothesis")
