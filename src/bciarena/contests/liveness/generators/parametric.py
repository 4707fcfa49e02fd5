"""Route (a): vector autoregression, optionally switching between states of the same person.

x[t] = sum_k A_k x[t-k] + e[t]. The coefficients solve the Yule-Walker equations of the run's covariances at lags
0 to order, so that the model has exactly those covariances and no pole outside the unit circle. A little
white noise in the equations keeps them well posed for band-limited data (nothing above 45 Hz).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from bciarena.contests.liveness.generators.base import SRATE, Array, Real, checked, chosen
from bciarena.errors import BadInput

BLOCK_N = 64
"""Samples made by one matrix product; states can change only between blocks."""


@dataclass(frozen=True)
class ParametricSettings:
    """How a vector autoregression is fitted and driven.

    Attributes
    ----------
    order : int
        Lags, in samples.
    ridge : float
        White noise added in the equations, as a share of the channels' mean power.
    states : int
        Number of models per run, fitted to consecutive stretches of it and visited at random.
    dwell_s : float
        Mean time in a state.
    innovations : {"gaussian", "student", "resampled"}
        What drives the model: Gaussian noise, heavy-tailed noise (5 degrees of freedom), or the fit's own
        residuals in random order.
    temperature : float
        Standard deviation of the random gain (natural logarithm) of each sample's innovations.
    """

    order: int = 20
    ridge: float = 1e-5
    states: int = 1
    dwell_s: float = 1.0
    innovations: Literal["gaussian", "student", "resampled"] = "gaussian"
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if self.order < 1 or self.states < 1 or self.dwell_s <= 0 or self.ridge < 0 or self.temperature < 0:
            raise BadInput(f"parametric generator: settings out of range: {self}")


@dataclass(frozen=True)
class _State:
    """One autoregression, unrolled over a block: block = past_map @ past + noise_map @ innovations."""

    past_map: Array
    noise_map: Array
    residuals: Array
    factor: Array


class ParametricGenerator:
    """Vector autoregression per subject and run.

    Parameters
    ----------
    settings : ParametricSettings
    """

    def __init__(self, settings: ParametricSettings | None = None) -> None:
        self.settings = settings or ParametricSettings()
        self._models: dict[int, list[list[_State]]] = {}

    def fit(self, real: Real) -> Self:
        """Fit one chain of states per run of ``real``."""
        settings = self.settings
        runs = checked(real, shortest_s=2.0)
        self._models = {
            subject: [
                [_state(part, settings) for part in np.array_split(run, settings.states, axis=1)] for run in arrays
            ]
            for subject, arrays in runs.items()
        }
        return self

    def sample(self, subject: int, length_s: float, rng: np.random.Generator, run: int | None = None) -> Array:
        """Run the autoregression from a settled start.

        Returns
        -------
        array (channels, n)
            In the unit of the fitted data.
        """
        states, count_n = chosen(self._models, subject, length_s, run, rng)
        settings = self.settings
        channels_n = states[0].residuals.shape[0]
        settle_n = 8 * BLOCK_N
        blocks = -(-(count_n + settle_n) // BLOCK_N)
        gain = np.exp(settings.temperature * rng.standard_normal())
        leave = min(1.0, BLOCK_N / SRATE / settings.dwell_s)
        state = int(rng.integers(len(states)))
        past = np.zeros(channels_n * settings.order)
        made = np.empty((blocks, BLOCK_N, channels_n))
        for index in range(blocks):
            if len(states) > 1 and rng.random() < leave:
                state = int(rng.integers(len(states)))
            model = states[state]
            noise = gain * _noise(model, settings.innovations, rng)
            made[index] = (model.past_map @ past + model.noise_map @ noise).reshape(BLOCK_N, channels_n)
            flat = made[max(0, index + 1 - -(-settings.order // BLOCK_N)) : index + 1].reshape(-1, channels_n)
            recent = flat[-settings.order :][::-1].ravel()
            past = np.concatenate([recent, past])[: past.size]
        return np.ascontiguousarray(made.reshape(-1, channels_n)[settle_n : settle_n + count_n].T)


def _noise(state: _State, kind: str, rng: np.random.Generator) -> Array:
    """Return one block of innovations, (BLOCK_N * channels,), samples first."""
    residuals = state.residuals
    if kind == "resampled":
        return residuals[:, rng.integers(residuals.shape[1], size=BLOCK_N)].T.ravel()
    white = rng.standard_normal((BLOCK_N, residuals.shape[0]))
    if kind == "student":
        # One heavy-tailed scale per sample, common to the channels; 5/3 is the variance of t with 5 df.
        white /= np.sqrt(rng.chisquare(5, size=(BLOCK_N, 1)) / 5 * (5 / 3))
    return (white @ state.factor.T).ravel()


def _state(run: Array, settings: ParametricSettings) -> _State:
    order, channels_n = settings.order, run.shape[0]
    # At least three equations per unknown: with fewer the model would copy the run.
    if run.shape[1] < 3 * order * channels_n + order:
        raise BadInput(
            f"parametric generator: {run.shape[1] / SRATE:.1f} s per state are too short for order {order}, "
            "lower the order or the number of states"
        )
    lags = np.stack([run[:, k:] @ run[:, : run.shape[1] - k].T for k in range(order + 1)]) / run.shape[1]
    lags[0] += settings.ridge * np.trace(lags[0]) / channels_n * np.eye(channels_n)
    # Block (i, j) of the system is the covariance of x[t-1-i] with x[t-1-j], that is at lag j - i.
    steps = np.arange(order) - np.arange(order)[:, None]
    blocks = np.where((steps >= 0)[..., None, None], lags[abs(steps)], lags[abs(steps)].swapaxes(-1, -2))
    system = blocks.swapaxes(1, 2).reshape(order * channels_n, order * channels_n)
    ahead = np.concatenate(list(lags[1:]), axis=1)  # (channels, order * channels), nearest lag first
    weights = np.linalg.solve(system, ahead.T).T
    spread = lags[0] - weights @ ahead.T
    past = np.concatenate([run[:, order - k : run.shape[1] - k] for k in range(1, order + 1)])
    residuals = run[:, order:] - weights @ past
    past_map, noise_map = _unrolled(weights, channels_n)
    factor = np.linalg.cholesky((spread + spread.T) / 2)
    # Resampled residuals get the covariance the equations ask for, so that every drive has the same power.
    seen = np.linalg.cholesky(np.cov(residuals) + 1e-12 * np.trace(spread) * np.eye(channels_n))
    residuals = factor @ np.linalg.solve(seen, residuals - residuals.mean(axis=1, keepdims=True))
    return _State(past_map, noise_map, residuals, factor)


def _unrolled(weights: Array, channels_n: int) -> tuple[Array, Array]:
    """Return the maps from the past (nearest lag first) and from a block's innovations to the block."""
    width = weights.shape[1]
    power = np.eye(width)
    noise_column = np.zeros((BLOCK_N, channels_n, channels_n))
    past_map = np.empty((BLOCK_N, channels_n, width))
    for index in range(BLOCK_N):
        noise_column[index] = power[:channels_n, :channels_n]
        # One step of the companion matrix: a new first row of blocks, the others move down.
        power = np.concatenate([weights @ power, power[:-channels_n]])
        past_map[index] = power[:channels_n]
    noise_map = np.zeros((BLOCK_N, channels_n, BLOCK_N, channels_n))
    for index in range(BLOCK_N):
        noise_map[index:, :, index, :] = noise_column[: BLOCK_N - index]
    size = BLOCK_N * channels_n
    return past_map.reshape(size, width), noise_map.reshape(size, size)
