"""An asynchronous speller: which key flickers under the gaze, and whether any does.

No trigger, no calibration. For windows of 1 to 4 s that end now::

    filter bank ─► SlidingFBCCA ─► Background (own idle EEG) ─┐
         └───────► HarmonicTemplate (own trials) ─► Background ├─► sum per key ─► OnsetPool ─► StoppingPolicy ─► answer?
                         ▲                                     └─► 4 s windows that leave no doubt ─┐
                         └──────────────────────────────────────────────────────────────────────────┘

The template is used once a few trials were beyond doubt; it is learnt from whole trials, after the answer was given,
so a wrong early answer teaches nothing wrong. Posterior and thresholds are fitted by
:mod:`bciarena.contests.speller.fit` and stored in ``asynchronous.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.filters import FilterBank, high_pass, low_pass, notch
from bciarena.decoders.idle import Background
from bciarena.decoders.onset import OnsetDecision, OnsetPool
from bciarena.decoders.sliding import SlidingFBCCA
from bciarena.decoders.stopping import StoppingPolicy
from bciarena.decoders.template import HarmonicTemplate

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Settings:
    """The speller's settings.

    Attributes
    ----------
    windows : tuple of int
        Window lengths in packets of 40 ms.
    band_lows_hz, band_high_hz
        The filter bank of Chen et al. 2015: each band begins one harmonic later.
    skip_hz
        Mains: harmonics nearer than this to 50 or 60 Hz are no evidence.
    learn_cold, learn_warm : float
        Lead of a 4 s window from which a trial is learnt.
    template_after, taught_spread_hz
        Trials needed before the template is used, and how far apart their keys must be (standard deviation).
    latency_packets, trial_packets : int
        Response delay (0.16 s), and the least distance between two onsets (6 s).
    """

    windows: tuple[int, ...] = (25, 31, 37, 50, 75, 100)
    band_lows_hz: tuple[float, ...] = (6.5, 14.0, 22.0, 30.0, 38.0)
    band_high_hz: float = 90.0
    skip_hz: tuple[tuple[float, float], ...] = ((50.0, 1.3), (60.0, 1.3))
    harmonics: int = 5
    learn_cold: float = 9.0
    learn_warm: float = 11.0
    template_after: int = 4
    taught_spread_hz: float = 1.2
    latency_packets: int = 4
    trial_packets: int = 150
    every: int = 2


class AsynchronousSpeller:
    """Feed packets, get answers.

    Parameters
    ----------
    freqs_hz : sequence of float
        Key frequencies; the answer is an index into them.
    rate : float
        Sampling rate, Hz.
    packet_n : int
        Samples per packet.
    channels : int
        Number of live channels, occipital.
    decided : (OnsetPool, StoppingPolicy), optional
        How scores become a posterior and a posterior an answer; by default as fitted on real and simulated people.
    """

    def __init__(
        self,
        freqs_hz: Sequence[float],
        rate: float,
        packet_n: int,
        channels: int,
        settings: Settings | None = None,
        decided: tuple[OnsetPool, StoppingPolicy] | None = None,
    ) -> None:
        self.settings = s = settings or Settings()
        self.pool, policy = decided or fitted()
        self.decision = OnsetDecision(policy, s.windows, packet_n / rate, s.latency_packets, s.trial_packets)
        self._shares = np.array(s.windows) / s.windows[-1]
        shared = [low_pass(s.band_high_hz, rate), notch(50.0, 6.0, rate), notch(60.0, 4.0, rate)]
        # The last band hardly changes the phases of low harmonics; it is for the template only.
        bands = [high_pass(low, rate) for low in s.band_lows_hz] + [high_pass(5.0, rate, order=2)]
        self.bank = FilterBank(shared, bands, channels)
        self.cca = SlidingFBCCA(freqs_hz, rate, packet_n, s.windows, s.band_lows_hz, channels, s.harmonics, s.skip_hz)
        self.wide = SlidingFBCCA(freqs_hz, rate, packet_n, s.windows, (5.0,), channels, s.harmonics, s.skip_hz)
        self._gain = self.bank.response(self.cca.harmonics_hz, rate)[-1][:, :, None]
        self.new_person()

    def new_person(self) -> None:
        """Forget everything about the person."""
        s = self.settings
        _, channels, targets, harmonics = self.cca.shape
        per_s = 25 / s.every
        self.background = Background(
            *population(s.windows, channels), (8 * per_s, 30 * per_s), (60 * per_s, 150 * per_s)
        )
        self.template = HarmonicTemplate(harmonics, channels)
        # A matched filter at its best phase: 1.3 +- 0.8 in white noise; EEG is not white.
        rows = len(s.windows)
        self.template_background = Background(
            np.full(rows, 1.3),
            np.ones(rows),
            np.zeros((rows, targets)),
            np.ones((rows, targets)),
            (5 * per_s, 20 * per_s),
            (40 * per_s, 100 * per_s),
        )
        self._taught: list[int] = []
        self._leads: list[float] = []
        self.new_block()

    def new_block(self) -> None:
        """Begin a new stream of the same person."""
        self.background.reopen()
        self.bank.reset()
        self.cca.reset()
        self.wide.reset()
        self.decision.restart()
        self._candidate: tuple[float, int, int, Complex] | None = None
        self._learnt_at = -(10**6)

    def push(self, packet: Array) -> int | None:
        """Take in a packet (channels, packet_n); the index of a key, or None."""
        s = self.settings
        bands = self.bank.push(packet)
        self.cca.push(bands[:-1])
        self.wide.push(bands[-1:])
        now = self.cca.packets
        if now % s.every:
            return None
        scores = self.scores()
        if len(scores) == len(s.windows):
            self._consider(*_lead(scores[-1]), now)
        if not len(scores):
            return None
        return self.decision.step(now, self.pool.log_odds(scores, self._shares[: len(scores)], self.usual()))

    def scores(self) -> Array:
        """Standard deviations above background of every key in every window that fits, (windows, K)."""
        # -log(1 - r^2) is how much more likely the data are with the key's references than without.
        gain = -np.log(1 - np.minimum(self.cca.scores(), 0.995))
        # Bands overlap: in idle EEG the sum of five standardised scores, over sqrt(5), has a deviation of 1.53.
        total = self.background.standardise(gain).sum(axis=1) / (np.sqrt(5) * 1.53)
        if self._warm():
            samples = np.array(self.settings.windows[: len(total)]) * self.cca.packet_n
            match = self.template.score(self.wide.sums(0) / self._gain, self.cca.usable, samples)
            total = total + self.template_background.standardise(match)
        return np.asarray(total)

    def usual(self) -> float:
        """Median lead of the person's whole trials; NaN while the person is not known."""
        return float(np.median(self._leads[-15:])) if self._warm() else np.nan

    def _warm(self) -> bool:
        """Whether to use the template: alpha waves can look like a flicker, but always like the same few keys."""
        known = self.template.trials >= self.settings.template_after
        return known and float(np.std(self.cca.harmonics_hz[self._taught, 0])) > self.settings.taught_spread_hz

    def _consider(self, lead: float, best: int, now: int) -> None:
        """Learn from a 4 s window at the peak of its lead."""
        s = self.settings
        if now - self._learnt_at < 2 * 40:
            return
        needed = s.learn_warm if self._warm() else s.learn_cold
        if self._candidate is not None and now - self._candidate[1] > 12:
            _, at, key, sums = self._candidate
            usable = self.cca.usable
            apart = np.abs(self.cca.harmonics_hz - self.cca.harmonics_hz[key]) >= 0.5
            n = s.windows[-1] * self.cca.packet_n
            weight = min(1.0, self._candidate[0] / 12)
            self.template.learn(np.where(usable[key][:, None], sums[key], 0), sums, usable & apart, n, weight)
            self._taught.append(key)
            self._leads.append(self._candidate[0])
            self._learnt_at = at
            self._candidate = None
        elif lead > needed and (self._candidate is None or lead > self._candidate[0]):
            self._candidate = (lead, now, best, self.wide.sums(0)[-1] / self._gain)


def _lead(total: Array) -> tuple[float, int]:
    """Height of the best key plus its distance to the second; -inf where the distance is below one."""
    best = int(total.argmax())
    second = float(np.partition(total, -2)[-2])
    apart = float(total[best]) - second
    return (float(total[best]) + apart if apart > 1 else -np.inf), best


def fitted() -> tuple[OnsetPool, StoppingPolicy]:
    """Posterior and policy of ``asynchronous.json``; its key ``from`` says what they were fitted on."""
    stored = json.loads(files("bciarena.decoders").joinpath("asynchronous.json").read_text(encoding="utf-8"))
    return OnsetPool.from_dict(stored["pool"]), StoppingPolicy.from_dict(stored["policy"])


def population(windows: Sequence[int], channels: int) -> tuple[Array, Array, Array, Array]:
    """What :class:`Background` starts from: idle scores (windows, bands) and (windows, bands, keys) of people at rest.

    ``background.npz`` holds them for 9 occipital channels: means over 8 people of the PhysioNet motor imagery set,
    eyes open and eyes closed, one minute each; the keys' departures smoothed over five neighbours.
    """
    with files("bciarena.decoders").joinpath("background.npz").open("rb") as file:
        stored = np.load(file)
        at = [int(np.flatnonzero(stored["windows"] == w)[0]) for w in windows]
        # Chance correlation grows with the number of channels that can be combined.
        level = stored["mean"][at] * channels / 9
        return level, stored["variance"][at], stored["key_mean"][at], stored["key_variance"][at]
