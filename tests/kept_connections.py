"""Postgres connections that are emptied where others are closed: a new one takes longer than what a probe asks."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

import lab


@contextmanager
def kept_connections() -> Iterator[None]:
    """Meanwhile lab.postgres() gives connections as good as new: nothing is left of whoever had them before."""
    new, free = lab.postgres, []

    # What asks a connection for its type should see no other.
    class Connection(psycopg.Connection):
        def close(self) -> None:
            if self.closed:
                return
            try:
                self.rollback()
                self.autocommit, self.row_factory = True, psycopg.rows.tuple_row
                self.execute("DISCARD ALL")
            except psycopg.Error:
                super().close()
            else:
                free.append(self)

    def postgres() -> psycopg.Connection:
        if free:
            return free.pop()
        connection = new()
        connection.__class__ = Connection
        connection.prepare_threshold = None  # statements that are prepared do not outlive DISCARD ALL
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lab, "postgres", postgres)
        yield
    for connection in free:
        psycopg.Connection.close(connection)
