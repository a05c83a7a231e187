"""Unit 06: keep a BM25 index in a file that knows when it is stale, and that nobody can run.

A pickle would be shorter, but loading one runs whatever its maker wrote into it. A snapshot is text: a line that says
what it is, with the checksum of the rest, and the rest as JSON.
"""

import hashlib
import json
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .bm25 import BM25Index, tokenize
from .documents import DocumentList, name_of

_FORMAT, _VERSION = "BM25 snapshot of hybrid_search", 1
# Case, accents, elision, hyphens, identifiers, stop words, other scripts, marks: what tokenizers do not agree on.
_PROBE = (
    "The École's two-factor Pump leaked; l'été, INC-2023-Q4-011, TX-99402 and ERR_MEM 4.2.7 -- "
    "naïve e-mail@example.org, 20 % of C++, don't you? with not in pumps leaking STRASSE Straße 東京 I İ 🙂"
)
_MOST_SAMPLED, _MOST_NAMED = 256, 3


class StaleSnapshot(ValueError):
    """A snapshot that must not be used. ``differs`` names the parts: documents, tokenizer, parameters or file."""

    def __init__(self, message: str, differs: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.differs = tuple(differs)


def save_snapshot(index: BM25Index, path: str | os.PathLike) -> None:
    """Write a BM25 index to a file, with a fingerprint of its documents, its tokenizer and its parameters.

    The file appears whole or not at all: one that stood there stays until the new one is complete. Raises ValueError,
    naming the document, where a document or its tokens hold something that JSON does not give back as it was.
    """
    if not all(hasattr(index, name) for name in ("documents", "tokens", "tokenize", "k1", "b")):
        raise TypeError(f"save_snapshot keeps a BM25Index: got {type(index).__name__}")
    documents, tokens = index.documents, index.tokens
    for document, its_tokens in zip(documents, tokens, strict=True):
        _check_kept(document, its_tokens)
    numbers: dict[str, int] = {}
    content = {
        "fingerprint": _fingerprint(
            documents, [list(index.tokenize(_PROBE)), *_sample(tokens)], index.k1, index.b
        ),
        "tokenizer": _name(index.tokenize),
        "k1": index.k1,
        "b": index.b,
        "documents": documents,
        "tokens": [[numbers.setdefault(term, len(numbers)) for term in of_one] for of_one in tokens],
        "terms": list(numbers),
    }
    body = json.dumps(content, allow_nan=False).encode()
    header = {"format": _FORMAT, "version": _VERSION, "bytes": len(body), "sha256": _digest(body)}
    _write(Path(os.path.realpath(Path(path).expanduser())), json.dumps(header).encode() + b"\n" + body)


def load_snapshot(
    path: str | os.PathLike,
    tokenize: Callable[[str], Sequence[str]] = tokenize,
    documents: Iterable[dict] | None = None,
    k1: float | None = None,
    b: float | None = None,
) -> BM25Index:
    """The index of a snapshot, if it is the one that would be built now.

    ``documents`` are those of today, in the order of the index; the index then holds these very objects. Without
    them it holds those of the file, unasked. ``k1`` and ``b``, where given, must be those of the snapshot.

    A tokenizer is known by what it does, not by its name: it must give the same tokens for a fixed text and for the
    documents (256 of them, evenly spread, where there are more). A change that shows in none of these is not seen.

    Raises StaleSnapshot, which says what differs, for a snapshot of other documents (changed, new, missing, or in
    another order), another tokenizer or other parameters, and for a file that was cut, edited, or is none. The
    checksum finds accidents: whoever edits a file on purpose can write a new one, but nothing in a file is ever run.
    """
    path = Path(path).expanduser()
    content = _checked(path)
    stored = content["documents"]
    given = stored if documents is None else DocumentList().new(documents)
    index = BM25Index(tokenize, content["k1"] if k1 is None else k1, content["b"] if b is None else b)
    texts = [_PROBE, *(document["content"] for document in _sample(stored))]
    now = _fingerprint(given, [list(tokenize(text)) for text in texts], index.k1, index.b)
    differs = [part for part, value in content["fingerprint"].items() if value != now[part]]
    if differs:
        what = {
            "documents": lambda: _documents_differ(stored, given),
            "tokenizer": lambda: _tokenizers_differ(tokenize, content),
            "parameters": lambda: (
                f"k1 and b were {content['k1']} and {content['b']}, now they are {index.k1} and {index.b}"
            ),
        }
        raise StaleSnapshot(
            f"the snapshot {path.name} is stale: {'; '.join(what[part]() for part in differs)}. "
            "Build the index again and save it.",
            differs,
        )
    for tokens, document in zip(content["tokens"], given, strict=True):
        index.add_tokens(tokens, document)
    return index


def _fingerprint(documents: list[dict], tokens: list[list[str]], k1: float, b: float) -> dict[str, str]:
    """One checksum a part. ``tokens`` is what the tokenizer gives for the texts that it is tried on."""
    return {
        "documents": _digest(_as_json(documents)),
        "tokenizer": _digest(_as_json(tokens)),
        "parameters": _digest(_as_json([float(k1), float(b)])),
    }


def _sample(items: list) -> list:
    return items[:: max(1, -(-len(items) // _MOST_SAMPLED))]


def _as_json(value: Any) -> bytes:
    """The same bytes for the same value; what JSON cannot hold is told by its type and its text."""
    return json.dumps(value, sort_keys=True, default=lambda odd: f"{type(odd).__name__} {odd}").encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _name(tokenize: Callable) -> str:
    named = tokenize if hasattr(tokenize, "__qualname__") else type(tokenize)
    return ".".join(filter(None, [getattr(named, "__module__", ""), named.__qualname__]))


def _check_kept(document: dict, tokens: list[str]) -> None:
    value = [document, tokens]
    try:
        kept = json.loads(json.dumps(value, allow_nan=False, sort_keys=True)) == value
    except (TypeError, ValueError, RecursionError):
        kept = False
    if not (kept and all(isinstance(token, str) for token in tokens)):
        raise ValueError(
            f"a snapshot cannot keep {name_of(document)}: it, or one of its tokens, holds something that JSON does "
            "not give back as it was. Use text, numbers, lists, and dicts with texts for keys; tokens are texts."
        )


def _write(path: Path, content: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with open(unfinished, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _checked(path: Path) -> dict[str, Any]:
    """What a snapshot holds, with the tokens as texts. Raises StaleSnapshot where the file is not as it was written."""
    first, _, body = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(first)
        known = header["format"] == _FORMAT
        version, length, checksum = header["version"], header["bytes"], header["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise StaleSnapshot(
            f"{path.name} is no snapshot of a BM25 index, or its first line was edited", ["file"]
        )
    if version != _VERSION:
        raise StaleSnapshot(f"{path.name} has format {version}: this version reads {_VERSION}", ["file"])
    if len(body) != length:
        what = "cut short" if isinstance(length, int) and len(body) < length else "added to"
        raise StaleSnapshot(f"{path.name} was {what}: it has {len(body)} bytes, not {length}", ["file"])
    try:
        if _digest(body) != checksum:
            raise ValueError("its checksum differs")
        return _read(body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StaleSnapshot(f"{path.name} was edited after it was saved: {error}", ["file"]) from None


def _read(body: bytes) -> dict[str, Any]:
    """The content of a snapshot, held to what save_snapshot writes, in case somebody wrote a new checksum as well."""
    content = json.loads(body)
    terms, documents = content["terms"], content["documents"]
    if len(content["tokens"]) != len(documents) or len(DocumentList().new(documents)) != len(documents):
        raise ValueError("the documents are not those of the tokens")
    if not all(
        type(number) is int and 0 <= number < len(terms) for row in content["tokens"] for number in row
    ):
        raise ValueError("a token has no term")
    if not all(isinstance(term, str) for term in terms):
        raise ValueError("a term is no text")
    BM25Index(k1=content["k1"], b=content["b"])
    tokens = [[terms[number] for number in row] for row in content["tokens"]]
    if content["fingerprint"].keys() != {"documents", "tokenizer", "parameters"}:
        raise ValueError("the fingerprint has other parts")
    if content["fingerprint"]["documents"] != _digest(_as_json(documents)):
        raise ValueError("the documents are not those of the fingerprint")
    return {**content, "tokenizer": str(content["tokenizer"]), "tokens": tokens}


def _documents_differ(stored: list[dict], given: list[dict]) -> str:
    before, after = _by_name(stored), _by_name(given)
    groups = {
        "changed": [name for name in after if name in before and before[name] != after[name]],
        "new": [name for name in after if name not in before],
        "missing": [name for name in before if name not in after],
    }
    told = [f"{_listed(names)} {state}" for state, names in groups.items() if names]
    return ", ".join(told) or "the documents come in another order (sort them as they were)"


def _by_name(documents: list[dict]) -> dict[tuple[str, int], bytes]:
    """Each document as JSON under its id, or the beginning of its text, and how often that came before."""
    times: Counter = Counter()
    named = {}
    for document in documents:
        name = repr(document["content"][:40] if document.get("id") is None else document["id"])
        times[name] += 1
        named[name, times[name]] = _as_json(document)
    return named


def _listed(names: list[tuple[str, int]]) -> str:
    shown = [name for name, _ in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        shown.append(f"{len(names) - _MOST_NAMED} more")
    *first, last = shown
    return f"document {last} is" if not first else f"documents {', '.join(first)} and {last} are"


def _tokenizers_differ(tokenize: Callable, content: dict[str, Any]) -> str:
    for document, before in zip(content["documents"], content["tokens"], strict=True):
        after = list(tokenize(document["content"]))
        if after != before:
            place = next((i for i, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), None)
            shorter = min(len(before), len(after)) if place is None else place
            one, other = before[shorter : shorter + 3], after[shorter : shorter + 3]
            where = f": a text that gave {one} at token {shorter + 1} now gives {other}"
            break
    else:
        where = ""
    return f"{_name(tokenize)} gives other tokens than {content['tokenizer']} did{where}"
