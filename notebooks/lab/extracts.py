"""Summaries without a language model: the sentences nearest to a text's centre, and its weightiest terms."""

import hashlib
import re
from collections.abc import Callable, MutableMapping

import numpy as np

# Not from lab.stop_words: importing that module would put it in the place of the function lab.stop_words.
from lab import stop_words

# How much of a text makes its summary.
SENTENCES = 3
KEYWORDS = 12
# What bounds the time for a text of any length: sentences that are compared, and characters that are kept of each.
CANDIDATES = 100
SENTENCE_CHARACTERS = 300
# Names, numbers and calls say more exactly than words what a page is about.
NAME_WEIGHT = 3

_RULE = re.compile(r"^[^\w\n]+$", re.MULTILINE)  # such as the line drawn under a heading
_SESSION = re.compile(r"^\s*(?:>>>|\.\.\.|\$) ", re.MULTILINE)
_BULLET = re.compile(r"^(?:[*+•-]|\(?\w[.)])\s+")
# A sentence ends at its mark, unless that is the dot of an abbreviation or of a number.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\b\d)(?<!\s)(?<!\.\.)[.!?…]+[\"”’)\]*]*(?=\s*\n|\s+[^\sa-z])"
)
# Prose is mostly letters; what is not may be code, a table or a grammar.
PROSE_LETTERS = 0.8
PROSE_WORDS = 3
_WORD = re.compile(r"(?P<word>\w+(?:[-.]\w+)*)(?P<call>\()?")


class ExtractiveSummariser:
    """``summarise(text)``: {"summary": str, "keywords": [str, ...]}, taken from the text itself.

    The summary is up to ``SENTENCES`` sentences, in the order of the text: those whose vectors are nearest to the mean
    of all its sentences' vectors. Keywords are up to ``KEYWORDS`` terms, the most frequent first, names counted
    ``NAME_WEIGHT`` times. The same text always gives the same answer; a text without a word gives an empty one.

    ``embed`` gives the vectors of texts, (n, d). ``choices`` holds the numbers of the sentences chosen, by the digest
    of the text: those there are embedded no more, and new ones are added to it.
    """

    name = "extracts"

    def __init__(self, embed: Callable, choices: MutableMapping[str, list[int]] | None = None):
        self._embed, self._choices = embed, {} if choices is None else choices

    def __call__(self, text: str) -> dict:
        found, key = sentences(text), digest(text)
        chosen = self._choices.get(key, range(len(found)) if len(found) <= SENTENCES else None)
        if chosen is None or max(chosen, default=0) >= max(len(found), 1):
            chosen = self._choices[key] = nearest_to_centre(self._embed(found))
        return {"summary": " ".join(found[number] for number in chosen), "keywords": keywords(text)}


def digest(text: str) -> str:
    """The key of a text: half of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def nearest_to_centre(vectors: np.ndarray) -> list[int]:
    """The numbers, ascending, of the ``SENTENCES`` vectors nearest to the mean of all; of equals, the first."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearness = vectors @ vectors.mean(axis=0)
    return sorted(np.argsort(-nearness, kind="stable")[:SENTENCES].tolist())


def sentences(text: str) -> list[str]:
    """The sentences of a text that may stand in a summary, each once, at most ``CANDIDATES``, spread over the text.

    They are the text's prose: what is code, a table or a drawing is left out, unless a text holds nothing else.
    """
    paragraphs = re.split(r"\n\s*\n", _RULE.sub("", text))
    told = [
        sentence
        for paragraph in paragraphs
        if not _SESSION.search(paragraph)
        for sentence in _split(paragraph)
    ]
    prose = [sentence for sentence in told if _is_prose(sentence)]
    found = prose or told or [line for paragraph in paragraphs for line in _split(paragraph)]
    if len(found) > CANDIDATES:
        found = [found[number * len(found) // CANDIDATES] for number in range(CANDIDATES)]
    return list(dict.fromkeys(map(_ended, found)))


def _split(paragraph: str) -> list[str]:
    parts = _END.sub("\\g<0>\0", paragraph.replace("\0", " ")).split("\0")
    parts = [_BULLET.sub("", " ".join(part.split())) for part in parts]
    return [part for part in parts if re.search(r"[^\W_]", part)]


def _is_prose(sentence: str) -> bool:
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return letters >= PROSE_LETTERS * len(sentence) and len(sentence.split()) >= PROSE_WORDS


def _ended(sentence: str) -> str:
    """The sentence with an end, so that sentences joined to a text can be told apart again."""
    if len(sentence) > SENTENCE_CHARACTERS:
        cut = sentence[: SENTENCE_CHARACTERS - 1]
        return (cut.rpartition(" ")[0] or cut).rstrip(",;:.") + "…"
    if re.search(r"[.!?…]+[\"”’)\]*]*$", sentence):
        return sentence
    return sentence.rstrip(",;: ") + "."


def keywords(text: str) -> list[str]:
    """The terms of most weight, at most ``KEYWORDS``, as they are first written. Of equals, the first."""
    weights: dict[str, int] = {}
    written: dict[str, str] = {}
    for match in _WORD.finditer(text):
        word = match["word"]
        term = word.casefold()
        is_name = len(term) > 1 and (_is_name(word) or bool(match["call"]))
        if is_name or (len(term) > 2 and term not in stop_words() and not term.replace(".", "").isdigit()):
            weights[term] = weights.get(term, 0) + (NAME_WEIGHT if is_name else 1)
            written.setdefault(term, word)
    best = sorted(weights, key=lambda term: -weights[term])
    return [written[term] for term in best[:KEYWORDS]]


def _is_name(word: str) -> bool:
    """Whether a word names something exactly: INC-2023-Q4-011, __slots__, str.join, TypeError."""
    letters = any(map(str.isalpha, word))
    marked = "_" in word or any(map(str.isdigit, word)) or re.search(r"\w\w\.\w\w", word)
    return letters and bool(marked or re.search(r"[^\W\d_A-Z][A-Z]", word))
