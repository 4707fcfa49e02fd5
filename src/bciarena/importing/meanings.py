"""What public recordings call the things a contest asks for; its importing.py offers it as IMPORTING."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
    reference : "average" or None
        What its channels are measured against: the common average over the whole cap, taken before rows are picked;
        None: as recorded.
    blank_s : mapping of int to float
        The form of its recordings: from a code on, EEG is 0 for so many seconds or until the next of these codes.
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
    reference: str | None = None
    blank_s: Mapping[int, float] = field(default_factory=dict)
    trial_s: float | None = None
    number: Callable[[float], int | None] | None = None
    splice: Callable[[Rulebook, Rows, Rows, int], tuple[Rows, list[str]]] | None = None
    idle: Callable[[Rulebook, Rows], Rows] | None = None


class Blank:
    """Blanks a stream as it comes, (channels, n) after (channels, n), by `Meanings.blank_s`; however it is cut."""

    def __init__(self, book: Rulebook) -> None:
        self._for_n = {code: round(s * book.rate) for code, s in meanings_of(book).blank_s.items()}
        self._left = 0  # samples still to be blanked

    def __call__(self, eeg: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
        """The samples with what the contest does not keep set to 0; a copy where there is anything to blank."""
        if not self._for_n:
            return eeg
        out, start = eeg.copy(), 0
        places = [int(at) for at in np.flatnonzero(np.isin(codes, list(self._for_n)))]
        for at in [*places, eeg.shape[1]]:
            count = min(self._left, at - start)
            out[:, start : start + count] = 0
            self._left -= count
            start = at
            if at < eeg.shape[1]:
                self._left = self._for_n[int(codes[at])]
        return out


def meanings_of(book: Rulebook) -> Meanings:
    """The contest's own meanings, or none."""
    return contest(book).part("importing", Meanings, Meanings())
