"""The folder for files that can be made again."""

from __future__ import annotations

import os
from pathlib import Path

from bciarena.errors import BadInput

BOXES_OWN = ("/dev", "/proc", "/sys")


def cache_folder() -> Path:
    """``XDG_CACHE_HOME/bciarena``, or ``~/.cache/bciarena``."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    for own in BOXES_OWN:
        if base.is_relative_to(own):
            raise BadInput(f"XDG_CACHE_HOME={base}: lies below {own}, where a box sees its own files; choose another")
    return base / "bciarena"
