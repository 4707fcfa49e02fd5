"""One person's flicker response, learnt for all targets from a few answers: no onset needed.

The response to a flicker of any frequency is, for one person, nearly one waveform played at another speed: each
harmonic h has a complex spatial pattern, and the harmonics keep their phases relative to each other. So a trial
of one key teaches something about all forty, and the phases relative to each other are known even where the
onset, and with it the phase of the whole, is not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class HarmonicTemplate:
    """Complex patterns per harmonic, and the noise.

    Parameters
    ----------
    harmonics, channels : int
        Sizes H and C.
    spread : float
        Standard deviation of a trial's amplitude around the mean of 1.
    half_life : float
        Trials after which an old one counts half: people drift.
    """

    PHASES = 48

    def __init__(self, harmonics: int, channels: int, spread: float = 0.4, half_life: float = 60.0) -> None:
        self.harmonics = harmonics
        self.channels = channels
        self.spread = spread
        self.keep = 0.5 ** (1 / half_life)
        angle = 2 * np.pi * np.arange(self.PHASES) / self.PHASES
        self._turn = np.exp(-1j * np.outer(np.arange(1, harmonics + 1), angle))  # (H, phases)
        self._amplitudes: list[Complex] = []
        self._weights: list[float] = []
        self._lengths: list[int] = []
        self._noise = np.zeros((harmonics, channels, channels), dtype=complex)
        self._noise_count = np.zeros(harmonics)

    @property
    def trials(self) -> int:
        """Number of trials learnt from."""
        return len(self._weights)

    def learn(self, amplitude: Complex, others: Complex, usable: NDArray[np.bool_], n: int, weight: float) -> None:
        """Take in one trial.

        Parameters
        ----------
        amplitude : ndarray (H, C)
            Sum over the trial's n samples of x(t) exp(-2 pi i h f t), for the key that was attended; zero where
            a harmonic is unusable (near the mains).
        others : ndarray (K, H, C)
            The same for keys that were not attended and lie apart from it: the noise.
        usable : ndarray (K, H) of bool
            Which of `others` to count.
        n : int
            Samples of the trial.
        weight : float
            Trust in the trial, 0..1.
        """
        self._weights = [w * self.keep for w in self._weights] + [weight]
        self._amplitudes.append(amplitude / n)
        self._lengths.append(n)
        noise = np.where(usable[:, :, None], others, 0)
        self._noise = self._noise * self.keep + np.einsum("khc,khd->hcd", noise, noise.conj()) / n
        self._noise_count = self._noise_count * self.keep + usable.sum(axis=0)
        self._fit()

    def _fit(self) -> None:
        noise = self._noise / np.maximum(self._noise_count, 1)[:, None, None]
        level = np.trace(noise, axis1=1, axis2=2).real / self.channels
        # A tenth of the mean power on the diagonal, since a spatial filter from a few trials would overfit.
        noise = noise + (0.1 * level + 1e-12)[:, None, None] * np.eye(self.channels)
        inverse = np.linalg.inv(noise)
        trials = np.stack(self._amplitudes)  # (T, H, C)
        weights = np.asarray(self._weights)
        white = np.einsum("hcd,thd->thc", inverse, trials)
        power = np.einsum("thc,thc->t", trials.conj(), white).real * weights
        mean = trials[int(power.argmax())]
        for _ in range(6):
            match = np.einsum("hc,thc->th", mean.conj(), white) @ self._turn
            turned = self._turn[:, match.real.argmax(axis=1)].T  # (T, H)
            mean = np.einsum("t,th,thc->hc", weights, turned, trials) / weights.sum()
        self.mean = mean
        filters = np.einsum("hcd,hd->hc", inverse, mean)
        energy = np.einsum("hc,hc->h", mean.conj(), filters).real
        # A mean over few trials contains noise energy: channels / samples averaged.
        samples = float((weights * np.asarray(self._lengths)).sum() ** 2 / (weights**2 * self._lengths).sum())
        shrink = np.clip(1 - self.channels / samples / np.maximum(energy, 1e-12), 0.0, 1.0)
        self.filters = filters * shrink[:, None]
        self.energy = energy * shrink**2

    def score(self, sums: Complex, usable: NDArray[np.bool_], n: ArrayLike) -> Array:
        """Matched-filter output of every key, in standard deviations of the noise, at its best phase.

        Parameters
        ----------
        sums : ndarray (..., K, H, C)
            Sum over a window's n samples of x(t) exp(-2 pi i h f_k t).
        usable : ndarray (K, H) of bool
            Harmonics away from the mains.
        n : int, or array (...)
            Samples in the window.

        Returns
        -------
        ndarray (..., K)
        """
        match = (sums * self.filters.conj()).sum(axis=-1) * usable
        energy = np.asarray(n)[..., None] * (usable * self.energy).sum(axis=1)
        best = (match @ self._turn).real.max(axis=-1)
        return np.asarray(best * np.sqrt(2 / np.maximum(energy, 1e-12)))
