"""Fitting, keeping and playing a motor-imagery model of several people (see :mod:`bciarena.decoders.motor`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.evidence import BlockBalance, LogPool
from bciarena.decoders.model_files import read_model, write_model
from bciarena.decoders.motor import MotorSetup, MotorStream, cut_trials, mean_whitening, tangent
from bciarena.decoders.pooled import PooledRidge
from bciarena.decoders.riemann import whitening
from bciarena.decoders.stopping import Itr, StoppingPolicy, fit_expected
from bciarena.errors import BadInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOW_RIDGE, POWER_RIDGE = 1.0, 2.0
STRANGER = 0
SLOW_WHITENING = 0.3  # slow potentials are whitened gently: their strong directions (eyes, cue) carry the answer
REHEARSALS, PROMISE_FOLDS = 2, 3
LOOKS_HZ = (40.0, 80.0)  # muscles, amplifier, mains: what recordings differ in and imagery does not
PROMISED_TRIALS, DRAWS = 30, 400  # a block to come, and how often it is drawn for the range of its score
STRENGTH_SPREAD = 0.4  # of the logarithm of people's strengths, before their trials are looked at
ENOUGH, LOOKS_APART = 200, 3  # trials that setups are compared on; of the decision times every third
INERTIA = 15.0  # weight of training, in trials, against the run when scores are recentred


@dataclass(frozen=True)
class TrainingBlock:
    """One block of labelled trials: EEG (channels, samples), first data sample and label of each trial."""

    eeg: NDArray[np.generic]
    starts_n: Ints
    labels: Ints


@dataclass(frozen=True)
class PersonModel:
    """Everything needed to score one person's trials.

    Attributes
    ----------
    white : array, shape (regions, bands, channels, channels)
    slow : array, shape (times, slow packets, channels, classes)
    power : array, shape (times, tangent features, classes)
    offset : array, shape (2, times, classes)
        Score of the person's mean trial, slow and power.
    """

    white: Floats
    slow: NDArray[np.float32]
    power: NDArray[np.float32]
    offset: Floats


class MotorModel:
    """Experts for every person of a training set, how to weigh them, and when to answer.

    Weights, strengths and policy are fitted on two rehearsals. In one every block is scored by experts that were fitted
    without it, measured from the mean of the person's other blocks, and recentred trial by trial as in a match. That is
    too kind where blocks were shuffled from the same recordings: what the recording looks like tells the class. In the
    other the trials that look alike above the rhythms (see :func:`alike`) are left out together, half of a person's
    trials at a time. That is too harsh, since half of the trials teach less than all. Each counts as much as the other.

    Parameters
    ----------
    setup : MotorSetup
    objective : Itr
        The score that the stopping policy is fitted for; a model that is loaded needs none.
    own : float
        See :class:`PooledRidge`.
    """

    def __init__(self, setup: MotorSetup, objective: Itr | None = None, own: float = 1.0):
        self.setup = setup
        self.objective = objective
        self.own = own

    def fit(self, people: Mapping[int, Sequence[TrainingBlock]]) -> MotorModel:
        """Fit on every person's blocks; numbers are the subjects' numbers (1, 2, ...)."""
        assert self.objective is not None
        data = _Features(self.setup, people)
        self.classes_: Ints = data.classes
        slow, power, scores = _experts(data, self.own)
        self.people_ = {
            n: data.person_model(n, [m.weights(n) for m in slow], [m.weights(n) for m in power])
            for n in (STRANGER, *people)
        }
        self.per_class_ = _balance(data)
        every = np.ones(len(data.labels), dtype=bool)
        self.pool_, self.strength_, posteriors = self._calibrated(scores, data, every)
        self.policy_ = fit_expected(
            np.concatenate(posteriors), self.setup.times_s, self.objective, group=np.tile(data.person, REHEARSALS)
        )
        self.expected_ = self._promise(scores, data)
        return self

    def save(self, folder: str | Path) -> None:
        """Write plain JSON and npz files."""
        about = {
            "setup": self.setup.to_dict(),
            "classes": self.classes_.tolist(),
            "pool": self.pool_.to_dict(),
            "strength": self.strength_,
            "policy": self.policy_.to_dict(),
            "per_class": self.per_class_,
            "expected": self.expected_,
        }
        write_model(folder, "motor", about, self.people_)

    @classmethod
    def load(cls, folder: str | Path) -> MotorModel:
        """Read what :meth:`save` wrote."""
        about, people = read_model(folder, "motor")
        model = cls(MotorSetup.from_dict(about["setup"]))
        model.classes_ = np.array(about["classes"])
        model.pool_ = LogPool.from_dict(about["pool"])
        model.strength_ = {int(n): value for n, value in about["strength"].items()}
        model.policy_ = StoppingPolicy.from_dict(about["policy"])
        model.per_class_ = about["per_class"]
        model.expected_ = about["expected"]
        model.people_ = {n: PersonModel(**fields) for n, fields in people.items()}
        return model

    def _calibrated(
        self, scores: Floats, data: _Features, fitted: NDArray[np.bool_]
    ) -> tuple[LogPool, dict[int, float], Floats]:
        """Weights and strengths fitted on some trials, and everyone's posteriors as a match would have them.

        Scores are (experts, rehearsals, trials, times, classes), posteriors (rehearsals, trials, times, classes).
        """
        times_s, truth = self.setup.times_s, np.tile(data.truth, REHEARSALS)
        seen = np.tile(fitted, REHEARSALS)
        joined = scores.reshape(len(scores), -1, *scores.shape[3:])
        pool = LogPool().fit(joined[:, seen], truth[seen], times_s)
        posteriors = pool.posteriors(joined, times_s)
        person = np.tile(data.person, REHEARSALS)
        strength = {
            int(n): _strength(posteriors[rows], truth[rows], REHEARSALS)
            for n in np.unique(data.person)
            for rows in [seen & (person == n)]
        }
        powers = np.array([strength[int(n)] for n in person])
        posteriors = sharpened(posteriors, powers[:, None, None]).reshape(scores.shape[1:])
        return pool, strength, np.stack([self._in_block_order(part, data) for part in posteriors])

    def _in_block_order(self, posteriors: Floats, data: _Features) -> Floats:
        """Posteriors including what the block's earlier trials imply."""
        if not self.per_class_:
            return posteriors
        out = posteriors.copy()
        for rows in data.blocks():
            balance = BlockBalance(len(self.classes_), self.per_class_)
            for i in rows:
                weighted = posteriors[i] * balance.prior()
                out[i] = weighted / weighted.sum(axis=-1, keepdims=True)
                balance.update(posteriors[i, -1])
        return out

    def _promise(self, scores: Floats, data: _Features) -> dict[str, Any]:
        """What a match may be expected to give: blocks that neither experts, weights nor policy were fitted on."""
        assert self.objective is not None
        truth, times_s = np.tile(data.truth, REHEARSALS), self.setup.times_s
        person = np.tile(data.person, REHEARSALS)
        answer, length = np.empty(len(truth), np.int64), np.empty(len(truth))
        parts = data.fold % PROMISE_FOLDS
        for left in (parts == part for part in np.unique(parts)):
            posteriors = np.concatenate(self._calibrated(scores, data, ~left)[2])
            out = np.tile(left, REHEARSALS)
            policy = fit_expected(posteriors[~out], times_s, self.objective, group=person[~out])
            answer[out], length[out] = policy.play(posteriors[out], times_s)
        people, ranges = {}, {}
        rng = np.random.default_rng(0)
        for n in np.unique(data.person):
            mine = np.flatnonzero(person == n)
            people[int(n)] = self.objective(truth[mine], answer[mine], length[mine])
            # A block to come: the person is known by these trials only, and the block is a draw again.
            drawn = [rng.choice(rng.choice(mine, len(mine)), PROMISED_TRIALS) for _ in range(DRAWS)]
            played = [self.objective(truth[rows], answer[rows], length[rows]) for rows in drawn]
            ranges[int(n)] = np.quantile(played, [0.05, 0.95]).tolist()
        return {
            "score": float(np.mean(list(people.values()))),
            "accuracy": float(np.mean(answer == truth)),
            "mean_length_s": float(length.mean()),
            "people": people,
            "ranges": ranges,
        }


def sharpened(posterior: Floats, power: Floats | float) -> Floats:
    """Posteriors (..., classes) raised to a power: below 1 for a person whose scores say less than others'."""
    raised = np.asarray(posterior) ** power
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def choose_setup(
    setups: Sequence[MotorSetup], people: Mapping[int, Sequence[TrainingBlock]]
) -> tuple[MotorSetup, list[float]]:
    """The setup that tells most on blocks left out, and how many bits a trial each tells.

    All people of a set went through the same experiment, so one setup is chosen for all of them, at a few decision
    times and with the first band and region, on a part of the people where there are many. The first is kept unless
    another is better by more than two standard errors over blocks of the difference. Bits are compared, and not scores
    of answers: they are the same evidence with much less chance in it.
    """
    trials = sum(len(b.labels) for blocks in people.values() for b in blocks)
    few = {n: people[n] for n in list(people)[:: max(1, trials // ENOUGH)]}
    each = []
    for setup in setups:
        few_times = (*setup.times[::LOOKS_APART],)
        coarse = replace(setup, times=few_times, power_hz=setup.power_hz[:1], regions=setup.regions[:1])
        data = _Features(coarse, few)
        scores = _experts(data, own=1.0)[2].mean(axis=1)
        posteriors = LogPool().fit(scores, data.truth, coarse.times_s).posteriors(scores, coarse.times_s)
        right = posteriors[np.arange(len(data.truth)), :, data.truth]
        told = np.log2(len(data.classes) * np.maximum(right, 1e-9)).mean(axis=1)
        each.append([told[rows].mean() for rows in data.blocks()])
    gain = np.array(each) - each[0]
    doubt = 2 * gain.std(axis=1) / np.sqrt(gain.shape[1])
    best = int(np.argmax(np.where(gain.mean(axis=1) > doubt, gain.mean(axis=1), 0.0)))
    return setups[best], [float(np.mean(row)) for row in each]


class MotorPlayer:
    """Plays one stream: packets in, posteriors at decision times out.

    Scores are recentred while it runs: over trials whose classes come equally often each class's mean score is
    zero, so a mean that drifts away from it is a change of the person or the cap, and is subtracted. Where there are
    other kinds of trials as well, this does not hold: give ``recentre=False``.
    """

    def __init__(self, model: MotorModel, recentre: bool = True) -> None:
        self.model = model
        self._recentre = recentre
        self.stream = MotorStream(model.setup)
        self._index = {time: j for j, time in enumerate(model.setup.times)}
        self._balance = BlockBalance(len(model.classes_), model.per_class_) if model.per_class_ else None
        self._person: int | None = None
        self._in_trial = False

    def start_block(self, person: int) -> None:
        """A new block, maybe of another person; an unknown one is played with what all share."""
        self.stream.restart()
        if person != self._person:
            self._person = person
            self._mine = self.model.people_.get(person, self.model.people_[STRANGER])
            self._strength = self.model.strength_.get(person, 1.0)
            self._drift = np.zeros((2, len(self._index), len(self.model.classes_)))
            self._met = 0
        if self._balance is not None:
            self._balance.restart()
        self._in_trial = False

    def start_trial(self) -> None:
        """The packet just pushed held the trial's trigger."""
        self._close_trial()
        self.stream.start_trial()
        self._scores = np.zeros((2, len(self._index), len(self.model.classes_)))
        self._filled = 0
        self._prior = None if self._balance is None else self._balance.prior()
        self._in_trial = True

    def push(self, packet: Floats) -> tuple[Floats, float] | None:
        """Take a packet in; at a decision time, the posterior (classes,) and the seconds used."""
        self.stream.push(packet)
        j = self._index.get(self.stream.used) if self._in_trial else None
        if j is None:
            return None
        self._scores[:, j] = self._score(j)
        self._filled = j + 1
        posterior = self._posterior(j)
        if self._prior is not None:
            posterior = posterior * self._prior
            posterior = posterior / posterior.sum()
        return posterior, float(self.model.setup.times_s[j])

    def _score(self, j: int) -> Floats:
        time = self.model.setup.times[j]
        slow = self.stream.slow(time)
        vector = tangent(self.model.setup, self.stream.covariance(time), self._mine.white)
        scores = np.stack(
            [
                np.tensordot(slow, self._mine.slow[j, : len(slow)], axes=2),
                vector @ self._mine.power[j],
            ]
        )
        return np.nan_to_num(scores - self._mine.offset[:, j])

    def _posterior(self, j: int) -> Floats:
        centred = self._scores[:, j] - self._drift[:, j] / (self._met + INERTIA)
        posterior = self.model.pool_.posterior(centred, float(self.model.setup.times_s[j]))
        return sharpened(posterior, self._strength)

    def _close_trial(self) -> None:
        """What a finished trial teaches: the rest of the block, and the drift of the scores."""
        if not self._in_trial or self._filled == 0:
            return
        if self._balance is not None:
            self._balance.update(self._posterior(self._filled - 1))
        if self._recentre and self._filled == len(self._index):
            self._drift += self._scores
            self._met += 1
        self._in_trial = False


class _Features:
    """Everyone's features, stacked over people and blocks."""

    def __init__(self, setup: MotorSetup, people: Mapping[int, Sequence[TrainingBlock]]) -> None:
        if not people:
            raise BadInput("no training blocks")
        self.setup = setup
        self.classes: Ints = np.unique(np.concatenate([b.labels for blocks in people.values() for b in blocks]))
        if len(self.classes) < 2:
            raise BadInput(f"two classes are needed, the training trials hold only {self.classes.tolist()}")
        self.white: dict[int, Floats] = {}
        self.slow_white: dict[int, Floats] = {}
        self.slow_mean: dict[int, Floats] = {}
        self.power_mean: dict[int, Floats] = {}
        slow, power, labels, persons, blocks_of, mean_covs = [], [], [], [], [], []
        halves: list[Ints] = []
        for n, blocks in people.items():
            mine = np.concatenate([b.labels for b in blocks])
            for k in self.classes:
                if np.sum(mine == k) < 2:
                    raise BadInput(f"subject {n} has {np.sum(mine == k)} training trials of class {k}; needs 2 or more")
            cut = [cut_trials(setup, np.asarray(b.eeg), b.starts_n) for b in blocks]
            potentials = np.concatenate([c[0] for c in cut])
            covs = np.concatenate([c[1] for c in cut])
            mean_covs.append(covs[:, setup.whole].mean(axis=0))
            self.white[n] = mean_whitening(setup, covs[:, setup.whole])
            flat = potentials.reshape(-1, potentials.shape[-1])
            self.slow_white[n] = whitening(flat.T @ flat / len(flat), SLOW_WHITENING)
            potentials = potentials @ self.slow_white[n]
            vectors = np.stack(
                [tangent(setup, covs[:, j], self.white[n]) for j in range(len(setup.times))], axis=1
            ).astype(np.float32)
            self.slow_mean[n], self.power_mean[n] = potentials.mean(axis=0), vectors.mean(axis=0)
            slow.append((potentials - self.slow_mean[n]).astype(np.float32))
            power.append(vectors - self.power_mean[n])
            labels.append(mine)
            persons.append(np.full(len(mine), n))
            blocks_of.append(np.concatenate([np.full(len(b.labels), i) for i, b in enumerate(blocks)]))
            halves.append(2 * (len(halves) % 2) + alike(_looks(setup, blocks), mine))
        self.slow, self.power = np.concatenate(slow), np.concatenate(power)
        self.labels, self.person = np.concatenate(labels), np.concatenate(persons)
        self.block = np.concatenate(blocks_of)
        # Whole blocks are left out where there are several: neighbours in time are alike.
        self.fold = self.block if self.block.max() > 0 else np.arange(len(self.labels)) % 5
        # Half of the people at a time, so that the others teach all they can.
        self.rehearsals = np.stack([self.fold, np.concatenate(halves)])
        self.truth: Ints = np.searchsorted(self.classes, self.labels)
        relative = [cov / np.trace(cov, axis1=1, axis2=2)[:, None, None] for cov in mean_covs]
        level = np.mean([np.trace(cov, axis1=1, axis2=2) for cov in mean_covs], axis=0)
        common = np.mean(relative, axis=0) * level[:, None, None]
        self.white[STRANGER] = mean_whitening(setup, common[None])
        for kept in (self.slow_white, self.slow_mean, self.power_mean):
            kept[STRANGER] = np.mean([kept[n] for n in people], axis=0)

    def blocks(self) -> list[Ints]:
        """Rows of each block of each person, in the order of the trials."""
        rows = [np.flatnonzero(self.person == n) for n in np.unique(self.person)]
        return [mine[self.block[mine] == b] for mine in rows for b in np.unique(self.block[mine])]

    def slow_at(self, j: int) -> Floats:
        """Slow features at decision time j, (trials, packets * channels)."""
        first, end = self.setup.slow_window(self.setup.times[j])
        part = self.slow[:, : end - first]
        return part.reshape(len(part), -1).astype(float)

    def power_at(self, j: int) -> Floats:
        """Tangent features at decision time j, (trials, features)."""
        return self.power[:, j].astype(float)

    def person_model(self, n: int, slow: Sequence[Floats], power: Sequence[Floats]) -> PersonModel:
        """Weights folded with the person's whitening and mean, so that playing is two products."""
        channels, k = len(self.setup.rows), len(self.classes)
        folded = np.zeros((len(slow), self.slow.shape[1], channels, k), np.float32)
        offset = np.zeros((2, len(slow), k))
        for j, (s, p) in enumerate(zip(slow, power, strict=True)):
            weights = s.reshape(-1, channels, k)
            folded[j, : len(weights)] = np.einsum("cd,tdk->tck", self.slow_white[n], weights)
            offset[0, j] = np.tensordot(self.slow_mean[n][: len(weights)], weights, axes=2)
            offset[1, j] = self.power_mean[n][j] @ p
        return PersonModel(self.white[n], folded, np.stack(power).astype(np.float32), offset)


def _experts(data: _Features, own: float) -> tuple[list[PooledRidge], list[PooledRidge], Floats]:
    """Slow and power experts of every decision time, and their scores (2, rehearsals, trials, times, classes)."""
    setup, n = data.setup, len(data.labels)
    scores = np.zeros((2, REHEARSALS, n, len(setup.times), len(data.classes)))
    slow: list[PooledRidge] = []
    power: list[PooledRidge] = []
    whole = data.power_at(setup.whole)
    for j in range(len(setup.times)):
        same = j > 0 and len(set(map(setup.slow_window, setup.times[j - 1 : j + 1]))) == 1
        if same:  # nothing of the slow potentials has been added
            slow.append(slow[-1])
        else:
            slow.append(PooledRidge(own, SLOW_RIDGE))
            slow[-1].fit(data.slow_at(j), data.labels, data.person, data.rehearsals, level=data.person)
        taught = [data.power_at(j), whole] if j < setup.whole else [data.power_at(j)]
        times = len(taught)
        level = np.concatenate([data.person + i * (data.person.max() + 1) for i in range(times)])
        power.append(PooledRidge(own, POWER_RIDGE))
        power[-1].fit(
            np.concatenate(taught),
            np.tile(data.labels, times),
            np.tile(data.person, times),
            np.tile(data.rehearsals, times),
            level=level,
        )
        scores[:, :, :, j] = slow[-1].left_out_, power[-1].left_out_[:, :n]
    for rows in data.blocks():  # as MotorPlayer does it while it runs
        mine = scores[:, :, rows]
        earlier = np.cumsum(mine, axis=2) - mine
        scores[:, :, rows] = mine - earlier / (np.arange(len(rows)) + INERTIA)[:, None, None]
    return slow, power, scores


def _looks(setup: MotorSetup, blocks: Sequence[TrainingBlock]) -> Floats:
    """What each trial's recording looks like (trials, features): its covariance above the rhythms of imagery."""
    band = (LOOKS_HZ[0], min(LOOKS_HZ[1], 0.45 * setup.rate))
    look = replace(setup, times=setup.times[-1:], power_hz=(band,), regions=())
    covs = np.concatenate([cut_trials(look, np.asarray(b.eeg), b.starts_n)[1] for b in blocks])[:, 0]
    return tangent(look, covs, mean_whitening(look, covs))


def alike(looks: Floats, labels: Ints) -> Ints:
    """Two halves (0 or 1) of a person's trials (trials, features), such that trials of a half look alike.

    Each class is halved on its own, along the direction in which its trials differ most: a class that was recorded at
    other times than the others must not become a half. Directions of different classes are turned the same way.
    """
    half = np.zeros(len(labels), dtype=np.int64)
    first: Floats | None = None
    for k in np.unique(labels):
        rows = np.flatnonzero(labels == k)
        off = looks[rows] - np.median(looks[rows], axis=0)
        size = np.linalg.norm(off, axis=1, keepdims=True)
        off = off * np.minimum(
            1.0, np.median(size) / np.maximum(size, 1e-12)
        )  # a trial with an artefact is no direction
        off = off - off.mean(axis=0)
        along = np.linalg.svd(off, full_matrices=False)[2][0]
        first = along if first is None else first
        order = np.argsort(off @ along * np.sign(along @ first), kind="stable")
        half[rows[order[len(rows) // 2 :]]] = 1
    return half


def _strength(posteriors: Floats, truth: Ints, copies: int) -> float:
    """How much a person's posteriors (trials, times, classes) are to be sharpened; most likely, with a prior at 1.

    ``copies``: how often each trial is among them.
    """
    powers = np.exp(np.linspace(-4, 3, 36) * STRENGTH_SPREAD)
    trials = np.arange(len(truth))
    told = [np.log(sharpened(posteriors, power)[trials, :, truth] + 1e-12).mean(axis=1).sum() for power in powers]
    return float(powers[np.argmax(np.array(told) / copies - 0.5 * (np.log(powers) / STRENGTH_SPREAD) ** 2)])


def _balance(data: _Features) -> list[int]:
    """Possible trials per class of a block, if all training blocks are balanced; else nothing is assumed."""
    sizes = set()
    for person in np.unique(data.person):
        for block in np.unique(data.block[data.person == person]):
            rows = (data.person == person) & (data.block == block)
            counts = {int(np.sum(data.labels[rows] == k)) for k in data.classes}
            if len(counts) > 1:
                return []
            sizes |= counts
    # A block of the match need not be as long as those of training.
    return list(range(max(2, min(sizes)), max(12, max(sizes)) + 1))
