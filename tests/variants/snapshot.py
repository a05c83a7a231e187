"""Correct solutions of the exercise snapshot in different styles. Each of them must get full points."""

import hashlib
import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hybrid_search import BM25Index

PROBE = "Pump LEAK, hall 2,INC-2023-Q4-011: l'École"


class StaleSnapshot(ValueError):
    """The snapshot is not that of these documents and this tokenizer."""


def fingerprint(documents, tokenize):
    text = json.dumps([documents, list(tokenize(PROBE))], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def save_plain(index, path):
    content = {
        "fingerprint": fingerprint(index.documents, index.tokenize),
        "tokens": index.tokens,
        "k1": index.k1,
        "b": index.b,
    }
    Path(path).write_text(json.dumps(content))


def load_plain(path, tokenize, documents):
    content = json.loads(Path(path).read_text())
    if content["fingerprint"] != fingerprint(documents, tokenize):
        raise StaleSnapshot("the snapshot is stale: build the index again")
    index = BM25Index(tokenize, content["k1"], content["b"])
    for tokens, document in zip(content["tokens"], documents, strict=True):
        index.add_tokens(tokens, document)
    return index


def save_everything(index, path):
    """No checksum: the documents and the probe's tokens themselves."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump([index.documents, index.tokens, index.tokenize(PROBE), index.k1, index.b], file, indent=1)


def load_everything(path, tokenize, documents):
    with open(path, encoding="utf-8") as file:
        saved, tokens, probe, k1, b = json.load(file)
    if saved != documents:
        raise StaleSnapshot("documents")
    if probe != tokenize(PROBE):
        raise StaleSnapshot("tokenizer")
    index = BM25Index(tokenize=tokenize, b=b, k1=k1)
    for i in range(len(documents)):
        index.add_tokens(tokens[i], documents[i])
    return index


def checksum_of_each(documents):
    return [[document["id"], zlib.crc32(document["content"].encode())] for document in documents]


def save_checksums(index, path):
    lines = [{"k1": index.k1, "b": index.b, "probe": list(index.tokenize(PROBE))}]
    for (label, checksum), tokens in zip(checksum_of_each(index.documents), index.tokens, strict=True):
        lines.append({"id": label, "checksum": checksum, "tokens": tokens})
    path.write_text("\n".join(map(json.dumps, lines)))


def load_checksums(path, tokenize, documents):
    """A line of JSON for each document."""
    first, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    if [[line["id"], line["checksum"]] for line in lines] != checksum_of_each(documents):
        raise StaleSnapshot
    if first["probe"] != list(tokenize(PROBE)):
        raise StaleSnapshot
    index = BM25Index(tokenize, first["k1"], first["b"])
    [index.add_tokens(line["tokens"], document) for line, document in zip(lines, documents, strict=True)]
    return index


class Stale(Exception):
    pass


class MyStaleSnapshot(Stale):
    pass


MyStaleSnapshot.__name__ = "StaleSnapshot"


@dataclass
class Snapshot:
    k1: float
    b: float
    tokens: list = field(default_factory=list)
    about: str = ""

    @staticmethod
    def describe(tokenize, documents):
        digest = hashlib.md5(usedforsecurity=False)
        digest.update(repr(tokenize(PROBE)).encode())
        for document in documents:
            digest.update(repr(sorted(document.items())).encode())
        return digest.hexdigest()


def save_dataclass(index, path):
    about = Snapshot.describe(index.tokenize, index.documents)
    Path(path).write_bytes(json.dumps(asdict(Snapshot(index.k1, index.b, index.tokens, about))).encode())


def load_dataclass(path, tokenize, documents):
    snapshot = Snapshot(**json.loads(Path(path).read_bytes()))
    if snapshot.about == Snapshot.describe(tokenize, documents):
        index = BM25Index(tokenize, snapshot.k1, snapshot.b)
        for tokens in snapshot.tokens:
            index.add_tokens(tokens, documents[len(index)])
        return index
    raise MyStaleSnapshot


def save_without_tokens(index, path):
    """Keeps the fingerprint alone, and builds the index again: slower, and right."""
    about = fingerprint(index.documents, index.tokenize)
    Path(path).write_text(json.dumps({"about": about, "settings": {"k1": index.k1, "b": index.b}}))


def load_without_tokens(path, tokenize, documents):
    content = json.loads(Path(path).read_text())
    if content["about"] != fingerprint(documents, tokenize):
        raise StaleSnapshot("stale")
    index = BM25Index(tokenize, **content["settings"])
    index.add_documents(documents)
    return index


def save_by_word(index, path):
    """Every word once, the tokens as numbers."""
    words = sorted({token for tokens in index.tokens for token in tokens})
    numbers = {word: number for number, word in enumerate(words)}
    content = {
        "words": words,
        "tokens": [[numbers[token] for token in tokens] for tokens in index.tokens],
        "fingerprint": {
            "documents": fingerprint(index.documents, str.split),
            "tokenizer": fingerprint([], index.tokenize),
        },
        "k1": index.k1,
        "b": index.b,
    }
    with open(path, "w") as file:
        file.write(json.dumps(content))


def load_by_word(path, tokenize, documents):
    with open(path) as file:
        content = json.loads(file.read())
    now = {"documents": fingerprint(documents, str.split), "tokenizer": fingerprint([], tokenize)}
    differs = [part for part in now if now[part] != content["fingerprint"][part]]
    if differs:
        raise StaleSnapshot(f"{' and '.join(differs)} differ")
    index = BM25Index(tokenize, content["k1"], content["b"])
    for numbers, document in zip(content["tokens"], documents, strict=True):
        index.add_tokens([content["words"][number] for number in numbers], document)
    return index


VARIANTS = {
    "plain": (save_plain, load_plain),
    "documents instead of a checksum": (save_everything, load_everything),
    "a line and a checksum for each document": (save_checksums, load_checksums),
    "dataclass, an error of another family": (save_dataclass, load_dataclass),
    "built again from the documents": (save_without_tokens, load_without_tokens),
    "numbers for words, two fingerprints": (save_by_word, load_by_word),
}
