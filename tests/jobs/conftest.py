"""Fixtures for the queue's tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bciarena.database.db import open_database
from bciarena.jobs.queue import Queue
from bciarena.jobs.storage import Storage
from tests.jobs.playing import Workers
from tests.postgres import database_url, postgres

__all__ = ["database_url", "postgres", "queue", "small_disk", "storage", "workers"]


@pytest.fixture
def queue(database_url: str) -> Iterator[Queue]:
    engine = open_database(database_url)
    yield Queue(engine)
    engine.dispose()


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(tmp_path / "storage", tmp_path / "cache").make()


@pytest.fixture
def workers(tmp_path: Path, database_url: str, storage: Storage) -> Iterator[Workers]:
    crew = Workers(tmp_path, database_url, storage.url)
    yield crew
    crew.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system is not allowed here (needs root)")
    yield place
    subprocess.run(["umount", str(place)], check=True)
