"""What the three generators have in common: the interface and the checks on what they are fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput

SRATE = 250
"""Samples per second of everything the generators see and make."""

Array = NDArray[np.float64]
Real = Mapping[int, Sequence[NDArray[np.floating]]]
"""Subject number -> that person's runs, each (channels, n)."""


Model = TypeVar("Model")


class Generator(Protocol):
    """A model of people's EEG that can be sampled."""

    def fit(self, real: Real) -> Self:
        """Learn every subject of ``real``."""
        ...

    def sample(self, subject: int, length_s: float, rng: np.random.Generator, run: int | None = None) -> Array:
        """Make ``length_s`` seconds of ``subject``'s EEG, (channels, round(length_s * 250))."""
        ...


def checked(real: Real, shortest_s: float) -> dict[int, list[Array]]:
    """Return the runs as float64 with their means removed, or say what is wrong with them.

    Parameters
    ----------
    real : mapping of int to sequence of array (channels, n)
    shortest_s : float
        Least length of a run in seconds.
    """
    if not real:
        raise BadInput("generator: nothing to fit, give at least one subject")
    runs = {subject: [np.asarray(run, dtype=np.float64) for run in runs] for subject, runs in real.items()}
    for subject, arrays in runs.items():
        if not arrays:
            raise BadInput(f"generator: subject {subject} has no run to learn from")
    shapes = {run.shape[0] if run.ndim == 2 else None for arrays in runs.values() for run in arrays}
    if len(shapes) != 1 or None in shapes:
        raise BadInput("generator: every run must be an array (channels, n) with the same channels")
    for subject, arrays in runs.items():
        for index, run in enumerate(arrays):
            where = f"generator: subject {subject}, run {index + 1}"
            if run.shape[1] < shortest_s * SRATE:
                raise BadInput(f"{where} is {run.shape[1] / SRATE:.1f} s long, {shortest_s:g} s are needed")
            if not np.isfinite(run).all():
                raise BadInput(f"{where} has values that are not finite")
            if (run.std(axis=1) == 0).any():
                raise BadInput(f"{where} has a flat channel, to which no spectrum can be fitted")
    return {subject: [run - run.mean(axis=1, keepdims=True) for run in arrays] for subject, arrays in runs.items()}


def chosen(
    models: Mapping[int, Sequence[Model]],
    subject: int,
    length_s: float,
    run: int | None,
    rng: np.random.Generator,
) -> tuple[Model, int]:
    """Return the model of the run to copy (drawn when ``run`` is None) and the sample count asked for."""
    if not models:
        raise BadInput("generator: call fit before sample")
    if subject not in models:
        raise BadInput(f"generator: subject {subject} was not fitted (fitted: {sorted(models)})")
    count_n = round(length_s * SRATE)
    if count_n < 1:
        raise BadInput(f"generator: cannot make {length_s} s of EEG, the length must be positive")
    runs = models[subject]
    if run is not None and not 0 <= run < len(runs):
        raise BadInput(f"generator: subject {subject} has {len(runs)} run(s), there is no run {run}")
    return runs[int(rng.integers(len(runs))) if run is None else run], count_n
