"""A second session of the tests' database, beside Django's own: somebody else who holds a lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection

NAMES = ("host", "port", "user", "password", "dbname")


@contextmanager
def another_session() -> Iterator[psycopg.Connection]:
    """Its advisory locks are given back at the end: a server learns late that a session was closed."""
    parameters = connection.get_connection_params()
    with psycopg.connect(**{name: parameters[name] for name in NAMES if name in parameters}) as other:
        yield other
        other.rollback()
        other.execute("SELECT pg_advisory_unlock_all()")
