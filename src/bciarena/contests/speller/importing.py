"""Synchronous SSVEP recordings as an asynchronous stream: flicker epochs among idle stretches.

A block is laid out as the speller's text says (1 s cue, 4 s stimulus, 1 s feedback, rest of 0-4 s, one in ten up to
12 s); what is not flicker is idle EEG, each sample used once, pieces joined by cross-fades of 40 ms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.speller.rules import FREQUENCY_HZ, KEYS
from bciarena.errors import BadInput
from bciarena.importing.meanings import Meanings

CUE_S, STIMULUS_S, LAG_S, FEEDBACK_S = 1.0, 4.0, 0.14, 1.0
FADE_S = 0.04
STILL_CODE = 101


def spliced(
    book: Rulebook, data: NDArray[np.float32], idle: NDArray[np.float32], seed: int, still_share: float = 1 / 3
) -> tuple[NDArray[np.float32], list[str]]:
    """One asynchronous block from a recording with flicker codes and a pool of idle EEG.

    Parameters
    ----------
    data : ndarray, shape (channels + 1, samples)
        With codes 1-40 at flicker onsets.
    idle : ndarray, shape (channels, samples)
        EEG without flicker, in the same rows; used from its beginning.
    """
    rate = book.rate
    epoch_n, fade_n = round((STIMULUS_S + LAG_S) * rate), round(FADE_S * rate)
    onsets = [(int(k), int(data[-1, k])) for k in np.flatnonzero(data[-1]) if 1 <= data[-1, k] <= 40]
    epochs = [(code, data[:-1, k : k + epoch_n]) for k, code in onsets if k + epoch_n <= data.shape[1]]
    if not epochs:
        raise BadInput("--splice: no flicker epoch of 4.14 s with a code 1-40 in the recording")
    rng = np.random.default_rng(seed)
    stills = round(len(epochs) * still_share / (1 - still_share))
    order = rng.permutation(len(epochs) + stills)
    pool = _Pool(idle)
    parts, codes, at = [pool.take(rate)], [(0, 242)], rate
    for number in order:
        rest_s = rng.uniform(0, 4) if rng.random() < 0.9 else rng.uniform(4, 12)
        cue, tail = pool.take(round(CUE_S * rate)), pool.take(round((FEEDBACK_S - LAG_S + rest_s) * rate))
        middle = pool.take(epoch_n) if number >= len(epochs) else epochs[number][1]
        if cue is None or tail is None or middle is None:
            break
        codes.append((at + cue.shape[1], epochs[number][0] if number < len(epochs) else STILL_CODE))
        codes.append((at + cue.shape[1] + round((STIMULUS_S + FEEDBACK_S) * rate), 241))
        parts += [cue, middle, tail]
        at += cue.shape[1] + epoch_n + tail.shape[1]
    if len(codes) == 1:
        raise BadInput("--splice: not enough idle EEG for a single trial; name a longer one with --idle")
    joined = _join([part for part in parts if part is not None], fade_n)
    row = np.zeros(joined.shape[1], np.float32)
    for sample, code in [*codes, (joined.shape[1] - 1, 243)]:
        row[min(sample, row.size - 1)] = code
    trials = (len(codes) - 1) // 2
    notes = [f"spliced: {trials} of {len(order)} trials among idle EEG; each idle sample used once"]
    return np.vstack([joined, row]).astype(np.float32), notes


class _Pool:
    """Idle EEG handed out once."""

    def __init__(self, eeg: NDArray[np.float32]) -> None:
        self.eeg, self.at = eeg, 0

    def take(self, n: int) -> NDArray[np.float32] | None:
        if self.at + n > self.eeg.shape[1]:
            return None
        self.at += n
        return self.eeg[:, self.at - n : self.at]


def _join(parts: list[NDArray[np.float32]], fade_n: int) -> NDArray[np.float64]:
    """Pieces end to end; each has its mean removed and is cross-faded with the end of the one before."""
    out = np.zeros((parts[0].shape[0], sum(part.shape[1] for part in parts)))
    at = 0
    ease = (1 - np.cos(np.pi * (np.arange(fade_n) + 0.5) / fade_n)) / 2
    for part in parts:
        n = part.shape[1]
        level = part - part.mean(axis=1, keepdims=True) if n else part
        out[:, at : at + n] = level
        k = min(fade_n, n)
        if at and k:
            out[:, at : at + k] = out[:, at - 1 : at] * (1 - ease[:k]) + level[:, :k] * ease[:k]
        at += n
    return out


def idle_of(book: Rulebook, data: NDArray[np.float32]) -> NDArray[np.float32]:
    """EEG of a recording outside its flicker: from half a second after a stimulus to the next onset."""
    keep = np.ones(data.shape[1], bool)
    for onset in np.flatnonzero((data[-1] >= 1) & (data[-1] <= KEYS)):
        keep[onset : onset + round(5.5 * book.rate)] = False
    return data[:-1, keep]


def key_of(number: float) -> int | None:
    """The key of a flicker frequency."""
    return FREQUENCY_HZ.index(number) + 1 if number in FREQUENCY_HZ else None


IMPORTING = Meanings(trial_s=STIMULUS_S, number=key_of, splice=spliced, idle=idle_of)
