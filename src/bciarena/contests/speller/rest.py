"""Makes what the speller's background starts from: ``python -m bciarena.contests.speller.rest OUT.npz DIR``.

DIR holds people at rest (speller codes or none). For every window, band and key: how large the correlation with the
key's references is in EEG without flicker, and how much it scatters. The speller then moves to the person's own values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.speller.fit import KEYS, OCCIPITAL, PACKET_N, RATE
from bciarena.contests.speller.rules import FREQUENCY_HZ
from bciarena.decoders.asynchronous import AsynchronousSpeller, Settings
from bciarena.errors import BadInput
from bciarena.recording import Block, open_recording

Floats = NDArray[np.float64]
NEIGHBOURS = 2


def gains(block: Block, settings: Settings) -> Floats:
    """Correlation gains of a block after the first whole window, (steps, windows, bands, keys)."""
    rows = list(OCCIPITAL)
    speller = AsynchronousSpeller(FREQUENCY_HZ, RATE, PACKET_N, len(rows), settings)
    data = np.asarray(block.eeg[rows], dtype=float)
    if not np.ptp(data[:, : 10 * PACKET_N], axis=1).all():
        raise BadInput(f"{block.source}: an occipital channel is flat; the background is made from all nine")
    seen = []
    for at in range(0, data.shape[1] - PACKET_N + 1, PACKET_N):
        speller.cca.push(speller.bank.push(data[:, at : at + PACKET_N])[:-1])
        if speller.cca.packets > settings.windows[-1] and speller.cca.packets % settings.every == 0:
            seen.append(speller.gains())
    if not seen:
        raise BadInput(f"{block.source}: shorter than the longest window, {settings.windows[-1] * PACKET_N / RATE} s")
    return np.array(seen)


def background(blocks: Iterable[Floats]) -> dict[str, Any]:
    """Means over blocks: level and variance (windows, bands); of each key, in units of that level, the same."""
    level, variance, key_mean, key_variance = [], [], [], []
    for block in blocks:
        level.append(block.mean(axis=(0, 3)))
        variance.append(block.var(axis=(0, 3)))
        z = (block - level[-1][..., None]) / np.sqrt(variance[-1][..., None])
        key_mean.append(z.mean(axis=0))
        key_variance.append(z.var(axis=0))
    scatter = np.mean(key_variance, axis=0) + np.var(key_mean, axis=0)
    return {
        "mean": np.mean(level, axis=0),
        "variance": np.mean(variance, axis=0),
        "key_mean": _smooth(np.mean(key_mean, axis=0)),
        "key_variance": _smooth(scatter),
    }


def _smooth(values: Floats) -> Floats:
    """Mean over each key and its neighbours."""
    wide = np.pad(values, ((0, 0), (0, 0), (NEIGHBOURS, NEIGHBOURS)), mode="edge")
    return np.asarray(np.mean([wide[..., i : i + KEYS] for i in range(2 * NEIGHBOURS + 1)], axis=0))


def main(arguments: list[str]) -> None:
    """Make and store."""
    from rich.progress import track

    if len(arguments) != 2:
        raise BadInput("usage: python -m bciarena.contests.speller.rest OUT.npz DIR")
    settings = Settings()
    blocks = [block for person in open_recording(Path(arguments[1])).subjects for block in person.blocks]
    made = background([gains(block, settings) for block in track(blocks, "listening")])
    np.savez_compressed(arguments[0], windows=np.array(settings.windows), **made)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BadInput as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(2)
