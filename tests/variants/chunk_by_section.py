"""Correct solutions of the exercise chunk_by_section in different styles. Each of them must get full points.

They were written from the statement in unit 01 alone, without a look at the solution or the checks.
They differ where the statement leaves room: white space at the start and the end of a chunk, and blank
lines above the first line of a body.
"""

import io
import itertools
import re
from collections import deque
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pandas as pd


def regex_split(text):
    before, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    chunks = []
    before = before.strip()
    if before and not ("\n" not in before and before.startswith("# ")):
        chunks.append(before)
    for section in sections:
        heading, _, body = section.partition("\n")
        chunks.append(heading + "\n\n" + body.strip("\n"))
    return chunks


def pieces_stripped(text):
    """Cuts in front of each heading, and takes the white space off heading and body."""
    chunks = []
    for piece in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        first, *rest = piece.splitlines() or [""]
        if first.startswith("## "):
            while rest and not rest[0].strip():
                rest.pop(0)
            chunks.append("\n".join([first[3:].strip(), "", *rest]).strip())
        elif piece.strip() and not (piece.strip().startswith("# ") and "\n" not in piece.strip()):
            chunks.append(piece.strip())
    return chunks


def beginner(text):
    """One pass over the lines, with a list for the lines of the current section."""
    chunks = []
    heading = None
    lines = []
    for line in (text + "\n## ").split("\n"):
        if line[:3] == "## ":
            while len(lines) > 0 and lines[0].strip() == "":
                del lines[0]
            while len(lines) > 0 and lines[-1].strip() == "":
                del lines[-1]
            body = "\n".join(lines)
            if heading is not None:
                if body == "":
                    chunks.append(heading)
                else:
                    chunks.append(heading + "\n\n" + body)
            elif body != "":
                only_title = len(lines) == 1 and lines[0][:2] == "# "
                if not only_title:
                    chunks.append(body)
            heading = line[3:]
            lines = []
        else:
            lines.append(line)
    return chunks


def newline_in_front(text):
    """A line break in front makes every heading look alike."""
    parts = ("\n" + text).split("\n## ")
    chunks = [] if re.fullmatch(r"\s*(# .*)?\s*", parts[0]) else [parts[0]]
    for part in parts[1:]:
        if "\n" in part:
            heading, body = part.split("\n", 1)
        else:
            heading, body = part, ""
        chunks.append(f"{heading}\n\n{body.lstrip(chr(10))}".strip())
    return chunks


def finditer_and_slices(text):
    heads = list(re.finditer(r"(?m)^## (.*)$", text))
    ends = [match.start() for match in heads[1:]] + [len(text)]
    preamble = text[: heads[0].start()] if heads else text
    lines = preamble.strip().splitlines()
    chunks = []
    if len(lines) > 1 or (lines and not lines[0].startswith("# ")):
        chunks.append(preamble)
    for match, end in zip(heads, ends, strict=False):
        body = text[match.end() : end]
        chunks.append(match.group(1) + "\n\n" + re.sub(r"\A(?:[^\S\n]*\n)+", "", body).rstrip())
    return chunks


def one_pattern(text):
    """Everything in a single pattern, the text before the first heading in another."""
    start = re.match(r"(?ms)(?!## )(.*?)(?=^## |\Z)", text)
    before = start.group(1).strip() if start else ""
    chunks = [] if re.fullmatch(r"(# [^\n]*)?", before) else [before]
    sections = re.findall(r"^## (.*)\n*([\s\S]*?)(?=^## |\Z)", text, re.MULTILINE)
    return chunks + [heading + "\n\n" + body for heading, body in sections]


def groups_of_lines(text):
    """accumulate numbers the sections, groupby cuts between the numbers."""
    lines = text.splitlines(keepends=True)
    numbers = itertools.accumulate(line.startswith("## ") for line in lines)
    chunks = []
    for number, group in itertools.groupby(zip(numbers, lines, strict=True), key=lambda pair: pair[0]):
        section = [line for _, line in group]
        if number == 0:
            filled = [line for line in section if line.strip()]
            if filled and not (len(filled) == 1 and filled[0].startswith("# ")):
                chunks.append("".join(section))
        else:
            body = itertools.dropwhile(lambda line: not line.strip(), section[1:])
            chunks.append(section[0].removeprefix("## ").rstrip("\n") + "\n\n" + "".join(body))
    return chunks


@dataclass
class Section:
    heading: str | None
    lines: list[str] = field(default_factory=list)

    @property
    def body(self):
        return "\n".join(self.lines).strip("\n")

    @property
    def chunk(self):
        return self.body if self.heading is None else f"{self.heading}\n\n{self.body}".rstrip()

    @property
    def counts(self):
        if self.heading is not None:
            return True
        body = self.body.strip()
        return body != "" and (not body.startswith("# ") or "\n" in body)


def with_dataclass(text):
    sections = [Section(None)]
    for line in text.split("\n"):
        if line.startswith("## "):
            sections.append(Section(line[len("## ") :]))
        else:
            sections[-1].lines.append(line)
    return [section.chunk for section in sections if section.counts]


def _blocks(text):
    block = []
    for line in text.split("\n"):
        if line.startswith("## "):
            yield block
            block = []
        block.append(line)
    yield block


def with_generator(text):
    blocks = _blocks(text)
    before = "\n".join(next(blocks))
    chunks = []
    match before.strip().split("\n"):
        case [""]:
            pass
        case [line] if line.startswith("# "):
            pass
        case _:
            chunks.append(before)
    for heading, *body in blocks:
        chunks.append("\n\n".join([heading[3:], "\n".join(body).strip("\n")]))
    return chunks


class Cutter:
    def __init__(self, text):
        self.lines = text.split("\n")
        self.chunks = []

    def is_heading(self, number):
        return self.lines[number].startswith("## ")

    def headings(self):
        return [number for number in range(len(self.lines)) if self.is_heading(number)]

    def add_preamble(self, end):
        preamble = "\n".join(self.lines[:end]).strip("\n")
        is_title = preamble.startswith("# ") and preamble.rstrip().count("\n") == 0
        if preamble.strip() and not is_title:
            self.chunks.append(preamble)

    def add_section(self, start, end):
        body = "\n".join(self.lines[start + 1 : end]).strip("\n")
        heading = self.lines[start].replace("## ", "", 1)
        self.chunks.append(heading + ("\n\n" + body if body else ""))

    def cut(self):
        borders = [*self.headings(), len(self.lines)]
        self.add_preamble(borders[0])
        for start, end in itertools.pairwise(borders):
            self.add_section(start, end)
        return self.chunks


def with_class(text):
    return Cutter(text).cut()


def _sections_from(rest):
    if not rest:
        return []
    section, found, others = rest.partition("\n## ")
    heading, _, body = section.partition("\n")
    chunk = heading + "\n\n" + body.strip("\n")
    return [chunk, *_sections_from(others)] if found else [chunk]


def recursion(text):
    before, found, rest = ("\n" + text).partition("\n## ")
    before = before.strip()
    first = [before] if before and (len(before.splitlines()) > 1 or before[:2] != "# ") else []
    return first + (_sections_from(rest + "\n") if found else [])


def read_like_a_file(text):
    """Reads from a StringIO. newline="" keeps the line breaks as they are."""
    preamble, sections = "", []
    with io.StringIO(text, newline="") as file:
        for line in file:
            if line.startswith("## "):
                sections.append([line[3:].rstrip("\r\n"), ""])
            elif not sections:
                preamble += line
            elif line.strip() or sections[-1][1]:
                sections[-1][1] += line
    chunks = [f"{heading}\n\n{body}".strip() for heading, body in sections]
    if preamble.strip() and not re.match(r"# [^\n]*\Z", preamble.strip()):
        chunks.insert(0, preamble)
    return chunks


def functional(text):
    def add(sections, line):
        if line.startswith("## "):
            return [*sections, [line[3:], ""]]
        return [*sections[:-1], [*sections[-1], line]]

    before, *sections = reduce(add, text.split("\n"), [[]])
    head = "\n".join(before).strip()
    keep = head and (head.count("\n") > 0 or not head.startswith("# "))
    join = "\n".join
    return [head] * bool(keep) + [
        join(s[:2] + list(itertools.dropwhile(lambda line: line.strip() == "", s[2:]))) for s in sections
    ]


def find_in_a_loop(text):
    """str.find from heading to heading."""
    starts = []
    position = 0 if text.startswith("## ") else text.find("\n## ") + 1
    while text.startswith("## ", position):
        starts.append(position)
        following = text.find("\n## ", position)
        if following == -1:
            break
        position = following + 1
    chunks = []
    intro = text[: starts[0]] if starts else text
    if len(intro.strip()) > 0 and (not intro.strip().startswith("# ") or len(intro.strip().split("\n")) != 1):
        chunks.append(intro.strip())
    for i, start in enumerate(starts):
        end = starts[i + 1] if i + 1 < len(starts) else len(text)
        line_end = text.find("\n", start, end)
        if line_end == -1:
            line_end = end
        chunks.append(text[start + 3 : line_end] + "\n\n" + text[line_end:end].strip("\n"))
    return chunks


def blank_line_only_where_missing(text):
    """Leaves the blank lines below a heading as they are, and puts one in only where there is none."""
    sections = re.split(r"(?m)^(?=## )", text)
    chunks = []
    if not sections[0].startswith("## "):
        preamble = sections.pop(0)
        if preamble.strip() and not re.fullmatch(r"# .*", preamble.strip()):
            chunks.append(preamble)
    for section in filter(None, sections):
        heading, _, body = section[3:].partition("\n")
        if body and not body.startswith("\n"):
            body = "\n" + body
        chunks.append(heading + "\n" + body)
    return chunks


def with_deque(text):
    lines = deque(text.split("\n"))
    chunks = []
    preamble = []
    while lines and not lines[0].startswith("## "):
        preamble.append(lines.popleft())
    filled = list(filter(str.strip, preamble))
    if filled and not (len(filled) == 1 and filled[0].startswith("# ")):
        chunks.append("\n".join(preamble))
    while lines:
        chunk = [lines.popleft()[3:], ""]
        while lines and not lines[0].strip():
            lines.popleft()
        while lines and not lines[0].startswith("## "):
            chunk.append(lines.popleft())
        chunks.append("\n".join(chunk).rstrip())
    return chunks


def with_numpy(text):
    lines = np.array(text.split("\n"), dtype=object)
    borders = np.flatnonzero([line.startswith("## ") for line in lines])
    before, *sections = np.split(lines, borders)
    chunks = []
    preamble = "\n".join(before).strip("\n")
    if preamble.strip() and ("\n" in preamble.strip() or not preamble.startswith("# ")):
        chunks.append(preamble)
    for section in sections:
        chunks.append(section[0][3:] + "\n\n" + "\n".join(section[1:]).strip("\n"))
    return chunks


def with_pandas(text):
    lines = pd.Series(text.split("\n"), dtype=object)
    number = lines.str.startswith("## ").cumsum()
    chunks = []
    for n, group in lines.groupby(number):
        if n == 0:
            before = "\n".join(group).strip()
            if before and not (before.startswith("# ") and before.count("\n") == 0):
                chunks.append(before)
        else:
            chunks.append(group.iloc[0][3:] + "\n\n" + "\n".join(group.iloc[1:]).strip("\n"))
    return chunks


VARIANTS = {
    "re.split": (regex_split,),
    "pieces, heading stripped": (pieces_stripped,),
    "beginner with a sentinel line": (beginner,),
    "line break in front and str.split": (newline_in_front,),
    "finditer and slices": (finditer_and_slices,),
    "one pattern, findall": (one_pattern,),
    "splitlines, accumulate and groupby": (groups_of_lines,),
    "dataclass": (with_dataclass,),
    "generator and match": (with_generator,),
    "class with helper methods": (with_class,),
    "recursion with partition": (recursion,),
    "read line by line from StringIO": (read_like_a_file,),
    "reduce": (functional,),
    "str.find in a loop": (find_in_a_loop,),
    "blank line only where it is missing": (blank_line_only_where_missing,),
    "deque": (with_deque,),
    "numpy split": (with_numpy,),
    "pandas groupby": (with_pandas,),
}
