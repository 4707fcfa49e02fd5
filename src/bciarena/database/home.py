"""Default places: one folder per user, and the environment variables that change it."""

from __future__ import annotations

import os
from pathlib import Path

from bciarena import places


def home() -> Path:
    """The folder of this user's database and storage; ``ARENA_HOME`` moves it."""
    named = os.environ.get("ARENA_HOME")
    if named:
        return Path(named).absolute()
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "bciarena"


def database_url() -> str:
    """``ARENA_DATABASE``, or a SQLite file in the home folder."""
    return os.environ.get("ARENA_DATABASE") or f"sqlite:///{home() / 'arena.db'}"


def storage_url() -> str:
    """``ARENA_STORAGE`` (a folder or any fsspec URL), or a folder in the home folder."""
    return os.environ.get("ARENA_STORAGE") or str(home() / "storage")


def cache_folder() -> Path:
    """``ARENA_CACHE``, or the user's cache folder: what a worker has fetched from storage."""
    named = os.environ.get("ARENA_CACHE")
    if named:
        return Path(named).absolute()
    return places.cache_folder() / "fetched"
