"""Left hand, right hand or idle from band power, measured against the person's rest of the same day.

Training and match are different days: the cap sits elsewhere, rhythms are stronger or weaker, and a classifier that
carries on with the training day's mean takes that for imagery. Both days have stretches outside the tasks, whose
covariance needs no label. So everything is seen in coordinates in which rest is what it was in training; the match's
rest is a running mean that begins with the training's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.evidence import LogPool
from bciarena.decoders.filters import FilterBank, band_pass
from bciarena.decoders.model_files import read_model, write_model
from bciarena.decoders.pooled import PooledRidge
from bciarena.decoders.riemann import half_vector, log_matrix, shrunk, whitening
from bciarena.errors import BadInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RATE, PACKET_N, SCALP = 250, 10, 59
TIMES = (25, 37, 55, 75, 97, 123)
"""Packets after the trigger packet at which imagery is looked at."""
SKIP = 7  # packets before rhythms respond
BAND_HZ = (8.0, 30.0)
SHRINK, WHITENING, OWN, RIDGE = 0.1, 0.003, 1.0, 2.0
FOLDS = 3
REST_AFTER_S = 1.5  # beta overshoots for about so long after imagery
PRIOR_REST_S = 8.0  # of the training day's rest, in the running mean
STRANGER = 0


@dataclass(frozen=True)
class HandsBlock:
    """A training block: EEG (channels, samples), first data sample and label of each trial, spans of rest (n, 2)."""

    eeg: NDArray[np.generic]
    starts_n: Ints
    labels: Ints
    rest_n: Ints


@dataclass(frozen=True)
class HandsPerson:
    """One person: rest covariance (ch, ch), from whitened rest to whitened trials (ch, ch), weights, mean scores.

    ``weights`` is (times, features, classes), ``offset`` (times, classes).
    """

    rest: Floats
    turn: Floats
    weights: NDArray[np.float32]
    offset: Floats


class HandsModel:
    """Everyone's classifiers, and how sure their scores are over time."""

    def fit(self, people: Mapping[int, Sequence[HandsBlock]]) -> HandsModel:
        """Fit on every person's blocks; ``left_out_`` then has probabilities by fits without the trial's fold."""
        vectors, labels, person, place = [], [], [], []
        rest: dict[int, Floats] = {}
        turn: dict[int, Floats] = {}
        mean: dict[int, Floats] = {}
        for n, blocks in people.items():
            cut = [_cut(block) for block in blocks]
            covs = np.concatenate([c for c, _ in cut])
            rest[n] = np.mean([r for _, r in cut], axis=0)
            white = whitening(covs[:, -1].astype(float).mean(axis=0), WHITENING)
            turn[n] = white @ np.linalg.inv(whitening(rest[n], WHITENING))
            # The same coordinates as in a match: each block against its own rest.
            seen = np.concatenate([_seen(c, turn[n] @ whitening(r, WHITENING)) for c, r in cut])
            mean[n] = seen.mean(axis=0)
            vectors.append((seen - mean[n]).astype(np.float32))
            labels += [block.labels for block in blocks]
            person.append(np.full(len(covs), n))
            place += [np.full(len(block.labels), b) for b, block in enumerate(blocks)]
        x, y, who, block_of = np.concatenate(vectors), *map(np.concatenate, (labels, person, place))
        fold = block_of % FOLDS if block_of.max() else np.arange(len(y)) % FOLDS
        fits = [PooledRidge(OWN, RIDGE).fit(x[:, j].astype(float), y, who, fold) for j in range(len(TIMES))]
        self.classes_: Ints = fits[0].classes_
        scores = np.stack([fit.left_out_ for fit in fits], axis=1)
        self.pool_ = LogPool().fit(scores, np.searchsorted(self.classes_, y), TIMES_S)
        told = self.pool_.posteriors(scores, TIMES_S)
        self.left_out_ = {(n, b): told[(who == n) & (block_of == b)] for n in people for b in range(len(people[n]))}
        self.accuracy_ = float(np.mean(self.classes_[told[:, -1].argmax(axis=1)] == y))
        self.people_ = {n: _person(rest[n], turn[n], mean[n], [fit.weights(n) for fit in fits]) for n in people}
        usual = [np.mean(list(part.values()), axis=0) for part in (rest, turn, mean)]
        self.people_[STRANGER] = _person(usual[0], usual[1], usual[2], [fit.weights() for fit in fits])
        return self

    def save(self, folder: str | Path) -> None:
        """Write plain JSON and npz files."""
        write_model(folder, "hands", {"classes": self.classes_.tolist(), "pool": self.pool_.to_dict()}, self.people_)

    @classmethod
    def load(cls, folder: str | Path) -> HandsModel:
        """Read what :meth:`save` wrote."""
        model = cls()
        about, people = read_model(folder, "hands")
        model.classes_, model.pool_ = np.array(about["classes"]), LogPool.from_dict(about["pool"])
        model.people_ = {n: HandsPerson(**fields) for n, fields in people.items()}
        return model


TIMES_S = np.array(TIMES) * PACKET_N / RATE


class HandsPlayer:
    """Plays one stream: packets in, probabilities of the classes out at each of TIMES."""

    def __init__(self, model: HandsModel) -> None:
        self.model = model
        self._bank = _bank()
        self._person: int | None = None

    def start_block(self, person: int) -> None:
        """A new block, maybe of another person; an unknown one is played with what all share."""
        self._bank.reset()
        if person != self._person:
            self._person = person
            self._mine = self.model.people_.get(person, self.model.people_[STRANGER])
            self._rest = self._mine.rest * PRIOR_REST_S * RATE
            self._rest_n = PRIOR_REST_S * RATE
        self._used: int | None = None
        self._since_n = 0  # samples since the last task

    def start_trial(self) -> None:
        """The packet just pushed held the trial's trigger."""
        self._used = 0
        self._task = np.zeros_like(self._rest)
        self._white = self._mine.turn @ whitening(self._rest / self._rest_n, WHITENING)

    def stop_trial(self) -> None:
        """The task is over: rest follows."""
        self._used, self._since_n = None, 0

    def push(self, packet: Floats) -> Floats | None:
        """Take a packet (rows, n) in; at one of TIMES the probabilities (classes,)."""
        out = self._bank.push(_referenced(packet[:SCALP]))[0]
        if self._used is None:
            self._since_n += out.shape[1]
            if self._since_n > REST_AFTER_S * RATE:
                self._rest = self._rest + out @ out.T
                self._rest_n += out.shape[1]
            return None
        self._used += 1
        if self._used > SKIP:
            self._task += out @ out.T / out.shape[1]
        if self._used not in TIMES:
            return None
        j = TIMES.index(self._used)
        vector = _seen((self._task / (self._used - SKIP))[None, None], self._white)[0, 0]
        scores = np.nan_to_num(vector @ self._mine.weights[j] - self._mine.offset[j])
        return self.model.pool_.posterior(scores, float(TIMES_S[j]))


def _bank() -> FilterBank:
    return FilterBank([], [band_pass(*BAND_HZ, RATE, 3)], SCALP)


def _referenced(rows: NDArray[np.generic]) -> Floats:
    """Rows less their average; a row without signal stays zero."""
    x = np.nan_to_num(np.asarray(rows, dtype=float))
    alive = x.any(axis=1, keepdims=True)
    return np.asarray(np.where(alive, x - x.sum(axis=0) / max(int(alive.sum()), 1), 0.0))


def _cut(block: HandsBlock) -> tuple[NDArray[np.float32], Floats]:
    """Covariances of the trials (trials, times, ch, ch) and of rest (ch, ch)."""
    out = _bank().push(_referenced(block.eeg[:SCALP]))[0].astype(np.float32)
    if len(block.starts_n) == 0 or len(block.rest_n) == 0:
        raise BadInput("a training block needs trials, and rest between them")
    covs = np.empty((len(block.starts_n), len(TIMES), SCALP, SCALP), np.float32)
    for i, start in enumerate(block.starts_n.tolist()):
        edges = [SKIP, *TIMES]
        parts = [out[:, start + a * PACKET_N : start + b * PACKET_N] for a, b in pairwise(edges)]
        summed = np.cumsum([part @ part.T for part in parts], axis=0)
        covs[i] = summed / ((np.array(TIMES) - SKIP) * PACKET_N)[:, None, None]
    spans = [out[:, a:b] for a, b in block.rest_n.tolist()]
    rest = np.sum([span @ span.T for span in spans], axis=0) / sum(span.shape[1] for span in spans)
    return covs, rest.astype(float)


def _seen(covs: NDArray[np.generic], white: Floats) -> Floats:
    """Tangent vectors (trials, times, features) of covariances in a person's coordinates."""
    return half_vector(log_matrix(shrunk(white @ covs.astype(float) @ white.T, SHRINK)))


def _person(rest: Floats, turn: Floats, mean: Floats, weights: Sequence[Floats]) -> HandsPerson:
    offset = np.stack([m @ w for m, w in zip(mean, weights, strict=True)])
    return HandsPerson(rest, turn, np.stack(weights).astype(np.float32), offset)
