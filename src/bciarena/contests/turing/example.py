"""The minute that arena check plays."""

from __future__ import annotations

from bciarena.contests.turing.brain import flicker
from bciarena.entries.tiny import Example


def quiet(code: int) -> str | None:
    """The hand opposite to the electrode."""
    return {1: "C4", 2: "C3"}.get(code & 7)


EXAMPLE = Example(
    (3.0, 5.0, 5.0),
    ((1 << 3 | 1, 4 << 3 | 4, 5 << 3 | 5), (7 << 3 | 2, 6 << 3 | 6, 1 << 3 | 7)),
    cue=240,
    flicker=flicker,
    quiet=quiet,
)
