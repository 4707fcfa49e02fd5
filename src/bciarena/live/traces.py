"""What the operator sees of a stream: some channels, slowed down, and what to look at."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.live.hubline import LabPage

TRACE_HZ = 25
SHOWN = 8


def traces(book: Rulebook, page: LabPage, absent: Collection[int]) -> Callable[[NDArray[np.float64]], None]:
    """Sees every sample and shows traces to the operator; ``absent`` are rows without an electrode."""
    rows = list(range(0, len(book.channels), max(1, len(book.channels) // SHOWN)))[:SHOWN]
    held: list[NDArray[np.float64]] = []
    step = max(1, book.rate // TRACE_HZ)

    def see(eeg: NDArray[np.float64]) -> None:
        held.append(eeg)
        count = sum(part.shape[1] for part in held)
        if count >= book.rate // 5:
            whole = np.concatenate(held, axis=1)
            held.clear()
            shown = whole[rows, : count // step * step].reshape(len(rows), -1, step).mean(axis=2)
            names = [book.channels[row] for row in rows]
            page.send({"type": "traces", "channels": names, "rate": TRACE_HZ, "data": shown.round(2).tolist(),
                       "hints": hints(book, whole, absent)})  # fmt: skip

    return see


def hints(book: Rulebook, eeg: NDArray[np.float64], absent: Collection[int] = ()) -> list[tuple[str, str]]:
    """What an operator should look at, and in which channels: flat ones, large ones, mains."""
    there = [row for row in range(len(book.channels)) if row not in absent]
    names, eeg = [book.channels[row] for row in there], eeg[there]
    spread = eeg.std(axis=1)
    flat = [name for name, value in zip(names, spread, strict=True) if value < 0.05]
    large = [name for name, value in zip(names, spread, strict=True) if value > 150]
    said = []
    if flat:
        said.append(("flat", " ".join(flat[:6])))
    if large:
        said.append(("large", " ".join(large[:6])))
    time_s = np.arange(eeg.shape[1]) / book.rate
    level, wave = eeg - eeg.mean(axis=1, keepdims=True), np.exp(-2j * np.pi * 50 * time_s)
    # Not @: five times a second it would wake the threads of the BLAS, which then spin for longer than they compute.
    mains = np.abs(np.einsum("cn,n->c", level, wave)) * 2 / len(time_s)
    noisy = [name for name, value in zip(names, mains, strict=True) if value > 20]
    if noisy:
        said.append(("mains", " ".join(noisy[:6])))
    return said
