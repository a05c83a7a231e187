"""Correct solutions of the exercise snapshot in different styles. Each of them must get full points."""

import hashlib
import json
import zlib
from collections import Counter
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


def save_counts(index, path):
    """How often each word stands in a document: all that BM25 needs."""
    documents = dict(enumerate(index.documents))
    with path.open("w") as file:
        json.dump(
            {
                "counts": {number: Counter(index.tokens[number]) for number in documents},
                "texts": {number: [str(d["id"]), d["content"]] for number, d in documents.items()},
                "probe": " | ".join(index.tokenize(PROBE)),
                "settings": [index.k1, index.b],
            },
            file,
        )


def load_counts(path, tokenize, documents):
    with path.open() as file:
        saved = json.load(file)
    texts = {str(number): [str(d["id"]), d["content"]] for number, d in enumerate(documents)}
    if (saved["texts"], saved["probe"]) != (texts, " | ".join(tokenize(PROBE))):
        raise StaleSnapshot("other texts, or another tokenizer")
    index = BM25Index(tokenize, *saved["settings"])
    for number, document in enumerate(documents):
        index.add_tokens(list(Counter(saved["counts"][str(number)]).elements()), document)
    return index


def save_list(index, path):
    """A list whose first item tells whether the rest may be used."""
    rows = [
        [fingerprint([document], index.tokenize), *tokens]
        for document, tokens in zip(index.documents, index.tokens, strict=True)
    ]
    rows.insert(0, [fingerprint([], index.tokenize), index.k1, index.b, len(rows)])
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def load_list(path, tokenize, documents):
    (about, k1, b, length), *rows = json.loads(path.read_text(encoding="utf-8"))
    stale = about != fingerprint([], tokenize) or length != len(documents)
    stale = stale or any(row[0] != fingerprint([d], tokenize) for row, d in zip(rows, documents, strict=True))
    if stale:
        raise StaleSnapshot("build the index again")
    index = BM25Index(tokenize=tokenize, k1=k1, b=b)
    while len(index) < length:
        index.add_tokens(rows[len(index)][1:], documents[len(index)])
    return index


class Archive:
    """A file as an object: it writes, checks and reads."""

    def __init__(self, path):
        self.path = path

    def write(self, **parts):
        self.path.write_text(json.dumps(parts, sort_keys=True))

    def read(self, **expected):
        parts = json.loads(self.path.read_text())
        for name, value in expected.items():
            if parts[name] != value:
                raise StaleSnapshot(f"the {name} differ")
        return parts


def save_archive(index, path):
    Archive(path).write(
        documents=index.documents,
        probe=list(index.tokenize(PROBE)),
        tokens=list(map(list, index.tokens)),
        numbers={"k1": index.k1, "b": index.b},
    )


def load_archive(path, tokenize, documents):
    parts = Archive(path).read(documents=list(documents), probe=list(tokenize(PROBE)))
    index = BM25Index(tokenize, **parts["numbers"])
    for pair in zip(parts["tokens"], documents, strict=True):
        index.add_tokens(*pair)
    return index


VARIANTS = {
    "plain": (save_plain, load_plain),
    "documents instead of a checksum": (save_everything, load_everything),
    "a line and a checksum for each document": (save_checksums, load_checksums),
    "dataclass, an error of another family": (save_dataclass, load_dataclass),
    "built again from the documents": (save_without_tokens, load_without_tokens),
    "numbers for words, two fingerprints": (save_by_word, load_by_word),
    "counts instead of tokens": (save_counts, load_counts),
    "one list, a fingerprint a row": (save_list, load_list),
    "a file as an object": (save_archive, load_archive),
}
