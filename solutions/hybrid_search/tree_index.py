"""Trees of summaries in Qdrant: every node a point, the tree itself in the points' parent_id and child_ids.

A point holds a node (``nodes.check_tree`` says what that is), the page's "text" where the node is a page, and up to
two vectors: "dense", the embedded summary, and "sparse", the BM25 weights of the terms in the file name, the summary
and the keywords. Qdrant multiplies the latter by each term's IDF, ln(1 + (N - n + 0.5) / (n + 0.5)), over all nodes of
the collection that have such a vector. The point 0 is no node: it keeps the version of this layout and the next id.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .bm25 import tokenize
from .documents import check_count, check_query
from .embeddings import Embedder, _direction
from .nodes import ROOT, check_tree
from .rrf import rrf_scores

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.models import Filter, PointStruct, Record, SparseVector

SCHEMA = 1  # to be raised when the points change in a way that older ones do not fit
K_RRF = 60
K1, B = 1.5, 0.75
# Tokens of a node, about. A constant, so that a vector depends on its node alone and an addition changes no other.
AVERAGE_LENGTH = 50

_FIELDS = ("file_name", "first_page", "last_page", "level", "parent_id", "child_ids", "summary", "keywords")
_STATE = 0  # the id of the point that is no node
_ALL = 10_000  # deeper than any ranking of the nodes of one round
_SPARE = 10  # results fetched beyond those wanted, among which equal ones may have to change places
_ROUNDING = 1e-6  # of a score in float32: two that are nearer than this are equal
_BATCH_CHARACTERS = 4_000_000  # a server takes requests of at most 32 MB


class TreeIndex:
    """Trees in a collection of Qdrant, and a hybrid ranking of any of their nodes.

    ``client`` is qdrant_client's, ``embedder`` anything with embed_documents and embed_query. The collection is made
    with the first document. ``tokenize`` must be the same whenever the collection is opened. One program at a time
    may add and delete; any number may search.

    Two rankings are fused by textbook RRF, 1 / (60 + rank) with ranks from 1: by the cosine of the dense vectors, and
    by BM25, in which a node without a common term has no rank. Equal scores within a ranking are ordered by id. Qdrant
    leaves their order open, and the same folder, opened again, gives another one: that is why it is asked for the two
    rankings, and they are fused here. ``search`` can also have it fuse them.

    Raises ValueError for a collection that holds something else, was made by another version, or has vectors of other
    dimensions than the embedder's; ConnectionError where the server does not answer.
    """

    def __init__(
        self,
        client: "QdrantClient",
        collection: str,
        embedder: Embedder,
        tokenize: Callable[[str], Sequence[str]] = tokenize,
    ) -> None:
        if not (isinstance(collection, str) and collection.strip()):
            raise ValueError(f"collection must be a name: got {collection!r}")
        self.client, self.collection = client, collection
        self.embedder, self.tokenize = embedder, tokenize
        self._dimension: int | None = None
        self._last: tuple | None = None  # the last query and its two vectors
        self._open()

    def __len__(self) -> int:
        """The number of nodes."""
        if self._open() is None:
            return 0
        with _asking():
            return self.client.count(self.collection).count - 1  # without the point that is no node

    @property
    def documents(self) -> list[str]:
        """The names of the documents, in the order in which they were added."""
        return [node["file_name"] for node in self._scroll(_where(parent_id=ROOT))]

    def nodes(self, file_name: str) -> list[dict]:
        """The nodes of a document's tree, in the order of their ids; [] where there is no such document."""
        return self._scroll(_where(file_name=file_name))

    # ---- adding and deleting

    def add_document(
        self, file_name: str, pages: Sequence[str], summarise: Callable[[str], dict], width: int = 3
    ) -> list[dict]:
        """Build the tree over a document's pages and add it (``add_tree``). The nodes as they are stored."""
        from .trees import build_tree

        pages = pages if isinstance(pages, str) else list(pages)
        return self.add_tree(build_tree(pages, summarise, width, file_name), pages)

    def add_tree(self, nodes: Sequence[dict], pages: Sequence[str]) -> list[dict]:
        """Add a tree and the texts of its pages, in the place of the document that has its file name.

        The nodes get ids that no node of the collection has or ever had; the result are the nodes as they are stored.
        Everything is checked and embedded before the first point is written, and what has been written is taken back
        if a write fails. A node with a blank summary has no dense vector.

        Raises ValueError for what is no tree, for pages that are not its leaves, for a document that is blank on every
        page, and for vectors that are not of the collection's dimension.
        """
        nodes, pages = _checked(nodes, pages)
        file_name = nodes[0]["file_name"]
        vectors = self._embedded(nodes)
        if not any(vectors):
            raise ValueError(f"{file_name!r} is blank on every page: there is nothing to search in it")
        self._create(len(next(filter(None, vectors))))
        nodes = _renumbered(nodes, self._reserve_ids(len(nodes)))
        texts = iter(pages)
        points = [
            self._point(node, vector, None if node["child_ids"] else next(texts))
            for node, vector in zip(nodes, vectors, strict=True)
        ]
        ids = [node["id"] for node in nodes]
        try:
            for batch in _batches(points):
                self._upsert(batch)
            self._delete(_where(file_name=file_name, ids_not=ids))
        except BaseException:
            with suppress(Exception):
                self._delete(_where(ids=ids))
            raise
        return nodes

    def delete_document(self, file_name: str) -> int:
        """Delete a document with all its nodes. How many were there?"""
        if self._open() is None:
            return 0
        before = len(self)
        self._delete(_where(file_name=file_name))
        return before - len(self)

    # ---- searching

    def search_roots(self, query: str, k: int) -> list[tuple[dict, float]]:
        """The best k roots as pairs (node, RRF score), best first, of those that a ranking finds."""
        k = check_count(k, "k")
        return self._best(self._fused(query, _where(parent_id=ROOT)), k)

    def rank(self, query: str, nodes: Sequence[dict]) -> list[tuple[dict, float]]:
        """These nodes in one fused ranking: pairs (node, RRF score), best first.

        Equal scores are ordered by the better best rank, then as in the dense ranking. A node that neither ranking
        finds comes last, with 0.
        """
        by_id = {node["id"]: node for node in sorted(nodes, key=lambda node: node["id"])}
        scores = self._fused(query, _where(ids=list(by_id))) if by_id else {}
        found = [(by_id[node_id], score) for node_id, score in scores.items()]
        return found + [(node, 0.0) for node_id, node in by_id.items() if node_id not in scores]

    def rankings(self, query: str, nodes: Sequence[dict]) -> list[list[int]]:
        """What ``rank`` fuses: the ids of these nodes by the dense vectors, and by BM25, each best first."""
        ids = [node["id"] for node in nodes]
        return self._rankings(query, _where(ids=ids), _ALL) if ids else [[], []]

    def search(
        self, query: str, k: int = 1, candidates: int = 20, in_qdrant: bool = False
    ) -> list[tuple[dict, float]]:
        """The best k pages of all documents, past the trees: pairs (node, RRF score), best first.

        Each of the two rankings gives its best ``candidates``. With ``in_qdrant`` Qdrant fuses them itself, in one
        request. The scores are the same, except where scores within a ranking are equal: their order, and so their
        ranks, is then left to chance.
        """
        k, candidates = check_count(k, "k"), check_count(candidates, "candidates")
        pages = _where(level=0)
        if in_qdrant:
            return self._fused_in_qdrant(query, pages, k, candidates)
        return self._best(self._fused(query, pages, candidates), k)

    def children(self, node: dict) -> list[dict]:
        """The children of a node, in the order of the pages."""
        return [_node(record) for record in self._retrieve(node["child_ids"], _FIELDS)]

    def text(self, node: dict) -> str:
        """The text of a node's pages, a line break between two of them."""
        if node["child_ids"]:
            return "\n".join(self.text(child) for child in self.children(node))
        (record,) = self._retrieve([node["id"]], ["text"])
        return record.payload["text"]

    def _fused(self, query: str, condition: "Filter", depth: int = _ALL) -> dict[int, float]:
        """The RRF scores, best first, of the points that meet the condition and that a ranking finds."""
        return rrf_scores(self._rankings(query, condition, depth), K_RRF)

    def _rankings(self, query: str, condition: "Filter", depth: int) -> list[list[int]]:
        """The ids of the points that meet the condition: by the dense vectors, and by BM25, ``depth`` of each."""
        check_query(query)
        if self._open() is None:
            return [[], []]
        rankings, limit = [], depth + _SPARE
        for name, vector in self._query_vectors(query).items():
            points = self._found(name, vector, condition, limit)
            while len(points) == limit and _equal(points[depth - 1], points[-1]):
                limit *= 4
                points = self._found(name, vector, condition, limit)
            rankings.append(_in_order(points)[:depth])
        return rankings

    def _found(self, name: str, vector: object, condition: "Filter", limit: int) -> list:
        with _asking():
            return self.client.query_points(
                self.collection,
                query=vector,
                using=name,
                query_filter=condition,
                limit=limit,
                with_payload=False,
            ).points

    def _fused_in_qdrant(
        self, query: str, condition: "Filter", k: int, candidates: int
    ) -> list[tuple[dict, float]]:
        from qdrant_client import models

        check_query(query)
        if self._open() is None:
            return []
        with _asking():
            points = self.client.query_points(
                self.collection,
                prefetch=[
                    models.Prefetch(query=vector, using=name, filter=condition, limit=candidates)
                    for name, vector in self._query_vectors(query).items()
                ],
                # Qdrant counts ranks from 0, so that its 61 is the 60 of ranks from 1.
                query=models.RrfQuery(rrf=models.Rrf(k=K_RRF + 1)),
                limit=k,
                with_payload=list(_FIELDS),
            ).points
        return [(_node(point), point.score) for point in points]

    def _query_vectors(self, query: str) -> dict:
        """The query's vectors by name: dense, and sparse if it has a token. Those of the last query are kept."""
        if self._last is None or self._last[0] != query:
            dense = _direction(self.embedder.embed_query(query), "the query vector")
            self._check_dimension(dense.size, "the query vector has")
            sparse = _sparse(Counter(_term_id(token) for token in self.tokenize(query)))
            self._last = query, {"dense": dense.tolist(), **({"sparse": sparse} if sparse.indices else {})}
        return self._last[1]

    def _best(self, scores: dict[int, float], k: int) -> list[tuple[dict, float]]:
        ids = list(scores)[:k]
        return [(_node(record), scores[record.id]) for record in self._retrieve(ids, _FIELDS)]

    # ---- points

    def _embedded(self, nodes: list[dict]) -> list[list[float] | None]:
        """The dense vector of each node, None for a blank summary."""
        summaries = [node["summary"] for node in nodes if node["summary"].strip()]
        vectors = self.embedder.embed_documents(summaries) if summaries else []
        if len(vectors) != len(summaries):
            raise ValueError(f"the embedder gave {len(vectors)} vectors for {len(summaries)} summaries")
        dimension, given = self._open(), iter(vectors)
        dense: list[list[float] | None] = []
        for node in nodes:
            if not node["summary"].strip():
                dense.append(None)
                continue
            vector = _direction(next(given), f"the vector of node {node['id']}")
            dimension = dimension or vector.size
            self._check_dimension(vector.size, f"the vector of node {node['id']} has", dimension)
            dense.append(vector.tolist())
        return dense

    def _point(self, node: dict, dense: list[float] | None, text: str | None) -> "PointStruct":
        from qdrant_client import models

        searched = "\n".join([node["file_name"], node["summary"], *node["keywords"]])
        sparse = _sparse(_weights(self.tokenize(searched)))
        vectors = {"dense": dense} if dense else {}
        if sparse.indices:
            vectors["sparse"] = sparse
        payload = {name: node[name] for name in _FIELDS}
        return models.PointStruct(
            id=node["id"], vector=vectors, payload=payload if text is None else {**payload, "text": text}
        )

    def _check_dimension(self, given: int, whose: str, dimension: int | None = None) -> None:
        dimension = dimension or self._dimension
        if given != dimension:
            raise ValueError(
                f"{whose} {given} dimensions, the collection {self.collection!r} has {dimension}: use the embedder "
                "that it was made with, or another collection"
            )

    def _retrieve(self, ids: list[int], fields: Sequence[str]) -> "list[Record]":
        """The points of these ids, in the order of the ids."""
        if not ids:
            return []
        with _asking():
            records = self.client.retrieve(self.collection, ids, with_payload=list(fields))
        by_id = {record.id: record for record in records}
        if missing := [node_id for node_id in ids if node_id not in by_id]:
            raise ValueError(
                f"the collection {self.collection!r} has no node {missing[0]} any more: its document was deleted or "
                "added again, so search again"
            )
        return [by_id[node_id] for node_id in ids]

    def _scroll(self, condition: "Filter") -> list[dict]:
        """All nodes that meet the condition, in the order of their ids."""
        if self._open() is None:
            return []
        nodes, offset = [], None
        while True:
            with _asking():
                records, offset = self.client.scroll(
                    self.collection, condition, limit=1000, offset=offset, with_payload=list(_FIELDS)
                )
            nodes += map(_node, records)
            if offset is None:
                return sorted(nodes, key=lambda node: node["id"])

    def _upsert(self, points: "list[PointStruct]") -> None:
        with _asking():
            self.client.upsert(self.collection, points, wait=True)

    def _delete(self, condition: "Filter") -> None:
        with _asking():
            self.client.delete(self.collection, condition, wait=True)

    # ---- the collection

    def _open(self) -> int | None:
        """The dimension of the collection's dense vectors, None where there is no collection. Checked once."""
        if self._dimension is None:
            with _asking():
                if not self.client.collection_exists(self.collection):
                    return None
                parameters = self.client.get_collection(self.collection).config.params
                state = self.client.retrieve(self.collection, [_STATE])
            schema = state[0].payload.get("schema") if state else None
            vectors = parameters.vectors if isinstance(parameters.vectors, dict) else {}
            if (
                schema != SCHEMA
                or "dense" not in vectors
                or "sparse" not in (parameters.sparse_vectors or {})
            ):
                raise ValueError(
                    f"the collection {self.collection!r} holds no trees of this version ("
                    + (
                        f"theirs is {schema}, this is {SCHEMA}"
                        if schema
                        else "it was not made by a TreeIndex"
                    )
                    + f"): take another name, or delete it with client.delete_collection({self.collection!r})"
                )
            self._dimension = vectors["dense"].size
        return self._dimension

    def _create(self, dimension: int) -> None:
        """Make the collection if there is none."""
        from qdrant_client import models

        if self._open() is not None:
            return
        with _asking():
            self.client.create_collection(
                self.collection,
                vectors_config={
                    "dense": models.VectorParams(size=dimension, distance=models.Distance.COSINE)
                },
                sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
            )
        try:
            self._save_state(1)
        except BaseException:
            with suppress(Exception):
                self.client.delete_collection(self.collection)
            raise
        self._dimension = dimension

    def _reserve_ids(self, count: int) -> int:
        """The first of so many ids that no node will ever get again."""
        (state,) = self._retrieve([_STATE], ["next_id"])
        self._save_state(state.payload["next_id"] + count)
        return state.payload["next_id"]

    def _save_state(self, next_id: int) -> None:
        from qdrant_client import models

        state = {"schema": SCHEMA, "next_id": next_id}
        self._upsert([models.PointStruct(id=_STATE, vector={}, payload=state)])


# ---- trees as points


def _checked(nodes: Sequence[dict], pages: Sequence[str]) -> tuple[list[dict], list[str]]:
    nodes, pages = list(nodes), list(pages)
    check_tree(nodes)
    if not nodes:
        raise ValueError("the document has no pages: there is nothing to add")
    file_name = nodes[0]["file_name"]
    if not (isinstance(file_name, str) and file_name.strip()):
        raise ValueError(f"a document needs a file name: got {file_name!r}")
    if any(node["file_name"] != file_name for node in nodes):
        raise ValueError(f"all nodes of a tree are of one file: not all of these are of {file_name!r}")
    leaves = [node["first_page"] for node in nodes if not node["child_ids"]]
    if leaves != list(range(1, len(pages) + 1)):
        raise ValueError(
            f"the leaves of {file_name!r} must be its pages, in order: there are {len(leaves)} leaves and "
            f"{len(pages)} pages"
        )
    for number, page in enumerate(pages, start=1):
        try:
            page.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"page {number} of {file_name!r} holds half of a surrogate pair, which is no character: remove it"
            ) from None
    return nodes, pages


def _renumbered(nodes: list[dict], first_id: int) -> list[dict]:
    """The same tree with ids from ``first_id`` on, in the order of the nodes."""
    ids = {node["id"]: first_id + position for position, node in enumerate(nodes)}
    return [
        {
            **node,
            "id": ids[node["id"]],
            "parent_id": ids.get(node["parent_id"], ROOT),
            "child_ids": [ids[child] for child in node["child_ids"]],
        }
        for node in nodes
    ]


def _node(record: "Record") -> dict:
    return {"id": record.id, **{name: record.payload[name] for name in _FIELDS}}


def _batches(points: "list[PointStruct]") -> Iterator["list[PointStruct]"]:
    batch, size = [], 0
    for point in points:
        # About what it takes in a request: a number of a vector is some 20 characters.
        own = len(point.payload.get("text", "")) + 20 * len(point.vector.get("dense", ())) + 2000
        if batch and size + own > _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(point)
        size += own
    yield batch


# ---- sparse vectors


def _term_id(term: str) -> int:
    """The index of a term, the same in every collection.

    Of 10,000 different terms two share an index with a probability of about 1 %; they then count as one term.
    """
    return int.from_bytes(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big"
    )


def _weights(tokens: Sequence[str]) -> dict[int, float]:
    """The BM25 weight of each term but for its IDF: f (k1 + 1) / (f + k1 (1 - b + b length / average length))."""
    length = K1 * (1 - B + B * len(tokens) / AVERAGE_LENGTH)
    counts = Counter(map(_term_id, tokens))
    return {term: count * (K1 + 1) / (count + length) for term, count in counts.items()}


def _sparse(weights: dict[int, float]) -> "SparseVector":
    from qdrant_client import models

    indices = sorted(weights)
    return models.SparseVector(indices=indices, values=[float(weights[index]) for index in indices])


# ---- questions and answers


def _where(
    file_name: str | None = None,
    parent_id: int | None = None,
    level: int | None = None,
    ids: list[int] | None = None,
    ids_not: list[int] | None = None,
) -> "Filter":
    """What a point must meet: of what is given, all."""
    from qdrant_client import models

    fields = {"file_name": file_name, "parent_id": parent_id, "level": level}
    must = [
        models.FieldCondition(key=name, match=models.MatchValue(value=value))
        for name, value in fields.items()
        if value is not None
    ]
    if ids is not None:
        must.append(models.HasIdCondition(has_id=ids))
    return models.Filter(
        must=must, must_not=None if ids_not is None else [models.HasIdCondition(has_id=ids_not)]
    )


def _equal(one, other) -> bool:
    return abs(one.score - other.score) <= _ROUNDING * max(1.0, abs(one.score))


def _in_order(points: list) -> list[int]:
    """The ids of the points, best score first, equal ones by id."""
    groups: list[list] = []
    for point in sorted(points, key=lambda point: -point.score):
        if groups and _equal(groups[-1][0], point):
            groups[-1].append(point)
        else:
            groups.append([point])
    return [node_id for group in groups for node_id in sorted(point.id for point in group)]


@contextmanager
def _asking() -> Iterator[None]:
    """Say plainly what keeps a server from answering."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except ResponseHandlingException as error:
        reason = str(error.source) or type(error.source).__name__
        raise ConnectionError(
            f"the Qdrant server does not answer ({reason}): check that it runs, and try again"
        ) from None
    except UnexpectedResponse as error:
        said = error.content[:200].decode("utf-8", "replace") if error.content else error.reason_phrase
        raise RuntimeError(f"the Qdrant server refuses (status {error.status_code}): {said}") from None
