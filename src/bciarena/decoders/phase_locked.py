"""A flicker whose onset is known: which of a few close frequencies, or none, as log-likelihood ratios.

Left and right are 0.1 Hz apart: their powers look alike for ten seconds, their phases diverge within two. The phase of
a person's response to a stimulus of known phase is always the same, so it is learnt: the amplitude of each harmonic on
each channel is a complex Gaussian whose mean starts at zero and becomes more precise with every trial.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.filters import FilterBank, high_pass, low_pass, notch

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class PhaseLockedFlicker:
    """Evidence for each of K flicker frequencies against none, from packets after a known onset.

    Parameters
    ----------
    freqs_hz : sequence of float
        The K frequencies, all of phase 0 at the onset.
    rate : float
        Sampling rate, Hz.
    channels : int
        Occipital channels C.
    harmonics : int
        Number of harmonics H.
    side_hz : sequence of float
        Distances at which the noise is measured while a trial runs.
    latency_s : float
        Rough delay of the response: what comes before is ignored.
    prior_snr : sequence of float
        Expected power of each harmonic's response over the noise power of one sample, before anything is known.
    vary : float
        Share of the expected power by which single trials differ from the person's mean.

    Notes
    -----
    With z the mean over n samples of x(t) exp(-2 pi i h f t), noise alone gives z ~ CN(0, R / n), a flicker
    z ~ CN(m, R / n + V): the ratio of the two densities in closed form, summed over harmonics.
    """

    def __init__(
        self,
        freqs_hz: Sequence[float],
        rate: float,
        channels: int,
        harmonics: int = 3,
        side_hz: Sequence[float] = (-2.6, -2.1, -1.6, -1.1, 1.1, 1.6, 2.1, 2.6),
        latency_s: float = 0.14,
        prior_snr: Sequence[float] = (0.012, 0.006, 0.003),
        vary: float = 0.1,
    ) -> None:
        self.rate = rate
        self.channels = channels
        self.targets = len(freqs_hz)
        self.skip_n = round(latency_s * rate)
        self.vary = vary
        centre = float(np.mean(freqs_hz))
        bins = np.concatenate([np.asarray(freqs_hz, float), centre + np.asarray(side_hz, float)])
        order = np.arange(1, harmonics + 1)
        self._bins_hz = np.outer(bins, order)  # (K + sides, H)
        self.bank = FilterBank(
            [low_pass(90.0, rate), notch(50.0, 6.0, rate)], [high_pass(5.0, rate, order=2)], channels
        )
        # Undo the filters' phase and the latency, so that all K frequencies have one and the same pattern.
        self._undo = np.exp(2j * np.pi * self._bins_hz * latency_s) / self.bank.response(self._bins_hz, rate)[0]
        # Occipital channels mostly rise and fall together.
        self._shape = 0.7 * np.ones((channels, channels)) + 0.3 * np.eye(channels)
        self._prior_snr = np.asarray(prior_snr, float)[:harmonics]
        self.new_person()

    def new_person(self) -> None:
        """Forget the person: noise and response."""
        harmonics = len(self._prior_snr)
        self._noise = np.zeros((harmonics, self.channels, self.channels), dtype=complex)
        self._noise_n = 0.0
        self._learnt: list[tuple[Complex, int]] = []
        self.new_block()

    def new_block(self) -> None:
        """Begin a new stream."""
        self.bank.reset()
        self._position = 0
        self._onset: int | None = None
        self._restart(0)

    def _restart(self, origin: int) -> None:
        self._origin = origin
        self._n = 0
        self._sum = np.zeros((*self._bins_hz.shape, self.channels), dtype=complex)

    def push(self, packet: Array) -> None:
        """Take in the next samples (channels, n); between trials they teach the noise."""
        x = self.bank.push(packet)[0]
        index = np.arange(self._position, self._position + x.shape[1])
        self._position += x.shape[1]
        use = index >= self._origin + (self.skip_n if self._onset is not None else 0)
        if use.any():
            wave = np.exp(-2j * np.pi * self._bins_hz[:, :, None] * (index[use] - self._origin) / self.rate)
            self._sum += wave @ x[:, use].T
            self._n += int(use.sum())
        if self._onset is None and self._n >= self.rate:
            self._take_noise(self._sum)
            self._restart(self._position)

    def _take_noise(self, sums: Complex) -> None:
        """A second without flicker: every bin is noise."""
        z = sums / np.sqrt(max(self._n, 1)) * self._undo[:, :, None]
        keep = 0.98  # about a minute of memory
        self._noise = keep * self._noise + np.einsum("bhc,bhd->hcd", z, z.conj()) / len(z)
        self._noise_n = keep * self._noise_n + 1

    def start(self, onset_n: int) -> None:
        """A trial opened at sample `onset_n` of the block; all its samples but those of its packet are yet to come."""
        self._onset = onset_n
        self._restart(onset_n)

    def stop(self) -> None:
        """The trial is over: what follows is noise again."""
        self._onset = None
        self._restart(self._position)

    def evidence(self) -> Array:
        """Log-likelihood ratio of every frequency against no flicker, (K,)."""
        if self._n < 0.2 * self.rate or self._noise_n == 0:
            return np.zeros(self.targets)
        z = self._sum / self._n * self._undo[:, :, None]
        noise = self._noise_level(z)
        mean, spread = self._response(noise)
        out = np.zeros(self.targets)
        for h in range(len(noise)):
            quiet = noise[h] / self._n
            loud = quiet + spread[h]
            out += _log_density(z[: self.targets, h], mean[h], loud) - _log_density(z[: self.targets, h], 0, quiet)
        return out

    def learn(self, target: int) -> None:
        """The running trial was a flicker at this frequency: its amplitudes are remembered."""
        if self._n >= self.rate:
            self._learnt.append((self._sum[target] / self._n * self._undo[target][:, None], self._n))
            del self._learnt[:-40]

    @property
    def learnt(self) -> int:
        """Number of trials learnt from."""
        return len(self._learnt)

    def _noise_level(self, z: Complex) -> Complex:
        """Noise covariance per sample (H, C, C), raised if this trial's neighbouring bins are louder."""
        noise = self._noise / self._noise_n
        level = np.trace(noise, axis1=1, axis2=2).real / self.channels
        noise = noise + (0.1 * level + 1e-9)[:, None, None] * np.eye(self.channels)
        side = z[self.targets :]
        power = np.einsum("bhc,hcd,bhd->h", side.conj(), np.linalg.inv(noise), side).real * self._n
        scale = np.clip(power / (len(side) * self.channels), 0.8, 5.0)
        return np.asarray(noise * scale[:, None, None])

    def _response(self, noise: Complex) -> tuple[Complex, Complex]:
        """Mean (H, C) and spread (H, C, C) of a trial's amplitudes."""
        level = np.trace(noise, axis1=1, axis2=2).real / self.channels
        prior = ((self._prior_snr * level)[:, None, None] * self._shape).astype(complex)
        vary = self.vary * prior
        if not self._learnt:
            return np.zeros((len(noise), self.channels), dtype=complex), prior + vary
        amplitudes = np.array([amplitude for amplitude, _ in self._learnt])  # (trials, H, C)
        length_n = np.array([n for _, n in self._learnt])
        usual = amplitudes.mean(axis=0)
        vary = vary + 0.1 * usual[:, :, None] * usual[:, None].conj()
        trust = np.linalg.inv(noise / length_n[:, None, None, None] + vary)
        known = np.linalg.inv(np.linalg.inv(prior) + trust.sum(axis=0))
        pull = np.matmul(trust, amplitudes[..., None]).sum(axis=0)
        return np.asarray(np.matmul(known, pull)[..., 0]), known + vary


def _log_density(z: Complex, mean: Complex | int, cov: Complex) -> Array:
    """Log density, without its constant, of complex normal vectors (K, C)."""
    away = z - mean
    _, logdet = np.linalg.slogdet(cov)
    return np.asarray(-logdet - np.einsum("kc,cd,kd->k", away.conj(), np.linalg.inv(cov), away).real)
