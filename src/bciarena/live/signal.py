"""Is a signal fit to be recorded? Measures of every channel over the last seconds, and what they mean."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfiltfilt

from bciarena.contests.rulebook import Rulebook
from bciarena.recording.channels import plain_name
from bciarena.recording.montages import NOT_SCALP

Array = NDArray[np.float64]
KEPT_S = 10.0
LOOK_S = 4.0
"""What is judged: the newest seconds."""
FLAT_UV = 0.1
RAILED_SHARE = 0.05
"""Share of samples at a channel's very largest or smallest value from which it is at the amplifier's limit."""
DRIFT_UV_S = 50.0
MAINS_UV = 15.0
LARGE_UV = 100.0
BRIDGED_UV = 0.5
"""Two electrodes whose difference varies less than this are joined by gel."""
BAND_HZ = (1.0, 40.0)
STEADY_UV = 2.0
TRACE_HZ = 62.5


@dataclass(frozen=True)
class Quality:
    """What is wrong with each channel; empty where nothing is.

    Attributes
    ----------
    spread_uv, mains_uv : ndarray, shape (channels,)
        Between 1 and 40 Hz; at the mains' frequency.
    faults : list of list of str
        Of each channel: ``numbers``, ``flat``, ``railed``, ``drift``, ``mains``, ``large``.
    bridged : list of (str, str)
    """

    spread_uv: Array
    mains_uv: Array
    faults: list[list[str]]
    bridged: list[tuple[str, str]]

    @property
    def fit(self) -> bool:
        """The green light: nothing is wrong anywhere."""
        return not self.bridged and not any(self.faults)


def judged(
    book: Rulebook, eeg: Array, no_numbers: set[str], mains_hz: float = 50.0, absent: Collection[int] = ()
) -> Quality:
    """Judge the newest samples, (channels, n) in microvolts.

    Parameters
    ----------
    no_numbers : set of str
        Channels that gave no numbers.
    absent : collection of int
        Rows without an electrode, as the map says: there is nothing to judge.
    """
    rate, n = book.rate, eeg.shape[1]
    level = eeg - eeg.mean(axis=1, keepdims=True)
    whole = level.std(axis=1)
    sections = butter(2, BAND_HZ, "bandpass", fs=rate, output="sos")
    band = sosfiltfilt(sections, level, axis=1)
    spread = band.std(axis=1)
    time_s = np.arange(n) / rate
    taper = np.hanning(n)
    mains = np.abs((level * taper) @ np.exp(-2j * np.pi * mains_hz * time_s)) * 2 / taper.sum()
    at_limit = np.maximum(
        (eeg == eeg.max(axis=1, keepdims=True)).mean(axis=1), (eeg == eeg.min(axis=1, keepdims=True)).mean(axis=1)
    )
    slope = level @ (time_s - time_s.mean()) / ((time_s - time_s.mean()) ** 2).sum()
    faults = []
    for k, name in enumerate(book.channels):
        own = ["numbers"] if name in no_numbers else []
        scalp = name not in NOT_SCALP
        if k in absent:
            faults.append(own)
            continue
        if whole[k] < FLAT_UV:
            own.append("flat")
        elif at_limit[k] > RAILED_SHARE:
            own.append("railed")
        if abs(slope[k]) > DRIFT_UV_S:
            own.append("drift")
        if mains[k] > MAINS_UV:
            own.append("mains")
        if scalp and spread[k] > LARGE_UV:
            own.append("large")
        faults.append(own)
    return Quality(spread, mains, faults, _bridged(book, band, spread))


def _bridged(book: Rulebook, band: Array, spread: Array) -> list[tuple[str, str]]:
    """Pairs of electrodes that measure the same; silent channels are flat, not bridged."""
    rows = [k for k, name in enumerate(book.channels) if name not in NOT_SCALP and spread[k] > STEADY_UV]
    if len(rows) < 2:
        return []
    some = band[rows]
    power = (some**2).mean(axis=1)
    apart = power[:, None] + power[None] - 2 * (some @ some.T) / some.shape[1]
    close = np.argwhere(np.triu(apart < BRIDGED_UV**2, 1))
    return [(book.channels[rows[a]], book.channels[rows[b]]) for a, b in close]


@dataclass
class Watch:
    """The last seconds of a stream, fed by one thread and looked at by others."""

    book: Rulebook
    mains_hz: float = 50.0
    no_numbers: dict[str, int] = field(default_factory=dict)  # channel to the sample at which it last gave none
    samples: int = 0
    notes: list[str] = field(default_factory=list)
    absent: Collection[int] = ()  # rows without an electrode
    ohms: dict[str, float] = field(default_factory=dict)  # newest impedances, where the stream has any

    def __post_init__(self) -> None:
        self._ring = np.zeros((len(self.book.channels), round(KEPT_S * self.book.rate)))
        self._lock = threading.Lock()

    def add(self, eeg: Array) -> None:
        """Newer samples."""
        n = min(eeg.shape[1], self._ring.shape[1])
        if n:
            with self._lock:
                self._ring = np.concatenate([self._ring[:, n:], eeg[:, -n:]], axis=1)
                self.samples += eeg.shape[1]

    def note(self, text: str) -> None:
        """What the stream had to say."""
        self.notes = [*self.notes[-11:], text]

    def mark(self, line: dict[str, Any]) -> None:
        """As `LiveIn.mark` gives it."""
        reason = str(line["reason"])
        if reason.endswith(" gave no numbers"):
            self.no_numbers[reason.split()[0]] = int(line["until"])

    def newest(self, seconds: float) -> Array:
        with self._lock:
            n = min(self.samples, round(seconds * self.book.rate), self._ring.shape[1])
            return self._ring[:, self._ring.shape[1] - n :].copy()

    @property
    def ready(self) -> bool:
        """Whether enough has come to be judged."""
        return self.samples >= LOOK_S * self.book.rate

    def quality(self) -> Quality:
        since = self.samples - LOOK_S * self.book.rate
        bad = {name for name, at in self.no_numbers.items() if at > since}
        return judged(self.book, self.newest(LOOK_S), bad, self.mains_hz, self.absent)

    def traces(self, low_hz: float, high_hz: float, notch: bool, reference: str) -> Array:
        """The kept seconds as the operator wants to see them, (channels, n) at about 60 Hz."""
        eeg, rate = self.newest(KEPT_S), self.book.rate
        if not eeg.shape[1]:
            return eeg
        scalp = [k for k, name in enumerate(self.book.channels) if name not in NOT_SCALP and k not in self.absent]
        if reference == "average":
            eeg[scalp] -= eeg[scalp].mean(axis=0)
        elif reference:
            row = next((k for k, n in enumerate(self.book.channels) if plain_name(n) == plain_name(reference)), None)
            if row is not None:
                eeg[scalp] -= eeg[row].copy()
        eeg -= eeg.mean(axis=1, keepdims=True)
        top = min(high_hz, 0.45 * rate) if high_hz else 0.0
        for kind, edge in (("highpass", low_hz), ("lowpass", top)):
            if edge and eeg.shape[1] > 20:
                eeg = sosfiltfilt(butter(2, edge, kind, fs=rate, output="sos"), eeg, axis=1)
        if notch and eeg.shape[1] > 20:
            band = (self.mains_hz - 2, self.mains_hz + 2)
            eeg = sosfiltfilt(butter(2, band, "bandstop", fs=rate, output="sos"), eeg, axis=1)
        return np.asarray(eeg[:, :: max(1, round(rate / TRACE_HZ))])
