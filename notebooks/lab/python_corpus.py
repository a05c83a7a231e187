"""Python's own language reference, as the running interpreter carries it for help()."""

import keyword
import re
from functools import cache
from itertools import groupby

from .word_lists import word_lists

# The model reads 256 tokens, which is about this many characters of the reference.
CHUNK_CHARACTERS = 1000

_HEADING = re.compile(r"^(\S.*)\n([*=~^\"-])\2{2,}$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^ *[+|][-=+|]+ *\n", re.MULTILINE)
_TABLE_ROW = re.compile(r"^ *\| (.*) \|$", re.MULTILINE)

_EMPHASIS = re.compile(r"(?<![\w*])(\*\*?)(?=\w)([^*\n]*\w)\1(?![\w*])")
_TOKEN = re.compile(
    r"""
      (?P<drawn>([-+=*~^#_.])\2{3,}|::=)         # underlines, rulers, grammar: no operators
    | (?P<word>[^\W\d]\w*)
    | (?P<number>\d[\w.]*\w|\d)
    | (?P<operator>
        \*\*= | //= | >>= | <<=                   # longest first
      | [-+*/%@&|^=!<>:]=
      | \*\* | // | << | >> | -> | \.\.\.
      | (?<!\w)-(?!\w)|(?<=\s)-(?=\w)             # a minus, not the hyphen of a compound
      | [+*/%@&^~<>|]
      )
    """,
    re.VERBOSE,
)


def python_reference() -> list[dict]:
    """The language reference of the running interpreter, cut to pieces that an embedding model can read.

    Each is a document: "id" (topic and number, such as "attribute-access#2"), "topic", "title" (the heading it
    stands under) and "content" (that heading, a blank line, some paragraphs). The same interpreter always
    gives the same documents; another version of Python gives somewhat others.
    """
    from pydoc_data.topics import topics

    return [
        {"id": f"{topic}#{number}", "topic": topic, "title": title, "content": f"{title}\n\n{body}"}
        for topic in sorted(topics)
        for number, (title, body) in enumerate(_pieces(topic, topics[topic]), start=1)
    ]


def _pieces(topic: str, text: str) -> list[tuple[str, str]]:
    """Heading and body of each piece of a topic."""
    head, *rest = _HEADING.split(without_drawings(text))
    sections = [(topic, head), *zip(rest[0::3], rest[2::3], strict=True)]
    return [(title, body) for title, section in sections for body in _packed(section)]


def without_drawings(text: str) -> str:
    """A topic's text with its tables as plain lines, and no line drawn around them."""
    return _TABLE_ROW.sub(_cells, _TABLE_RULE.sub("", text.replace("\r\n", "\n")))


def _cells(row: re.Match) -> str:
    """A table's row without its drawing: the cells, two spaces apart."""
    return "  ".join(cell.strip() for cell in row[1].split(" | ") if cell.strip())


def _packed(section: str) -> list[str]:
    """The section's paragraphs, joined to pieces of about CHUNK_CHARACTERS at most."""
    pieces = [""]
    for paragraph in re.split(r"\n\s*\n", section.strip("\n")):
        for part in _bounded(paragraph):
            if pieces[-1] and len(pieces[-1]) + len(part) > CHUNK_CHARACTERS:
                pieces.append("")
            pieces[-1] += ("\n\n" if pieces[-1] else "") + part
    return [piece.strip("\n") for piece in pieces if piece.strip()]


def _bounded(paragraph: str) -> list[str]:
    """The paragraph, cut between lines where it is too long."""
    if len(paragraph) <= CHUNK_CHARACTERS:
        return [paragraph]
    part_of, length = [], 0
    lines = paragraph.split("\n")
    for line in lines:
        length += len(line) + 1
        part_of.append(length // CHUNK_CHARACTERS)
    numbered = zip(part_of, lines, strict=True)
    return ["\n".join(line for _, line in part) for _, part in groupby(numbered, key=lambda pair: pair[0])]


def python_tokens(text: str) -> list[str]:
    """The terms of a text about Python, in order, ready for a keyword index.

    Keeps keywords that are stop words elsewhere ("with", "not"), names in one piece (``__slots__``,
    ``is_integer``) and operators (``@=``, ``//``). Case is folded; English stop words, brackets, commas and
    marks of emphasis are dropped.
    """
    stop_words = _stop_words()
    tokens = []
    for match in _TOKEN.finditer(_EMPHASIS.sub(r"\2", text)):
        token = match[0].casefold()
        if not match["drawn"] and token not in stop_words:
            tokens.append(token)
    return tokens


@cache
def _stop_words() -> frozenset[str]:
    words = frozenset(word_lists()["STOPWORDS_EN_PLUS"])
    return words - {name.casefold() for name in keyword.kwlist} - {"match", "case"}
