"""Motor imagery, packet by packet: slow potentials and band power of a trial, and the classifier on them.

Two experts look at a trial. The *slow* one sees the potentials below 10 Hz from the cue on (evoked responses,
readiness potentials; fast but weak), the *power* one the covariance between 8 and 30 Hz (desynchronisation over the
motor cortex; slow but strong), as a tangent vector at the person's own mean. The cue may stand before the trial's
onset code: what the stream brought before the code costs no time, so both may begin to look there
(``slow_from``, ``power_from``; :func:`~bciarena.decoders.motor_model.choose_setup` finds out where).
Each is a :class:`PooledRidge` per decision time over everyone's trials;
:class:`~bciarena.decoders.evidence.LogPool` weights the two over time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.filters import FilterBank, band_pass
from bciarena.decoders.riemann import half_vector, log_matrix, shrunk, whitening
from bciarena.errors import BadInput

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MotorSetup:
    """Which features are used, and when.

    Parameters
    ----------
    rate : float
        Samples per second.
    packet_n : int
        Samples per packet; features are kept per packet.
    rows : tuple of int
        EEG rows of a packet, re-referenced to their average.
    times : tuple of int
        Decision times in packets after the trial's start.
    slow_hz, slow_order
        Band of the slow potentials; gentle edges, since a steep high-pass distorts a step.
    slow_from, slow_n : int
        Packet after the trial's start (negative: before it) where slow potentials begin to be looked at, and for how
        many packets.
    power_hz : tuple of bands
        Bands whose covariance is taken.
    power_from, power_least : int
        Packet after the trial's start (negative: before it) where the covariance window begins; its least length
        (early on it reaches back before the start).
    power_whole : int
        Decision time whose covariance window, of settled imagery, also teaches the shorter ones: what a class looks
        like is the same in half a second and in two, and is seen better in two.
    regions : tuple of tuples of int
        Electrodes (positions in ``rows``) whose covariance is taken on its own, as many tangent vectors side by side;
        none: all electrodes at once. The logarithm of a few electrodes' covariance is surer than that of many.
    shrink, ridge : float
        Shrinkage of a window's covariance; ridge of the whitening.
    """

    rate: float
    packet_n: int
    rows: tuple[int, ...]
    times: tuple[int, ...]
    slow_hz: tuple[float, float] = (0.3, 10.0)
    slow_order: int = 1
    slow_from: int = 0
    slow_n: int = 50
    power_hz: tuple[tuple[float, float], ...] = ((8.0, 30.0),)
    power_from: int = 7
    power_least: int = 10
    power_whole: int = 46
    regions: tuple[tuple[int, ...], ...] = ()
    shrink: float = 0.1
    ridge: float = 0.01

    @property
    def parts(self) -> list[NDArray[np.int64]]:
        """Electrodes of each region."""
        return [np.array(region) for region in self.regions or (range(len(self.rows)),)]

    @property
    def whole(self) -> int:
        """Index of the decision time nearest to ``power_whole``."""
        return int(np.argmin(np.abs(np.array(self.times) - self.power_whole)))

    @property
    def times_s(self) -> Floats:
        """Decision times in seconds of data used."""
        return np.array(self.times) * self.packet_n / self.rate

    def filters(self) -> FilterBank:
        """The causal filters: slow band first, then the power bands."""
        bands = [band_pass(*self.slow_hz, self.rate, self.slow_order)]
        bands += [band_pass(*hz, self.rate, 3) for hz in self.power_hz]
        return FilterBank([], bands, len(self.rows))

    def window(self, time: int) -> tuple[int, int]:
        """First and end packet of the covariance window at a decision time, counted from the trial's start."""
        return min(self.power_from, time - self.power_least), time

    def slow_window(self, time: int) -> tuple[int, int]:
        """First and end packet of the slow potentials at a decision time, counted from the trial's start."""
        return self.slow_from, min(time, self.slow_from + self.slow_n)

    @property
    def before(self) -> int:
        """Packets before the trial's start that are looked at."""
        return max(self.power_least - min(self.times), -self.power_from, -self.slow_from, 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MotorSetup:
        """The setup that ``to_dict`` described."""
        plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        plain["power_hz"] = tuple(map(tuple, values["power_hz"]))
        plain["regions"] = tuple(map(tuple, values["regions"]))
        return cls(**plain)


class MotorStream:
    """Features of the running trial, fed packet by packet.

    A packet of another length than ``packet_n`` (the last of a block) is used as it is: its mean and its mean outer
    product still count as one packet.
    """

    def __init__(self, setup: MotorSetup) -> None:
        self.setup = setup
        self._rows = np.array(setup.rows)
        self._filters = setup.filters()
        self._keep = max(setup.times) + setup.before + 2
        self.restart()

    def restart(self) -> None:
        """Begin a block: filters forget the past."""
        self._filters.reset()
        shape = (self._keep, len(self.setup.power_hz), len(self._rows), len(self._rows))
        self._power = np.zeros(shape)
        self._slow = np.zeros((self._keep, len(self._rows)))
        self._count = 0
        self._start = 0

    def push(self, packet: Floats) -> None:
        """Take in a packet (rows, n); rows beyond the setup's (trigger, eyes) are ignored."""
        eeg = np.asarray(packet, dtype=float)[self._rows]
        if eeg.shape[1] == 0:
            return
        out = self._filters.push(_referenced(eeg))
        at = self._count % self._keep
        self._slow[at] = out[0].mean(axis=1)
        self._power[at] = out[1:] @ out[1:].transpose(0, 2, 1) / out.shape[2]
        self._count += 1

    def start_trial(self, fresh: bool = False) -> None:
        """The packet just pushed held the trigger: the trial's data begin with the next one.

        ``fresh``: nothing before the trial is real (rehab keeps only the imagery), so the filters forget it.
        """
        self._start = self._count
        if fresh:
            self._filters.reset()

    @property
    def used(self) -> int:
        """Packets of the running trial so far."""
        return self._count - self._start

    def slow(self, time: int) -> Floats:
        """Slow potentials at a decision time, shape (packets, channels); zero before the block's beginning."""
        first, end = self.setup.slow_window(time)
        at = np.arange(self._start + first, self._start + end)
        return np.asarray(np.where(at[:, None] >= 0, self._slow[at % self._keep], 0.0))

    def covariance(self, time: int) -> Floats:
        """Covariances at a decision time, shape (bands, channels, channels)."""
        first, end = self.setup.window(time)
        first = max(first, -self._start)
        at = np.arange(self._start + first, self._start + end) % self._keep
        return np.asarray(self._power[at].mean(axis=0))


def cut_trials(
    setup: MotorSetup, eeg: NDArray[Any], starts_n: NDArray[np.int64], fresh: bool = False
) -> tuple[Floats, NDArray[np.float32]]:
    """The same features from a whole block, for training.

    Parameters
    ----------
    eeg : array, shape (channels, samples), microvolts
    starts_n : array of int, shape (trials,)
        First sample of each trial's data (the packet after the trigger packet).
    fresh : bool
        Filter each trial on its own, see :meth:`MotorStream.start_trial`.

    Returns
    -------
    slow : array, shape (trials, slow packets, channels)
    covs : array, shape (trials, times, bands, channels, channels)
    """
    rows = np.asarray(eeg[np.array(setup.rows)])
    last = max(setup.times)
    before = 0 if fresh else setup.before
    begin = starts_n // setup.packet_n
    if len(begin) == 0 or (begin.max() + last) * setup.packet_n > rows.shape[1] or begin.min() < 0:
        raise BadInput("a trial lies too near the beginning or the end of its block")
    if not fresh:
        whole = rows.shape[1] // setup.packet_n * setup.packet_n
        block = setup.filters().push(_referenced(rows[:, :whole]))
        missing = max(0, before - int(begin.min()))  # a block may begin less than that before its first trial
        block = np.pad(block, ((0, 0), (0, 0), (missing * setup.packet_n, 0)))
        begin = begin + missing
    first, end = setup.slow_window(last)
    slow = np.empty((len(begin), end - first, len(rows)))
    covs = np.empty((len(begin), len(setup.times), len(setup.power_hz), len(rows), len(rows)), np.float32)
    for i, k in enumerate(begin):
        span = slice((k - before) * setup.packet_n, (k + last) * setup.packet_n)
        out = setup.filters().push(_referenced(rows[:, span])) if fresh else block[:, :, span]
        packets = out.reshape(*out.shape[:2], -1, setup.packet_n).transpose(2, 0, 1, 3)
        slow[i] = packets[before + first : before + end, 0].mean(axis=-1)
        power = packets[:, 1:]
        summed = np.cumsum(power @ power.transpose(0, 1, 3, 2) / setup.packet_n, axis=0)
        summed = np.concatenate([np.zeros_like(summed[:1]), summed])  # summed[j]: packets before j
        for j, time in enumerate(setup.times):
            window = [p + before for p in setup.window(time)]
            window[0] = max(window[0], 0 if fresh else missing + before - k)
            covs[i, j] = (summed[window[1]] - summed[window[0]]) / (window[1] - window[0])
    return slow, covs


def tangent(setup: MotorSetup, covs: NDArray[Any], white: Floats) -> Floats:
    """Tangent vectors (..., features) of covariances (..., bands, channels, channels).

    ``white`` holds one whitening matrix per region and band, shape (regions, bands, channels, channels). Vectors of
    different regions get about the same norm.
    """
    covs = np.asarray(covs, dtype=float)
    parts = []
    for region, matrices in zip(setup.parts, white, strict=True):
        mine = matrices[:, region[:, None], region]
        centred = mine @ covs[..., region[:, None], region] @ mine
        vectors = half_vector(log_matrix(shrunk(centred, setup.shrink))) * (len(setup.rows) / len(region))
        parts.append(vectors.reshape(*vectors.shape[:-2], -1))
    return np.concatenate(parts, axis=-1)


def mean_whitening(setup: MotorSetup, covs: NDArray[Any]) -> Floats:
    """Whitening (regions, bands, channels, channels) of a person's mean covariance; input (trials, bands, ch, ch)."""
    mean = np.asarray(covs, dtype=float).mean(axis=0)
    out = np.zeros((len(setup.parts), *mean.shape))
    for region, white in zip(setup.parts, out, strict=True):
        for band, matrix in zip(mean, white, strict=True):
            matrix[region[:, None], region] = whitening(band[region[:, None], region], setup.ridge)
    return out


def _referenced(rows: NDArray[Any]) -> Floats:
    """Rows (channels, n) less their average; a row that is zero throughout is dead and stays zero."""
    x = np.asarray(rows, dtype=float)
    good = np.isfinite(x) & x.any(axis=1, keepdims=True)
    mean = np.where(good, x, 0.0).sum(axis=0, keepdims=True) / np.maximum(good.sum(axis=0), 1)
    return np.where(good | ~np.isfinite(x), x - mean, 0.0)
