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

from bciarena.contests.turing.rules import BEHAVIOURS
from bciarena.contests.turing.soccer import tasks_for
from bciarena.decoders.evidence import softmax

Floats = NDArray[np.float64]

TASKS = 7
MOTOR = (0, 1, 6)
"""Places of the motor model's classes among the tasks."""
FLICKER = slice(2, 6)
PULL = 0.03


def prior(behaviour: int) -> Floats:
    """Probability of each task (7,) when the robots' behaviour is known; all alike for one outside Table 2.

    The text: one of the two robots is drawn at random for the subject, and the task follows from what that robot does.
    How the task is drawn among those it does not say; here they are equally likely.
    """
    if behaviour not in BEHAVIOURS:
        return np.full(TASKS, 1 / TASKS)
    found = np.zeros(TASKS)
    for robot in (1, 2):
        options = tasks_for(behaviour, robot)
        found[np.array(options) - 1] += 0.5 / len(options)
    return found


@dataclass(frozen=True)
class TaskWeights:
    """How much weight each kind of evidence gets; the defaults are about what suits six simulated people best.

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

    motor: float = 0.95
    seen: float = 1.05
    which: float = 1.2
    offset: float = 10.4
    drift: float = 11.2
    lapse: float = 0.058

    def posterior(self, motor: ArrayLike, flicker: ArrayLike, possible: ArrayLike, used_s: ArrayLike) -> Floats:
        """Posterior over the tasks.

        Parameters
        ----------
        motor : array, shape (..., 3)
            Probabilities of left, right and idle under equal priors.
        flicker : array, shape (..., 4)
            Log-likelihood ratios against no flicker.
        possible : array, shape (..., 7)
            Prior of the tasks, or whether each is possible: zero where the robots' behaviour does not allow it, a
            flicker among those it allows.
        used_s : array, shape (...)
            Seconds of data used.

        Returns
        -------
        array, shape (..., 7)
            Zero where not possible.
        """
        before = np.asarray(possible, dtype=float)
        allowed = before > 0
        ratios = np.where(allowed[..., FLICKER], flicker, -np.inf)
        best = ratios.max(axis=-1, keepdims=True)
        logs = np.empty(allowed.shape)
        above = best + (self.offset + self.drift * np.log(np.asarray(used_s, dtype=float)))[..., None]
        looked = self.seen * above + self.which * (np.asarray(flicker) - best)
        logs[..., FLICKER] = np.logaddexp(np.log1p(-self.lapse) + looked, np.log(self.lapse))
        logs[..., MOTOR] = self.motor * np.log(np.maximum(3 * np.asarray(motor, dtype=float), 1e-6))
        return softmax(np.where(allowed, logs + np.log(np.where(allowed, before, 1.0)), -np.inf))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)


def fit_weights(
    motor: Floats, flicker: Floats, possible: ArrayLike, truth: NDArray[np.int64], times_s: Floats
) -> TaskWeights:
    """Weights with the best mean log-posterior of the truth over trials and times.

    Parameters
    ----------
    motor, flicker : arrays, shape (trials, times, 3), (trials, times, 4)
    possible : array, shape (trials, 7)
        As for :meth:`TaskWeights.posterior`.
    truth : array of int, shape (trials,)
        Places among the tasks, 0 to 6.
    times_s : array, shape (times,)
    """
    from scipy.optimize import minimize

    allowed = np.broadcast_to(np.asarray(possible)[:, None], (*motor.shape[:2], TASKS))
    used_s = np.broadcast_to(times_s, motor.shape[:2])
    rows = np.arange(len(truth))

    def loss(steps: Floats) -> float:
        right = _weights(steps).posterior(motor, flicker, allowed, used_s)[rows, :, truth]
        # A penalty for leaving the default weights: few trials should not overturn them.
        return float(-np.log(np.maximum(right, 1e-9)).mean() + PULL * np.sum(steps**2))

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
