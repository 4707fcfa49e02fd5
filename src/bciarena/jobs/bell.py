"""How an idle worker learns at once that something was queued, without querying the queue all the time.

A bell is only a hint: a worker checks the queue now and then in any case.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

CHANNEL = "arena_jobs"
AGAIN_S = 1.0  # until a lost connection is tried again
CLOSE_S = 0.5  # how long closing may take


class Bell(Protocol):
    """Polled by one thread, many times a second."""

    def rang(self) -> bool:
        """Whether something may have been queued since the last time."""

    def close(self) -> None: ...


def ring(session: Session) -> None:
    """Wake the workers when this transaction is committed. With SQLite they notice the change themselves."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(sa.text(f"notify {CHANNEL}"))


def bell_of(engine: sa.Engine) -> Bell:
    """The bell of a database."""
    return PostgresBell(engine) if engine.dialect.name == "postgresql" else SqliteBell(str(engine.url.database))


class SqliteBell:
    """Polls SQLite's data version in shared memory, which changes with every commit by another connection."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._version = -1

    def rang(self) -> bool:
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(self._path, timeout=0.1, isolation_level=None)
            version = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return False  # a query of the queue itself will report what is wrong
        changed, self._version = version != self._version, version
        return changed

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PostgresBell:
    """Listens on a connection of its own, in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._rang, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._listen, name="bell", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        import psycopg

        from bciarena.database.db import CONNECT_S, KEEPALIVE

        options: dict[str, Any] = {"connect_timeout": CONNECT_S, **KEEPALIVE}
        while not self._closing.is_set():
            with suppress(psycopg.Error), psycopg.connect(self._url, autocommit=True, **options) as connection:
                connection.execute(f"listen {CHANNEL}")
                self._rang.set()  # something may have come before we listened
                while not self._closing.is_set():
                    for _ in connection.notifies(timeout=CLOSE_S, stop_after=1):
                        self._rang.set()
            self._closing.wait(AGAIN_S)

    def rang(self) -> bool:
        was = self._rang.is_set()
        self._rang.clear()
        return was

    def close(self) -> None:
        self._closing.set()
        self._thread.join(CLOSE_S + 1.0)
