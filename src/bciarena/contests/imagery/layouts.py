"""The same recording with the cue elsewhere: what a decoder lives on shows when it is taken away.

In the recordings at hand the cue stands at the onset code. The contest's text has it 2 s earlier; and a decoder of
imagery should not need it at all. Both are made from a block's samples, the trigger row last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.imagery.rules import CLASSES
from bciarena.errors import BadInput

SHIFT_N = 500  # 2 s, as in the text
END = 241
JOIN_N = 10  # samples over which the two sides of a cut pass into each other


def cue_before(data: NDArray[Any]) -> NDArray[Any]:
    """Onset codes 2 s later: the cue then stands 2 s before them."""
    out = data.copy()
    at = _onsets(out)
    codes = out[-1, at].copy()
    out[-1, at] = 0
    out[-1, at + SHIFT_N] = codes
    return out


def cue_cut_out(data: NDArray[Any]) -> NDArray[Any]:
    """The 2 s after each onset taken out: no response to the cue is left, only imagery that goes on.

    What follows is brought to the level before the cut; the step wears off until the trial's end, so that the level
    itself tells nothing at once.
    """
    pieces, done = [], 0
    for at in _onsets(data):
        end = at + SHIFT_N + int(np.argmax(data[-1, at + SHIFT_N :] == END)) + 1
        before, after = data[:, done:at].copy(), data[:, at + SHIFT_N : end].copy()
        level = before[:-1, -JOIN_N:].mean(axis=1, keepdims=True)
        lead = data[:-1, at + SHIFT_N - JOIN_N : at + SHIFT_N]
        rise = np.linspace(0, 1, JOIN_N)
        before[:-1, -JOIN_N:] = before[:-1, -JOIN_N:] * (1 - rise) + (lead - lead[:, -1:] + level) * rise
        step = level - after[:-1, :JOIN_N].mean(axis=1, keepdims=True)
        after[:-1] += step * np.linspace(1, 0, after.shape[1])
        after[-1, 0] = data[-1, at]
        pieces += [before, after]
        done = end
    return np.concatenate([*pieces, data[:, done:]], axis=1)


def _onsets(data: NDArray[Any]) -> NDArray[np.int64]:
    at = np.flatnonzero(np.isin(data[-1], tuple(CLASSES)))
    for n in at:
        if not np.any(data[-1, n + SHIFT_N + 1 :] == END) or data[-1, n + 1 : n + SHIFT_N + 1].any():
            raise BadInput(f"the trial at sample {n} has less than {SHIFT_N} samples before its next code")
    return at
