"""Correct solutions of the exercise build_tree in different styles. Each of them must get full points.

They follow the statement in unit 08.
"""

import math
from collections import deque
from dataclasses import asdict, dataclass, field
from itertools import chain as chained
from itertools import count

import numpy as np


def plain(pages, summarise, width=3, file_name="", first_id=1):
    nodes = []
    for number, page in enumerate(pages, start=1):
        about = summarise(page)
        nodes.append(
            {
                "id": first_id + len(nodes),
                "file_name": file_name,
                "first_page": number,
                "last_page": number,
                "level": 0,
                "parent_id": -1,
                "child_ids": [],
                "summary": about["summary"],
                "keywords": about["keywords"],
            }
        )
    level = list(nodes)
    while len(level) > 1:
        above = []
        for start in range(0, len(level), width):
            group = level[start : start + width]
            if len(group) == 1:
                above.append(group[0])
                continue
            parent = {
                "id": first_id + len(nodes),
                "file_name": file_name,
                "first_page": group[0]["first_page"],
                "last_page": group[-1]["last_page"],
                "level": max(child["level"] for child in group) + 1,
                "parent_id": -1,
                "child_ids": [child["id"] for child in group],
                "summary": summarise("\n".join(child["summary"] for child in group))["summary"],
                "keywords": list(dict.fromkeys(word for child in group for word in child["keywords"])),
            }
            for child in group:
                child["parent_id"] = parent["id"]
            nodes.append(parent)
            above.append(parent)
        level = above
    return nodes


def beginner(pages, summarise, width=3, file_name="", first_id=1):
    """Counters, and loops by hand."""
    if len(pages) == 0:
        return []
    all_nodes = []
    next_id = first_id
    page_number = 1
    for page in pages:
        result = summarise(page)
        node = {}
        node["id"] = next_id
        node["file_name"] = file_name
        node["first_page"] = page_number
        node["last_page"] = page_number
        node["level"] = 0
        node["parent_id"] = -1
        node["child_ids"] = []
        node["summary"] = result["summary"]
        node["keywords"] = result["keywords"]
        node["text"] = page
        all_nodes.append(node)
        next_id = next_id + 1
        page_number = page_number + 1
    current = []
    for node in all_nodes:
        current.append(node)
    while len(current) > 1:
        next_level = []
        i = 0
        while i < len(current):
            children = current[i : i + width]
            i = i + width
            if len(children) == 1:
                next_level.append(children[0])
            else:
                text = ""
                words = []
                ids = []
                highest = 0
                for child in children:
                    if child is not children[0]:
                        text = text + "\n"
                    text = text + child["summary"]
                    for word in child["keywords"]:
                        if word not in words:
                            words.append(word)
                    ids.append(child["id"])
                    if child["level"] > highest:
                        highest = child["level"]
                    child["parent_id"] = next_id
                node = {}
                node["id"] = next_id
                node["file_name"] = file_name
                node["first_page"] = children[0]["first_page"]
                node["last_page"] = children[len(children) - 1]["last_page"]
                node["level"] = highest + 1
                node["parent_id"] = -1
                node["child_ids"] = ids
                node["summary"] = summarise(text)["summary"]
                node["keywords"] = words
                next_level.append(node)
                all_nodes.append(node)
                next_id = next_id + 1
        current = next_level
    return all_nodes


def recursive(pages, summarise, width=3, file_name="", first_id=1):
    """Each level calls itself with the level above."""
    ids = count(first_id)

    def node(first, last, level, children, summary, keywords):
        return {
            "id": next(ids),
            "file_name": file_name,
            "first_page": first,
            "last_page": last,
            "level": level,
            "parent_id": -1,
            "child_ids": [child["id"] for child in children],
            "summary": summary,
            "keywords": keywords,
        }

    def parent(children):
        made = node(
            children[0]["first_page"],
            children[-1]["last_page"],
            1 + max(child["level"] for child in children),
            children,
            summarise("\n".join(child["summary"] for child in children))["summary"],
            list({word: None for child in children for word in child["keywords"]}),
        )
        for child in children:
            child["parent_id"] = made["id"]
        return made

    def above(level):
        if len(level) < 2:
            return []
        groups = [level[start : start + width] for start in range(0, len(level), width)]
        raised = [parent(group) if len(group) > 1 else group[0] for group in groups]
        return [one for one, group in zip(raised, groups, strict=True) if len(group) > 1] + above(raised)

    leaves = []
    for number, page in enumerate(pages, start=1):
        about = summarise(page)
        leaves.append(node(number, number, 0, [], about["summary"], about["keywords"]))
    return leaves + above(leaves)


@dataclass
class Node:
    id: int
    file_name: str
    first_page: int
    last_page: int
    level: int
    summary: str
    keywords: list
    parent_id: int = -1
    child_ids: list = field(default_factory=list)


def with_dataclass(pages, summarise, width=3, file_name="", first_id=1):
    nodes: list[Node] = []
    for page in pages:
        number = len(nodes) + 1
        nodes.append(Node(first_id + len(nodes), file_name, number, number, 0, **summarise(page)))
    waiting = nodes[:]
    while len(waiting) >= 2:
        waiting = [
            _raised(waiting[start : start + width], nodes, summarise, file_name, first_id)
            for start in range(0, len(waiting), width)
        ]
    return [asdict(node) for node in nodes]


def _raised(group, nodes, summarise, file_name, first_id):
    if not group[1:]:
        return group[0]
    text = "\n".join(child.summary for child in group)
    keywords = []
    for child in group:
        keywords.extend(word for word in child.keywords if word not in keywords)
    parent = Node(
        first_id + len(nodes),
        file_name,
        group[0].first_page,
        group[-1].last_page,
        max(child.level for child in group) + 1,
        summarise(text)["summary"],
        keywords,
        child_ids=[child.id for child in group],
    )
    for child in group:
        child.parent_id = parent.id
    nodes.append(parent)
    return parent


def queue(pages, summarise, width=3, file_name="", first_id=1):
    """One queue; a marker ends each level. Keyword lists are tuples."""
    nodes, waiting = [], deque()
    for number, page in enumerate(pages, start=1):
        nodes.append(_made(len(nodes) + first_id, file_name, number, number, 0, (), **summarise(page)))
        waiting.append(nodes[-1])
    left = len(waiting)
    while len(waiting) > 1:
        group = [waiting.popleft() for _ in range(min(width, left))]
        left -= len(group)
        if len(group) > 1:
            summary = summarise("\n".join(child["summary"] for child in group))["summary"]
            keywords = tuple(dict.fromkeys(chained.from_iterable(child["keywords"] for child in group)))
            level = 1 + max(child["level"] for child in group)
            ends = group[0]["first_page"], group[-1]["last_page"]
            ids = tuple(child["id"] for child in group)
            nodes.append(_made(len(nodes) + first_id, file_name, *ends, level, ids, summary, keywords))
            for child in group:
                child["parent_id"] = nodes[-1]["id"]
            group = nodes[-1:]
        waiting.extend(group)
        left = left or len(waiting)
    return nodes


def _made(id, file_name, first_page, last_page, level, child_ids, summary, keywords):
    return {**locals(), "parent_id": -1}


def parents_found_at_the_end(pages, summarise, width=3, file_name="", first_id=1):
    """Knows the children first, and fills the parent_ids in at the end."""
    nodes = [
        {"first_page": number, "last_page": number, "level": 0, "children": [], **summarise(page)}
        for number, page in enumerate(pages, 1)
    ]
    level = list(range(len(nodes)))
    while len(level) > 1:
        following = []
        for start in range(0, len(level), width):
            places = level[start : start + width]
            if len(places) > 1:
                below = [nodes[place] for place in places]
                nodes.append(
                    {
                        "first_page": min(one["first_page"] for one in below),
                        "last_page": max(one["last_page"] for one in below),
                        "level": 1 + max(one["level"] for one in below),
                        "children": places,
                        "summary": summarise("\n".join(one["summary"] for one in below))["summary"],
                        "keywords": list(dict.fromkeys(sum((list(one["keywords"]) for one in below), []))),
                    }
                )
                places = [len(nodes) - 1]
            following += places
        level = following
    parents = {child: place for place, node in enumerate(nodes) for child in node["children"]}
    return [
        {
            **node,
            "id": first_id + place,
            "file_name": file_name,
            "parent_id": first_id + parents[place] if place in parents else -1,
            "child_ids": [first_id + child for child in node["children"]],
        }
        for place, node in enumerate(nodes)
    ]


class Builder:
    """A class that counts, behind a function."""

    def __init__(self, summarise, file_name, first_id):
        self.summarise, self.file_name, self.first_id = summarise, file_name, first_id
        self.nodes = []

    def add(self, pages, level, children, text):
        about = self.summarise(text)
        keywords = about["keywords"]
        if children:
            keywords = []
            for child in children:
                for word in child["keywords"]:
                    if word in keywords:
                        continue
                    keywords.append(word)
        node = {
            "id": self.first_id + len(self.nodes),
            "file_name": self.file_name,
            "first_page": pages[0],
            "last_page": pages[-1],
            "level": level,
            "parent_id": -1,
            "child_ids": [child["id"] for child in children],
            "summary": about["summary"],
            "keywords": keywords,
        }
        self.nodes.append(node)
        for child in children:
            child.update(parent_id=node["id"])
        return node

    def group(self, children):
        if len(children) == 1:
            return children[0]
        pages = [child[end] for child in children for end in ("first_page", "last_page")]
        level = sorted(child["level"] for child in children)[-1] + 1
        return self.add(pages, level, children, "\n".join(child["summary"] for child in children))


def with_class(pages, summarise, width=3, file_name="", first_id=1):
    builder = Builder(summarise, file_name, first_id)
    level = [builder.add([number], 0, [], page) for number, page in enumerate(pages, start=1)]
    while level[1:]:
        level = [
            builder.group(level[width * i : width * (i + 1)]) for i in range(math.ceil(len(level) / width))
        ]
    return builder.nodes


def generator(pages, summarise, width=3, file_name="", first_id=1):
    """A generator; the nodes are given out at the end, as a parent changes its children."""
    made = list(map(summarise, pages))
    blank = {"file_name": file_name, "parent_id": -1}
    level = [
        {**blank, "id": first_id + i, "first_page": i + 1, "last_page": i + 1, "level": 0, "child_ids": []}
        | {"summary": about["summary"], "keywords": about["keywords"]}
        for i, about in enumerate(made)
    ]
    done = level[:]
    while len(level) > 1:
        above = []
        while level:
            group, level = level[:width], level[width:]
            if len(group) > 1:
                lines = "\n".join(one["summary"] for one in group)
                seen = set()
                keywords = [
                    word for one in group for word in one["keywords"] if not (word in seen or seen.add(word))
                ]
                done.append(
                    {
                        **blank,
                        "id": first_id + len(done),
                        "first_page": group[0]["first_page"],
                        "last_page": group[-1]["last_page"],
                        "level": max(one["level"] for one in group) + 1,
                        "child_ids": [one["id"] for one in group],
                        "summary": summarise(lines)["summary"],
                        "keywords": keywords,
                    }
                )
                for one in group:
                    one["parent_id"] = done[-1]["id"]
                above.append(done[-1])
            else:
                above += group
        level = above
    yield from done


def with_numpy(pages, summarise, width=3, file_name="", first_id=1):
    """Numbers are numpy's; the groups are cut by array_split."""
    nodes = []
    for number, page in zip(np.arange(1, len(pages) + 1), pages, strict=True):
        about = summarise(page)
        nodes.append(
            {
                "id": first_id + number - 1,
                "file_name": file_name,
                "first_page": number,
                "last_page": number,
                "level": np.int64(0),
                "parent_id": np.int64(-1),
                "child_ids": np.array([], dtype=int),
                "summary": about["summary"],
                "keywords": np.array(about["keywords"], dtype=object),
            }
        )
    level = np.arange(len(nodes))
    while len(level) > 1:
        above = []
        for group in np.array_split(level, np.arange(width, len(level), width)):
            if len(group) == 1:
                above.append(group[0])
                continue
            children = [nodes[i] for i in group]
            new = np.int64(first_id + len(nodes))
            words, first = np.unique(
                np.array([w for c in children for w in c["keywords"]], dtype=object), return_index=True
            )
            nodes.append(
                {
                    "id": new,
                    "file_name": file_name,
                    "first_page": children[0]["first_page"],
                    "last_page": children[-1]["last_page"],
                    "level": np.max([child["level"] for child in children]) + 1,
                    "parent_id": np.int64(-1),
                    "child_ids": np.array([child["id"] for child in children]),
                    "summary": summarise("\n".join(child["summary"] for child in children))["summary"],
                    "keywords": words[np.argsort(first)],
                }
            )
            for child in children:
                child["parent_id"] = new
            above.append(len(nodes) - 1)
        level = np.array(above)
    return nodes


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "recursive": (recursive,),
    "dataclass": (with_dataclass,),
    "one queue": (queue,),
    "parents at the end": (parents_found_at_the_end,),
    "a class": (with_class,),
    "generator": (generator,),
    "numpy": (with_numpy,),
}
