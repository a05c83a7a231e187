"""What a node of a tree of summaries is, and what a list of nodes must be like to be a tree."""

from collections.abc import Sequence

ROOT = -1  # the parent_id of a root


def check_tree(nodes: Sequence[dict]) -> None:
    """Refuse, with a ValueError that names the node, what is no tree over the pages of one document.

    A node is a dict: "id" (a whole number), "file_name", "first_page" and "last_page" (counted from 1), "level" (0 for
    a page, otherwise one more than the highest child's), "parent_id" (-1 for the root), "child_ids" in the order of
    the pages, "summary", and "keywords", a list. In a tree each node but the one root is the child of exactly one
    parent, nothing is its own ancestor, a parent covers the pages of its children without a gap, and the leaves are
    the pages. No nodes are no tree, and are let through.
    """
    by_id: dict[int, dict] = {}
    for node in nodes:
        if node["id"] in by_id:
            raise ValueError(f"two nodes have the id {node['id']}")
        by_id[node["id"]] = node
    parents = _parents(nodes, by_id)
    for node in nodes:
        expected = parents.get(node["id"], ROOT)
        if expected == ROOT != node["parent_id"]:
            raise ValueError(
                f"node {node['id']} is an orphan: its parent_id is {node['parent_id']}, and no such node has it "
                "among its child_ids"
            )
        if node["parent_id"] != expected:
            raise ValueError(
                f"node {node['id']} has two parents: it is a child of node {expected}, and its parent_id is "
                f"{node['parent_id']}"
            )
    roots = [node for node in nodes if node["parent_id"] == ROOT]
    _check_reached(nodes, roots, by_id)
    if len(roots) > 1:
        raise ValueError(f"one tree has one root: nodes {roots[0]['id']} and {roots[1]['id']} are both roots")
    for node in nodes:
        _check_pages(node, [by_id[child] for child in node["child_ids"]])
    if roots and roots[0]["first_page"] != 1:
        raise ValueError(f"pages count from 1: the root, node {roots[0]['id']}, begins at another one")


def _parents(nodes: Sequence[dict], by_id: dict[int, dict]) -> dict[int, int]:
    """The parent of each child, by the child_ids of the parents."""
    parents: dict[int, int] = {}
    for node in nodes:
        for child in node["child_ids"]:
            if child not in by_id:
                raise ValueError(f"node {node['id']} has a child {child} that is not among the nodes")
            if child in parents:
                raise ValueError(f"node {child} has two parents: nodes {parents[child]} and {node['id']}")
            parents[child] = node["id"]
    return parents


def _check_reached(nodes: Sequence[dict], roots: list[dict], by_id: dict[int, dict]) -> None:
    """With one parent each, a node that no root leads to is in a cycle or below one."""
    reached, waiting = set(), [root["id"] for root in roots]
    while waiting:
        node = waiting.pop()
        reached.add(node)
        waiting += by_id[node]["child_ids"]
    for node in nodes:
        if node["id"] not in reached:
            raise ValueError(f"node {node['id']} is in a cycle, or below one: no root leads to it")


def _check_pages(node: dict, children: list[dict]) -> None:
    if not children:
        right = node["level"] == 0 and node["first_page"] == node["last_page"]
    else:
        ends = [child["last_page"] for child in children]
        right = (
            [child["first_page"] for child in children]
            == [node["first_page"], *(end + 1 for end in ends[:-1])]
            and node["last_page"] == ends[-1]
            and node["level"] == 1 + max(child["level"] for child in children)
        )
    if not right:
        raise ValueError(
            f"node {node['id']} (pages {node['first_page']} to {node['last_page']}, level {node['level']}) must "
            + (
                "cover its children's pages in order, one level above the highest"
                if children
                else "be a page"
            )
        )
