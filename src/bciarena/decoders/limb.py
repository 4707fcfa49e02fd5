"""Two movements of each arm, a block being one arm: the side is inferred over the block, the movement per trial.

The *movement* is classified from tangent vectors of the trial, centred on the person's block of that side, with weights
that all blocks share plus a block's own part. The *side* cannot be learnt from a person's own training (there it is
confounded with the block: everything that drifts between two blocks looks like a side), so it comes from the other
people's weights; its evidence accumulates over trials, starting from the order of sides in training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.evidence import BlockBalance, BlockState, LogPool
from bciarena.decoders.model_files import read_model, write_model
from bciarena.decoders.motor import MotorSetup, MotorStream, cut_trials, mean_whitening, tangent
from bciarena.decoders.motor_model import STRANGER, TrainingBlock
from bciarena.decoders.pooled import PooledRidge
from bciarena.decoders.stopping import StoppingPolicy
from bciarena.errors import BadInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FOLDS = 4
OWN, RIDGE = 3.0, 0.5
ORDER_TRUST = 0.9  # confidence in the order of sides in training, before a trial is seen
SIDE_TRUST = 0.5  # trials of one block are alike: two of them count as one
INERTIA = 10.0  # weight of training, in trials, against the block when movement scores are recentred
LABELS = np.array([[1, 3], [2, 4]])  # [side][movement]: left, right; flexion, fist
GAIN = tuple(tuple(1.0 if a == t else 0.5 * (a % 2 == t % 2) for a in range(4)) for t in range(4))


@dataclass(frozen=True)
class LimbPerson:
    """One person's whitening (regions, bands, ch, ch), weights and the scores of the mean trial.

    ``side`` is (features,), ``movement`` (sides, features); offsets likewise without features. Scores above zero speak
    for the right side, for the fist.
    """

    white: Floats
    side: Floats
    side_offset: Floats
    movement: Floats
    movement_offset: Floats


class LimbModel:
    """Fitted on labelled blocks of one side each (labels 1-4), for a single decision time.

    Parameters
    ----------
    setup : MotorSetup
        With one decision time.
    """

    def __init__(self, setup: MotorSetup) -> None:
        if len(setup.times) != 1:
            raise BadInput("without a time term in the score one decision time is enough: give just one")
        self.setup = setup
        self.policy = StoppingPolicy(float(setup.times_s[0]), float(setup.times_s[0]), 2.0, 2.0, gain=GAIN)

    def fit(self, people: Mapping[int, Sequence[TrainingBlock]]) -> LimbModel:
        """Fit on every person's training blocks; each block holds both movements of one side."""
        if not people:
            raise BadInput("no training blocks")
        vectors, person, side, movement, fold = [], [], [], [], []
        white: dict[int, Floats] = {}
        orders = []
        for n, blocks in people.items():
            covs = [cut_trials(self.setup, b.eeg, b.starts_n, fresh=True)[1][:, 0] for b in blocks]
            white[n] = mean_whitening(self.setup, np.concatenate(covs))
            orders.append([_side_of(n, b.labels) for b in blocks])
            for b, cov, arm in zip(blocks, covs, orders[-1], strict=True):
                vectors.append(tangent(self.setup, cov, white[n]))
                person.append(np.full(len(cov), n))
                side.append(np.full(len(cov), arm))
                movement.append((b.labels >= 3).astype(int))
                fold.append(np.arange(len(cov)) * FOLDS // len(cov))
            if len(set(orders[-1])) < 2:
                raise BadInput(f"subject {n}: training blocks of both sides are needed")
        x = np.concatenate(vectors)
        who, where, what = np.concatenate(person), np.concatenate(side), np.concatenate(movement)
        self.order_ = orders[0] if all(o == orders[0] for o in orders) else []
        self.per_class_ = sorted({int(np.sum(b.labels >= 3)) for blocks in people.values() for b in blocks})

        person_mean = {n: x[who == n].mean(axis=0) for n in people}
        block_mean = {(n, s): x[(who == n) & (where == s)].mean(axis=0) for n in people for s in (0, 1)}
        for_side = x - np.stack([person_mean[n] for n in who.tolist()])
        for_movement = x - np.stack([block_mean[n, s] for n, s in zip(who.tolist(), where.tolist(), strict=True)])
        side_weights, side_scores = _side_weights(for_side, where, who, list(people))
        group = 2 * who + where
        movement_scores = np.zeros(len(x))
        folds = np.concatenate(fold)
        for f in range(FOLDS):
            out = folds == f
            fitted = PooledRidge(OWN, RIDGE).fit(for_movement[~out], what[~out], group[~out])
            for g in np.unique(group[out]):
                rows = out & (group == g)
                movement_scores[rows] = _margin(fitted.weights(int(g))) @ for_movement[rows].T
        fitted = PooledRidge(OWN, RIDGE).fit(for_movement, what, group)
        self.side_pool_ = LogPool().fit(_two(side_scores), where, self.setup.times_s)
        self.movement_pool_ = LogPool().fit(_two(movement_scores), what, self.setup.times_s)
        self.expected_ = {
            "side_accuracy": float(np.mean((side_scores > 0) == where)),
            "movement_accuracy": float(np.mean((movement_scores > 0) == what)),
        }
        self.people_: dict[int, LimbPerson] = {}
        for n in people:
            own = np.stack([_margin(fitted.weights(2 * n + s)) for s in (0, 1)])
            offset = np.array([own[s] @ block_mean[n, s] for s in (0, 1)])
            self.people_[n] = LimbPerson(
                white[n], side_weights[n], np.array(side_weights[n] @ person_mean[n]), own, offset
            )
        shared = np.stack([_margin(fitted.weights(None))] * 2)
        centre = np.mean(list(person_mean.values()), axis=0)
        self.people_[STRANGER] = LimbPerson(
            np.mean(list(white.values()), axis=0),
            side_weights[STRANGER],
            np.array(side_weights[STRANGER] @ centre),
            shared,
            np.array([shared[s] @ np.mean([block_mean[n, s] for n in people], axis=0) for s in (0, 1)]),
        )
        return self

    def save(self, folder: str | Path) -> None:
        """Write plain JSON and npz files."""
        about = {
            "setup": self.setup.to_dict(),
            "side_pool": self.side_pool_.to_dict(),
            "movement_pool": self.movement_pool_.to_dict(),
            "order": self.order_,
            "per_class": self.per_class_,
            "expected": self.expected_,
        }
        write_model(folder, "limb", about, self.people_)

    @classmethod
    def load(cls, folder: str | Path) -> LimbModel:
        """Read what :meth:`save` wrote."""
        about, people = read_model(folder, "limb")
        model = cls(MotorSetup.from_dict(about["setup"]))
        model.side_pool_ = LogPool.from_dict(about["side_pool"])
        model.movement_pool_ = LogPool.from_dict(about["movement_pool"])
        model.order_, model.per_class_, model.expected_ = about["order"], about["per_class"], about["expected"]
        model.people_ = {n: LimbPerson(**fields) for n, fields in people.items()}
        return model


class LimbPlayer:
    """Plays one stream: packets in, at each trial's decision time a label (1-4) out."""

    def __init__(self, model: LimbModel) -> None:
        self.model = model
        self.stream = MotorStream(model.setup)
        self._time = model.setup.times[0]
        self._person: int | None = None
        self._block = 0
        self._in_trial = False

    def start_block(self, person: int) -> None:
        """A new block, maybe of another person."""
        self._block = self._block + 1 if person == self._person else 0
        self._person = person
        self._mine = self.model.people_.get(person, self.model.people_[STRANGER])
        self.stream.restart()
        self._in_trial = False
        order = self.model.order_
        prior = np.full(2, 0.5)
        if order:
            expected = order[self._block % len(order)]
            prior[expected], prior[1 - expected] = ORDER_TRUST, 1 - ORDER_TRUST
        self._side = BlockState(prior)
        self._balance = [BlockBalance(2, self.model.per_class_) for _ in (0, 1)]
        self._drift = np.zeros(2)
        self._met = 0

    def start_trial(self) -> None:
        """The packet just pushed held the trial's trigger."""
        self.stream.start_trial(fresh=True)
        self._in_trial = True

    def push(self, packet: Floats) -> int | None:
        """Take a packet in; the label to answer when the trial's decision time has come."""
        self.stream.push(packet)
        if not self._in_trial or self.stream.used != self._time:
            return None
        self._in_trial = False
        return self._answer()

    def _answer(self) -> int:
        setup, mine = self.model.setup, self._mine
        vector = np.nan_to_num(tangent(setup, self.stream.covariance(self._time), mine.white))
        t_s = float(setup.times_s[0])
        score = float(mine.side @ vector - mine.side_offset)
        told = self.model.side_pool_.posterior(_two(np.array(score))[0], t_s)
        self._side.update(told**SIDE_TRUST)
        moves = mine.movement @ vector - mine.movement_offset
        centred = moves - self._drift / (self._met + INERTIA)
        self._drift += moves
        self._met += 1
        posterior = np.zeros(4)
        for s, p_side in enumerate(self._side.posterior()):
            alone = self.model.movement_pool_.posterior(_two(centred[s : s + 1])[0, 0], t_s)
            weighed = alone * self._balance[s].prior()
            self._balance[s].update(alone)
            posterior[LABELS[s] - 1] = p_side * weighed / weighed.sum()
        answer = self.model.policy.decide(posterior, t_s)
        return 1 + (int(posterior.argmax()) if answer is None else answer)


def _side_of(person: int, labels: Ints) -> int:
    """0 left, 1 right: which arm a block is about."""
    if len(labels) == 0 or not np.isin(labels, LABELS).all():
        raise BadInput(f"subject {person}: a block without trials of classes 1-4")
    sides = np.unique((labels + 1) % 2)
    if len(sides) > 1:
        raise BadInput(f"subject {person}: a training block mixes both sides; each block must be one arm's")
    for movement in LABELS[sides[0]]:
        if np.sum(labels == movement) < FOLDS:
            raise BadInput(
                f"subject {person}: {np.sum(labels == movement)} training trials of class {movement}, {FOLDS} needed"
            )
    return int(sides[0])


def _side_weights(x: Floats, side: Ints, who: Ints, people: list[int]) -> tuple[dict[int, Floats], Floats]:
    """Weights for each person from the others (from the person alone if there are no others), and scores."""
    weights = {STRANGER: _margin(PooledRidge(0.0, RIDGE).fit(x, side).shared_)}
    scores = np.zeros(len(x))
    for n in people:
        others = who != n
        rows = others if others.any() else ~others
        weights[n] = _margin(PooledRidge(0.0, RIDGE).fit(x[rows], side[rows]).shared_)
        scores[who == n] = x[who == n] @ weights[n]
    return weights, scores


def _margin(weights: Floats) -> Floats:
    """Two classes' weights (features, 2) as one score for the second."""
    return np.asarray(weights[:, 1] - weights[:, 0])


def _two(score: Floats) -> Floats:
    """One score per trial as log-scores (trials, 1 time, 2 classes)."""
    flat = np.atleast_1d(score)
    return np.stack([-flat / 2, flat / 2], axis=-1)[:, None, :]
