"""How far simulated recordings are from real ones: the same numbers of every person on both sides.

A statistic is one number of one person; the distance of two groups is the difference of their means in standard
deviations between people (both groups' pooled). Two groups drawn from the same people are not at distance 0 but, on
average over statistics, near ``sqrt(1/n + 1/m)``: what is told beside the distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.recording import Block, Recording, Subject
from bciarena.recording.montages import NOT_SCALP
from bciarena.simulator.quality import Quality, measure

Array = NDArray[np.float64]
BANDS_HZ = {"delta": (1.5, 4), "theta": (4, 8), "alpha": (8, 13), "beta": (13, 30)}
PLACES = ("Fz", "C3", "Oz")
ERP_PLACES, ERP_S, ERP_HZ = ("Cz", "Oz"), 0.6, 20.0
WINDOW_S, MU_BETA_HZ = (0.5, 3.5), (8.0, 30.0)
FLICKER_S, FLICKER_LAG_S = 2.0, 0.14
MOST_PEOPLE, LEAST_PEOPLE = 12, 3
OCCIPITAL = ("Pz", "POz", "PO3", "PO4", "PO5", "PO6", "PO7", "PO8", "Oz", "O1", "O2")


@dataclass(frozen=True)
class Statistic:
    """One statistic of both groups, a value per person in each."""

    name: str
    made: Array
    real: Array

    @property
    def distance(self) -> float:
        spread = np.sqrt((self.made.var(ddof=1) + self.real.var(ddof=1)) / 2)
        return float(abs(self.made.mean() - self.real.mean()) / max(spread, 1e-12))


@dataclass(frozen=True)
class Distance:
    """All statistics that both groups have, and the real recordings' spectra."""

    statistics: list[Statistic]
    people: tuple[int, int]
    spectra: dict[str, tuple[Array, Array]] = field(default_factory=dict)

    @property
    def whole(self) -> float:
        """Root mean square over the statistics."""
        return float(np.sqrt(np.mean([one.distance**2 for one in self.statistics])))

    @property
    def by_chance(self) -> float:
        """What two groups of this size drawn from the same people would be apart."""
        made, real = self.people
        return float(np.sqrt(1 / made + 1 / real))


def distance(made: Recording, real: Recording, challenge: str) -> Distance:
    """Compare a simulated set with a recorded one, person by person."""
    sides = []
    for what, recording in (("the simulated set", made), ("--beside", real)):
        people = [portrait(one, challenge) for one in recording.subjects[:MOST_PEOPLE]]
        if len(people) < LEAST_PEOPLE:
            raise BadInput(f"{what}: {len(people)} people; a distance needs {LEAST_PEOPLE} or more")
        sides.append(people)
    names = [name for name in sides[0][0] if all(name in one for side in sides for one in side)]
    rows = [Statistic(name, *(np.array([one[name] for one in side]) for side in sides)) for name in names]
    spectra = measure(real, challenge).spectra
    return Distance(rows, (len(sides[0]), len(sides[1])), spectra)


def portrait(person: Subject, challenge: str) -> dict[str, float]:
    """Every statistic of one person that the recordings allow."""
    found = measure(Recording((person,)), challenge)
    told = {item.name: item.value for item in found.measures if np.isfinite(item.value)}
    if found.look.state is None:
        told |= _bands(found)
    told |= _potentials(found, person.blocks)
    if len(found.look.sides) == 2:
        told |= _imagery(found, person.blocks)
    if found.look.flicker is not None:
        told |= _flicker(found, person.blocks)
    return {name: float(value) for name, value in told.items()}


def _bands(found: Quality) -> dict[str, float]:
    """Power in dB by band and place, relative to 4-40 Hz there: amplifiers and caps differ in size."""
    told = {}
    for place in PLACES:
        hz, power = found.spectra[place]
        whole = power[(hz >= 4) & (hz < 40)].mean()
        for band, (low, high) in BANDS_HZ.items():
            told[f"{place} {band}"] = 10 * np.log10(power[(hz >= low) & (hz < high)].mean() / whole)
    return told


def _rows(found: Quality, names: tuple[str, ...], eeg: Array) -> list[int]:
    known = [own.upper() for own in found.channels]
    rows = [known.index(name.upper()) for name in names if name.upper() in known]
    return [row for row in rows if eeg[row].std() > 0]


def _epochs(found: Quality, block: Block, onsets: list[int], span_s: tuple[float, float], filtered: Array) -> Array:
    """Stretches after onsets, shape (trials, channels, samples)."""
    first_n, last_n = (round(s * found.rate) for s in span_s)
    whole = [filtered[:, at + first_n : at + last_n] for at in onsets if at + last_n <= filtered.shape[1]]
    return np.array(whole).reshape(len(whole), len(filtered), last_n - first_n)


def _potentials(found: Quality, blocks: tuple[Block, ...]) -> dict[str, float]:
    """Peak to peak of the mean potential after trials open."""
    opens = rulebook(found.challenge).opens
    sections = scipy.signal.butter(2, (0.5, ERP_HZ), "bandpass", fs=found.rate, output="sos")
    told: dict[str, float] = {}
    for place in ERP_PLACES:
        gathered = []
        for block in blocks:
            eeg = np.asarray(block.eeg[:], dtype=np.float64)
            rows = _rows(found, (place,), eeg)
            onsets = [sample for sample, code in block.events if code in opens]
            if rows:
                wave = scipy.signal.sosfiltfilt(sections, eeg[rows], axis=1)
                gathered.append(_epochs(found, block, onsets, (0.0, ERP_S), wave)[:, 0])
        if gathered and (trials := np.concatenate(gathered)).size:
            told[f"potential {place}"] = float(np.ptp(trials.mean(axis=0)))
    return told


def _imagery(found: Quality, blocks: tuple[Block, ...]) -> dict[str, float]:
    """Left against right, each block by what the others teach (or five parts of one block), three pipelines."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    from bciarena.decoders.csp import CSP
    from bciarena.decoders.riemann import TangentSpace, covariances

    sections = scipy.signal.butter(4, MU_BETA_HZ, "bandpass", fs=found.rate, output="sos")
    names = tuple(name for name in found.channels if name not in NOT_SCALP)
    X, y, group = [], [], []
    rows: list[int] | None = None
    for number, block in enumerate(blocks):
        eeg = np.asarray(block.eeg[:], dtype=np.float64)
        rows = _rows(found, names, eeg) if rows is None else rows
        filtered = scipy.signal.sosfiltfilt(sections, eeg[rows] - eeg[rows].mean(axis=0), axis=1)
        for label, codes in enumerate(found.look.sides.values()):
            onsets = [sample for sample, code in block.events if code in codes]
            epochs = _epochs(found, block, onsets, WINDOW_S, filtered)
            X.append(epochs)
            y += [label] * len(epochs)
            group += [number] * len(epochs)
    epochs, labels, blocks_of = np.concatenate(X), np.array(y), np.array(group)
    pipelines = {
        "log power": make_pipeline(
            FunctionTransformer(_log_power), StandardScaler(), LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.3)
        ),
        "CSP": make_pipeline(CSP(2, 0.05), LinearDiscriminantAnalysis()),
        "tangent space": make_pipeline(
            FunctionTransformer(covariances), TangentSpace("euclid"), LogisticRegression(C=1.0, max_iter=500)
        ),
    }
    return {
        f"accuracy {name}": accuracy
        for name, pipeline in pipelines.items()
        if (accuracy := _across(lambda a, b, c, own=pipeline: own.fit(a, b).predict(c), epochs, labels, blocks_of))
        is not None
    }  # fmt: skip


def _log_power(epochs: Array) -> Array:
    power: Array = np.log(np.maximum(epochs.var(axis=2), 1e-12))
    return power


def _across(guess: Callable[..., Array], X: Array, y: NDArray[np.int64], group: NDArray[np.int64]) -> float | None:
    """Accuracy on parts that were not learnt; None where there is too little to learn from."""
    if len(np.unique(group)) < 2:
        group = np.arange(len(y)) * 5 // max(len(y), 1)
    right = 0
    for part in np.unique(group):
        learnt = group != part
        if min(np.bincount(y[learnt], minlength=2)) < 4:
            return None
        right += int(np.sum(guess(X[learnt], y[learnt], X[~learnt]) == y[~learnt]))
    return right / len(y)


def _flicker(found: Quality, blocks: tuple[Block, ...]) -> dict[str, float]:
    """Which key flickered, with its onset known and no trial to learn from: spectral peaks, CCA, filter-bank CCA."""
    from bciarena.decoders.cca import CCA, FBCCA

    rate, look = found.rate, found.look
    assert look.flicker is not None
    keys = np.array(sorted({one.hz for code in range(1, 256) if (one := look.flicker(code)) is not None}))
    n, lag_n = round(FLICKER_S * rate), round(FLICKER_LAG_S * rate)
    X, shown = [], []
    rows: list[int] | None = None
    for block in blocks:
        eeg = np.asarray(block.eeg[:], dtype=np.float64)
        rows = _rows(found, OCCIPITAL, eeg) if rows is None else rows
        filtered = np.array([scipy.signal.sosfiltfilt(band, eeg[rows], axis=1) for band in _bank(rate)])
        for sample, code in block.events:
            flicker, first = look.flicker(code), sample + lag_n
            if flicker is not None and first + n <= filtered.shape[2]:
                X.append(filtered[..., first : first + n])
                shown.append(int(np.argmin(np.abs(keys - flicker.hz))))
    if not X:
        return {}
    epochs, truth = np.array(X), np.array(shown)
    guesses = {
        "spectral peak": _peaks(epochs[:, 0], keys, rate),
        "CCA": CCA(keys, rate).fit(epochs[:, 0]).predict(epochs[:, 0]),
        "FBCCA": FBCCA(keys, rate).fit(epochs).predict(epochs),
    }
    return {f"accuracy {name}": float(np.mean(guess == truth)) for name, guess in guesses.items()}


def _bank(rate: int) -> list[Array]:
    """Five bands, each from one multiple of 8 Hz up."""
    return [scipy.signal.butter(4, (8 * k - 1, 80), "bandpass", fs=rate, output="sos") for k in range(1, 6)]


def _peaks(epochs: Array, keys: Array, rate: int) -> NDArray[np.int64]:
    """The key with most power at its first two harmonics, over channels."""
    time = np.arange(epochs.shape[-1]) / rate
    waves = np.exp(-2j * np.pi * np.outer(np.concatenate([keys, 2 * keys]), time))
    power = (np.abs(epochs @ waves.T) ** 2).mean(axis=1)
    whole = power[:, : len(keys)] + power[:, len(keys) :]
    best: NDArray[np.int64] = whole.argmax(axis=1)
    return best
