"""Choosing an engine by its name."""

from __future__ import annotations

import os

from bciarena.errors import BadInput
from bciarena.jobs.engine import Engine
from bciarena.jobs.storage import Storage


def make(name: str, storage: Storage, slots: int = 0, address: str = "auto") -> Engine:
    """The engine of that name; ``slots`` 0: as many as there are cores."""
    if name == "local":
        from bciarena.jobs.local import LocalEngine

        return LocalEngine(storage, slots or len(os.sched_getaffinity(0)))
    if name == "ray":
        from bciarena.jobs.cluster import RayEngine

        return RayEngine(storage, slots, address)
    raise BadInput(f"unknown engine {name!r}: choose local or ray")
