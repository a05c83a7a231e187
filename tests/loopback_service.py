"""A service on the network, played by a server on loopback: it answers as a test says, and keeps what it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[["Handler", dict], None]  # what answers a request, given its body


class LoopbackServer(ThreadingHTTPServer):
    """Listens on a free port of 127.0.0.1, and keeps the ``requests``."""

    daemon_threads = True

    def __init__(self, handler: type["JsonHandler"]):
        super().__init__(("127.0.0.1", 0), handler)
        self.requests = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class JsonHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def send(self, status, body, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


class Server(LoopbackServer):
    """Gives the ``answers`` one after the other, and ``right_answer`` where none is left."""

    def __init__(self, right_answer: Answer):
        super().__init__(Handler)
        self.right_answer = right_answer
        self.answers = []

    def handle_error(self, request, client_address):
        """A client that has stopped waiting is no news."""


class Handler(JsonHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Authorization"] or self.headers["X-Api-Key"]
        self.server.requests.append((self.path, key, body))
        answer = self.server.answers.pop(0) if self.server.answers else self.server.right_answer
        answer(self, body)


def body(content) -> Answer:
    return lambda handler, _: handler.send(200, content)


def late(handler: Handler, sent: dict) -> None:
    threading.Event().wait(0.6)  # a test may stub time.sleep, so that nothing waits between attempts
    handler.server.right_answer(handler, sent)


def dropped(handler: Handler, _: dict) -> None:
    handler.close_connection = True
    handler.connection.shutdown(2)


@contextmanager
def running(right_answer: Answer) -> Iterator[Server]:
    with serving(Server(right_answer)) as server:
        yield server


@contextmanager
def serving(server: LoopbackServer) -> Iterator[LoopbackServer]:
    """Let a server answer, and close it at the end."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
