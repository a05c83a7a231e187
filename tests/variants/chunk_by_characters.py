"""Correct solutions of the exercise chunk_by_characters in different styles. Each of them must get full points."""

import itertools
import math
from collections import deque

import numpy as np


def plain_loop(text, size=1000, overlap=100):
    chunks = []
    start = 0
    while start < len(text):
        chunks.append(text[start : start + size])
        if start + size >= len(text):
            break
        start += size - overlap
    return chunks


def range_without_the_tail(text, size=1000, overlap=100):
    """The last start is so far left that more than the overlap is behind it."""
    last = max(len(text) - overlap, min(len(text), 1))
    return [text[start : start + size] for start in range(0, last, size - overlap)]


def number_of_chunks_first(text, size=1000, overlap=100):
    if text == "":
        return []
    step = size - overlap
    count = 1 + math.ceil(max(0, len(text) - size) / step)
    return [text[number * step : number * step + size] for number in range(count)]


def recursion(text, size=1000, overlap=100):
    if len(text) <= size:
        return [text] if text else []
    return [text[:size], *recursion(text[size - overlap :], size, overlap)]


def generator(text, size=1000, overlap=100):
    def chunks():
        rest = text
        while rest:
            yield rest[:size]
            rest = rest[size - overlap :] if len(rest) > size else ""

    return list(chunks())


def yielded(text, size=1000, overlap=100):
    """Not a list, but as good as one."""
    for start in itertools.count(0, size - overlap):
        if text:
            yield text[start : start + size]
        if start + size >= len(text):
            return


def character_by_character(text, size=1000, overlap=100):
    chunks, window, new = [], deque(maxlen=size), 0
    for character in text:
        if len(window) == size and new == 0:
            chunks.append("".join(window))
            for _ in range(size - overlap):
                window.popleft()
        window.append(character)
        new = 0
    if window:
        chunks.append("".join(window))
    return chunks


def end_by_end(text, size=1000, overlap=100):
    """Looks at where chunks end."""
    chunks, end = [], 0
    while end < len(text):
        start = max(0, end - overlap)
        end = min(start + size, len(text))
        chunks.append(text[start:end])
    return chunks


def pieces_without_overlap_first(text, size=1000, overlap=100):
    """The first piece is a whole chunk, each other one is what a chunk adds."""
    chunks = [text[:size]] if text else []
    for start in range(size, len(text), size - overlap):
        before = chunks[-1][len(chunks[-1]) - overlap :]
        chunks.append(before + text[start : start + size - overlap])
    return chunks


def numpy_starts(text, size=1000, overlap=100):
    starts = np.arange(0, max(len(text) - overlap, 1 if text else 0), size - overlap)
    return [text[int(start) : int(start) + size] for start in starts]


class Cutter:
    def __init__(self, text, size, overlap):
        self.text, self.size, self.step = text, size, size - overlap

    def chunk(self, number):
        return self.text[number * self.step :][: self.size]

    def is_last(self, number):
        return number * self.step + self.size >= len(self.text)

    def all(self):
        number = 0
        found = [self.chunk(number)]
        while not self.is_last(number):
            number += 1
            found.append(self.chunk(number))
        return [chunk for chunk in found if chunk]


def with_class(text, size=1000, overlap=100):
    return Cutter(text, size, overlap).all()


def takewhile(text, size=1000, overlap=100):
    starts = itertools.takewhile(
        lambda start: start == 0 or start + overlap < len(text), itertools.count(0, size - overlap)
    )
    return tuple(text[start : start + size] for start in starts if text)


VARIANTS = {
    "plain loop": (plain_loop,),
    "range without the tail": (range_without_the_tail,),
    "number of chunks first": (number_of_chunks_first,),
    "recursion": (recursion,),
    "generator inside": (generator,),
    "a generator itself": (yielded,),
    "character by character": (character_by_character,),
    "end by end": (end_by_end,),
    "what each chunk adds": (pieces_without_overlap_first,),
    "numpy": (numpy_starts,),
    "class": (with_class,),
    "takewhile": (takewhile,),
}
