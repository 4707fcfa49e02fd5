"""A core for each match, which neither the referee nor another match uses, where there are enough of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from bciarena.places import cache_folder
from bciarena.sandbox.copies import own_place

PIN = "ARENA_PIN"
"""Set by a worker for its children when every match it plays at once can have a core."""


def box_cores(allowed: Collection[int]) -> list[int]:
    """The cores reserved for boxes: each leaves one for its referee, and one is left for the rest of the machine."""
    ordered = sorted(allowed)
    return ordered[len(ordered) - max(len(ordered) - 1, 0) // 2 :]


def pins(slots: int) -> bool:
    """Whether ``slots`` matches at once can have a core each; all or none, or some would have better clocks."""
    return slots <= len(box_cores(os.sched_getaffinity(0)))


def told(slots: int) -> str:
    """How ``slots`` matches at once share this machine, in one line."""
    cores = len(os.sched_getaffinity(0))
    if pins(slots):
        return f"each ranked match has a core of its own ({cores} cores, {slots} at once)"
    return f"matches share the cores: {cores} are too few to give each of {slots} its own (2 each and 1 more)"


@contextmanager
def own_core() -> Iterator[int | None]:
    """A core that no other box of this user has and that this thread avoids meanwhile; None if none is free."""
    before = os.sched_getaffinity(0)
    cores = box_cores(before)
    with own_place(cache_folder() / "cores") as place:
        if place.number >= len(cores):
            yield None
            return
        os.sched_setaffinity(0, before - set(cores))
        try:
            yield cores[place.number]
        finally:
            os.sched_setaffinity(0, before)


@contextmanager
def starting_on(core: int | None) -> Iterator[None]:
    """What this thread starts meanwhile stays on the core, with all its children, which inherit it."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
