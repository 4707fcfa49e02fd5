"""Resting EEG that was recorded from people, as the background of simulated recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.recording import Subject, open_recording
from bciarena.simulator.noise import Floats

LEAST_S, FADE_S = 4.0, 0.04
"""Shorter stretches are not used; where two meet, one fades into the other."""


class Resting:
    """Recorded resting EEG by person.

    Parameters
    ----------
    folder : Path
        A data folder. All stretches of it that are not zero are used, whatever its codes say.
    channels : tuple of str
        Wanted rows; those that the recordings lack, or that are flat, are left to the simulator.
    """

    def __init__(self, folder: Path, channels: tuple[str, ...], rate: int) -> None:
        self.people = open_recording(folder).subjects
        self.rate, self.folder = rate, folder
        own = self.people[0].blocks[0]
        if own.rate != rate:
            raise BadInput(f"--background {folder}: {own.rate} Hz, the contest has {rate} Hz; arena import resamples")
        names = [name.upper() for name in own.channels]
        self.rows = {row: names.index(name.upper()) for row, name in enumerate(channels) if name.upper() in names}
        if not self.rows:
            raise BadInput(f"--background {folder}: none of its channels is one of the contest's")

    def stretch(self, subject: int, samples: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
        """Rows with a signal, and so many samples of them: pieces of one person in random order, each detrended."""
        pieces = self._pieces(self.people[(subject - 1) % len(self.people)])
        fade_n = round(FADE_S * self.rate)
        rise = np.linspace(0, 1, fade_n, dtype=np.float32)
        made = np.zeros((len(self.rows), samples + fade_n), dtype=np.float32)
        at = 0
        while at < samples:
            for index in rng.permutation(len(pieces)):
                piece = pieces[index][:, : samples + fade_n - at].copy()
                if piece.shape[1] <= fade_n:
                    break
                piece[:, :fade_n] *= rise
                piece[:, -fade_n:] *= rise[::-1]
                made[:, at : at + piece.shape[1]] += piece
                at += piece.shape[1] - fade_n
                if at >= samples:
                    break
        made = made[:, :samples]
        alive = made.std(axis=1) > 0
        return np.array(list(self.rows))[alive], made[alive]

    def _pieces(self, person: Subject) -> list[Floats]:
        found = []
        for block in person.blocks:
            eeg = np.asarray(block.eeg[list(self.rows.values())], dtype=np.float32)
            alive = np.concatenate([[False], np.any(eeg != 0, axis=0), [False]])
            edges = np.flatnonzero(np.diff(alive.astype(int)))
            for first, last in zip(edges[::2], edges[1::2], strict=True):
                if last - first >= LEAST_S * self.rate:
                    found.append(scipy.signal.detrend(eeg[:, first:last], axis=1).astype(np.float32))
        if not found:
            raise BadInput(f"--background {self.folder}: {person.name} has no {LEAST_S:g} s of EEG in one piece")
        return found
