"""Real or generated, and whose: a detector that knows the person.

The person shows in band powers and in how channels share them, and is nearly certain after three seconds. So the
detector can ask a narrower question than "is this real": does this window look like *this person's* real EEG, or like
what generators make of it? Each window's statistics (:mod:`bciarena.contests.liveness.statistics`) are used directly
and as distances from two references of the person and state: the mean over real calibration windows, and the mean over
generated ones. A ridge logistic regression, trained over all people, weights them.
"""

from __future__ import annotations

import json
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
from bciarena.decoders.evidence import LogPool
from bciarena.decoders.stopping import StoppingPolicy, fit_policy, itr_bits_per_min
from bciarena.errors import BadInput

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
State = tuple[int, int]
"""Subject number, and 0 eyes open or 1 eyes closed."""

PACKET_N = 50
TIMES_N = tuple(packets * PACKET_N for packets in (15, 18, 21, 24, 27, 30, 33))
"""Samples after which a decision may be made: 3 s, since shorter answers count as 3 s anyway, and later."""
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
    """

    eeg: NDArray[np.floating]
    state: Ints
    trial: Ints
    real: NDArray[np.bool_]
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
        Trials like those to be judged, in order: windows ending at each of TIMES_N that the trial reaches.
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

    pool_: LogPool | None

    def fit(
        self,
        groups: Mapping[str, People],
        scored: str,
        ridge: float = 6000.0,
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
        rows, real, group_of, subject, trial = [], [], [], [], []
        for number, (name, group) in enumerate(groups.items()):
            for part in (group.real, group.fake, group.labelled):
                if part is None:
                    continue
                rows.append(self._rows(part, references[name], leave_out=part is group.real))
                real.append(part.real)
                subject.append(part.state[:, 0] if part is group.labelled else np.zeros(len(part.real), int))
                group_of.append(np.full(len(part.real), number))
                trial.append(part.trial)
        x, y = np.concatenate(rows).astype(np.float32), np.concatenate(real)
        who, of = np.concatenate(subject), np.concatenate(group_of)
        held = who > 0
        if held.any():
            advance("how sure to be")
            self._fit_stopping(x, y, who * 100 + of, held, np.concatenate(trial), ridge)
        else:
            self.pool_, self.policy_ = None, StoppingPolicy(3.0, 3.0, 2.0, 2.0)
        advance("real or generated")
        self.centre_, self.scale_, self.weights_, self.offset_ = _regression(x, y, held, ridge)
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

    def _fit_stopping(
        self,
        x: NDArray[np.float32],
        y: NDArray[np.bool_],
        who: Ints,
        held: NDArray[np.bool_],
        trial: Ints,
        ridge: float,
    ) -> None:
        """Calibrate on labelled trials of people left out of the regression, then choose when to answer."""
        people = np.unique(who[held])
        folds = np.array_split(np.random.default_rng(0).permutation(people), min(FOLDS, len(people)))
        odds, fold_of = np.zeros(len(x)), np.zeros(len(x), int)
        for number, fold in enumerate(folds):
            out = held & np.isin(who, fold)
            centre, scale, weights, offset = _regression(x[~out], y[~out], held[~out], ridge)
            odds[out] = _scaled(x[out], centre, scale) @ weights + offset
            fold_of[out] = number
        scores, truth, group = [], [], []
        for key in dict.fromkeys(zip(who[held].tolist(), trial[held].tolist(), strict=True)):
            mine = np.flatnonzero(held & (who == key[0]) & (trial == key[1]))
            means = np.cumsum(odds[mine]) / np.arange(1, len(mine) + 1)
            scores.append(np.append(means, np.full(len(TIMES_N) - len(mine), means[-1])))
            truth.append(int(y[mine[0]]))
            group.append(fold_of[mine[0]])
        half = np.stack(scores)[:, :, None] * np.array([-0.5, 0.5])
        times_s = np.array(TIMES_N) / SRATE
        pool = self.pool_ = LogPool().fit(half, np.array(truth), times_s)
        posteriors = pool.posteriors(half, times_s)
        self.policy_ = fit_policy(posteriors, np.array(truth), times_s, score, group=np.array(group))

    def identify(self, window: NDArray[np.floating]) -> tuple[Array, Ints]:
        """Scores (states,) of a window (channels, WINDOW_N), and the states they belong to."""
        colour = log_covariances(window[None])[0]
        return colour @ self.identity_weights_ + self.identity_offset_, self.identity_states_

    def log_odds(self, window: NDArray[np.floating], subject: int) -> float:
        """Log odds that a window (channels, WINDOW_N) is real rather than generated, if it is that person's."""
        vector = statistics(window[None])[0]
        mine = np.flatnonzero(self.states_[:, 0] == subject)
        state = min(mine.tolist(), key=lambda index: self._distance(vector, self.references_[index, 0]))
        row = self._row(vector, *self.references_[state])
        return float(_scaled(row, self.centre_, self.scale_) @ self.weights_ + self.offset_)

    def save(self, folder: str | Path) -> None:
        """Write plain arrays and JSON."""
        folder = Path(folder)
        arrays: dict[str, Any] = {name: v for name, v in vars(self).items() if isinstance(v, np.ndarray)}
        np.savez(folder / "liveness.npz", **arrays)
        plain = {
            "offset": self.offset_,
            "pool": self.pool_.to_dict() if self.pool_ else None,
            "policy": self.policy_.to_dict(),
        }
        (folder / "liveness.json").write_text(json.dumps(plain, indent=1))

    @classmethod
    def load(cls, folder: str | Path) -> LivenessModel:
        """The model that ``save`` wrote."""
        model = cls()
        with np.load(Path(folder) / "liveness.npz", allow_pickle=False) as arrays:
            for name in arrays.files:
                setattr(model, name, arrays[name])
        plain = json.loads((Path(folder) / "liveness.json").read_text())
        model.offset_ = plain["offset"]
        model.pool_ = LogPool.from_dict(plain["pool"]) if plain["pool"] else None
        model.policy_ = StoppingPolicy.from_dict(plain["policy"])
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
        self._odds: list[float] = []
        self._identity: Array | float = 0.0

    def push(self, packet: Array, last: bool) -> tuple[bool, int] | None:
        """Take one packet (channels, n); return real or not and the subject once it is time to answer.

        ``last``: the trial ends in this packet, so an answer must be given.
        """
        self._kept.append(packet)
        self._used_n += packet.shape[1]
        if not last and self._used_n not in TIMES_N:
            return None
        window = _last_window(np.concatenate(self._kept, axis=1))
        scores, states = self.model.identify(window)
        self._identity = self._identity + scores
        subject = int(states[np.argmax(self._identity), 0])
        self._odds.append(self.model.log_odds(window, subject))
        mean = float(np.mean(self._odds))
        if last or self.model.pool_ is None:
            return mean > 0, subject
        used_s = self._used_n / SRATE
        said = self.model.policy_.decide(self.model.pool_.posterior([-0.5 * mean, 0.5 * mean], used_s), used_s)
        return None if said is None else (bool(said), subject)


def _last_window(signal: Array) -> Array:
    """The last WINDOW_N samples; what is shorter (a trial under 3 s) is continued by its mirror image."""
    while signal.shape[1] < WINDOW_N:
        signal = np.concatenate([signal[:, ::-1], signal], axis=1)
    return signal[:, -WINDOW_N:]


def score(truth: Ints, answer: Ints, length_s: Array) -> float:
    """The contest's score of trials judged real (1) or not (0), taking the subject as right in .98 of them."""
    length = float(np.maximum(length_s, 3.0).mean())
    # Half a trial added to each side keeps a fold without mistakes from looking perfect.
    right = (float(np.sum(truth == answer)) + 0.5) / (len(truth) + 1)
    return 0.9 * itr_bits_per_min(right, 2, length) + 0.1 * itr_bits_per_min(0.98, 23, length)


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


def _regression(
    x: NDArray[np.float32], y: NDArray[np.bool_], labelled: NDArray[np.bool_], ridge: float
) -> tuple[Array, Array, Array, float]:
    """Centre, scale, weights and offset of a ridge logistic regression.

    Real and generated windows have the same total weight; labelled trials, which are like those to be judged, count
    twice as much as calibration and our own fakes.
    """
    if y.all() or not y.any():
        raise BadInput("liveness: real and generated windows are both needed to learn the difference")
    centre, scale = x.mean(axis=0), 1 / (x.std(axis=0) + 1e-6)
    weight = np.where(labelled, 2.0, 1.0)
    weight *= len(y) / 2 / np.where(y, weight[y].sum(), weight[~y].sum())
    model = LogisticRegression(C=1 / ridge, max_iter=300)
    model.fit(_scaled(x, centre, scale).astype(np.float32), y, sample_weight=weight)
    return centre, scale, model.coef_[0], float(model.intercept_[0])
