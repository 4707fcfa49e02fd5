"""Which of the seven tasks of the Turing test: imagery and flicker evidence on one scale, with what is possible.

Tasks are 1 left hand, 2 right hand, 3-6 the four flickers, 7 idle. The motor model gives probabilities of 1, 2 and 7,
the flicker model log-likelihood ratios of 3-6 against no flicker. Neither is exact, so their weights are fitted on
rehearsed trials: one for imagery, one for the presence of a flicker, one for which of the four, an offset between the
two models, and how often a flicker leaves no trace because the subject was not attending.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bciarena.decoders.evidence import softmax

Floats = NDArray[np.float64]

TASKS = 7
MOTOR = (0, 1, 6)
"""Places of the motor model's classes among the tasks."""
FLICKER = slice(2, 6)


@dataclass(frozen=True)
class TaskWeights:
    """How much weight each kind of evidence gets.

    Parameters
    ----------
    motor : float
        Weight of log(3 p) of the motor model.
    seen : float
        Weight of the best flicker's log-likelihood ratio: that there is a flicker.
    which : float
        Weight of the differences between flickers 0.1 Hz apart.
    offset, drift : float
        Added to every flicker: ``offset + drift * log(seconds used)``. Without a flicker the ratios sink over
        time, and with a weak response they sink less: what matters is how far above that they stay.
    lapse : float
        Share of flicker trials that look like none. It keeps one missing response from ruling a flicker out.
    """

    motor: float = 1.0
    seen: float = 1.0
    which: float = 0.5
    offset: float = 12.0
    drift: float = 18.0
    lapse: float = 0.05

    def posterior(self, motor: ArrayLike, flicker: ArrayLike, possible: ArrayLike, used_s: ArrayLike) -> Floats:
        """Posterior over the tasks.

        Parameters
        ----------
        motor : array, shape (..., 3)
            Probabilities of left, right and idle under equal priors.
        flicker : array, shape (..., 4)
            Log-likelihood ratios against no flicker.
        possible : array of bool, shape (..., 7)
            Tasks that the robots' behaviour allows, a flicker among them.
        used_s : array, shape (...)
            Seconds of data used.

        Returns
        -------
        array, shape (..., 7)
            Zero where not possible.
        """
        allowed = np.asarray(possible, dtype=bool)
        ratios = np.where(allowed[..., FLICKER], flicker, -np.inf)
        best = ratios.max(axis=-1, keepdims=True)
        logs = np.empty(allowed.shape)
        above = best + (self.offset + self.drift * np.log(np.asarray(used_s, dtype=float)))[..., None]
        looked = self.seen * above + self.which * (np.asarray(flicker) - best)
        logs[..., FLICKER] = np.logaddexp(np.log1p(-self.lapse) + looked, np.log(self.lapse))
        logs[..., MOTOR] = self.motor * np.log(np.maximum(3 * np.asarray(motor, dtype=float), 1e-6))
        return softmax(np.where(allowed, logs, -np.inf))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)


def fit_weights(
    motor: Floats, flicker: Floats, possible: NDArray[np.bool_], truth: NDArray[np.int64], times_s: Floats
) -> TaskWeights:
    """Weights with the best mean log-posterior of the truth over trials and times.

    Parameters
    ----------
    motor, flicker : arrays, shape (trials, times, 3), (trials, times, 4)
    possible : array of bool, shape (trials, 7)
    truth : array of int, shape (trials,)
        Places among the tasks, 0 to 6.
    times_s : array, shape (times,)
    """
    from scipy.optimize import minimize

    allowed = np.broadcast_to(possible[:, None], (*motor.shape[:2], TASKS))
    used_s = np.broadcast_to(times_s, motor.shape[:2])
    rows = np.arange(len(truth))

    def loss(steps: Floats) -> float:
        right = _weights(steps).posterior(motor, flicker, allowed, used_s)[rows, :, truth]
        # A penalty for leaving the default weights: few trials should not overturn them.
        return float(-np.log(np.maximum(right, 1e-9)).mean() + 0.002 * np.sum(steps**2))

    options = {"maxiter": 500, "xatol": 0.01, "fatol": 1e-5}
    return _weights(minimize(loss, np.zeros(6), method="Nelder-Mead", options=options).x)


def _weights(steps: Floats) -> TaskWeights:
    """Weights at some distance from the defaults: factors as logarithms, offsets in units of 5."""
    usual = TaskWeights()
    motor, seen, which, lapse = np.exp(steps[[0, 1, 2, 5]]).tolist()
    return TaskWeights(
        usual.motor * motor,
        usual.seen * seen,
        usual.which * which,
        usual.offset + 5 * float(steps[3]),
        usual.drift + 5 * float(steps[4]),
        min(max(usual.lapse * lapse, 1e-4), 0.5),
    )
