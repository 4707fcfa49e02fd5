"""A real PostgreSQL server of our own, in a temporary folder, for tests that need one.

Use: ``from tests.postgres import postgres, database_url`` in a conftest (or test file), then ask for ``postgres`` (the
server: ``url()``, ``restart()``) or ``database_url`` (runs the test on SQLite and on PostgreSQL).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bciarena.bench.postgres import Server, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """The server, one per test session; where PostgreSQL is not installed the tests that need it are skipped."""
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    server = Server(where)
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a fresh, empty database; the test runs once on each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'arena.db'}"
    server: Server = request.getfixturevalue("postgres")
    return server.url()
