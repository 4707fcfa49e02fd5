"""How long one decision takes: 40 keys, 1 s, 9 channels, one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bciarena.challenges.speller import FREQUENCY_HZ

REPEATS = 200


def main() -> list[dict[str, Any]]:
    """Rows for FBCCA, eTRCA and TDCA; the ratio is to the goal of 2 ms."""
    from bciarena.decoders.cca import FBCCA
    from bciarena.decoders.trca import TRCA

    rng = np.random.default_rng(0)
    epochs = rng.standard_normal((80, 5, 9, 250))
    labels = np.repeat(np.arange(40), 2)
    makers: dict[str, Callable[[], Any]] = {
        "FBCCA": lambda: FBCCA(np.array(FREQUENCY_HZ), 250).fit(epochs[:1]),
        "eTRCA": lambda: TRCA().fit(epochs, labels),
    }
    rows = []
    for name, maker in makers.items():
        begin = time.perf_counter()
        decoder = maker()
        fit_ms = (time.perf_counter() - begin) * 1e3
        took = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            decoder.decision_function(epochs[:1])
            took.append((time.perf_counter() - begin) * 1e3)
        p50, p99 = (float(value) for value in np.percentile(took, [50, 99]))
        rows.append({"measure": f"decision, {name}", "p50_ms": p50, "p99_ms": p99, "fit_ms": fit_ms, "ratio": p50 / 2})
    return rows
