"""Real or generated, and whose: a detector that knows the person.

The person shows in band powers and in how channels share them, and is nearly certain after three seconds. So the
detector can ask a narrower question than "is this real": does this window look like *this person's* real EEG, or like
what generators make of it? Each window's statistics (:mod:`bciarena.contests.liveness.statistics`) are used directly
and as distances from two references of the person and state: the mean over real calibration windows, and the mean over
generated ones. A ridge logistic regression, trained over all people, weighs them. Where real ends is learnt on people
whom and generators which it has not seen: those are what a contest brings. (With a forest of randomised trees beside it
more fakes of known kinds were caught, by .02, and fewer of unknown kinds, by .03.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from bciarena.contests.liveness.statistics import SRATE, WINDOW_N, statistic_names, statistics
from bciarena.errors import BadInput

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
State = tuple[int, int]
"""Subject number, and 0 eyes open or 1 eyes closed."""

FLOOR_N = 750
"""Samples after which to answer: less counts as 3 s anyway, and no accuracy is worth a longer mean (at 4 s, .96)."""
TIMES_N = (FLOOR_N, 900, 1200, 1500)
"""Where windows of labelled trials end."""
FOLDS = 3
EDGES_HZ = (1, 4, 8, 11, 14, 20, 30, 42)
_CLIP = 4.0


@dataclass
class Windows:
    """Windows of EEG and the people they come from.

    Attributes
    ----------
    eeg : array, shape (windows, channels, WINDOW_N)
    state : array of int, shape (windows, 2)
        Subject and eyes (see State); eyes -1 where it is not known.
    trial : array of int, shape (windows,)
        Windows of one trial share a number.
    real : array of bool, shape (windows,)
    kind : array of int, shape (windows,), optional
        Which of our own generators made it, in 0 to 1000; related ones have numbers close to each other.
    """

    eeg: NDArray[np.floating]
    state: Ints
    trial: Ints
    real: NDArray[np.bool_]
    kind: Ints | None = None
    statistics: Array = field(init=False)
    colour: Array = field(init=False)

    def __post_init__(self) -> None:
        parts = [self.eeg[first : first + 256] for first in range(0, len(self.eeg), 256)]
        if not parts:
            raise BadInput("liveness: no windows to learn from")
        self.statistics = np.concatenate([statistics(part) for part in parts])
        self.colour = np.concatenate([log_covariances(part) for part in parts])


@dataclass
class People:
    """The data of one group of people.

    Attributes
    ----------
    real : Windows
        Calibration: real, eyes known.
    fake : Windows
        Generated from the calibration, eyes known.
    labelled : Windows, optional
        Trials like those to be judged: windows ending at each of TIMES_N that the trial reaches.
    """

    real: Windows
    fake: Windows
    labelled: Windows | None = None


def log_covariances(windows: NDArray[np.floating]) -> Array:
    """Matrix logarithms of the channels' covariance in seven bands, (windows, 7 * channels * (channels + 1) / 2).

    The tangent space at the identity (Barachant et al. 2012, IEEE TBME 59(4)): band powers and how channels share
    them, on a scale where distances between people are comparable everywhere.
    """
    signal = np.asarray(windows, dtype=np.float64)
    channels_n, count_n = signal.shape[1:]
    centred = signal - signal.mean(axis=-1, keepdims=True)
    # Followed by its mirror image it has no step at the ends, and all samples count equally.
    spectrum = scipy.fft.rfft(np.concatenate([centred, centred[..., ::-1]], axis=-1)) / count_n
    hz = np.arange(spectrum.shape[-1]) * SRATE / (2 * count_n)
    one, other = np.triu_indices(channels_n)
    weight = np.where(one == other, 1.0, np.sqrt(2.0))
    found = []
    for low, high in pairwise(EDGES_HZ):
        part = spectrum[..., (hz >= low) & (hz < high)]
        covariance = np.matmul(part, part.conj().swapaxes(-1, -2)).real + 1e-3 * np.eye(channels_n)
        values, vectors = np.linalg.eigh(covariance)
        logarithm = np.matmul(vectors * np.log(values)[:, None], vectors.swapaxes(-1, -2))
        found.append(logarithm[:, one, other] * weight)
    return np.concatenate(found, axis=1)


class LivenessModel:
    """Identity by linear discriminants on covariances, reality by a logistic regression on shape."""

    def fit(
        self,
        groups: Mapping[str, People],
        scored: str,
        ridge: float = 10000.0,
        advance: Callable[[str], None] = lambda step: None,
    ) -> LivenessModel:
        """Learn from every group; the people of the group ``scored`` are those to be recognised.

        Parameters
        ----------
        groups : mapping of str to People
        scored : str
        ridge : float
            Strength of the regression's ridge.
        advance : callable
            Called with the name of each step before it begins.
        """
        names = np.array(statistic_names())
        self._alike = np.char.startswith(names, "spectral")
        advance("who is who")
        people = groups[scored]
        self._fit_identity(people)
        spreads = [_within(group.real) for group in groups.values()]
        self.spread_: Array = np.sqrt(np.mean(np.square(spreads), axis=0)) + 1e-6
        references = {name: _references(group) for name, group in groups.items()}
        self.states_: Ints = np.array(sorted(references[scored]))
        self.references_: Array = np.stack([np.stack(references[scored][s[0], s[1]]) for s in self.states_.tolist()])

        advance("references")
        rows, real, fold, held = [], [], [], []
        for name, group in groups.items():
            for part in (group.real, group.fake, group.labelled):
                if part is None:
                    continue
                rows.append(self._rows(part, references[name], leave_out=part is group.real))
                real.append(part.real)
                fold.append(part.state[:, 0] % FOLDS if part.kind is None else _third(part.kind))
                held.append(np.full(len(part.real), part is group.labelled))
        x, y = np.concatenate(rows).astype(np.float32), np.concatenate(real)
        advance("real or generated")
        self._fit_line(x, y, np.concatenate(fold), np.concatenate(held), ridge)
        return self

    def _fit_identity(self, people: People) -> None:
        colour = np.concatenate([people.real.colour, people.fake.colour])
        state = np.concatenate([people.real.state, people.fake.state])
        labels = state[:, 0] * 2 + state[:, 1]
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(colour, labels)
        self.identity_states_: Ints = np.stack([model.classes_ // 2, model.classes_ % 2], axis=1)
        self.identity_weights_: Array = model.coef_.T
        self.identity_offset_: Array = model.intercept_

    def _rows(self, part: Windows, references: Mapping[State, tuple[Array, Array]], leave_out: bool) -> Array:
        """Regression inputs; a calibration trial is compared with the person's other trials."""
        rows = np.empty((len(part.statistics), 5 * part.statistics.shape[1]), dtype=np.float32)
        for subject in np.unique(part.state[:, 0]).tolist():
            mine = np.flatnonzero(part.state[:, 0] == subject)
            known = {key: value for key, value in references.items() if key[0] == subject}
            for index in mine.tolist():
                vector = part.statistics[index]
                state = min(known, key=lambda key: self._distance(vector, known[key][0]))
                real, fake = known[state]
                if leave_out:
                    others = (part.state == state).all(axis=1) & (part.trial != part.trial[index])
                    real = part.statistics[others].mean(axis=0) if others.any() else real
                rows[index] = self._row(vector, real, fake)
        return rows

    def _distance(self, vector: Array, reference: Array) -> float:
        off = ((vector - reference) / self.spread_)[self._alike]
        return float(off @ off)

    def _row(self, vector: Array, real: Array, fake: Array) -> Array:
        from_real, from_fake = (vector - real) / self.spread_, (vector - fake) / self.spread_
        parts = [vector / self.spread_, from_real, from_fake, np.abs(from_real), np.abs(from_fake)]
        return np.concatenate(parts)

    def _fit_line(
        self, x: NDArray[np.float32], y: NDArray[np.bool_], fold: Ints, held: NDArray[np.bool_], ridge: float
    ) -> None:
        """A regression for each fold, fitted without its people and generators; a match asks their mean.

        Then the offset, from what they say of windows that were left out.
        """
        self.centre_: Array = x.mean(axis=0)
        self.scale_: Array = 1 / (x.std(axis=0) + 1e-6)
        scaled = _scaled(x, self.centre_, self.scale_).astype(np.float32)
        odds, lines = np.zeros((len(x), 1)), []
        folds = np.unique(fold).tolist()
        for number in folds:
            out = fold == number
            kept = ~out if len(folds) > 1 else out
            lines.append(_regression(scaled[kept], y[kept], _weights(y[kept], held[kept]), ridge))
            odds[out, 0] = scaled[out] @ lines[-1][:-1] + lines[-1][-1]
        self.weights_: Array = np.mean(lines, axis=0)
        slope, offset = _regression(odds, y, _weights(y, held), 1.0)
        self.weights_[-1] += offset / max(slope, 0.1)

    def identify(self, window: NDArray[np.floating]) -> tuple[Array, Ints]:
        """Scores (states,) of a window (channels, WINDOW_N), and the states they belong to."""
        colour = log_covariances(window[None])[0]
        return colour @ self.identity_weights_ + self.identity_offset_, self.identity_states_

    def log_odds(self, window: NDArray[np.floating], subject: int) -> float:
        """Log odds that a window (channels, WINDOW_N) is real rather than generated, if it is that person's."""
        return self.odds_of(statistics(window[None])[0], subject)

    def odds_of(self, vector: Array, subject: int) -> float:
        """The same from the window's statistics."""
        mine = np.flatnonzero(self.states_[:, 0] == subject)
        state = min(mine.tolist(), key=lambda index: self._distance(vector, self.references_[index, 0]))
        row = self._row(vector, *self.references_[state])
        return float(_scaled(row, self.centre_, self.scale_) @ self.weights_[:-1] + self.weights_[-1])

    def save(self, folder: str | Path) -> None:
        """Write plain arrays."""
        folder = Path(folder)
        arrays: dict[str, Any] = {name: v for name, v in vars(self).items() if isinstance(v, np.ndarray)}
        np.savez(folder / "liveness.npz", **arrays)

    @classmethod
    def load(cls, folder: str | Path) -> LivenessModel:
        """The model that ``save`` wrote."""
        model = cls()
        with np.load(Path(folder) / "liveness.npz", allow_pickle=False) as arrays:
            for name in arrays.files:
                setattr(model, name, arrays[name])
        return model


class LivenessPlayer:
    """Follows one stream, packet by packet: begin with the trial, then push until there is an answer."""

    def __init__(self, model: LivenessModel) -> None:
        self.model = model
        self._kept: list[Array] = []
        self._used_n = 0

    def begin(self, rest: Array) -> None:
        """A trial began in the packet just read; ``rest`` is what came after its code, (channels, n)."""
        self._kept, self._used_n = [rest], 0

    def push(self, packet: Array, last: bool) -> tuple[bool, int] | None:
        """Take one packet (channels, n); return real or not and the subject once it is time to answer.

        ``last``: the trial ends in this packet, so an answer must be given.
        """
        self._kept.append(packet)
        self._used_n += packet.shape[1]
        if not last and self._used_n < FLOOR_N:
            return None
        window = _last_window(np.concatenate(self._kept, axis=1))
        scores, states = self.model.identify(window)
        subject = int(states[np.argmax(scores), 0])
        return self.model.log_odds(window, subject) > 0, subject


def _last_window(signal: Array) -> Array:
    """The last WINDOW_N samples; what is shorter (a trial under 3 s) is continued by its mirror image."""
    while signal.shape[1] < WINDOW_N:
        signal = np.concatenate([signal[:, ::-1], signal], axis=1)
    return signal[:, -WINDOW_N:]


def _third(kind: Ints) -> Ints:
    """Fold of each kind of generator: neighbours, which are related, share one."""
    places = np.searchsorted(np.unique(kind), kind)
    return np.asarray(places * FOLDS // (places.max() + 1))


def _within(part: Windows) -> Array:
    """Spread of the statistics around the mean of their own state."""
    off = part.statistics.copy()
    for state in np.unique(part.state, axis=0):
        mine = (part.state == state).all(axis=1)
        off[mine] -= off[mine].mean(axis=0)
    return np.asarray(off.std(axis=0))


def _references(people: People) -> dict[State, tuple[Array, Array]]:
    """Per state the mean statistics of real and of generated windows."""
    found = {}
    for subject, eyes in np.unique(people.real.state, axis=0).tolist():
        means = []
        for part in (people.real, people.fake):
            mine = (part.state == (subject, eyes)).all(axis=1)
            if not mine.any():
                raise BadInput(f"liveness: no generated windows of subject {subject}")
            means.append(part.statistics[mine].mean(axis=0))
        found[subject, eyes] = (means[0], means[1])
    return found


def _scaled(x: NDArray[np.floating], centre: Array, scale: Array) -> Array:
    return np.clip((x - centre) * scale, -_CLIP, _CLIP)


def _weights(y: NDArray[np.bool_], labelled: NDArray[np.bool_]) -> Array:
    """Weights (windows,) that give real and generated windows the same total.

    Labelled trials, which are like those to be judged, count twice as much as calibration and our own fakes.
    """
    if y.all() or not y.any():
        raise BadInput("liveness: real and generated windows are both needed to learn the difference")
    weight = np.where(labelled, 2.0, 1.0)
    return np.asarray(weight * len(y) / 2 / np.where(y, weight[y].sum(), weight[~y].sum()))


def _regression(x: NDArray[np.floating], y: NDArray[np.bool_], weight: Array, ridge: float) -> Array:
    """Weights of a ridge logistic regression, the last one its offset."""
    model = LogisticRegression(C=1 / ridge, max_iter=300).fit(x, y, sample_weight=weight)
    return np.append(model.coef_[0], model.intercept_[0])
