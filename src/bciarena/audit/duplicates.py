"""Do two sets share samples? Rises and falls are compared, so that a copy at another scale or offset is found, too."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bciarena.recording.model import Block, Recording

WINDOW_S = 0.5
ROWS = 2
SAME = 0.995
"""Correlation from which on windows are the same: copies may be rounded."""
TURNS = 0.25
"""A window in which the signal turns at fewer of its samples than this says too little."""


def shared_s(one: Recording, other: Recording) -> float:
    """Seconds of ``one`` that are in ``other``, too.

    Rises and falls that agree are a suspicion (mains can look alike anywhere); samples that agree are a finding.
    """
    theirs = [(block, *_hashes(block)) for _, _, block in other]
    found = 0.0
    for _, _, mine in one:
        own, at = _hashes(mine)
        same = np.zeros(mine.samples, bool)
        for block, hashes, places in theirs:
            n = round(WINDOW_S * block.rate)
            _, here, there = np.intersect1d(own, hashes, return_indices=True)
            for start, from_ in zip(at[here], places[there], strict=True):
                if not same[start : start + n].all() and _agree(mine, int(start), block, int(from_), n):
                    same[start : start + n] = True
        found += float(same.sum()) / mine.rate
    return found


def _agree(one: Block, start: int, other: Block, from_: int, n: int) -> bool:
    """Whether two windows are the same but for scale and offset, in every channel that moves."""
    a = np.asarray(one.eeg[:, start : start + n], float)
    b = np.asarray(other.eeg[:, from_ : from_ + n], float)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    alive = size > 1e-9
    return bool(alive.any() and np.all((a * b).sum(axis=1)[alive] > SAME * size[alive]))


def shared(sets: Mapping[str, Recording], scored: str) -> dict[str, float]:
    """By other set: seconds of the scored set that it holds, too."""
    return {name: shared_s(sets[scored], other) for name, other in sets.items() if name != scored}


def _hashes(block: Block) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """One number for every window of rises and falls of two channels, and where it begins; still ones are left out."""
    n = round(WINDOW_S * block.rate)
    live = [row for row in range(len(block.channels)) if np.ptp(np.asarray(block.eeg[row, ::7])) > 0][:ROWS]
    if block.samples <= n + 1 or not live:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    total = np.zeros(block.samples - n, np.uint64)
    moves = np.zeros(block.samples - n, np.int64)
    rng = np.random.default_rng(1)
    for row in live:
        rise = np.diff(np.asarray(block.eeg[row], np.float64))
        sign = (rise > 0).astype(np.uint64) + 2 * (rise < 0).astype(np.uint64)
        factors = rng.integers(1, 1 << 62, n, dtype=np.uint64)
        for k in range(n):  # wraps around at 64 bits, as intended
            total += factors[k] * sign[k : k + len(total)]
        turned = np.concatenate([[0], np.cumsum(np.diff(sign.astype(np.int64)) != 0)])
        moves += turned[n - 1 : n - 1 + len(total)] - turned[: len(total)]
    kept = np.flatnonzero(moves >= TURNS * n)
    return total[kept], kept
