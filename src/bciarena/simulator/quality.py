"""Is this EEG like EEG? Measures of a data folder, beside published ranges for people.

Everything is measured on the recordings themselves: nothing here knows what the simulator put in, so real recordings
can be measured in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from bciarena.contests import rulebook
from bciarena.recording import Block, Recording
from bciarena.recording.montages import NOT_SCALP
from bciarena.simulator.brain import Look, brain_of

Array = NDArray[np.float64]
SUBJECTS, BLOCKS = 6, 2
"""How much of a set is measured."""
ERD_HZ = np.arange(5.0, 36.0, 1.0)
ERD_S = (-2.0, 5.0)
TRACE_HZ = 0.5
"""High-pass of the example traces: with drift they would overlap."""
NEIGHBOURS = {"C3": ("FC3", "CP3", "C1", "C5"), "C4": ("FC4", "CP4", "C2", "C6")}
LEFT, RIGHT = "left", "right"


LATERAL = "map_lateral"
"""The map that shows a difference."""


@dataclass
class Measure:
    """One number beside its published range; ``name`` and ``source`` are keys of the page's words."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    source: str

    @property
    def inside(self) -> bool:
        return self.low <= self.value <= self.high


@dataclass
class Quality:
    """Everything the page shows; titles are keys of its words, or names of channels."""

    challenge: str
    channels: tuple[str, ...]
    rate: int
    look: Look = field(default_factory=Look)
    traces: tuple[list[str], Array] = field(default_factory=lambda: ([], np.empty((0, 0))))
    spectra: dict[str, tuple[Array, Array]] = field(default_factory=dict)  # name -> Hz, uV^2/Hz
    maps: dict[str, Array] = field(default_factory=dict)  # title -> one value per scalp channel
    erd: dict[str, Array] = field(default_factory=dict)  # title -> (frequencies, times), % change
    snr_db: dict[int, float] = field(default_factory=dict)  # harmonic -> dB
    measures: list[Measure] = field(default_factory=list)

    @property
    def scalp(self) -> list[int]:
        return [row for row, name in enumerate(self.channels) if name not in NOT_SCALP]


def measure(recording: Recording, challenge: str) -> Quality:
    """Measure the first subjects and blocks of a set."""
    book = rulebook(challenge)
    blocks = [block for subject in recording.subjects[:SUBJECTS] for block in subject.blocks[:BLOCKS]]
    look = brain_of(book).look
    if look.state is not None:  # all people are in one folder
        blocks = list(recording.subjects[0].blocks[:SUBJECTS])
    found = Quality(book.id, book.channels, book.rate, look)
    _rest(found, blocks)
    if look.sides:
        if look.rest_kept:
            _imagery(found, blocks)
        _lateral(found, blocks)
    if look.flicker is not None:
        _flicker(found, blocks)
    if look.state is not None:
        _eyes(found, blocks)
    return found


def _row(found: Quality, name: str) -> int:
    return [own.upper() for own in found.channels].index(name.upper())


def _pieces(block: Block, least_s: float = 2.0) -> list[Array]:
    """Stretches that are not zero, each at least ``least_s`` long."""
    alive = np.concatenate([[False], np.any(block.eeg[:] != 0, axis=0), [False]])
    edges = np.flatnonzero(np.diff(alive.astype(int)))
    spans = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= least_s * block.rate]
    return [np.asarray(block.eeg[:, a:b], dtype=np.float64) for a, b in spans]


def _spectrum(pieces: list[Array], rate: int) -> tuple[Array, Array]:
    """Frequencies and the median spectrum over pieces, shape (channels, bins)."""
    made = [scipy.signal.welch(piece, rate, nperseg=2 * rate) for piece in pieces]
    return made[0][0], _typical([power for _, power in made])


def _typical(values: list[Array]) -> Array:
    """The median over the pieces in which a channel has a signal; 0 if it never has."""
    whole = np.array(values)
    middle = np.zeros(whole.shape[1:])
    for row in range(len(middle)):
        alive = whole[:, row].reshape(len(whole), -1).any(axis=1)
        if alive.any():
            middle[row] = np.median(whole[alive, row], axis=0)
    return middle


def _against_average(found: Quality, eeg: Array) -> Array:
    """The scalp channels against their mean, shape (scalp channels, samples); dead ones stay 0.

    A map against one electrode shows that electrode's place; against the average it shows the sources' places.
    """
    own = eeg[found.scalp]
    alive = own.std(axis=1) > 0
    own[alive] -= own[alive].mean(axis=0)
    return own


def _decibel(power: Array) -> Array:
    """10 log10, NaN for dead channels."""
    return 10 * np.log10(np.where(power > 0, power, np.nan))


def _rest(found: Quality, blocks: list[Block]) -> None:
    pieces = [piece for block in blocks for piece in _pieces(block)]
    hz, power = _spectrum(pieces, found.rate)
    for name in ("Fz", "C3", "Oz") if found.look.state is None else ():
        found.spectra[name] = hz, power[_row(found, name)]
    _example(found, pieces)
    top = round(found.look.top_hz)
    free = ((hz > 3) & (hz < 6)) | ((hz > 28) & (hz < top))
    slope = -np.polyfit(np.log(hz[free]), np.log(power[_row(found, "C3"), free]), 1)[0]
    found.measures.append(Measure("exponent", float(slope), 0.8, 2.0, "", "from_exponent"))
    size = float(np.sqrt(power[_row(found, "C3"), (hz >= 4) & (hz < 40)].sum() * (hz[1] - hz[0])))
    found.measures.append(Measure("size", size, 2.0, 20.0, "uV", "from_size"))
    if found.look.state is None:
        hz, power = _spectrum([_against_average(found, piece) for piece in pieces], found.rate)
        found.maps["map_alpha"] = _decibel(power[:, (hz >= 8) & (hz < 13)].mean(axis=1))


def _example(found: Quality, pieces: list[Array]) -> None:
    """Six seconds of some channels, from the longest piece in which most of them have a signal."""
    names = ("VEOU", "HEOR", "Fpz", "Fz", "C3", "Cz", "C4", "Pz", "Oz", "ECG")
    shown = [n for n in names if n.upper() in {own.upper() for own in found.channels}]
    rows, long_n = [_row(found, n) for n in shown], 6 * found.rate
    chosen = max(pieces, key=lambda piece: (np.count_nonzero(piece[rows].std(axis=1)), piece.shape[1]))
    sections = scipy.signal.butter(2, TRACE_HZ, "highpass", fs=found.rate, output="sos")
    smooth = scipy.signal.sosfiltfilt(sections, chosen[rows], axis=1)
    start = max(0, (smooth.shape[1] - long_n) // 2)
    found.traces = shown, smooth[:, start : start + long_n]


def _local(found: Quality, eeg: Array, name: str) -> Array:
    """A channel minus its neighbours."""
    own: Array = eeg[_row(found, name)] - eeg[[_row(found, other) for other in NEIGHBOURS[name]]].mean(axis=0)
    return own


def _sides(found: Quality, block: Block) -> dict[str, list[int]]:
    """Onsets of left and right hand imagery."""
    sides = found.look.sides
    onsets = {side: [sample for sample, code in block.events if code in codes] for side, codes in sides.items()}
    return onsets


def _imagery(found: Quality, blocks: list[Block]) -> None:
    rate = found.rate
    gathered: dict[tuple[str, str], list[Array]] = {}
    for block in blocks:
        eeg = np.asarray(block.eeg[:], dtype=np.float64)
        for channel in NEIGHBOURS:
            step = rate // 10
            hz, times, power = scipy.signal.spectrogram(
                _local(found, eeg, channel), rate, nperseg=rate, noverlap=rate - step, mode="psd"
            )
            rows = [int(np.argmin(np.abs(hz - one))) for one in ERD_HZ]
            for side, onsets in _sides(found, block).items():
                for onset in onsets:
                    first = int(np.argmin(np.abs(times - (onset / rate + ERD_S[0]))))
                    part = power[rows, first : first + round((ERD_S[1] - ERD_S[0]) * 10)]
                    if part.shape[1] == round((ERD_S[1] - ERD_S[0]) * 10):
                        gathered.setdefault((side, channel), []).append(part)
    change = {}
    for (side, channel), parts in sorted(gathered.items()):
        mean = np.mean(parts, axis=0)
        quiet = mean[:, : round(-ERD_S[0] * 10) - 5].mean(axis=1, keepdims=True)
        found.erd[f"erd_{side}_{channel}"] = 100 * (mean / quiet - 1)
        mu, late = (ERD_HZ >= 9) & (ERD_HZ <= 13), slice(round((1 - ERD_S[0]) * 10), round((4 - ERD_S[0]) * 10))
        change[side, channel] = float(100 * (mean[mu][:, late].mean() / quiet[mu].mean() - 1))
    if len(change) < 4:
        return
    contra = (change[LEFT, "C4"] + change[RIGHT, "C3"]) / 2
    same = (change[LEFT, "C3"] + change[RIGHT, "C4"]) / 2
    found.measures.append(Measure("mu_opposite", contra, -80, -10, "%", "from_erd"))
    found.measures.append(Measure("mu_difference", contra - same, -60, -3, "%", "from_erd"))


def _lateral(found: Quality, blocks: list[Block]) -> None:
    """Where mu power is lower for the left than for the right hand."""
    sections = scipy.signal.butter(4, (9, 13), "bandpass", fs=found.rate, output="sos")
    logs: dict[str, list[Array]] = {LEFT: [], RIGHT: []}
    for block in blocks:
        for side, onsets in _sides(found, block).items():
            for onset in onsets:
                part = np.asarray(block.eeg[:, onset : onset + 4 * found.rate], dtype=np.float64)
                wave = scipy.signal.sosfiltfilt(sections, _against_average(found, part), axis=1)
                power = wave[:, found.rate // 2 :].var(axis=1)
                logs[side].append(power / np.median(power[power > 0]))  # people's amplitudes differ, maps are compared
    if not logs[LEFT] or not logs[RIGHT]:
        return
    less = _decibel(_typical(logs[LEFT])) - _decibel(_typical(logs[RIGHT]))
    found.maps[LATERAL] = less
    if not found.look.rest_kept:  # no rest is kept, so there is nothing to measure a change against
        c3, c4 = (found.scalp.index(_row(found, name)) for name in ("C3", "C4"))
        found.measures.append(Measure("mu_lateral", float(less[c4] - less[c3]) / 2, -6, -0.1, "dB", "from_erd"))


def _flicker(found: Quality, blocks: list[Block]) -> None:
    oz, rate = _row(found, "Oz"), found.rate
    power: dict[int, list[tuple[float, float]]] = {}
    phasors, keys, spread = [], [], []
    for block in blocks:
        for sample, code in block.events:
            shown = found.look.flicker(code) if found.look.flicker else None
            if shown is None:
                continue
            hz, phase = shown
            whole = np.asarray(block.eeg[:, sample + rate // 5 :][:, : 4 * rate], dtype=np.float64)
            if whole.shape[1] < 4 * rate:
                continue
            part, where = whole[found.scalp], found.scalp.index(oz)
            for k in (1, 2, 3, 4):
                here = abs(_at(part[where], k * hz, rate)) ** 2
                beside = np.mean([abs(_at(part[where], k * hz + off, rate)) ** 2 for off in (-2, -1.25, 1.25, 2)])
                power.setdefault(k, []).append((here, float(beside)))
            phasors.append(_at(part[where], hz, rate))
            keys.append((hz, phase))
            spread.append(np.abs([_at(row, hz, rate) for row in _against_average(found, whole)]))
    if not phasors:
        return
    found.snr_db = {k: float(10 * np.log10(np.sum(v, axis=0)[0] / np.sum(v, axis=0)[1])) for k, v in power.items()}
    found.maps["map_flicker"] = np.median(spread, axis=0)
    found.measures.append(Measure("flicker_snr", found.snr_db[1], 3, 18, "dB", "from_flicker_snr"))
    if found.look.phases_coded:
        unit = np.array(phasors) / np.abs(phasors)
        hz, phase = np.array(keys).T
        delays = np.arange(0.08, 0.22, 0.001)
        fit = [abs(np.mean(unit * np.exp(-1j * (2 * np.pi * hz * (0.2 - lag) + phase)))) for lag in delays]
        delay_s = float(delays[np.argmax(fit)])
        found.measures.append(Measure("flicker_delay", delay_s, 0.12, 0.16, "s", "from_flicker_delay"))
        found.measures.append(Measure("flicker_phases", max(fit), 0.5, 1.0, "", "from_flicker_phases"))


def _at(wave: Array, hz: float, rate: int) -> complex:
    """Complex amplitude at a frequency in microvolts."""
    window = np.hanning(len(wave))
    turn = np.exp(-2j * np.pi * hz * np.arange(len(wave)) / rate)
    return complex(2 * np.sum((wave - wave.mean()) * window * turn) / window.sum())


def _eyes(found: Quality, blocks: list[Block]) -> None:
    parts: dict[str, list[Array]] = {}
    for block in blocks:
        for (first, code), (last, end) in pairwise(block.events):
            if end == 241:
                kind = found.look.state(code) if found.look.state else ""
                parts.setdefault(kind, []).append(np.asarray(block.eeg[:, first:last], dtype=np.float64))
    oz = _row(found, "Oz")
    for kind, pieces in parts.items():
        hz, power = _spectrum(pieces, found.rate)
        found.spectra[f"oz_{kind}"] = hz, power[oz]
    if "eyes_open" in parts and "eyes_closed" in parts:
        alpha = (hz >= 8) & (hz < 13)
        ratio = found.spectra["oz_eyes_closed"][1][alpha].mean() / found.spectra["oz_eyes_open"][1][alpha].mean()
        found.measures.append(Measure("alpha_ratio", float(ratio), 1.5, 10, "", "from_alpha_ratio"))
    if "eyes_closed" in parts:
        around = (hz >= 7) & (hz < 14)
        peak = hz[around][np.argmax(found.spectra["oz_eyes_closed"][1][around])]
        found.measures.append(Measure("alpha_peak", float(peak), 8, 13, "Hz", "from_alpha_peak"))
    if "generated" in parts and len(parts) == 3:
        logs = {kind: _decibel(found.spectra[f"oz_{kind}"][1]) for kind in parts}
        off = logs["generated"] - (logs["eyes_open"] + logs["eyes_closed"]) / 2
        rms = float(np.sqrt(np.mean(off[(hz >= 2) & (hz < 38)] ** 2)))
        found.measures.append(Measure("fakes", rms, 0, 2.5, "dB", "from_fakes"))
