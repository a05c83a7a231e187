"""Whose submission it is: names as they were found, made safe for folders, the gradebook and tables."""

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ..language import translate as _
from .entries import shown

_LONGEST = 60  # characters; the gradebook holds 128, a folder's name 255 bytes
# nbgrader splits names at "+" and matches them with "*", "?" and "["; a formula starts with =, +, - or @.
_ALLOWED = "._-@ "


class Found(NamedTuple):
    """A learner as a folder or file names them. ``number`` is the platform's, where it has one."""

    name: str
    number: str = ""


def safe_name(name: str) -> str:
    """The name with letters, digits, spaces and ``._-@`` only, a letter or digit first."""
    name = unicodedata.normalize("NFC", name)
    text = "".join(
        character if unicodedata.category(character)[0] in "LMN" or character in _ALLOWED else "_"
        for character in name
    )
    start = next((place for place, character in enumerate(text) if character.isalnum()), len(text))
    text = text[start:].rstrip(" .")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST].rstrip(' .')}-{_mark(name)}"
    return text or f"learner-{_mark(name)}"


def learners(found: Iterable[Found]) -> dict[Found, tuple[str, tuple[str, ...]]]:
    """Each learner's name in the gradebook, no two alike, and notes where it is not the one that was found.

    Where several would get the same name, the one that is spelt so keeps it, and the others get the platform's
    number or a mark made from their spelling. A name does not depend on who else hands in otherwise.
    """
    groups = defaultdict(list)
    for learner in sorted(set(found)):
        groups[safe_name(learner.name).casefold()].append(learner)
    named, taken = {}, set(groups)
    for group in groups.values():
        alone = len(group) == 1
        keeper = next((one for one in group if one.name == safe_name(one.name) and not one.number), None)
        for learner in group:
            name, notes = safe_name(learner.name), []
            if not alone and learner is not keeper:
                name = f"{name}-{learner.number or _mark(learner.name)}"
                while name.casefold() in taken:
                    name += f"-{_mark(repr(learner))}"
                taken.add(name.casefold())
            if not alone:
                notes.append(
                    _("Several submissions carry this name. This one is {learner}: see whose it is.").format(
                        learner=name
                    )
                )
            elif name != learner.name:
                notes.append(_("The learner's name was found as {name}.").format(name=shown(learner.name)))
            named[learner] = (name, tuple(notes))
    return named


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
