"""What public recordings call the things a contest asks for; its importing.py offers it as IMPORTING."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Meanings:
    """How a contest reads recordings that were not made for it.

    Attributes
    ----------
    words : mapping of str to int
        Words that public data sets use, and the codes they become when no event map is given.
    trial_s : float or None
        Where a trial's end code goes when the source has none; None: nowhere.
    number : callable, optional
        The code of an event that is a number (a flicker frequency); None from it: the number itself.
    splice : callable, optional
        Makes an asynchronous block (``--splice``) from a recording, idle EEG and a seed; returns it with notes.
    idle : callable, optional
        The stretches of a recording that may serve as idle EEG for ``splice``.
    """

    words: Mapping[str, int] = field(default_factory=dict)
    trial_s: float | None = None
    number: Callable[[float], int | None] | None = None
    splice: Callable[[Rulebook, Rows, Rows, int], tuple[Rows, list[str]]] | None = None
    idle: Callable[[Rulebook, Rows], Rows] | None = None


def meanings_of(book: Rulebook) -> Meanings:
    """The contest's own meanings, or none."""
    return contest(book).part("importing", Meanings, Meanings())
