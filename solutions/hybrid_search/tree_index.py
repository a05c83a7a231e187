"""Trees of summaries in Qdrant: every node a point, the tree itself in the points' parent_id and child_ids.

A point holds a node (``nodes.check_tree`` says what that is), the page's "text" where the node is a page, and up to
two vectors: "dense", the embedded summary, and "sparse", the BM25 weights of the terms in the file name, the summary
and the keywords. Qdrant multiplies the latter by each term's IDF, ln(1 + (N - n + 0.5) / (n + 0.5)), over all nodes of
the collection that have such a vector. The point 0 is no node: it keeps the version of this layout and the next id.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from .bm25 import tokenize
from .documents import check_count, check_query
from .embeddings import Embedder, _direction
from .nodes import ROOT, check_tree
from .qdrant_queries import asking, equal, in_order, where
from .rrf import rrf_scores
from .sparse import term_counts, term_weights

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.models import Filter, PointStruct, Record, SparseVector

SCHEMA = 1  # to be raised when the points change in a way that older ones do not fit
K_RRF = 60

_FIELDS = ("file_name", "first_page", "last_page", "level", "parent_id", "child_ids", "summary", "keywords")
_FILTERED = {"file_name": "keyword", "level": "integer", "parent_id": "integer"}
_STATE = 0  # the id of the point that is no node
_ALL = 10_000  # deeper than any ranking of one round
_SPARE = 10  # results fetched beyond those wanted, among which equal ones may have to change places
_BATCH_BYTES = 4_000_000  # a server takes requests of at most 32 MB


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
        self._dimension: int | None = None  # once the collection is there and has been checked
        self._last: tuple | None = None  # the last query and its vectors
        self._open()

    def __len__(self) -> int:
        """The number of nodes."""
        if self._open() is None:
            return 0
        with asking():
            return self.client.count(self.collection).count - 1  # without the point that is no node

    @property
    def documents(self) -> list[str]:
        """The names of the documents, in the order in which they were added."""
        return [node["file_name"] for node in self._scroll(where(parent_id=ROOT))]

    def nodes(self, file_name: str) -> list[dict]:
        """The nodes of a document's tree, in the order of their ids; [] where there is no such document."""
        return self._scroll(where(file_name=file_name))

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
        Everything is checked and embedded before anything is written. What a failed or interrupted call has written is
        deleted at once, or with the next change. A node with a blank summary has no dense vector.

        Raises ValueError for what is no tree, for pages that are not its leaves, for a document that is blank on every
        page, and for vectors that are not of the collection's dimension.
        """
        nodes, pages = _checked(nodes, pages)
        vectors = self._vectors(nodes)
        dense = [vector["dense"] for vector in vectors if "dense" in vector]
        if not dense:
            raise ValueError(
                f"{nodes[0]['file_name']!r} is blank on every page: there is nothing to search in it"
            )
        self._create(len(dense[0]))
        first_id = self._clean()
        nodes = _renumbered(nodes, first_id)
        ids, next_id = [node["id"] for node in nodes], first_id + len(nodes)
        self._save_state(next_id, waste={"ids": ids})
        try:
            for batch in _batches(_points(nodes, vectors, pages)):
                self._upsert(batch)
            self._save_state(next_id, waste={"file_name": nodes[0]["file_name"], "ids_not": ids})
        except BaseException:
            with suppress(Exception):
                self._clean()
            raise
        self._clean()
        return nodes

    def delete_document(self, file_name: str) -> int:
        """Delete a document with all its nodes. How many were there?"""
        if self._open() is None:
            return 0
        next_id = self._clean()
        with asking():
            count = self.client.count(self.collection, count_filter=where(file_name=file_name)).count
        self._save_state(next_id, waste={"file_name": file_name})
        self._clean()
        return count

    # ---- searching

    def search_roots(self, query: str, k: int) -> list[tuple[dict, float]]:
        """The best k roots as pairs (node, RRF score), best first, of those that a ranking finds."""
        k = check_count(k, "k")
        return self._best(self._fused(query, where(parent_id=ROOT)), k)

    def rank(self, query: str, nodes: Sequence[dict]) -> list[tuple[dict, float]]:
        """These nodes in one fused ranking: pairs (node, RRF score), best first.

        Equal scores are ordered by the better best rank, then as in the dense ranking. A node that neither ranking
        finds comes last, with 0.
        """
        by_id = {node["id"]: node for node in sorted(nodes, key=lambda node: node["id"])}
        scores = self._fused(query, where(ids=list(by_id))) if by_id else {}
        found = [(by_id[node_id], score) for node_id, score in scores.items()]
        return found + [(node, 0.0) for node_id, node in by_id.items() if node_id not in scores]

    def rankings(self, query: str, nodes: Sequence[dict]) -> list[list[int]]:
        """What ``rank`` fuses: the ids of these nodes by the dense vectors, and by BM25, each best first."""
        ids = [node["id"] for node in nodes]
        return self._rankings(query, where(ids=ids), _ALL) if ids else [[], []]

    def search(
        self, query: str, k: int = 1, candidates: int = 20, in_qdrant: bool = False
    ) -> list[tuple[dict, float]]:
        """The best k pages of all documents, past the trees: pairs (node, RRF score), best first.

        Each of the two rankings gives its best ``candidates``. With ``in_qdrant`` Qdrant fuses them itself, in one
        request. The scores are the same, except where scores within a ranking are equal: their order, and so their
        ranks, is then left to chance.
        """
        k, candidates = check_count(k, "k"), check_count(candidates, "candidates")
        pages = where(level=0)
        if in_qdrant:
            return self._fused_in_qdrant(query, pages, k, candidates)
        return self._best(self._fused(query, pages, candidates), k)

    def children(self, node: dict) -> list[dict]:
        """The children of a node, in the order of the pages."""
        return [_node(record) for record in self._retrieve(node["child_ids"], _FIELDS)]

    def text(self, node: dict) -> str:
        """The text of a node's pages, a line break between two of them."""
        nodes = [node]
        while any(one["child_ids"] for one in nodes):
            ids = [below for one in nodes for below in one["child_ids"] or [one["id"]]]
            nodes = [_node(record) for record in self._retrieve(ids, _FIELDS)]
        records = self._retrieve([one["id"] for one in nodes], ["text"])
        return "\n".join(record.payload["text"] for record in records)

    def _fused(self, query: str, condition: "Filter", depth: int = _ALL) -> dict[int, float]:
        """The RRF scores, best first, of the points that meet the condition and that a ranking finds."""
        return rrf_scores(self._rankings(query, condition, depth), K_RRF)

    def _rankings(self, query: str, condition: "Filter", depth: int) -> list[list[int]]:
        """The ids of the points that meet the condition, ``depth`` of each ranking: by dense vectors, and by BM25."""
        from qdrant_client import models

        check_query(query)
        if self._open() is None:
            return [[], []]
        vectors, limit = self._query_vectors(query), depth + _SPARE
        while True:
            requests = [
                models.QueryRequest(query=vector, using=name, filter=condition, limit=limit)
                for name, vector in vectors.items()
            ]
            with asking():
                answers = self.client.query_batch_points(self.collection, requests)
            rankings = [answer.points for answer in answers]
            # Of many equal ones at the border, those that belong inside may not have been fetched yet.
            if not any(len(found) == limit and equal(found[depth - 1], found[-1]) for found in rankings):
                return [in_order(found)[:depth] for found in rankings] + [[]] * (2 - len(rankings))
            limit *= 4

    def _fused_in_qdrant(
        self, query: str, condition: "Filter", k: int, candidates: int
    ) -> list[tuple[dict, float]]:
        from qdrant_client import models

        check_query(query)
        if self._open() is None:
            return []
        rankings = [
            models.Prefetch(query=vector, using=name, filter=condition, limit=candidates)
            for name, vector in self._query_vectors(query).items()
        ]
        # Qdrant counts ranks from 0, so that its 61 is the 60 of ranks from 1.
        fusion = models.RrfQuery(rrf=models.Rrf(k=K_RRF + 1))
        with asking():
            points = self.client.query_points(
                self.collection, prefetch=rankings, query=fusion, limit=k, with_payload=list(_FIELDS)
            ).points
        return [(_node(point), point.score) for point in points]

    def _query_vectors(self, query: str) -> dict:
        """The query's vectors by name: dense, and sparse where it has a token. Those of the last query are kept."""
        if self._last is None or self._last[0] != query:
            dense = _direction(self.embedder.embed_query(query), "the query vector")
            self._check_dimension(dense.size, "the query vector")
            sparse = term_counts(self.tokenize(query))
            self._last = query, {"dense": dense.tolist(), **({"sparse": _sparse(sparse)} if sparse else {})}
        return self._last[1]

    def _best(self, scores: dict[int, float], k: int) -> list[tuple[dict, float]]:
        ids = list(scores)[:k]
        return [(_node(record), scores[record.id]) for record in self._retrieve(ids, _FIELDS)]

    # ---- points

    def _vectors(self, nodes: list[dict]) -> list[dict]:
        """The vectors of each node by name: dense unless its summary is blank, and sparse where it has a token."""
        summaries = [node["summary"] for node in nodes if node["summary"].strip()]
        embedded = list(self.embedder.embed_documents(summaries)) if summaries else []
        if len(embedded) != len(summaries):
            raise ValueError(f"the embedder gave {len(embedded)} vectors for {len(summaries)} summaries")
        vectors, dimension = [], self._open()
        for node in nodes:
            own: dict = {}
            if node["summary"].strip():
                whose = f"the vector of node {node['id']}"
                direction = _direction(embedded.pop(0), whose)
                dimension = dimension or direction.size
                self._check_dimension(direction.size, whose, dimension)
                own["dense"] = direction.tolist()
            searched = "\n".join([node["file_name"], node["summary"], *node["keywords"]])
            if weights := term_weights(self.tokenize(searched)):
                own["sparse"] = _sparse(weights)
            vectors.append(own)
        return vectors

    def _check_dimension(self, given: int, whose: str, dimension: int | None = None) -> None:
        dimension = dimension or self._dimension
        if given != dimension:
            raise ValueError(
                f"{whose} has {given} dimensions, the vectors of the collection {self.collection!r} have "
                f"{dimension}: use the embedder that it was made with, or another collection"
            )

    def _retrieve(self, ids: Sequence[int], fields: Sequence[str]) -> "list[Record]":
        """The points of these ids, in the order of the ids."""
        if not ids:
            return []
        with asking():
            records = self.client.retrieve(self.collection, ids, with_payload=list(fields))
        by_id = {record.id: record for record in records}
        missing = [node_id for node_id in ids if node_id not in by_id]
        if missing:
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
            with asking():
                records, offset = self.client.scroll(
                    self.collection, condition, limit=1000, offset=offset, with_payload=list(_FIELDS)
                )
            nodes += map(_node, records)
            if offset is None:
                return sorted(nodes, key=lambda node: node["id"])

    def _upsert(self, points: "list[PointStruct]") -> None:
        with asking():
            self.client.upsert(self.collection, points, wait=True)

    # ---- the collection

    def _open(self) -> int | None:
        """The dimension of the collection's dense vectors, None where there is no collection. Checked once."""
        if self._dimension is not None:
            return self._dimension
        with asking():
            if not self.client.collection_exists(self.collection):
                return None
            parameters = self.client.get_collection(self.collection).config.params
            state = self.client.retrieve(self.collection, [_STATE])
        schema = state[0].payload.get("schema") if state else None
        vectors = parameters.vectors if isinstance(parameters.vectors, dict) else {}
        if schema != SCHEMA or "dense" not in vectors or "sparse" not in (parameters.sparse_vectors or {}):
            found = (
                "it holds something else"
                if schema is None
                else f"it was made by version {schema}, this is {SCHEMA}"
            )
            raise ValueError(
                f"the collection {self.collection!r} cannot be used ({found}): take another name, or delete it "
                f"with client.delete_collection({self.collection!r}) and add your documents again"
            )
        self._dimension = vectors["dense"].size
        return self._dimension

    def _create(self, dimension: int) -> None:
        """Make the collection if there is none."""
        from qdrant_client import models

        if self._open() is not None:
            return
        dense = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
        sparse = models.SparseVectorParams(modifier=models.Modifier.IDF)
        with asking():
            self.client.create_collection(
                self.collection, vectors_config={"dense": dense}, sparse_vectors_config={"sparse": sparse}
            )
        try:
            with asking(), warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", message="Payload indexes have no effect in the local Qdrant"
                )
                for field, kind in _FILTERED.items():
                    self.client.create_payload_index(self.collection, field, kind)
            self._save_state(next_id=1)
        except BaseException:
            with suppress(Exception):
                self.client.delete_collection(self.collection)
            raise
        self._dimension = dimension

    def _clean(self) -> int:
        """Delete what a change has replaced, or has left behind when it was interrupted. The next free id."""
        (state,) = self._retrieve([_STATE], ["next_id", "waste"])
        next_id, waste = state.payload["next_id"], state.payload["waste"]
        if waste is not None:
            with asking():
                self.client.delete(self.collection, where(**waste), wait=True)
            self._save_state(next_id)
        return next_id

    def _save_state(self, next_id: int, waste: dict | None = None) -> None:
        """``waste`` says, in the words of ``where``, what the next cleaning deletes."""
        from qdrant_client import models

        state = {"schema": SCHEMA, "next_id": next_id, "waste": waste}
        self._upsert([models.PointStruct(id=_STATE, vector={}, payload=state)])


def _checked(nodes: Sequence[dict], pages: Sequence[str]) -> tuple[list[dict], list[str]]:
    """A tree and its pages, or a ValueError that says what is wrong with them."""
    nodes, pages = list(nodes), list(pages)
    check_tree(nodes)
    if not nodes:
        raise ValueError("the document has no pages: there is nothing to add")
    file_name = nodes[0]["file_name"]
    if not (isinstance(file_name, str) and file_name.strip()):
        raise ValueError(f"a document needs a file name: got {file_name!r}")
    if any(node["file_name"] != file_name for node in nodes):
        raise ValueError(f"a tree is of one file: not all of these nodes are of {file_name!r}")
    leaves = [node["first_page"] for node in nodes if not node["child_ids"]]
    if leaves != list(range(1, len(pages) + 1)):
        raise ValueError(
            f"the leaves of {file_name!r} must be its pages, in order: there are {len(leaves)} leaves and "
            f"{len(pages)} pages"
        )
    for number, page in enumerate(pages, start=1):
        if any("\ud800" <= character <= "\udfff" for character in page):
            raise ValueError(
                f"page {number} of {file_name!r} holds half of a surrogate pair, which is no character: remove it"
            )
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


def _points(nodes: list[dict], vectors: list[dict], pages: list[str]) -> "Iterator[PointStruct]":
    from qdrant_client import models

    texts = iter(pages)
    for node, own in zip(nodes, vectors, strict=True):
        payload = {name: node[name] for name in _FIELDS}
        if not node["child_ids"]:
            payload["text"] = next(texts)
        yield models.PointStruct(id=node["id"], vector=own, payload=payload)


def _batches(points: "Iterator[PointStruct]") -> "Iterator[list[PointStruct]]":
    """The points in order, cut so that no request is too large unless one point alone is."""
    batch, size = [], 0
    for point in points:
        # About what it takes: most of it are the text, and vectors of some 20 bytes a number.
        own = 5000 + len(point.payload.get("text", "").encode()) + 20 * len(point.vector.get("dense", ()))
        if batch and size + own > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(point)
        size += own
    if batch:
        yield batch


def _node(record: "Record") -> dict:
    return {"id": record.id, **{name: record.payload[name] for name in _FIELDS}}


def _sparse(weights: dict[int, float]) -> "SparseVector":
    from qdrant_client import models

    return models.SparseVector(indices=list(weights), values=list(weights.values()))
