"""Evidence: from the scores of one or several decoders to calibrated posteriors over time.

This layer and its other half, :mod:`bciarena.decoders.stopping`, serve all five reference entries::

    scores                     (experts, trials, times, classes)  log-scores, out-of-fold on training data
      │ LogPool.fit / .posterior        weights that change with time, calibrated on those scores
      ▼
    posteriors                 (trials, times, classes)
      │ fit_policy(posteriors, truth, times_s, objective)         the challenge's own score
      ▼
    policy.decide(posterior, t_s) -> answer index, or None to wait

While a match runs, the entry computes one log-score per expert and class at its decision times, asks
``pool.posterior(scores, t_s)`` for a posterior, may combine it with what it knows about the block
(:class:`BlockBalance`: classes that come equally often; :class:`BlockState`: one side per block), and asks
``policy.decide``. The speller is not told when a trial begins: there :class:`~bciarena.decoders.onset.OnsetPool` takes
the pool's place, with idle as one more class. Everything here is plain numbers: ``to_dict`` / ``from_dict`` make them
JSON.

Classes are indices 0..K-1 everywhere in this layer; a truth or an answer of -1 means "none" (an idle trial,
no report).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from bciarena.errors import BadInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def softmax(scores: Floats) -> Floats:
    """Softmax over the last axis, safe against overflow."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


class LogPool:
    """Logarithmic opinion pool of experts with weights that change over time [1]_.

    The posterior at time t is ``softmax(sum_e w_e(t) * score_e(t))``. The weights are not negative and
    piecewise linear between a few knots; they are fitted by maximum likelihood, with a penalty for leaving a common,
    constant weight, so that a few dozen trials do not distort them. With one expert this is temperature scaling
    [2]_ with a temperature that changes over time.

    Parameters
    ----------
    knots : int
        Number of knots between the first and the last time.
    pull : float
        Strength of that penalty, in trials.

    References
    ----------
    .. [1] Heskes, "Selecting weighting factors in logarithmic opinion pools", NIPS 1998.
    .. [2] Guo et al., "On calibration of modern neural networks", ICML 2017.
    """

    def __init__(self, knots: int = 4, pull: float = 2.0) -> None:
        self.knots = knots
        self.pull = pull

    def fit(self, scores: ArrayLike, truth: ArrayLike, times_s: ArrayLike) -> LogPool:
        """Fit the weights on scores of trials that the experts were not trained on.

        Parameters
        ----------
        scores : array, shape (experts, trials, times, classes) or (trials, times, classes)
            Log-scores; a constant added to all classes changes nothing.
        truth : array of int, shape (trials,)
            Class index of each trial.
        times_s : array, shape (times,)
            Seconds of data used at each decision time, increasing.
        """
        array = np.asarray(scores, dtype=float)
        if array.ndim == 3:
            array = array[None]
        labels = np.asarray(truth, dtype=int)
        grid = np.asarray(times_s, dtype=float)
        _check_scores(array, labels, grid)
        array = array - array.mean(axis=-1, keepdims=True)
        # Each expert gets unit spread, so that one penalty suits log-probabilities and correlations alike.
        scale = array.std(axis=(1, 2, 3))
        if np.any(scale <= 0):
            raise BadInput(f"expert {int(np.argmin(scale))} gives the same score to every class: leave it out")
        self.scale_: Floats = scale
        count = min(self.knots, len(grid))
        self.knots_s_: Floats = np.linspace(grid[0], grid[-1], count) if count > 1 else grid[:1]
        basis = _hat_basis(grid, self.knots_s_)
        scaled = array / scale[:, None, None, None]
        trials, experts = len(labels), len(array)
        hit = np.arange(trials)

        def loss(flat: Floats) -> tuple[float, Floats]:
            weight = flat.reshape(experts, count)
            total = np.einsum("entk,et->ntk", scaled, weight @ basis.T)
            posterior = softmax(total)
            value = -np.log(posterior[hit, :, labels] + 1e-12).mean(axis=1).sum()
            error = posterior.copy()
            error[hit, :, labels] -= 1
            slope = np.einsum("entk,ntk->et", scaled, error) / len(grid) @ basis
            centre = weight.mean(axis=1, keepdims=True)
            value += self.pull * (((weight - centre) ** 2).sum() + 0.1 * ((weight - 1) ** 2).sum())
            slope += self.pull * (2 * (weight - centre) + 0.2 * (weight - 1))
            return float(value), slope.ravel()

        start = np.full(experts * count, 1.0 / experts)
        best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 20.0)] * len(start))
        self.weights_: Floats = np.asarray(best.x).reshape(experts, count)
        return self

    def posterior(self, scores: ArrayLike, t_s: float) -> Floats:
        """Posterior at one time.

        Parameters
        ----------
        scores : array, shape (experts, classes) or (classes,)
        t_s : float
            Seconds of data used.

        Returns
        -------
        array, shape (classes,)
        """
        array = np.atleast_2d(np.asarray(scores, dtype=float))
        weight = np.array([np.interp(t_s, self.knots_s_, row) for row in self.weights_])
        return softmax((weight / self.scale_) @ (array - array.mean(axis=-1, keepdims=True)))

    def posteriors(self, scores: ArrayLike, times_s: ArrayLike) -> Floats:
        """Posteriors (trials, times, classes) of scores shaped as in :meth:`fit`."""
        array = np.asarray(scores, dtype=float)
        if array.ndim == 3:
            array = array[None]
        weight = self.weights_ @ _hat_basis(np.asarray(times_s, dtype=float), self.knots_s_).T
        return softmax(np.einsum("entk,et->ntk", array / self.scale_[:, None, None, None], weight))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "scale": self.scale_.tolist(),
            "knots_s": self.knots_s_.tolist(),
            "weights": self.weights_.tolist(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> LogPool:
        """The pool that ``to_dict`` described."""
        pool = cls(knots=len(values["knots_s"]))
        pool.scale_ = np.array(values["scale"], dtype=float)
        pool.knots_s_ = np.array(values["knots_s"], dtype=float)
        pool.weights_ = np.array(values["weights"], dtype=float)
        return pool


class BlockBalance:
    """What a block with equally many trials of each class implies for the next trial.

    A shuffled block has n trials of each of K classes. The state is how many trials of each class there have been; its
    distribution is filtered exactly, and the prior of the next trial is the share of each class among the trials left.
    The block's length need not be known: each n in ``per_class`` is a hypothesis, weighted by how well it explains
    what came so far.

    Parameters
    ----------
    classes : int
        K.
    per_class : sequence of int
        Possible numbers of trials per class.
    weights : sequence of float, optional
        Prior weight of each; equal by default.
    trust : float
        Prior probability that blocks are balanced at all; the rest goes to independent, equal classes.
    """

    def __init__(
        self,
        classes: int,
        per_class: Sequence[int],
        weights: Sequence[float] | None = None,
        trust: float = 0.95,
    ) -> None:
        if classes < 2 or not per_class or min(per_class) < 1:
            raise BadInput("BlockBalance needs two classes or more and block sizes of one trial per class or more")
        self.classes = classes
        self.per_class = [int(n) for n in per_class]
        share = np.ones(len(self.per_class)) if weights is None else np.asarray(weights, dtype=float)
        self.weights = trust * share / share.sum()
        self.trust = trust
        self.restart()

    def restart(self) -> None:
        """Begin a new block."""
        self._seen = 0
        self._weight = np.append(self.weights, 1 - self.trust)
        self._states: list[dict[tuple[int, ...], float]] = [{(0,) * self.classes: 1.0} for _ in self.per_class]

    def prior(self) -> Floats:
        """Probability of each class for the next trial, shape (classes,)."""
        total = self._weight[-1] * np.full(self.classes, 1 / self.classes)
        for n, weight, states in zip(self.per_class, self._weight, self._states, strict=False):
            left = n * self.classes - self._seen
            if weight <= 0 or left <= 0:
                continue
            for state, p in states.items():
                total += weight * p * (n - np.array(state)) / left
        return np.asarray(total / total.sum())

    def update(self, likelihood: ArrayLike) -> None:
        """Take in a finished trial.

        Parameters
        ----------
        likelihood : array, shape (classes,)
            Posterior of that trial under equal priors, from all of its data.
        """
        given = np.clip(np.asarray(likelihood, dtype=float), 1e-6, None)
        given = given / given.sum()
        evidence = np.zeros(len(self.per_class) + 1)
        evidence[-1] = self._weight[-1] / self.classes
        for i, n in enumerate(self.per_class):
            left = n * self.classes - self._seen
            if left <= 0 or self._weight[i] <= 0:
                continue
            after: dict[tuple[int, ...], float] = {}
            for state, p in self._states[i].items():
                for k in range(self.classes):
                    if state[k] < n:
                        step = (*state[:k], state[k] + 1, *state[k + 1 :])
                        after[step] = after.get(step, 0.0) + p * (n - state[k]) / left * given[k]
            mass = sum(after.values())
            evidence[i] = self._weight[i] * mass
            # Negligible states are dropped, which leaves a few hundred for a block of 30 trials.
            self._states[i] = {s: p / mass for s, p in after.items() if p > 1e-7 * mass} if mass > 0 else {}
        self._weight = evidence / evidence.sum() if evidence.sum() > 0 else np.eye(len(evidence))[-1]
        self._seen += 1


class BlockState:
    """A hidden state that is constant over a whole block, such as the side in rehab.

    Parameters
    ----------
    prior : array, shape (states,)
        Probability of each state at a block's beginning.
    """

    def __init__(self, prior: ArrayLike) -> None:
        self._log: Floats = np.log(np.clip(np.asarray(prior, dtype=float), 1e-9, None))

    def update(self, likelihood: ArrayLike) -> None:
        """Take in one trial's probabilities of the states, under equal priors, shape (states,)."""
        self._log = self._log + np.log(np.clip(np.asarray(likelihood, dtype=float), 1e-9, None))

    def posterior(self) -> Floats:
        """Probability of each state, shape (states,)."""
        return softmax(self._log)


def _hat_basis(times_s: Floats, knots_s: Floats) -> Floats:
    """Piecewise linear basis, shape (times, knots), constant outside the knots."""
    return np.stack([np.interp(times_s, knots_s, row) for row in np.eye(len(knots_s))], axis=1)


def _check_scores(scores: Floats, truth: Ints | NDArray[Any], times_s: Floats) -> None:
    if scores.ndim != 4 or scores.shape[1:3] != (len(truth), len(times_s)):
        raise BadInput(
            f"scores have shape {scores.shape}; expected (experts, {len(truth)} trials, {len(times_s)} times, classes)"
        )
    if not np.isfinite(scores).all():
        raise BadInput("scores contain NaN or infinity")
    if len(truth) < 2 or truth.min() < 0 or truth.max() >= scores.shape[-1]:
        raise BadInput(f"truth must be class indices 0..{scores.shape[-1] - 1} of two trials or more")
    if np.any(np.diff(times_s) <= 0):
        raise BadInput("times_s must increase")
