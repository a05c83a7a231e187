"""lab.qdrant(): local mode in memory or in a folder, or the server of QDRANT_URL, and what it says where it fails."""

import http.server
import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import traceback

import pytest
import qdrant_server
from qdrant_client import models
from running_postgres import Notebook

import lab
from lab.errors import ServiceError

KEY = "a-secret-key"


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    monkeypatch.delenv("QDRANT_URL", raising=False)
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    monkeypatch.setattr("lab.qdrant_connection._said", set())


def fill(client, name="mine"):
    client.create_collection(name, vectors_config={"a": models.VectorParams(size=2, distance="Cosine")})
    client.upsert(name, [models.PointStruct(id=1, vector={"a": [1, 0]}, payload={"text": "one"})])


def refusal(*arguments):
    """What lab.qdrant() says, and nothing else: no text of an error that hangs on to it."""
    with pytest.raises(ServiceError) as caught:
        lab.qdrant(*arguments)
    whole = "".join(traceback.format_exception(caught.value))
    assert KEY not in whole and "\n" not in str(caught.value)
    assert caught.value.__cause__ is None and (
        caught.value.__context__ is None or caught.value.__suppress_context__
    )
    return str(caught.value)


# ---- local mode


def test_without_a_server_it_is_in_memory_new_with_every_call(capsys):
    one, other = lab.qdrant(), lab.qdrant()
    fill(one)
    assert one.count("mine").count == 1 and not other.collection_exists("mine")
    assert capsys.readouterr().out == "Qdrant: local mode, in the memory of this notebook.\n"


def test_a_folder_keeps_what_is_in_it(tmp_path, capsys):
    client = lab.qdrant(tmp_path / "kept")
    fill(client)
    client.close()
    again = lab.qdrant(str(tmp_path / "kept"))
    assert again.retrieve("mine", [1])[0].payload == {"text": "one"}
    again.close()
    assert capsys.readouterr().out == f"Qdrant: local mode, in the folder {tmp_path / 'kept'}.\n"


def test_the_same_folder_twice_in_one_notebook_is_one_client(tmp_path, monkeypatch):
    client = lab.qdrant(tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    assert lab.qdrant(tmp_path.name) is client
    client.close()
    assert lab.qdrant(tmp_path) is not client
    lab.qdrant(tmp_path).close()


def test_a_folder_that_another_notebook_has_open_is_named_and_left_alone(tmp_path):
    with Notebook("import lab", f"client = lab.qdrant({str(tmp_path)!r})") as other:
        said = refusal(tmp_path)
        assert said.startswith(f"Another notebook or program has the Qdrant folder {tmp_path} open")
        assert "shut its kernel down, or give another folder" in said
        other.end()
    client = lab.qdrant(tmp_path)
    fill(client)
    client.close()


def test_a_killed_notebook_gives_its_folder_back(tmp_path):
    with Notebook("import lab", f"client = lab.qdrant({str(tmp_path)!r})") as other:
        other.kill()
    lab.qdrant(tmp_path).close()


def test_a_file_in_the_place_of_the_folder_is_a_plain_sentence(tmp_path):
    (tmp_path / "file").write_text("mine")
    said = refusal(tmp_path / "file")
    assert said.startswith(f"Qdrant cannot keep its data in {tmp_path / 'file'} (")
    assert (tmp_path / "file").read_text() == "mine"


def broken_list(folder):
    (folder / "meta.json").write_text("{")


def unknown_list(folder):
    (folder / "meta.json").write_text(json.dumps({"collections": {"mine": {"vectors": "?"}}, "aliases": {}}))


def broken_points(folder):
    (folder / "collection" / "mine" / "storage.sqlite").write_bytes(b"no database" * 100)


def broken_point(folder):
    with sqlite3.connect(folder / "collection" / "mine" / "storage.sqlite") as connection:
        connection.execute("UPDATE points SET point = ?", (b"no point",))
    connection.close()


@pytest.mark.parametrize("damage", [broken_list, unknown_list, broken_points, broken_point])
def test_a_damaged_folder_is_a_plain_sentence_and_stays_as_it_is(tmp_path, damage):
    client = lab.qdrant(tmp_path)
    fill(client)
    client.close()
    damage(tmp_path)
    before = (tmp_path / "meta.json").read_bytes()
    said = refusal(tmp_path)
    assert said.startswith(f"What is in the Qdrant folder {tmp_path} cannot be read (")
    assert "Give another folder" in said
    assert (tmp_path / "meta.json").read_bytes() == before


def test_a_notebook_that_ends_says_nothing_on_stderr(tmp_path):
    script = f"import lab; one = lab.qdrant({str(tmp_path)!r}); other = lab.qdrant()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_lab_loads_no_qdrant():
    script = "import sys, lab; lab.qdrant; print([name for name in sys.modules if 'qdrant_client' in name])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n", done.stderr


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    assert refusal() == "The package qdrant-client is missing: run `pip install qdrant-client`."


# ---- a server


@pytest.fixture
def server(monkeypatch):
    with qdrant_server.running(KEY) as server:
        monkeypatch.setenv("QDRANT_URL", f" {server.url}\n")
        monkeypatch.setenv("QDRANT_API_KEY", f"{KEY}\n")
        yield server


def test_the_server_of_the_environment_is_taken_and_announced_without_its_address(server, capsys, recwarn):
    for _ in range(2):
        client = lab.qdrant()
    fill(client)
    assert server.client.count("mine").count == 1
    said = capsys.readouterr()
    assert said.out == "Qdrant 1.20.0: the server that QDRANT_URL names.\n" and said.err == ""
    assert not recwarn.list


def test_a_folder_is_for_local_mode_alone(server, tmp_path):
    fill(lab.qdrant(tmp_path / "unused"))
    assert server.client.collection_exists("mine") and not (tmp_path / "unused").exists()


def test_a_server_that_wants_no_key_gets_none(monkeypatch):
    with qdrant_server.running() as server:
        monkeypatch.setenv("QDRANT_URL", server.url)
        lab.qdrant()


@pytest.mark.parametrize("key", ["", "another", "with space", "n\u00f6n-ascii", "line\nbreak"])
def test_a_wrong_key_is_a_plain_sentence_that_does_not_hold_it(server, monkeypatch, key):
    monkeypatch.setenv("QDRANT_API_KEY", key)
    said = refusal()
    assert said.startswith("The Qdrant server does not accept the key in QDRANT_API_KEY")
    assert not key or key not in said


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_server_that_is_down_is_a_plain_sentence(monkeypatch):
    monkeypatch.setenv("QDRANT_URL", f"http://user:{KEY}@127.0.0.1:{free_port()}")
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    assert refusal() == (
        "The Qdrant server that QDRANT_URL names cannot be reached: check the host and the port in it, and that the "
        "server runs; or unset QDRANT_URL for Qdrant on this computer."
    )


def test_a_server_that_does_not_answer_in_time_is_a_plain_sentence(monkeypatch):
    monkeypatch.setattr("lab.qdrant_connection._CONNECT_SECONDS", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("QDRANT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert "cannot be reached" in refusal()


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://[", "http://host:port", "//"])
def test_an_address_that_is_none_is_a_plain_sentence_that_does_not_hold_it(monkeypatch, url):
    monkeypatch.setenv("QDRANT_URL", url)
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    said = refusal()
    assert "QDRANT_URL" in said and url not in said.replace("https://HOST:PORT", "")


@pytest.mark.parametrize(
    ("status", "said"), [(500, "has a fault of its own"), (503, "status 503"), (404, "no address of")]
)
def test_a_server_that_fails_is_a_plain_sentence(server, status, said):
    server.refuse = lambda method, path: status
    assert said in refusal()


def test_a_server_that_is_not_qdrant_is_a_plain_sentence(monkeypatch):
    class Web(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "15")
            self.end_headers()
            self.wfile.write(b"<h1>Hello!</h1>")

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    monkeypatch.setenv("QDRANT_URL", f"http://127.0.0.1:{web.server_address[1]}")
    try:
        assert refusal().startswith("QDRANT_URL is no address of a Qdrant server")
    finally:
        web.shutdown()
        web.server_close()


def test_the_real_server_of_the_environment_answers(monkeypatch):
    url = REAL.get("QDRANT_URL")
    if not url:
        pytest.skip("needs a Qdrant server: set QDRANT_URL, and QDRANT_API_KEY if it wants a key")
    for name, value in REAL.items():
        monkeypatch.setenv(name, value)
    assert lab.qdrant().get_collections().collections is not None


# Read before the tests take them out of the environment.
REAL = {name: os.environ[name] for name in ("QDRANT_URL", "QDRANT_API_KEY") if name in os.environ}
