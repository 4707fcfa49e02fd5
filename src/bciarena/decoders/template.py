"""One person's flicker response, learnt for all targets from a few answers: no onset needed.

The response to a flicker is, for one person, nearly one waveform played at another speed: each harmonic has a complex
spatial pattern that changes slowly with frequency, and the harmonics keep their phases relative to each other. So a
trial of one key teaches something about all forty, most about those nearby, and the relative phases are known even
where the onset, and with it the phase of the whole, is not. The noise at every frequency is learnt from the stream.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class HarmonicTemplate:
    """Complex patterns per key and harmonic, and the noise at their frequencies.

    Parameters
    ----------
    harmonics_hz : array (K, H)
        Frequencies of every key's harmonics.
    usable : array (K, H) of bool
        Harmonics away from the mains.
    channels : int
        Number of channels C.
    reach_hz, common : float
        A trial counts for another key as a Gaussian of this width in the distance of their frequencies, plus `common`.
    smooth_hz, ridge : float
        Width over which the noise is averaged, and the share of its mean power that is added to the diagonal.
    half_life, noise_half_life : float
        Trials, and windows of noise, after which an old one counts half: people drift.
    """

    PHASES = 48
    MOST = 160  # trials kept
    REFIT = 10  # windows of noise after which it is estimated anew

    def __init__(
        self,
        harmonics_hz: ArrayLike,
        usable: NDArray[np.bool_],
        channels: int,
        reach_hz: float = 1.5,
        common: float = 0.1,
        smooth_hz: float = 0.7,
        ridge: float = 0.02,
        half_life: float = 60.0,
        noise_half_life: float = 150.0,
    ) -> None:
        hz = np.asarray(harmonics_hz, dtype=float)
        self.usable = usable
        self.channels = channels
        self.ridge = ridge
        self.keep, self.keep_noise = 0.5 ** (1 / half_life), 0.5 ** (1 / noise_half_life)
        self._near = np.exp(-0.5 * ((hz[:, None, 0] - hz[None, :, 0]) / reach_hz) ** 2) + common  # (K, K)
        flat = np.where(usable, hz, np.inf).ravel()
        with np.errstate(invalid="ignore"):
            smooth = np.nan_to_num(np.exp(-0.5 * ((hz.ravel()[:, None] - flat) / smooth_hz) ** 2))
        self._smooth = smooth / np.maximum(smooth.sum(axis=1, keepdims=True), 1e-12)
        angle = 2 * np.pi * np.arange(self.PHASES) / self.PHASES
        self._turn = np.exp(-1j * np.outer(np.arange(1, hz.shape[1] + 1), angle))  # (H, phases)
        self._noise = np.zeros((hz.size, channels, channels), dtype=complex)
        self._heard = 0.0
        self._since = 0
        self._inverse: Complex | None = None
        self._keys: list[int] = []
        self._amplitudes: list[Complex] = []
        self._weights: list[float] = []
        self._lengths: list[int] = []

    @property
    def trials(self) -> int:
        """Number of trials learnt from."""
        return len(self._keys)

    def hear(self, sums: Complex, n: int) -> None:
        """Take in the noise of a window of n samples, (K, H, C); what stands out, such as a flicker, counts less."""
        z = sums.reshape(-1, self.channels) / np.sqrt(n)
        weight = np.ones(len(z))
        if self._inverse is not None:
            size = np.einsum("fc,fcd,fd->f", z.conj(), self._inverse, z, optimize=True).real
            weight = 1 / np.maximum(1, size / (1.5 * self.channels))
        self._noise *= self.keep_noise
        self._noise += (weight[:, None] * z)[:, :, None] * z.conj()[:, None]
        self._heard = self._heard * self.keep_noise + 1
        self._since += 1
        if self._since >= self.REFIT or self._inverse is None:
            self._fit_noise()

    def _fit_noise(self) -> None:
        size = (len(self._noise), -1)
        noise = (self._smooth @ self._noise.reshape(size) / max(self._heard, 1e-9)).reshape(self._noise.shape)
        level = np.trace(noise, axis1=1, axis2=2).real / self.channels
        self._inverse = np.linalg.inv(noise + (self.ridge * level + 1e-12)[:, None, None] * np.eye(self.channels))
        self._since = 0

    def learn(self, key: int, amplitude: Complex, n: int, weight: float) -> None:
        """Take in one trial.

        Parameters
        ----------
        key : int
            The key that was attended.
        amplitude : ndarray (H, C)
            Sum over the trial's n samples of x(t) exp(-2 pi i h f t).
        n : int
            Samples of the trial.
        weight : float
            Trust in the trial, 0..1.
        """
        self._weights = [w * self.keep for w in self._weights] + [weight]
        self._keys.append(key)
        self._amplitudes.append(amplitude * self.usable[key][:, None] / n)
        self._lengths.append(n)
        for held in (self._weights, self._keys, self._amplitudes, self._lengths):
            del held[: -self.MOST]
        self._fit()

    def forget(self, trials: int) -> None:
        """Forget the last trials; the noise stays."""
        for held in (self._weights, self._keys, self._amplitudes, self._lengths):
            del held[len(held) - trials :]
        if self._keys:
            self._fit()

    def _fit(self) -> None:
        if self._inverse is None or self._since:
            self._fit_noise()
        assert self._inverse is not None
        keys, weights = np.array(self._keys), np.array(self._weights)
        lengths = np.array(self._lengths, dtype=float)
        trials = np.stack(self._amplitudes)  # (T, H, C)
        inverse = self._inverse.reshape(*self.usable.shape, self.channels, self.channels)
        white = np.matmul(inverse[keys], trials[..., None])[..., 0]
        power = np.einsum("thc,thc->t", trials.conj(), white).real * weights
        turned, mean = self._aligned(trials[int(power.argmax())], trials, white, weights, 6)
        if len(keys) > 2:
            # What does not fit the others was no flicker, or another key's.
            others = mean - weights[:, None, None] * turned[:, :, None] * trials / weights.sum()
            match = np.einsum("thc,thc->th", others.conj(), white) @ self._turn
            energy = np.einsum("thc,thcd,thd->t", others.conj(), inverse[keys], others, optimize=True).real
            fit = match.real.max(axis=1) * np.sqrt(2 * lengths / np.maximum(energy, 1e-12))
            weights = weights * np.clip((fit - 1.5) / 3, 0.03, 1)
            turned, mean = self._aligned(mean, trials, white, weights, 3)
        share = (self._near[:, keys] * weights)[:, :, None] * self.usable[keys]  # (K, T, H)
        whole = np.maximum(share.sum(axis=1), 1e-12)
        pattern = np.einsum("kth,thc->khc", share, turned[:, :, None] * trials, optimize=True) / whole[:, :, None]
        filters = np.matmul(inverse, pattern[..., None])[..., 0] * self.usable[:, :, None]
        energy = np.einsum("khc,khc->kh", pattern.conj(), filters).real
        # A mean over few trials contains noise energy: channels / samples averaged.
        samples = whole**2 / np.maximum(np.einsum("kth,t->kh", share**2, 1 / lengths), 1e-12)
        shrink = np.clip(1 - self.channels / samples / np.maximum(energy, 1e-12), 0.0, 1.0)
        self._whitener = np.linalg.cholesky(inverse).conj().swapaxes(-1, -2)
        self._filters = (filters * shrink[:, :, None]).conj()
        self._energy = energy * shrink**2

    def _aligned(
        self, mean: Complex, trials: Complex, white: Complex, weights: Array, rounds: int
    ) -> tuple[Complex, Complex]:
        """Phases (T, H) that turn all trials to one, and their mean (H, C)."""
        for _ in range(rounds):
            match = np.einsum("hc,thc->th", mean.conj(), white) @ self._turn
            turned = self._turn[:, match.real.argmax(axis=1)].T
            mean = np.einsum("t,th,thc->hc", weights, turned, trials, optimize=True) / weights.sum()
        return turned, mean

    def score(self, sums: Complex, n: ArrayLike) -> Array:
        """Matched-filter output of every key, in standard deviations of the noise, at its best phase.

        Parameters
        ----------
        sums : ndarray (..., K, H, C)
            Sum over a window's n samples of x(t) exp(-2 pi i h f_k t).
        n : int, or array (...)
            Samples in the window.

        Returns
        -------
        ndarray (..., K)
        """
        n = np.asarray(n)[..., None, None]
        match = (sums * self._filters).sum(axis=-1)
        # An artefact raises most keys: beyond twice the usual, the noise of a harmonic is what the middle key shows.
        columns = sums.reshape(-1, *self._whitener.shape[:3]).transpose(1, 2, 3, 0)
        size = (np.abs(self._whitener @ columns) ** 2).sum(axis=2).transpose(2, 0, 1).reshape(match.shape)
        loud = np.maximum(np.median(size, axis=-2, keepdims=True) / (2 * n * self.channels), 1.0)
        best = (match / loud @ self._turn).real.max(axis=-1)
        energy = (n * self._energy / loud).sum(axis=-1)
        return np.asarray(best * np.sqrt(2 / np.maximum(energy, 1e-12)))
