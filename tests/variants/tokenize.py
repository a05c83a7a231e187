"""Correct solutions of the exercise tokenize in different styles. Each of them must get full points.

They were written from the statement in unit 02 alone, without a look at the solution or the checks.
fold, RUN and stop_words are the ones that the notebook gives.
"""

import itertools
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, reduce

import pandas as pd

from lab import stop_words


def fold(text):
    """The text in lower case and without accents: "École" gives "ecole"."""
    letters = unicodedata.normalize("NFD", text.casefold())
    bare = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare)


RUN = re.compile(r"\w+(?:[-.]\w+)*")


def plain(text):
    tokens = []
    for run in RUN.findall(fold(text)):
        if re.search(r"[\d_]", run):
            tokens.append(run)
        else:
            tokens.extend(re.split(r"[-.]", run))
    return [token for token in tokens if token not in stop_words()]


def beginner(text):
    text = fold(text)
    runs = RUN.findall(text)
    stops = stop_words()
    tokens = []
    for run in runs:
        identifier = False
        for character in run:
            if character in "0123456789" or character == "_":
                identifier = True
        if identifier == True:  # noqa: E712
            if run not in stops:
                tokens.append(run)
        else:
            parts = re.split(r"[-.]", run)
            for part in parts:
                if part not in stops:
                    tokens.append(part)
    return tokens


def comprehension(text):
    stops = stop_words()
    return [
        token
        for run in RUN.findall(fold(text))
        for token in ([run] if any(c.isdigit() or c == "_" for c in run) else re.split(r"[-.]", run))
        if token not in stops
    ]


def functional(text):
    def pieces(run):
        return (run,) if set(run) & set("0123456789_") else run.replace(".", "-").split("-")

    tokens = itertools.chain.from_iterable(map(pieces, RUN.findall(fold(text))))
    return list(itertools.filterfalse(stop_words().__contains__, tokens))


STOP_WORDS = frozenset(stop_words())


def _pieces(text):
    for match in RUN.finditer(fold(text)):
        run = match[0]
        if any(map(str.isdecimal, run)) or "_" in run:
            yield run
        else:
            yield from run.translate({ord("-"): " ", ord("."): " "}).split()


def generator(text):
    return [token for token in _pieces(text) if token not in STOP_WORDS]


def replaced_in_the_text(text):
    """Splits the runs in the text itself, with a function for re.sub."""

    def split(match):
        run = match.group()
        return run if re.search("[0-9_]", run) else re.sub("[-.]", " ", run)

    return [token for token in RUN.findall(RUN.sub(split, fold(text))) if token not in stop_words()]


PATTERN = re.compile(
    r"""
    (?= (?: \w | (?<=\w)[-.](?=\w) )* [\d_] )   # a run with a digit or an underscore
    \w+ (?: [-.]\w+ )*                          # in one piece
    | [^\W\d_]+                                 # or a stretch of letters
    """,
    re.VERBOSE,
)


def one_pattern(text):
    return [token for token in PATTERN.findall(fold(text)) if token not in stop_words()]


def character_by_character(text):
    """Without a pattern: goes through the characters, and keeps where a run began."""

    def in_run(i):
        if folded[i].isalnum() or folded[i] == "_":
            return True
        between = 0 < i < len(folded) - 1 and folded[i] in "-."
        return between and all(c.isalnum() or c == "_" for c in (folded[i - 1], folded[i + 1]))

    folded = fold(text)
    runs, current = [], ""
    for i in range(len(folded)):
        if in_run(i):
            current += folded[i]
        elif current:
            runs.append(current)
            current = ""
    if current:
        runs.append(current)
    tokens = []
    for run in runs:
        if any(c == "_" or c.isdigit() for c in run):
            tokens.append(run)
        else:
            tokens += [part for piece in run.split("-") for part in piece.split(".")]
    return [token for token in tokens if token not in stop_words()]


def grouped(text):
    """groupby cuts a run into letters and marks."""
    tokens = []
    for run in RUN.findall(fold(text)):
        if "_" in run or any(digit in run for digit in "0123456789"):
            tokens.append(run)
            continue
        for is_mark, letters in itertools.groupby(run, key="-.".__contains__):
            if not is_mark:
                tokens.append("".join(letters))
    stops = stop_words()
    return list(filter(lambda token: token not in stops, tokens))


def reduced(text):
    def add(tokens, run):
        return tokens + ([run] if re.search(r"\d|_", run) else re.split(r"[-.]", run))

    tokens = reduce(add, RUN.findall(fold(text)), [])
    stops = stop_words()
    return [token for token in tokens if not token in stops]  # noqa: E713


def with_pandas(text):
    runs = pd.Series(RUN.findall(fold(text)), dtype=object)
    if runs.empty:
        return []
    identifier = runs.str.contains(r"[\d_]", regex=True)
    tokens = runs.str.split(r"[-.]", regex=True).where(~identifier, runs.map(lambda run: [run])).explode()
    return tokens[~tokens.isin(list(stop_words()))].tolist()


@dataclass
class Run:
    text: str

    @cached_property
    def is_identifier(self):
        return re.match(r".*[0-9_]", self.text) is not None

    @property
    def tokens(self):
        return [self.text] if self.is_identifier else re.findall(r"[^-.]+", self.text)


def with_dataclass(text):
    tokens = []
    for run in map(Run, RUN.findall(fold(text))):
        tokens += run.tokens
    for token in tokens[:]:
        if token in stop_words():
            tokens.remove(token)
    return tokens


class Tokenizer:
    def __init__(self):
        self.stops = stop_words()

    def __call__(self, text):
        tokens = []
        for run in RUN.findall(fold(text)):
            tokens.extend(self.split(run))
        return self.without_stops(tokens)

    def split(self, run):
        return [run] if self.is_identifier(run) else re.split(r"[-.]", run)

    def without_stops(self, tokens):
        return [token for token in tokens if token not in self.stops]

    @staticmethod
    def is_identifier(run):
        return not re.fullmatch(r"[^\d_]*", run)


def two_stacks(text):
    """Takes runs from a stack and puts their parts back on it."""
    stack = RUN.findall(fold(text))[::-1]
    tokens = []
    while stack:
        run = stack.pop()
        if re.search(r"[\d_]", run) is None and ("-" in run or "." in run):
            stack.extend(reversed(re.split("-|[.]", run)))
        elif run not in stop_words():
            tokens.append(run)
    return tokens


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "comprehension": (comprehension,),
    "chain and filterfalse": (functional,),
    "generator and translate": (generator,),
    "re.sub in the text": (replaced_in_the_text,),
    "one pattern": (one_pattern,),
    "character by character": (character_by_character,),
    "groupby": (grouped,),
    "reduce": (reduced,),
    "pandas": (with_pandas,),
    "dataclass": (with_dataclass,),
    "a callable object": (Tokenizer(),),
    "stack": (two_stacks,),
}
