"""Decoders with the shape of scikit-learn's estimators, and what decides when to answer.

| for | names |
|---|---|
| flicker (SSVEP), epoch by epoch | CCA, FBCCA, STE (no training data), ExtendedCCA, TRCA, TDCA (learn from trials) |
| flicker in a stream | SlidingFBCCA, HarmonicTemplate, PhaseLockedFlicker, Background, AsynchronousSpeller |
| imagined movement | CSP, FBCSP, TangentSpace, covariances, align, augmented, PooledRidge, MotorModel, MotorPlayer |
| filters that keep their state between packets | FilterBank, high_pass, low_pass, band_pass, notch |
| evidence over time | LogPool, OnsetPool, BlockBalance |
| when to answer | StoppingPolicy, fit_policy, and what it aims at: Itr, Target, Points, Weighted |

Epochs are float arrays (trials, channels, n) in microvolts, with a filter bank (trials, bands, channels, n).
``predict`` returns labels of the kind given to ``fit``. Needs scikit-learn and pyriemann:
``pip install 'bciarena[decode]'``.

>>> import numpy as np
>>> from bciarena.decoders import CCA
>>> freqs_hz, t = np.array([8.0, 11.0, 14.0]), np.arange(500) / 250
>>> X = np.sin(2 * np.pi * freqs_hz[:, None, None] * t) + np.random.default_rng(0).normal(size=(3, 4, 500))
>>> CCA(freqs_hz, rate=250).fit(X, ["left", "middle", "right"]).predict(X).tolist()
['left', 'middle', 'right']
"""

from typing import TYPE_CHECKING

from bciarena.lazy import lazy

if TYPE_CHECKING:
    from bciarena.decoders.asynchronous import AsynchronousSpeller
    from bciarena.decoders.cca import CCA, FBCCA, ExtendedCCA
    from bciarena.decoders.csp import CSP, FBCSP
    from bciarena.decoders.evidence import BlockBalance, LogPool
    from bciarena.decoders.filters import FilterBank, band_pass, high_pass, low_pass, notch
    from bciarena.decoders.idle import Background
    from bciarena.decoders.motor_model import MotorModel, MotorPlayer
    from bciarena.decoders.onset import OnsetPool
    from bciarena.decoders.phase_locked import PhaseLockedFlicker
    from bciarena.decoders.pooled import PooledRidge
    from bciarena.decoders.riemann import TangentSpace, align, augmented, covariances
    from bciarena.decoders.sliding import SlidingFBCCA
    from bciarena.decoders.ste import STE, Equalizer
    from bciarena.decoders.stopping import Itr, Points, StoppingPolicy, Target, Weighted, fit_policy
    from bciarena.decoders.tdca import TDCA
    from bciarena.decoders.template import HarmonicTemplate
    from bciarena.decoders.trca import TRCA
else:  # on first use: an entry that filters need not wait for scikit-learn
    _WHERE = {
        "AsynchronousSpeller": "asynchronous",
        **dict.fromkeys(("CCA", "FBCCA", "ExtendedCCA"), "cca"),
        **dict.fromkeys(("CSP", "FBCSP"), "csp"),
        **dict.fromkeys(("LogPool", "BlockBalance"), "evidence"),
        **dict.fromkeys(("FilterBank", "high_pass", "low_pass", "band_pass", "notch"), "filters"),
        "Background": "idle",
        **dict.fromkeys(("MotorModel", "MotorPlayer"), "motor_model"),
        "OnsetPool": "onset",
        "PhaseLockedFlicker": "phase_locked",
        "PooledRidge": "pooled",
        **dict.fromkeys(("TangentSpace", "covariances", "align", "augmented"), "riemann"),
        "SlidingFBCCA": "sliding",
        **dict.fromkeys(("STE", "Equalizer"), "ste"),
        **dict.fromkeys(("StoppingPolicy", "fit_policy", "Itr", "Target", "Points", "Weighted"), "stopping"),
        "TDCA": "tdca",
        "HarmonicTemplate": "template",
        "TRCA": "trca",
    }
    __getattr__ = lazy(__name__, _WHERE)

__all__ = [
    "CCA",
    "CSP",
    "FBCCA",
    "FBCSP",
    "STE",
    "TDCA",
    "TRCA",
    "AsynchronousSpeller",
    "Background",
    "BlockBalance",
    "Equalizer",
    "ExtendedCCA",
    "FilterBank",
    "HarmonicTemplate",
    "Itr",
    "LogPool",
    "MotorModel",
    "MotorPlayer",
    "OnsetPool",
    "PhaseLockedFlicker",
    "Points",
    "PooledRidge",
    "SlidingFBCCA",
    "StoppingPolicy",
    "TangentSpace",
    "Target",
    "Weighted",
    "align",
    "augmented",
    "band_pass",
    "covariances",
    "fit_policy",
    "high_pass",
    "low_pass",
    "notch",
]


def __dir__() -> list[str]:
    return __all__
