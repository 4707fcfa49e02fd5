"""What every decoder requires of its input, with one-line errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bciarena.errors import BadInput


def check_epochs(X: ArrayLike, n: int | None = None, ndim: int = 3) -> NDArray[np.float64]:
    """Epochs as finite float64 with ``ndim`` axes; those shorter than fitted are refused."""
    epochs = np.asarray(X, dtype=np.float64)
    if epochs.ndim != ndim:
        axes = "(trials, channels, n)" if ndim == 3 else "(trials, bands, channels, n)"
        raise BadInput(f"epochs must have the axes {axes}, not the shape {epochs.shape}")
    if n is not None and epochs.shape[-1] != n:
        raise BadInput(f"epochs have {epochs.shape[-1]} samples, the decoder was fitted for {n}")
    if not np.isfinite(epochs).all():
        raise BadInput("epochs contain NaN or infinite samples: repair or leave out those trials")
    return epochs


def target_labels(y: ArrayLike | None, targets: int) -> NDArray[Any]:
    """What each target is called: the labels of `y` in sorted order, one for each; 0, 1, ... without `y`."""
    if y is None:
        return np.arange(targets)
    found = np.unique(np.asarray(y))
    if len(found) != targets:
        raise BadInput(f"{targets} frequencies, but y has {len(found)} labels: give trials of every target, or no y")
    return found


def check_labels(y: ArrayLike | None, trials: int, expected: ArrayLike | None = None, each: int = 1) -> NDArray[Any]:
    """Labels of `trials` epochs; every class of `expected` must be there at least `each` times."""
    if y is None:
        raise BadInput("this decoder learns from labelled trials: give y")
    labels = np.asarray(y)
    if labels.shape != (trials,):
        raise BadInput(f"{trials} epochs need {trials} labels, got the shape {labels.shape}")
    classes = np.unique(labels) if expected is None else np.asarray(expected)
    for k in classes:
        found = int((labels == k).sum())
        if found < each:
            raise BadInput(f"class {k} has {found} trial(s), at least {each} needed")
    return labels
