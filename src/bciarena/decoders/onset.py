"""Evidence for an unannounced flicker, which may have begun with any of the windows that end now.

Part of the shared layer (:mod:`bciarena.decoders.evidence`, :mod:`bciarena.decoders.stopping`): standardised scores
of windows of several lengths become one posterior over keys and idle, which a
:class:`~bciarena.decoders.stopping.StoppingPolicy` uses with the length of the most likely window as its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bciarena.decoders.evidence import softmax
from bciarena.decoders.stopping import StoppingPolicy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OnsetPool:
    """Posterior of (key, onset) and idle.

    A key's score, in standard deviations of the background, comes from one of two densities:

    - nobody attends it: standard normal up to a knee, an exponential tail beyond, because EEG has bursts;
    - attended since the window's beginning: normal around a level that grows with the window as a power of its
      length; above the level all scores count the same.

    The level is the person's own once it is known (`usual`, what their whole trials scored), else a wide guess. A
    template learnt from few trials can be worse than none: the same flicker is then looked for in the scores without
    it too, and the likelihoods are mixed, so that whichever sees it is heard.

    A window stands for all onsets nearer to it than to the others, so long ones are likelier before anything is seen.
    Keys and windows compete in one softmax against idle: a neighbouring key that leaks, and a window that begins too
    early or too late, lose to the one that fits.

    Parameters
    ----------
    growth : float
        Power of the window length.
    level, spread : float
        Mean score of a whole trial as a share of `usual`, and the share of the mean by which trials differ.
    cold_level, cold_spread : float
        The same for somebody not known yet, in absolute score.
    noise, warm_noise : float
        Standard deviation of scores without attention, before and after the person is known.
    knee, tail : float
        Where the exponential tail begins, in those deviations, and its rate.
    cold_odds, warm_odds : float
        Log odds of flicker to idle before anything is seen.
    alone, fade : float
        Log odds that a flicker of somebody known shows in the scores without the template rather than in those with it,
        when ten trials were learnt; they fall by `fade` times the logarithm of the trials. Like `cold_odds` they are
        chosen by false alarms and score: of a weak person's first trials likelihood sees too few.
    """

    growth: float = 0.65
    level: float = 0.6
    spread: float = 0.5
    cold_level: float = 9.6
    cold_spread: float = 0.8
    noise: float = 1.0
    warm_noise: float = 1.4
    knee: float = 2.0
    tail: float = 2.0
    cold_odds: float = -5.0
    warm_odds: float = -2.0
    alone: float = -4.5
    fade: float = 4.0

    def log_odds(
        self,
        scores: ArrayLike,
        shares: ArrayLike,
        usual: ArrayLike,
        untaught: ArrayLike | None = None,
        taught: ArrayLike = 10.0,
    ) -> Floats:
        """Log odds against idle of every window and key.

        Parameters
        ----------
        scores : array, shape (..., windows, keys)
        shares : array, shape (windows,)
            Window lengths as shares of a whole trial.
        usual : array, shape (...)
            Median score of the person's whole trials; NaN: not known yet.
        untaught : array, shape (..., windows, keys), optional
            Scores without the person's template; None: they are not looked at.
        taught : array, shape (...)
            Trials that the template was learnt from.
        """
        z, lengths = np.asarray(scores, dtype=float), np.asarray(shares, dtype=float)
        usual = np.asarray(usual, dtype=float)[..., None, None]
        cold = np.isnan(usual)
        growth = (lengths**self.growth)[:, None]
        stands_for = np.gradient(lengths) if len(lengths) > 1 else np.ones(1)
        prior = np.log(stands_for / stands_for.sum())[:, None] - np.log(z.shape[-1])
        guess = z if untaught is None else np.asarray(untaught, dtype=float)
        first = self._ratio(guess / self.noise, self.cold_level / self.noise * growth, self.cold_spread)
        if cold.all():
            return np.asarray(first + self.cold_odds + prior)
        level = self.level * np.where(cold, 1.0, usual) / self.warm_noise
        later = self._ratio(z / self.warm_noise, level * growth, self.spread)
        if untaught is not None:
            trials = np.maximum(np.asarray(taught, dtype=float), 1.0)[..., None, None]
            alone = self.alone - self.fade * np.log(trials / 10)
            with np.errstate(invalid="ignore"):  # NaN: a window that does not fit yet
                later = np.logaddexp(later, first + alone) - np.logaddexp(0, alone)
        return np.asarray(np.where(cold, first + self.cold_odds, later + self.warm_odds) + prior)

    def _ratio(self, z: Floats, mean: Floats, spread: float) -> Floats:
        """Log likelihood of attended to unattended."""
        deviation = np.sqrt(1 + (spread * mean) ** 2)
        attended = -0.5 * (np.minimum(z - mean, 0) / deviation) ** 2 - np.log(deviation)
        unattended = np.where(z < self.knee, -0.5 * z**2, self.tail * (self.knee - z) - 0.5 * self.knee**2)
        return np.asarray(attended - unattended)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> OnsetPool:
        """The pool that ``to_dict`` described."""
        return cls(**values)

    def moved(self, names: Sequence[str], values: ArrayLike) -> OnsetPool:
        """The same pool with other values of some parameters."""
        return replace(self, **dict(zip(names, np.asarray(values, dtype=float).tolist(), strict=True)))


def key_posterior(log_odds: Floats, answered: NDArray[np.bool_] | None = None) -> tuple[Floats, int]:
    """Posterior over keys and, last, idle; and the window that is best for the best key.

    Parameters
    ----------
    log_odds : array, shape (windows, keys)
        From :meth:`OnsetPool.log_odds`.
    answered : array of bool, shape (windows, keys), optional
        What an earlier answer already explains: it counts as idle and needs no further answer.

    Returns
    -------
    posterior : array, shape (keys + 1,)
    window : int
    """
    windows, keys = log_odds.shape
    flat = softmax(np.append(log_odds.ravel(), 0.0))
    parts = flat[:-1].reshape(windows, keys)
    if answered is not None:
        parts = np.where(answered, 0.0, parts)
    posterior = parts.sum(axis=0)
    return np.append(posterior, max(0.0, 1 - posterior.sum())), int(parts[:, posterior.argmax()].argmax())


class OnsetDecision:
    """Which answers to give on a stream of log odds, and when.

    An answer explains its key and its neighbours in all windows that begin before the next trial can: they need no
    further answer. Other keys may still be answered, since the first may have been a false alarm; within one trial a
    second report changes nothing.

    Parameters
    ----------
    policy : StoppingPolicy
        With ``idle`` = number of keys.
    windows : sequence of int
        Window lengths in packets, rising.
    packet_s : float
        Seconds of a packet.
    latency, trial : int
        Packets between an onset and its response, and between two onsets at least.
    """

    def __init__(
        self, policy: StoppingPolicy, windows: Sequence[int], packet_s: float, latency: int, trial: int
    ) -> None:
        self.policy = policy
        self.windows = np.asarray(windows, dtype=int)
        self.packet_s = packet_s
        self.latency, self.trial = latency, trial
        self.restart()

    def restart(self) -> None:
        """Begin a new block."""
        self._key: int | None = None
        self._next = 0

    def step(self, now: int, log_odds: Floats) -> int | None:
        """The answer after `now` packets, or None; log odds (windows so far, keys)."""
        windows = self.windows[: len(log_odds)]
        answered = None
        if self._key is not None:
            answered = np.zeros(log_odds.shape, dtype=bool)
            answered[now - windows < self._next, max(self._key - 1, 0) : self._key + 2] = True
        posterior, at = key_posterior(log_odds, answered)
        key = self.policy.decide(posterior, float(windows[at] * self.packet_s))
        if key is not None:
            self._key = key
            self._next = int(now - windows[at] - self.latency + self.trial)
        return key
