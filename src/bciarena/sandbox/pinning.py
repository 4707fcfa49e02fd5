"""Cores for each match, which neither the referee nor another match uses, where there are enough of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from bciarena.places import cache_folder
from bciarena.sandbox.copies import own_place

PIN = "ARENA_PIN"
"""Set by a worker for its children: how many matches it plays at once; empty where nothing is pinned."""


def most_cores(slots: int, allowed: Collection[int]) -> int:
    """How many cores each of ``slots`` matches can have to itself.

    One core is set aside for the referee of each match, and one for the rest of the machine. Matches that are granted
    the same number either all have them or all share: otherwise some would have better clocks.
    """
    return max((len(allowed) - 1) // slots - 1, 0)


def most_matches(allowed: Collection[int]) -> int:
    """How many matches at once can have a core each to themselves."""
    return (len(allowed) - 1) // 2


def box_cores(slots: int, allowed: Collection[int]) -> list[int]:
    """The cores reserved for boxes, in the order in which they are given away."""
    return sorted(allowed)[:slots:-1]


def told(slots: int) -> str:
    """How ``slots`` matches at once share this machine, in one line."""
    allowed = os.sched_getaffinity(0)
    most = most_cores(slots, allowed)
    if most:
        which = "a core" if most == 1 else f"up to {most} cores"
        return f"each ranked match has {which} of its own ({len(allowed)} cores, {slots} at once)"
    return f"matches share the cores: {len(allowed)} are too few to give each of {slots} its own (2 each plus 1)"


@contextmanager
def own_cores(granted: int) -> Iterator[set[int]]:
    """As many cores as the match is granted; meanwhile no other box of this user has them, and this thread avoids them.

    Empty where the worker pins nothing or the machine has too few cores.
    """
    before, slots = os.sched_getaffinity(0), int(os.environ.get(PIN) or 0)
    if not slots or not 1 <= granted <= most_cores(slots, before):
        yield set()
        return
    pool = box_cores(slots, before)
    with ExitStack() as held:
        taken = [held.enter_context(own_place(cache_folder() / "cores")).number for _ in range(granted)]
        if max(taken) >= len(pool):  # another worker of this user has them
            yield set()
            return
        os.sched_setaffinity(0, before - set(pool))
        try:
            yield {pool[number] for number in taken}
        finally:
            os.sched_setaffinity(0, before)


@contextmanager
def starting_on(cores: set[int]) -> Iterator[None]:
    """Processes that this thread starts meanwhile stay on these cores, and so do their children."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
