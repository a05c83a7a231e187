"""Vector search, BM25 and hybrid search measured on judged queries: recall@10, MRR and nDCG@10.

Without a collection, the course's own: the report, and the language reference of the running Python (whose text,
and so whose numbers, differ a little between versions). A collection is a folder with three files in UTF-8:

  documents.jsonl   a line a document: {"id": ..., "text": ...}, with "title" if there is one
  queries.jsonl     a line a query: {"id": ..., "text": ...}, with "kind" if there is one
  qrels.tsv         a heading, then a line a judgement: query id, document id, and what a third column is named:
                    "gain" (higher is better, 0 is not relevant), "code" (passed over), or nothing

Searched is the title, a blank line, the text; a document without either is not indexed. Without gains every
judged document is relevant, and as much as any other. That is how the Cranfield collection is read, whose third
column is a code: all five of its codes count.

Each index gives its best 100 documents; hybrid is their fusion with k_rrf = 60. MRR looks at 100, too. The embedder
is the one that comes with the course. Its vectors are kept in the user's cache: only the first run takes minutes.
In brackets are 95 % bootstrap intervals over the queries.
"""

import argparse
import json
import math
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex, tokenize
from lab.evaluation import rankings_of
from lab.progress import progress

if TYPE_CHECKING:
    from pandas import DataFrame

K, DEPTH, K_RRF = 10, 100, 60
METRICS = (f"recall@{K}", "MRR", f"nDCG@{K}")
ADDED_AT_ONCE = 64


@dataclass(frozen=True)
class Collection:
    """Documents to search, queries whose relevant documents are known, and how many documents were empty."""

    name: str
    documents: list[dict]
    judged: list[lab.Query]
    empty: int = 0
    tokenize: Callable[[str], list[str]] = field(default=tokenize, repr=False)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--collection", type=Path, metavar="FOLDER", help="measure on this collection instead"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file, too")


def run(options: argparse.Namespace) -> Iterator[str]:
    """Measure; the tables as text. Raises ValueError or OSError where a file cannot be read or written."""
    collections = [read_collection(options.collection)] if options.collection else own_collections()
    embedder = lab.embedder("local")
    measured = []
    for collection in collections:
        searches = searches_over(collection, embedder)
        table = lab.compare(searches, collection.judged, K, by_kind=True, depth=DEPTH)
        if len(set(table.index.get_level_values("kind"))) == 2:  # one kind, and the same queries as "all"
            table = table.loc[["all"]]
        gained = differences(searches, collection.judged)
        yield as_text(collection, table, gained)
        measured.append(as_data(collection, table, gained))
    if options.json:
        settings = {"k": K, "depth": DEPTH, "k_rrf": K_RRF, "embedder": embedder.name}
        data = {"settings": settings, "python": platform.python_version(), "collections": measured}
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def own_collections() -> list[Collection]:
    """The report, and Python's language reference."""
    version = ".".join(platform.python_version_tuple()[:2])
    return [
        Collection("report", lab.sections(), lab.judged_queries("report")),
        Collection(
            f"language reference of Python {version}",
            lab.python_reference(),
            lab.judged_queries("python"),
            tokenize=lab.python_tokens,
        ),
    ]


def searches_over(collection: Collection, embedder) -> dict[str, Callable]:
    """The three searches by name. Each remembers what it has answered."""
    vector, bm25 = VectorIndex(embedder), BM25Index(collection.tokenize)
    hybrid = Retriever(vector, bm25)
    for start in progress(range(0, len(collection.documents), ADDED_AT_ONCE), "Indexing"):
        hybrid.add_documents(collection.documents[start : start + ADDED_AT_ONCE])
    return {
        "vector": cache(vector.search),
        "BM25": cache(bm25.search),
        "hybrid": cache(lambda query, k: hybrid.search(query, k, k_rrf=K_RRF, candidates=DEPTH)),
    }


def differences(searches: dict[str, Callable], judged: list[lab.Query]) -> dict[str, dict[str, float]]:
    """How much higher the nDCG of hybrid search is than that of each other one: the mean, and its interval."""
    rankings = rankings_of(searches, judged, DEPTH)
    relevants = [query.relevant for query in judged]
    values = {}
    for name, found in rankings.items():
        every = lab.by_query(lab.ndcg_at, found, relevants, K)
        values[name] = [value for value in every if value is not None]
    hybrid = values.pop("hybrid")
    gained = {}
    for name, other in values.items():
        low, high = lab.paired_bootstrap(hybrid, other)
        gained[name] = {"mean": (math.fsum(hybrid) - math.fsum(other)) / len(other), "low": low, "high": high}
    return gained


def as_text(collection: Collection, table: "DataFrame", gained: dict[str, dict[str, float]]) -> str:
    """The numbers as a Markdown table, a heading above it, and the differences below."""
    heading = f"{collection.name}: {len(collection.documents)} documents, {len(collection.judged)} queries"
    if collection.empty:
        heading += f" (empty and not indexed: {collection.empty})"
    lines = [heading, "", f"| queries | search | {' | '.join(METRICS)} |", "|---|---|---|---|---|"]
    for (kind, search), row in table.iterrows():
        queries = f"{kind}, {row['queries']:.0f}"
        if row["left out"]:
            queries += f" ({row['left out']:.0f} left out)"
        cells = [
            f"{row[metric]:.3f} [{row[f'{metric} low']:.3f}, {row[f'{metric} high']:.3f}]"
            for metric in METRICS
        ]
        lines.append(f"| {queries} | {search} | {' | '.join(cells)} |")
    lines.append("")
    for name, of in gained.items():
        lines.append(
            f"hybrid above {name}, nDCG@{K}: {of['mean']:+.3f} [{of['low']:+.3f}, {of['high']:+.3f}] over all"
        )
    return "\n".join(lines)


def as_data(collection: Collection, table: "DataFrame", gained: dict[str, dict[str, float]]) -> dict:
    """The same numbers, not rounded, for JSON; None where a kind has no query with a relevant document."""
    rows = []
    for (kind, search), row in table.iterrows():
        numbers = {name: None if math.isnan(value) else value for name, value in row.items()}
        counts = {name: int(row[name]) for name in ("queries", "left out")}
        rows.append({"kind": kind, "search": search} | numbers | counts)
    return {
        "name": collection.name,
        "documents": len(collection.documents),
        "empty documents": collection.empty,
        "rows": rows,
        f"nDCG@{K} of hybrid above": gained,
    }


def read_collection(folder: Path) -> Collection:
    """A collection from its three files; every id is a text. Raises ValueError naming the file and the line."""
    documents, empty = {}, set()
    for place, row in _json_lines(folder / "documents.jsonl"):
        content = "\n\n".join(part for key in ("title", "text") if (part := str(row.get(key) or "").strip()))
        name = str(row["id"])
        if name in documents or name in empty:
            raise ValueError(f"{place}: the id {name!r} is taken by another document")
        if content:
            documents[name] = {"id": name, "content": content}
        else:
            empty.add(name)
    if not documents:
        raise ValueError("documents.jsonl: there is no document with a text")
    queries = {}
    for place, row in _json_lines(folder / "queries.jsonl"):
        name = str(row["id"])
        if name in queries:
            raise ValueError(f"{place}: the id {name!r} is taken by another query")
        if not str(row.get("text") or "").strip():
            raise ValueError(f"{place}: the query has no text")
        queries[name] = row
    gains = {name: {} for name in queries}
    for place, query, document, gain in _judgements(folder / "qrels.tsv"):
        if query not in queries:
            raise ValueError(f"{place}: there is no query with the id {query!r}")
        if document not in documents and document not in empty:
            raise ValueError(f"{place}: there is no document with the id {document!r}")
        if gain > 0:
            gains[query][document] = gain
    judged = [
        lab.Query(name, row["text"], row.get("kind", "query"), gains[name], row.get("language", ""))
        for name, row in queries.items()
    ]
    return Collection(folder.resolve().name, list(documents.values()), judged, len(empty))


def _json_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """Each line's place, for messages, and its object, which has an "id"."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{place}: this is not JSON ({error.msg})") from None
        if not isinstance(row, dict) or row.get("id") is None:
            raise ValueError(f'{place}: a line must be an object with an "id"')
        yield place, row


def _judgements(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Each judgement's place, for messages, its query, its document, and the gain."""
    heading, *rows = [line.split("\t") for line in _text(path).split("\n")]
    third = "".join(heading[2:])
    if len(heading) not in (2, 3) or third not in ("", "gain", "code"):
        raise ValueError(
            f'{path.name}, line 1: the columns must be query_id, document_id and perhaps "gain" or "code": '
            f"got {', '.join(heading) or 'nothing'}"
        )
    for number, row in enumerate(rows, start=2):
        place = f"{path.name}, line {number}"
        if row == [""]:
            continue
        if len(row) != len(heading):
            raise ValueError(f"{place}: {len(heading)} columns are needed, {len(row)} are there")
        try:
            gain = float(row[2]) if third == "gain" else 1.0
        except ValueError:
            gain = math.nan
        if not math.isfinite(gain):
            raise ValueError(f"{place}: a gain must be a number: got {row[2]!r}")
        yield place, row[0], row[1], gain


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path.name}: this is not text in UTF-8") from None
