"""One continuous recording while it is being imported."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Piece:
    """A recording from any source, before it is adapted to a challenge.

    ``eeg`` is (channels, samples) in microvolts; ``marks`` are (sample, word) with the source's own words, ``codes``
    the trigger codes once they are known; ``notes`` collect what was changed.
    """

    subject: str
    source: str
    eeg: NDArray[np.float64]
    rate: float
    channels: tuple[str, ...]
    marks: list[tuple[int, str]] = field(default_factory=list)
    codes: list[tuple[int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    invalid: dict[int, str] = field(default_factory=dict)  # sample of a trial's opening code, why it is not to be used
