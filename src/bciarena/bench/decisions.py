"""How long one decision takes: 40 keys, 1 s, 9 channels, one thread; five bands where a method has a filter bank."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

REPEATS = 200


def main() -> list[dict[str, Any]]:
    """A row for each SSVEP decoder; the ratio is to the goal of 2 ms."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):
        return _rows()


def _rows() -> list[dict[str, Any]]:
    from bciarena.decoders.cca import FBCCA, ExtendedCCA
    from bciarena.decoders.ste import STE
    from bciarena.decoders.tdca import TDCA
    from bciarena.decoders.trca import TRCA

    rng = np.random.default_rng(0)
    banks = rng.standard_normal((80, 5, 9, 250))
    plain = banks[:, 0]
    labels = np.repeat(np.arange(40), 2)
    freqs_hz = 8 + 0.2 * np.arange(40)
    phases = 0.5 * np.pi * np.arange(40)
    makers: dict[str, tuple[Callable[[], Any], Any]] = {
        "FBCCA": (lambda: FBCCA(freqs_hz, 250).fit(banks[:1]), banks),
        "eTRCA": (lambda: TRCA().fit(banks, labels), banks),
        "TDCA": (lambda: TDCA(freqs_hz, 250, phases).fit(banks, labels), banks),
        "extended CCA, one band": (lambda: ExtendedCCA(freqs_hz, 250).fit(plain, labels), plain),
        "STE, one band": (lambda: STE(freqs_hz, 250).fit(plain[:40]), plain),
    }
    rows = []
    for name, (maker, epochs) in makers.items():
        begin = time.perf_counter()
        decoder = maker()
        fit_ms = (time.perf_counter() - begin) * 1e3
        decoder.decision_function(epochs[:1])
        took = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            decoder.decision_function(epochs[:1])
            took.append((time.perf_counter() - begin) * 1e3)
        p50, p99 = (float(value) for value in np.percentile(took, [50, 99]))
        rows.append({"measure": f"decision, {name}", "p50_ms": p50, "p99_ms": p99, "fit_ms": fit_ms, "ratio": p50 / 2})
    return rows
