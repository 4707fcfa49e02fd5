"""Fixtures for the queue's tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import database_url, postgres

__all__ = ["database_url", "postgres", "small_disk"]


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
