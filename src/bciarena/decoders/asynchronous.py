"""An asynchronous speller: which key flickers under the gaze, and whether any does.

No trigger, no calibration. For windows of 0.6 to 4 s that end now::

    filter bank ─► SlidingFBCCA ─► Background (own idle EEG) ─┐
         └───────► HarmonicTemplate (own trials) ─► Background ├─► sum per key ─► OnsetPool ─► StoppingPolicy ─► answer?
                         ▲                                     └─► 4 s windows that leave no doubt ─┐
                         └──────────────────────────────────────────────────────────────────────────┘

The template is used once a few trials were beyond doubt, and until it has grown correlation alone is heard beside
it. It is learnt from whole trials, after the answer was given, so a wrong early answer teaches nothing wrong. Trials
that were in doubt are looked at again when the template has grown; its noise is learnt from all of the stream.
Posterior and thresholds are fitted by :mod:`bciarena.contests.speller.fit` and stored in ``asynchronous.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    learn_cold, learn_warm, learn_later : float
        Lead of a 4 s window from which a trial is learnt, before and after the template is in use; and the least from
        which it is kept for later, when the template may know better.
    template_after, taught_spread_hz
        Trials needed before the template is used, and how far apart their keys must be (standard deviation).
    latency_packets, trial_packets : int
        Response delay (0.16 s), and the least distance between two onsets (6 s).
    every, noise_packets : int
        Packets between two looks, and those of a window from which the noise is learnt.
    """

    windows: tuple[int, ...] = (15, 20, 25, 31, 37, 50, 75, 100)
    band_lows_hz: tuple[float, ...] = (6.5, 14.0, 22.0, 30.0, 38.0)
    band_high_hz: float = 90.0
    skip_hz: tuple[tuple[float, float], ...] = ((50.0, 1.3), (60.0, 1.3))
    harmonics: int = 5
    learn_cold: float = 9.0
    learn_warm: float = 13.0
    learn_later: float = 6.0
    template_after: int = 4
    taught_spread_hz: float = 1.2
    latency_packets: int = 4
    trial_packets: int = 150
    every: int = 2
    noise_packets: int = 25


@dataclass
class Candidate:
    """A window that looks like a whole trial.

    Attributes
    ----------
    lead : float
        See :func:`_lead`.
    at : int
        Packets at its end.
    key : int
    scores : array (K,)
        Correlation, in deviations from the background.
    sums : array (K, H, C)
        What the template learns from.
    parts : (float, float)
        The key's correlation and template scores in a window of middling length; zeros before there is a template.
    """

    lead: float
    at: int
    key: int
    scores: Array
    sums: Complex
    parts: tuple[float, float]


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
        _, channels, targets, _ = self.cca.shape
        per_s = 25 / s.every
        self.background = Background(
            *population(s.windows, channels), (8 * per_s, 30 * per_s), (60 * per_s, 150 * per_s)
        )
        self.template = HarmonicTemplate(self.cca.harmonics_hz, self.cca.usable, channels)
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
        # Heights of learnt keys, of correlation and of template; begins with four trials of a usual person.
        self._heights = [[4 * 2.8, 4 * 4.0]]
        self._later: list[Candidate] = []
        self.new_block()

    def new_block(self) -> None:
        """Begin a new stream of the same person."""
        self.background.reopen()
        self.bank.reset()
        self.cca.reset()
        self.wide.reset()
        self.decision.restart()
        self._known = len(self._taught)
        self._drop()

    def _drop(self) -> None:
        self._candidate: Candidate | None = None
        self._later.clear()
        self._learnt_at = -(10**6)

    def begin(self) -> None:
        """Trials begin now: what looked like one earlier in this stream was none. What was learnt of noise stays."""
        wrong = len(self._taught) - self._known
        if wrong:
            self.template.forget(min(wrong, self.template.trials))
            for held in (self._taught, self._leads, self._heights):
                del held[len(held) - wrong :]
        self.decision.restart()
        self._drop()

    def push(self, packet: Array) -> int | None:
        """Take in a packet (channels, packet_n); the index of a key, or None."""
        s = self.settings
        bands = self.bank.push(packet)
        self.cca.push(bands[:-1])
        self.wide.push(bands[-1:])
        now = self.cca.packets
        if now % s.every or now < s.windows[0]:
            return None
        self._sums = self.wide.sums(0) / self._gain
        if now % s.noise_packets < s.every and now >= s.noise_packets:
            row = s.windows.index(s.noise_packets)
            self.template.hear(self._sums[row], s.noise_packets * self.cca.packet_n)
        scores = self.scores()
        if len(scores) == len(s.windows):
            self._consider(*_lead(scores[-1]), now)
        shares, trials = self._shares[: len(scores)], self.template.trials
        odds = self.pool.log_odds(scores, shares, self.usual(), self._correlation, trials)
        return self.decision.step(now, odds)

    def gains(self) -> Array:
        """How much more likely the data are with each key's references than without, (windows, bands, K)."""
        return np.asarray(-np.log(1 - np.minimum(self.cca.scores(), 0.995)))

    def scores(self) -> Array:
        """Standard deviations above background of every key in every window that fits, (windows, K)."""
        gain = self.gains()
        # Bands overlap: in idle EEG the sum of five standardised scores, over sqrt(5), has a deviation of 1.53.
        self._correlation: Array = self.background.standardise(gain).sum(axis=1) / (np.sqrt(5) * 1.53)
        if not self._warm():
            return np.asarray(self._correlation)
        samples = np.array(self.settings.windows[: len(gain)]) * self.cca.packet_n
        self._match = self.template_background.standardise(self.template.score(self._sums, samples))
        return self._join(self._correlation, self._match)

    def _join(self, correlation: Array, match: Array) -> Array:
        """One score of both; correlation counts the more, the higher this person's keys are in it; at first, fully."""
        seen = np.sum(self._heights, axis=0)
        share = max(float(np.clip((seen[0] / seen[1]) ** 2, 0.1, 0.5)), 4 / self.template.trials)
        return (match + share * correlation) * 2 / (1 + share)

    def usual(self) -> float:
        """Median lead of the person's whole trials; NaN while the person is not known."""
        return float(np.median(self._leads[-15:])) if self._warm() else np.nan

    def _warm(self) -> bool:
        """Whether to use the template: alpha waves can look like a flicker, but always like the same few keys."""
        known = self.template.trials >= self.settings.template_after
        return known and float(np.std(self.cca.harmonics_hz[self._taught, 0])) > self.settings.taught_spread_hz

    def _consider(self, lead: float, best: int, now: int) -> None:
        """Learn from a 4 s window at the peak of its lead; the best of those not learnt wait for a better template."""
        s, held = self.settings, self._candidate
        if now - self._learnt_at < 2 * 40:
            return
        if held is not None and now - held.at > 12:
            self._candidate = None
            if held.lead > self._needed():
                self._later = [c for c in self._later if held.at - c.at >= s.windows[-1]]
                self._learnt_at = held.at
                self._learn(held)
                self._look_again()
            elif not self._later or held.at - self._later[-1].at >= s.windows[-1]:
                self._later = [*self._later[-19:], held]
            elif held.lead > self._later[-1].lead:
                self._later[-1] = held
        elif lead > s.learn_later and (held is None or lead > held.lead):
            parts = (0.0, 0.0)
            if self._warm():
                parts = (float(self._correlation[3, best]), float(self._match[3, best]))
            self._candidate = Candidate(lead, now, best, self._correlation[-1], self._sums[-1], parts)

    def _needed(self) -> float:
        """Lead from which a window is learnt: half of what this person's trials have, but never little."""
        s = self.settings
        return max(s.learn_warm, 0.5 * self.usual()) if self._warm() else s.learn_cold

    def _learn(self, trial: Candidate) -> None:
        n = self.settings.windows[-1] * self.cca.packet_n
        # With the template scores are about twice as high.
        self._leads.append(trial.lead if self._warm() else 2 * trial.lead)
        self.template.learn(trial.key, trial.sums[trial.key], n, min(1.0, trial.lead / 12))
        self._taught.append(trial.key)
        self._heights.append(list(trial.parts))

    def _look_again(self) -> None:
        """Learn from earlier windows that the template, as it is now, leaves no doubt about."""
        if not (self._later and self._warm()):
            return
        n = self.settings.windows[-1] * self.cca.packet_n
        match = self.template.score(np.stack([c.sums for c in self._later]), np.full(len(self._later), n))
        match = self.template_background.measure(match, len(self.settings.windows) - 1)
        waiting = []
        for trial, row in zip(self._later, match, strict=True):
            lead, key = _lead(self._join(trial.scores, row))
            if lead > self._needed() and key == trial.key:
                self._learn(replace(trial, lead=lead, parts=(0.0, 0.0)))
            else:
                waiting.append(trial)
        self._later = waiting


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

    ``background.npz``, made by :mod:`bciarena.contests.speller.rest`, holds them for 9 occipital channels: means over 8
    people of the PhysioNet motor imagery set, eyes open and eyes closed, one minute each.
    """
    with files("bciarena.decoders").joinpath("background.npz").open("rb") as file:
        stored = np.load(file)
        at = [int(np.flatnonzero(stored["windows"] == w)[0]) for w in windows]
        # Chance correlation grows with the number of channels that can be combined.
        level = stored["mean"][at] * channels / 9
        return level, stored["variance"][at], stored["key_mean"][at], stored["key_variance"][at]
