"""The trials of a set, and what each probe sees of them. No probe sees what an entry is meant to decode."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.audit.part import audit_of
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import trial_spans
from bciarena.recording.channels import cap_rows
from bciarena.recording.model import Block, Recording

Array = NDArray[np.float64]
BEFORE_S = 2.0
LEAST_BEFORE_S = 0.2
BINS = 8
BANDS_HZ = ((4.0, 8.0), (8.0, 13.0), (13.0, 30.0), (30.0, 45.0))
LINES_HZ = (50.0, 60.0, 100.0)
EDGES_HZ = (45.0, 55.0, 70.0, 90.0, 124.0, 250.0, 499.0)
END = 241
"""Closes a trial in every contest that has an end code."""


@dataclass(frozen=True)
class Case:
    """One trial: where it is, and what opened it."""

    block: Block
    subject: int
    number: int  # of the block, within its subject
    index: int  # of the trial, within its block
    before: int  # the sample where the trial before it ended
    onset: int
    end: int
    code: int


def cases_of(book: Rulebook, recording: Recording) -> list[Case]:
    """Every trial that may be used."""
    found = []
    for subject, number, block in recording:
        closings = [event.sample for event in block.events if event.code == END]
        over = 0
        for index, span in enumerate(trial_spans(book, block), 1):
            closed = next((at for at in closings if span.opened < at < span.stop), None)
            longest = span.opened + round((book.limit_s or book.missing_s or 60.0) * book.rate)
            end = span.closed or min([longest, block.samples, *([closed] if closed else [])])
            if not span.invalid and end - span.opened >= book.packet_n:
                found.append(Case(block, subject, number, index, over, span.opened, end, span.code))
            over = end + 1
    return found


def order(book: Rulebook, cases: list[Case]) -> Array | None:
    """Time of day and trial order: place in the block and in the session, parity, place in the packet."""
    rows = []
    for one in cases:
        share = one.onset / one.block.samples
        turns = [np.cos(2 * np.pi * one.index / n) for n in (2, 3, 4)]
        phase = 2 * np.pi * (one.onset % book.packet_n) / book.packet_n
        rows.append([one.index, share, one.onset / one.block.rate, *turns, np.cos(phase), np.sin(phase)])
    return np.array(rows, float)


def triggers(book: Rulebook, cases: list[Case]) -> Array | None:
    """The visible codes around a trial, but for the one that opens it: which, and how far away."""
    rows = []
    for one in cases:
        row = book.masked_trigger(one.block.trigger)
        at = np.flatnonzero(row)
        earlier, later = at[at < one.onset], at[(at > one.onset) & (at <= one.end)]
        back = [one.onset - earlier[-1] if len(earlier) else 0, row[earlier[-1]] if len(earlier) else 0]
        ahead = [later[0] - one.onset if len(later) else 0, row[later[0]] if len(later) else 0]
        rows.append([*back, *ahead, len(later), one.end - one.onset if END in row[later] else 0])
    found = np.array(rows, float)
    return found if np.ptp(found, axis=0).any() else None


def zeros(book: Rulebook, cases: list[Case]) -> Array | None:
    """Zeros and padding: dead stretches before, within and after a trial, flat channels, samples that repeat."""
    rows = []
    for one in cases:
        eeg = np.asarray(one.block.eeg[:, one.onset : one.end], float)
        before, after = _dead(one.block, one.before, one.onset), _dead(one.block, one.end + 1, one.end + 10 * book.rate)
        held = np.all(np.diff(eeg, axis=1) == 0, axis=0).mean()  # in one channel alone rounding does that
        rows.append([
            _run(before[::-1]), before.mean() if before.size else 0, _run(after), np.all(eeg == 0, axis=0).mean(),
            (np.ptp(eeg, axis=1) == 0).sum(), held, _run(np.all(eeg == 0, axis=0)),
        ])  # fmt: skip
    found = np.array(rows, float)
    return found if np.ptp(found, axis=0).any() else None


def _dead(block: Block, start: int, stop: int) -> NDArray[np.bool_]:
    """Samples at which every channel is 0."""
    return np.asarray(np.all(np.asarray(block.eeg[:, start:stop]) == 0, axis=0))


def _run(true: NDArray[Any]) -> int:
    """How many are true at the beginning."""
    return int(true.size if true.all() else np.argmin(true))


def amplitude(book: Rulebook, cases: list[Case]) -> Array | None:
    """The size of it all: offset, usual size, clipping and steps over all channels together, no pattern among them."""
    rows, soon_s = [], audit_of(book).response_s
    for one in cases:
        end = one.end if soon_s is None else min(one.end, one.onset + round(soon_s * book.rate))
        eeg = _scalp(one.block, one.onset, end)
        middle = eeg - eeg.mean(axis=1, keepdims=True)
        clipped = np.mean(eeg == eeg.max(axis=1, keepdims=True))
        values = np.unique(eeg[0, :1000]).size / min(eeg.shape[1], 1000)
        whole = [np.mean(eeg * steps == np.round(eeg * steps)) for steps in (1, 4, 16, 64)]
        rows.append([
            np.log(np.median(np.abs(middle)) + 1e-9), clipped, np.tanh(eeg.mean() / 100), values, *whole,
        ])  # fmt: skip
    return _per_subject(np.array(rows, float), cases)


def traces(book: Rulebook, cases: list[Case]) -> Array | None:
    """What filters leave: lines and notches against their surroundings, and levels above the band of the signal.

    Levels are medians over bins: narrow harmonics of a flicker are signal, and do not move them.
    """
    top_hz = audit_of(book).top_hz
    edges = [hz for hz in EDGES_HZ if top_hz < hz < book.rate / 2]
    rows = []
    for one in cases:
        eeg = _scalp(one.block, one.onset, one.end)
        eeg = (eeg - eeg.mean(axis=1, keepdims=True)) * np.hanning(eeg.shape[1])
        power = (np.abs(np.fft.rfft(eeg)) ** 2).mean(axis=0)
        hz = np.fft.rfftfreq(eeg.shape[1], 1 / one.block.rate)
        inner = _level(power, (hz >= 0.7 * top_hz) & (hz < 0.95 * top_hz))
        row = []
        for line in LINES_HZ:
            away = np.abs(hz - line)
            row.append(_level(power, away <= max(0.6, hz[1])) - _level(power, (away > 2) & (away <= 6)))
        row += [_level(power, (hz >= low) & (hz < high)) - inner for low, high in pairwise([top_hz, *edges])]
        rows.append(row)
    return _per_subject(np.array(rows, float), cases)


def _level(power: Array, bins: NDArray[np.bool_]) -> float:
    return float(np.log(np.median(power[bins]) + 1e-9 * power.max() + 1e-30)) if bins.any() else 0.0


def before_shape(book: Rulebook, cases: list[Case]) -> Array | None:
    """The course of every channel before the onset, in eight steps."""
    windows = _before(book, cases)
    if windows is None:
        return None
    n = windows.shape[2] // BINS * BINS
    steps = windows[:, :, -n:].reshape(len(cases), windows.shape[1], BINS, -1).mean(axis=3)
    return _per_subject((steps - steps.mean(axis=2, keepdims=True)).reshape(len(cases), -1), cases)


def before_power(book: Rulebook, cases: list[Case]) -> Array | None:
    """Band powers of every channel before the onset."""
    windows = _before(book, cases)
    if windows is None:
        return None
    tapered = (windows - windows.mean(axis=2, keepdims=True)) * np.hanning(windows.shape[2])
    power = np.abs(np.fft.rfft(tapered)) ** 2
    hz = np.fft.rfftfreq(windows.shape[2], 1 / book.rate)
    bands = [power[:, :, (hz >= low) & (hz < high)] for low, high in BANDS_HZ]
    kept = [np.log(band.mean(axis=2) + 1e-9) for band in bands if band.shape[2]]
    return _per_subject(np.concatenate(kept, axis=1), cases) if kept else None


def _before(book: Rulebook, cases: list[Case]) -> Array | None:
    """EEG between the trial before and the onset, (trials, channels, samples); None where there is none."""
    room = np.array([one.onset - one.before for one in cases])
    n = int(min(BEFORE_S * book.rate, np.quantile(room, 0.05)))
    if n < max(LEAST_BEFORE_S * book.rate, 2 * BINS):
        return None
    rows = cap_rows(book.channels)
    found = np.zeros((len(cases), len(rows), n))
    for k, one in enumerate(cases):
        first = max(one.onset - n, one.before)
        found[k, :, n - (one.onset - first) :] = np.asarray(one.block.eeg[rows, first : one.onset], float)
    return found if found.any() else None


def _scalp(block: Block, start: int, stop: int) -> Array:
    eeg = np.asarray(block.eeg[cap_rows(block.channels), start:stop], float)
    live = eeg[np.ptp(eeg, axis=1) > 0]
    return live if len(live) else np.zeros((1, max(stop - start, 2)))


def _per_subject(rows: Array, cases: list[Case]) -> Array:
    """Features in units of each subject's own spread: what distinguishes people says nothing here."""
    rows = rows.copy()
    who = np.array([one.subject for one in cases])
    for subject in np.unique(who):
        own = rows[who == subject]
        rows[who == subject] = (own - own.mean(axis=0)) / np.maximum(own.std(axis=0), 1e-12)
    return rows


def place(book: Rulebook, cases: list[Case]) -> Array:
    """File and block: how alike two trials are by where they lie, shape (trials, trials)."""
    who = np.array([one.subject for one in cases])
    number = np.array([one.number for one in cases])
    named = np.array([_digits(one.block.source) for one in cases])
    same = who[:, None] == who[None]
    alike = [same & (number[:, None] == number[None]), number[:, None] == number[None], named[:, None] == named[None]]
    summed: Array = np.sum(alike, axis=0) / len(alike)
    return summed


def _digits(source: str) -> str:
    return "-".join(re.findall(r"\d+", Path(source).stem)[-2:])


PROBES: dict[str, Callable[[Rulebook, list[Case]], Array | None]] = {
    "order": order,
    "triggers": triggers,
    "zeros": zeros,
    "amplitude": amplitude,
    "traces": traces,
    "before_shape": before_shape,
    "before_power": before_power,
}
"""Features of each probe, shape (trials, features), or None where there is nothing to see; ``file`` is apart."""
