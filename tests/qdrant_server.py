"""A server that speaks Qdrant's REST interface on loopback, with Qdrant's local mode behind it.

It lets the real client talk over HTTP. How a real server ranks it does not show: for that set QDRANT_URL.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

from loopback_service import JsonHandler, LoopbackServer, serving
from pydantic_core import to_jsonable_python
from qdrant_client import QdrantClient, models


class Server(LoopbackServer):
    """``refuse`` answers a request before Qdrant sees it: a function of method and path that gives a status or None."""

    def __init__(self, key: str = ""):
        super().__init__(Handler)
        self.client = QdrantClient(":memory:")
        self.lock = threading.Lock()
        self.key = key
        self.refuse = lambda method, path: None


class Handler(JsonHandler):
    def answer(self):
        path = urlsplit(self.path).path
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        self.server.requests.append((self.command, path))
        status = self.server.refuse(self.command, path)
        if status is None and path != "/" and self.server.key != (self.headers["api-key"] or ""):
            status = 401
        if status is None:
            with self.server.lock:
                content = answered(self.server.client, self.command, path.strip("/").split("/"), body)
                self.send(200, to_jsonable_python(content))
        else:
            self.send(status, {"status": {"error": f"status {status}"}, "time": 0.0})

    do_GET = do_PUT = do_POST = do_DELETE = answer


def answered(client: QdrantClient, method: str, path: list[str], body: dict) -> dict:
    """What Qdrant says to a request."""
    if path == [""]:
        return {"title": "qdrant - vector search engine", "version": "1.20.0"}
    collection, verb = (path + [""])[1], "/".join([method, *path[2:]])
    if len(path) == 1:
        result: Any = client.get_collections()
    elif verb == "GET/exists":
        result = {"exists": client.collection_exists(collection)}
    elif verb == "GET":
        result = client.get_collection(collection)
    elif verb == "PUT":
        result = client.create_collection(
            collection, vectors_config=_vectors(body), sparse_vectors_config=_sparse_vectors(body)
        )
    elif verb == "DELETE":
        result = client.delete_collection(collection)
    elif verb == "PUT/index":
        result = _DONE
    elif verb == "PUT/points":
        result = client.upsert(collection, [models.PointStruct(**point) for point in body["points"]])
    elif verb == "POST/points":
        result = client.retrieve(collection, body["ids"], with_payload=body["with_payload"])
    elif verb == "POST/points/count":
        result = client.count(collection, _filter(body))
    elif verb == "POST/points/scroll":
        keep = {name: body[name] for name in ("limit", "offset", "with_payload") if name in body}
        points, offset = client.scroll(
            collection, _filter(body), with_vectors=body.get("with_vector", False), **keep
        )
        result = {"points": points, "next_page_offset": offset}
    elif verb == "POST/points/delete":
        result = client.delete(collection, _filter(body))
    elif verb == "POST/points/query":
        result = client.query_batch_points(collection, [models.QueryRequest(**body)])[0]
    elif verb == "POST/points/query/batch":
        result = client.query_batch_points(
            collection, [models.QueryRequest(**one) for one in body["searches"]]
        )
    else:
        raise AssertionError(f"the server does not know {verb}")
    return {"result": result, "status": "ok", "time": 0.0}


_DONE = {"operation_id": 0, "status": "completed"}


def _filter(body: dict) -> models.Filter | None:
    return models.Filter(**body["filter"]) if body.get("filter") else None


def _vectors(body: dict) -> dict:
    return {name: models.VectorParams(**parameters) for name, parameters in body["vectors"].items()}


def _sparse_vectors(body: dict) -> dict:
    return {
        name: models.SparseVectorParams(**parameters)
        for name, parameters in (body.get("sparse_vectors") or {}).items()
    }


@contextmanager
def running(key: str = "") -> Iterator[Server]:
    server = Server(key)
    with closing(server.client), serving(server):
        yield server
