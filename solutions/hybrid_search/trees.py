"""Unit 08: a document as a tree of summaries, from its pages up to one root."""

from collections.abc import Callable, Sequence

from .documents import check_count
from .nodes import ROOT, check_tree

__all__ = ["build_tree", "check_tree"]


def build_tree(
    pages: Sequence[str],
    summarise: Callable[[str], dict],
    width: int = 3,
    file_name: str = "",
    first_id: int = 1,
) -> list[dict]:
    """The nodes of the tree over the pages of a document: pages first, then each level of parents, the root last.

    ``summarise(text)`` gives a dict with "summary", a text, and "keywords", a list of texts. A leaf is a page, with
    the summary and the keywords of its text. Consecutive nodes, ``width`` at a time, get a parent: the summary of
    their summaries, one a line, and the union of their keywords in first-seen order. One that is left over alone
    moves up a level as it is. This goes on until one node is left, whose parent_id is -1. What a node holds says
    ``nodes.check_tree``. Ids count from ``first_id``.

    No pages give no nodes, one page gives one node, root and leaf at once. Raises ValueError for a width below 2,
    TypeError for pages that are no list of texts; whatever summarise raises comes through.
    """
    pages, width = _checked_pages(pages), check_count(width, "width", least=2)
    nodes = []
    for number, page in enumerate(pages, start=1):
        summary, keywords = _summarised(summarise, page, f"page {number}")
        nodes.append(_node(first_id + len(nodes), file_name, number, number, 0, [], summary, keywords))
    level = list(nodes)
    while len(level) > 1:
        above = []
        for start in range(0, len(level), width):
            group = level[start : start + width]
            if len(group) > 1:
                nodes.append(_parent(first_id + len(nodes), group, summarise))
                group = nodes[-1:]
            above += group
        level = above
    return nodes


def _parent(node_id: int, children: list[dict], summarise: Callable[[str], dict]) -> dict:
    first, last = children[0], children[-1]
    summaries = "\n".join(child["summary"] for child in children)
    pages = f"pages {first['first_page']} to {last['last_page']}"
    summary, _ = _summarised(summarise, summaries, f"the summaries of {pages}")
    for child in children:
        child["parent_id"] = node_id
    return _node(
        node_id,
        first["file_name"],
        first["first_page"],
        last["last_page"],
        1 + max(child["level"] for child in children),
        [child["id"] for child in children],
        summary,
        list(dict.fromkeys(keyword for child in children for keyword in child["keywords"])),
    )


def _node(node_id, file_name, first_page, last_page, level, child_ids, summary, keywords) -> dict:
    return {
        "id": node_id,
        "file_name": file_name,
        "first_page": first_page,
        "last_page": last_page,
        "level": level,
        "parent_id": ROOT,
        "child_ids": child_ids,
        "summary": summary,
        "keywords": keywords,
    }


def _checked_pages(pages: Sequence[str]) -> list[str]:
    if isinstance(pages, str):
        raise TypeError("pages must be a list of texts, one a page: got one text")
    pages = list(pages)
    for number, page in enumerate(pages, start=1):
        if not isinstance(page, str):
            raise TypeError(f"page {number} must be a text: got {type(page).__name__}")
    return pages


def _summarised(summarise: Callable[[str], dict], text: str, whose: str) -> tuple[str, list[str]]:
    answer = summarise(text)
    try:
        summary, keywords = answer["summary"], list(dict.fromkeys(answer["keywords"]))
    except (TypeError, KeyError, IndexError):
        summary, keywords = None, []
    if not isinstance(summary, str) or isinstance(answer["keywords"], str) or not _texts(keywords):
        raise TypeError(
            f'summarise must give {{"summary": a text, "keywords": a list of texts}}: of {whose} it gave '
            f"{str(answer)[:80]}"
        )
    return summary, keywords


def _texts(values: list) -> bool:
    return all(isinstance(value, str) for value in values)
