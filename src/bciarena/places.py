"""The folder for files that can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``XDG_CACHE_HOME/bciarena``, or ``~/.cache/bciarena``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "bciarena"
