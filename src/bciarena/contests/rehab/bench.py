"""Tracks and peers of rehabilitation imagery."""

from __future__ import annotations

import numpy as np

from bciarena.bench.peers import Array, Bench, CspLda, TangentSpace, Windowed
from bciarena.contests.rehab.rules import CLASSES, RELEASED


class _Limb(Windowed):
    """There is no data before a trial."""

    rate, packet_n, rows, lead_n, window_n = 1000, 40, 77, 0, 3600
    codes, mark = tuple(CLASSES), RELEASED

    def filtered(self, piece: Array) -> Array:
        from scipy.signal import sosfilt

        # The filter starts inside the trial, so its transient is cut off; 250 Hz are plenty for 30 Hz.
        return np.asarray(sosfilt(self.sos, piece - piece[:, :1], axis=1)[:, 400::4])


class LimbCspLda(_Limb, CspLda):
    """CSP (MNE) and a linear discriminant."""


class LimbTangentSpace(_Limb, TangentSpace):
    """Riemannian tangent space (pyriemann) and logistic regression."""


BENCH = Bench(
    people=3,
    peers={"CSP + LDA (MNE)": LimbCspLda, "tangent space + LR (pyriemann)": LimbTangentSpace},
    measure="mean_points",
    unit="points a trial",
)
