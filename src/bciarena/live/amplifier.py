"""An amplifier's stream as a contest wants it: its channels, microvolts, reference and rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import firwin, kaiserord, lfilter

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.importing.meanings import meanings_of
from bciarena.live.notes import NOTE
from bciarena.recording.channels import WHOLE_CAP, cap_rows, find_rows, plain_name
from bciarena.recording.montages import NOT_SCALP
from bciarena.recording.units import to_microvolt
from bciarena.words import Said

Array = NDArray[np.float64]
PASS, STOP, DOWN_DB = 0.36, 0.64, 60.0
"""The anti-alias filter: passes up to 0.36 of the new rate, and what would fold below that is 60 dB down."""
OHMS = {"ohm": 1.0, "ohms": 1.0, "ω": 1.0, "kohm": 1e3, "kohms": 1e3, "kiloohm": 1e3, "kiloohms": 1e3, "kω": 1e3}
"""Units of impedances."""
LEAST_UV, MOST_UV = 0.05, 2000.0
"""Spread of a scalp channel over two seconds: outside of this it is not EEG in microvolts."""


@dataclass(frozen=True)
class Wiring:
    """What the operator says about an amplifier.

    Attributes
    ----------
    names : mapping of str to str
        The contest's channel to the stream's; an empty name: there is no such electrode, the row is 0.
    unit : str
        Instead of what the stream declares.
    keep_all : bool
        Keep what the contest's recordings blank (cue and rest within trials, where it has such a rule).
    """

    names: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    keep_all: bool = False


class Bad(NamedTuple):
    """A channel that gave no numbers, from one sample's time to another's."""

    channel: str
    first_s: float
    last_s: float


class Decimator:
    """A stream's rate divided by a whole number, behind a causal low-pass filter.

    The filter is symmetric, so it delays every frequency alike; each sample that comes out is given the time of the
    sample at the filter's middle, and codes are laid on samples by time: nothing is shifted, it only comes
    ``delay_s`` later.
    """

    def __init__(self, rate: int, times: int, channels: int) -> None:
        self.times, new = times, rate / times
        taps, beta = kaiserord(DOWN_DB, (STOP - PASS) * new / (rate / 2))
        self.half = ceil(taps / 2)
        self.taps = firwin(2 * self.half + 1, (PASS + STOP) / 2 * new, window=("kaiser", beta), fs=rate)
        self.delay_s = self.half / rate
        self.channels = channels
        self.restart()

    def restart(self) -> None:
        """Begin anew, after a gap: nothing before it reaches what comes."""
        self._state: Array | None = None
        self._stamps = np.zeros(0)  # of samples that are not yet at the filter's middle
        self._next = 0  # how many samples at the middle are passed over before one is taken

    def __call__(self, eeg: Array, stamps: Array) -> tuple[Array, Array]:
        """What comes out for (channels, n) and the time of each."""
        if not len(stamps):
            return eeg[:, :0], stamps
        waited = len(self._stamps)
        if self._state is None:  # as if the first sample had always been there: no step at the beginning
            self._state = lfilter_start(self.taps, eeg[:, 0])
        smooth, self._state = lfilter(self.taps, 1.0, eeg, axis=1, zi=self._state)
        known = np.concatenate([self._stamps, stamps])
        ready = max(0, len(known) - self.half)  # samples that have come to the filter's middle
        self._stamps = known[ready:]
        # Sample k of ``known`` is at the middle when column k + half - waited comes out.
        picks = np.arange(self._next, ready, self.times)
        self._next = (picks[-1] + self.times if len(picks) else self._next) - ready
        return smooth[:, picks + self.half - waited], known[picks]


def lfilter_start(taps: Array, first: Array) -> Array:
    """The filter's state when its input was ``first`` for ever, shape (channels, taps - 1)."""
    tails = np.cumsum(taps[::-1])[::-1][1:]  # state k: what taps k + 1 ... still add
    return first[:, None] * tails[None]


class Amplifier:
    """What is done to a stream's samples, once it is known what the stream is.

    Parameters
    ----------
    name : str
        Of the stream, for messages.
    channels, units, types : tuple of str
        As the stream declares them; empty where it does not.
    count : int
        How many channels it has.
    rate : float
        Its samples per second.
    """

    def __init__(
        self, book: Rulebook, wiring: Wiring, name: str, channels: tuple[str, ...], units: tuple[str, ...],
        types: tuple[str, ...], count: int, rate: float, tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.book, self.name, self.tell = book, name, tell
        named = channels if any(channels) else ()
        self.rows = self._rows(named, count, wiring)
        # LSL has no agreed place for impedances: channels whose type or unit says so.
        kinds, measures = (told if len(told) == count else ("",) * count for told in (types, units))
        self._ohms = {name: k for k, name in enumerate(named)
                      if kinds[k].casefold() == "impedance" or measures[k].casefold() in OHMS}  # fmt: skip
        self._ohm_factors = {name: OHMS.get(measures[k].casefold(), 1.0) for name, k in self._ohms.items()}
        self.ohms: dict[str, float] = {}  # the newest of each
        self.absent = [k for k, row in enumerate(self.rows) if row < 0]
        self.scale, self.unit = self._scale(units, wiring)
        self.average = self._cap(named, types)
        times = round(rate) / book.rate
        if times < 1 or times != int(times) or abs(rate - round(rate)) > 1e-3:
            raise BadInput(f"stream {name!r}: {rate:g} Hz; {book.rate} Hz are needed, or a whole multiple of it")
        self.rate = round(rate)
        self.decimator = Decimator(self.rate, int(times), len(self.rows)) if times > 1 else None
        self._looked: list[Array] | None = []
        self._last = np.zeros(len(self.rows))

    @property
    def delay_s(self) -> float:
        """How much later samples come because of the filter."""
        return self.decimator.delay_s if self.decimator else 0.0

    def described(self, count: int) -> Said:
        """What the stream is and what is done to it, in a line."""
        said = [NOTE("stream", name=self.name, n=count, rate=self.rate, unit=self.unit)]
        if self.decimator:
            said.append(NOTE("lowpass", rate=self.book.rate, ms=self.delay_s * 1e3))
        if self.average:
            said.append(NOTE("average", n=len(self.average)))
        if self.absent:
            said.append(NOTE("absent", names=" ".join(self.book.channels[k] for k in self.absent)))
        return Said.joined(said, "; ")

    def __call__(self, data: Array, stamps: Array) -> tuple[Array, Array, list[Bad]]:
        """Rows of the contest in microvolts at its rate, their times, and where a channel gave no numbers.

        There its last number is held: a filter or an average must not carry one bad sample everywhere.
        """
        if data.shape[1]:
            self.ohms = {name: float(data[row, -1]) * self._ohm_factors[name] for name, row in self._ohms.items()}
        data = data * self.scale[:, None] if self.scale.size > 1 else data * self.scale
        if self.average:
            with np.errstate(invalid="ignore"):
                cap = data[self.average]
                good = np.isfinite(cap)
                data = data - np.where(good, cap, 0).sum(axis=0) / np.maximum(good.sum(axis=0), 1)
        eeg = data[self.rows]
        eeg[self.absent] = 0
        bad = self._held(eeg, stamps)
        self._look(eeg)
        return (*self.decimator(eeg, stamps), bad) if self.decimator else (eeg, stamps, bad)

    def _held(self, eeg: Array, stamps: Array) -> list[Bad]:
        good = np.isfinite(eeg)
        found = []
        if not good.all():
            for row in np.flatnonzero(~good.all(axis=1)):
                at = np.flatnonzero(~good[row])
                found.append(Bad(self.book.channels[row], float(stamps[at[0]]), float(stamps[at[-1]])))
                newest = np.maximum.accumulate(np.where(good[row], np.arange(len(stamps)), -1))
                eeg[row] = np.where(newest >= 0, eeg[row, newest], self._last[row])
        if len(stamps):
            self._last = eeg[:, -1].copy()
        return found

    def restart(self) -> None:
        """There was a gap."""
        if self.decimator:
            self.decimator.restart()

    def _rows(self, named: tuple[str, ...], count: int, wiring: Wiring) -> list[int]:
        wanted = self.book.channels
        known = {plain_name(name) for name in wanted}
        odd = [name for name in wiring.names if plain_name(name) not in known]
        if odd:
            raise BadInput(f"the map names {', '.join(odd[:8])}: {self.book.id} has no such channel")
        if not named:
            if wiring.names or count < len(wanted):
                raise BadInput(f"stream {self.name!r}: {count} unnamed channels; {len(wanted)} are needed")
            return list(range(len(wanted)))
        mapped = {plain_name(ours): theirs for ours, theirs in wiring.names.items()}
        own = {name.casefold(): row for row, name in enumerate(named)}
        places, missing = find_rows(wanted, named), []
        for name in wanted:
            theirs = mapped.get(plain_name(name))
            if theirs is None:
                if name not in places:
                    missing.append(name)
            elif not theirs:
                places[name] = -1
            elif theirs.casefold() in own:
                places[name] = own[theirs.casefold()]
            else:
                raise BadInput(f"stream {self.name!r}: has no channel {theirs}, which the map gives for {name}")
        if missing:
            raise BadInput(
                f"stream {self.name!r}: has no channel {', '.join(missing[:8])}; it has {', '.join(named[:80])}. "
                "Say which is which with a map: Fz=E12; with A1= where there is no such electrode"
            )
        rows = [places[name] for name in wanted]
        twice = sorted({named[row] for row in rows if row >= 0 and rows.count(row) > 1})
        if twice:
            raise BadInput(f"stream {self.name!r}: {', '.join(twice)} would stand in two rows; give a map")
        others = [f"{name} is {named[row]}" for name, row in zip(wanted, rows, strict=True)
                  if row >= 0 and plain_name(named[row]) != plain_name(name)]  # fmt: skip
        if others:
            self.tell(NOTE("other_names", names=", ".join(others)))
        return rows

    def _scale(self, units: tuple[str, ...], wiring: Wiring) -> tuple[Array, Said]:
        """What samples are multiplied by, one for all or one for each channel, and the unit in words."""
        if wiring.unit:
            factor = to_microvolt(wiring.unit)
            if factor is None:
                raise BadInput(f"--unit {wiring.unit}: expected V, mV, uV or nV")
            return np.array([factor]), NOTE("unit_told", unit=wiring.unit)
        used = {units[row] for row in self.rows if row >= 0} if any(units) else {""}
        unknown = sorted(unit for unit in used if unit and to_microvolt(unit) is None)
        if unknown:
            raise BadInput(f"stream {self.name!r}: declares {', '.join(unknown)}, which is no voltage; give --unit")
        if "" in used:
            self.tell(NOTE("no_unit"))
        scale = np.array([to_microvolt(unit) or 1.0 for unit in units]) if any(units) else np.ones(1)
        return scale, Said.joined((unit or NOTE("unit_assumed") for unit in sorted(used)), "/")

    def _cap(self, named: tuple[str, ...], types: tuple[str, ...]) -> list[int]:
        """Rows of the stream whose average is the reference; none where the contest asks for none."""
        if meanings_of(self.book).reference != "average":
            return []
        kinds = types if len(types) == len(named) else ("eeg",) * len(named)
        cap = [row for row in cap_rows(named) if kinds[row].casefold() in ("eeg", "")]
        if len(cap) < WHOLE_CAP:
            self.tell(NOTE("few_electrodes", n=len(cap)))
            return []
        return cap

    def _look(self, eeg: Array) -> None:
        """Once, after two seconds: is this EEG in microvolts?"""
        if self._looked is None:
            return
        self._looked.append(eeg)
        if sum(part.shape[1] for part in self._looked) < 2 * self.rate:
            return
        whole = np.concatenate(self._looked, axis=1)
        self._looked = None
        scalp = [k for k, name in enumerate(self.book.channels) if name not in NOT_SCALP and k not in self.absent]
        spread = float(np.nanmedian(np.nanstd(whole[scalp], axis=1)))
        if not LEAST_UV <= spread <= MOST_UV:
            self.tell(NOTE("amplitude", spread=spread, least=LEAST_UV, most=MOST_UV, unit=self.unit))
