"""A run's blocks and trials, for resampling; every number comes from the contest's own sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import Scoring
from bciarena.contests.trial import Status, Trial, by_block

Array = NDArray[Any]
Floats = NDArray[np.float64]
IDLE = ("quiet", "false_positive")


@dataclass(frozen=True)
class Units:
    """The trials of a run with what each contributes.

    Attributes
    ----------
    trials : list of Trial
        As judged; those after a block's stop have a length again (see `restored`).
    sizes : ndarray of int, shape (blocks,)
        Trials of each block.
    subject : ndarray of int, shape (blocks,)
        Whose block it is.
    """

    book: Rulebook
    trials: list[Trial]
    sizes: NDArray[np.int64]
    subject: NDArray[np.int64]

    @cached_property
    def marks(self) -> dict[str, Array]:
        """The contest's marks of every trial, each of shape (trials,)."""
        return self.book.scoring.marks_of(self.book, self.trials)

    @cached_property
    def could(self) -> dict[str, Array]:
        """Marks of what happened, then of what could have: all trials right, then all wrong; (3 * trials,) each."""
        pool = [turned(self.book, trial, right) for right in (True, False) for trial in self.trials]
        more = self.book.scoring.marks_of(self.book, pool)
        return {name: np.concatenate((column, more[name])) for name, column in self.marks.items()}

    @cached_property
    def sums(self) -> dict[str, Array]:
        """The contest's sums of every block, each of shape (blocks,)."""
        return {name: column[0] for name, column in self.summed(self.marks, np.arange(len(self.trials))[None]).items()}

    @cached_property
    def block(self) -> NDArray[np.int64]:
        """The block of each trial, counted over the run; shape (trials,)."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each block begins among the trials."""
        return np.concatenate(([0], np.cumsum(self.sizes)[:-1])).astype(np.int64)

    def summed(self, marks: dict[str, Array], picks: Array) -> dict[str, Array]:
        """Block sums, each (draws, blocks), when place t of the run is taken by trial ``picks[:, t]`` of ``marks``.

        The contest's own rule for a block is replayed, so that one which stops early stops early here, too.
        """
        return self.added({name: self._taken(column, picks) for name, column in marks.items()})

    def _taken(self, column: Array, picks: Array) -> Array:
        if column.size and (column == column[0]).all():  # the same for every trial, whichever is taken
            return np.broadcast_to(column[0], picks.shape)
        return np.take(column, picks)

    def added(self, columns: dict[str, Array]) -> dict[str, Array]:
        """Block sums, each (draws, blocks), of marks given for every draw and trial, each (draws, trials)."""
        if self.adds_up:
            return {name: np.add.reduceat(column, self.starts, axis=1) for name, column in columns.items()}
        found = []
        for start, size in zip(self.starts, self.sizes, strict=True):
            own = {name: column[:, start : start + size] for name, column in columns.items()}
            found.append(self.book.scoring.block(self.book, own))
        return {name: np.stack([one[name] for one in found], axis=1) for name in found[0]}

    @property
    def adds_up(self) -> bool:
        """Whether a block is the plain sum of its trials."""
        return type(self.book.scoring).block is Scoring.block

    def rates(self, weights: Floats) -> dict[str, Floats]:
        """Score and metrics when each block counts as often as its weight says; weights (draws, blocks)."""
        sums = {name: np.broadcast_to(column, weights.shape) for name, column in self.sums.items()}
        return self.book.scoring.rates(self.book, sums, weights, self.subject)

    def replayed(self, picks: Array, marks: dict[str, Array] | None = None) -> dict[str, Floats]:
        """Score and metrics of runs whose trials are ``picks`` (draws, trials)."""
        sums = self.summed(self.marks if marks is None else marks, picks)
        ones = np.ones((len(picks), self.sizes.size))
        return self.book.scoring.rates(self.book, sums, ones, self.subject)


def units_of(book: Rulebook, trials: Sequence[Trial]) -> Units:
    """A run's trials, block by block."""
    groups = by_block(restored(book, trials))
    sizes = np.array([len(own) for _, _, own in groups], dtype=np.int64)
    subject = np.array([number for number, _, _ in groups], dtype=np.int64)
    return Units(book, [trial for _, _, own in groups for trial in own], sizes, subject)


def restored(book: Rulebook, trials: Sequence[Trial]) -> list[Trial]:
    """Trials after a block's stop have no length; they get the mean of those with the same outcome, to be replayed."""
    if all(trial.status != "after_target" for trial in trials):
        return list(trials)
    usual = {}
    for right in (True, False):
        lengths = [t.length_n for t in trials if t.length_n is not None and t.correct is right]
        usual[right] = round(float(np.mean(lengths))) if lengths else round((book.missing_s or 0.0) * book.rate)
    return [
        replace(t, length_n=usual[t.correct], status="in_time" if t.answer is not None else "missing")
        if t.status == "after_target"
        else t
        for t in trials
    ]


def turned(book: Rulebook, trial: Trial, right: bool, length_n: int | None = None) -> Trial:
    """The trial as it would be had it gone right (in ``length_n`` samples where given), or wrong in every respect."""
    answer: str | None
    status: Status
    if trial.status in IDLE:
        answer, status = (None, "quiet") if right else (next(iter(book.vocabulary)), "false_positive")
    else:
        answer, status = (trial.truth, "in_time") if right else (None, "missing")
    length_n = trial.length_n if length_n is None or trial.length_n is None else length_n
    # Not dataclasses.replace: three times as slow, and a run turns each of its trials several times.
    return Trial(trial.subject, trial.block, trial.trial, trial.truth, answer, right, length_n, status, trial.rate)


def extremes(units: Units) -> dict[str, tuple[float, float]]:
    """The least and the most each rate can be on these trials: all wrong, and all right at the shortest time."""
    book = units.book
    floor_n = max(book.packet_n, round(book.floor_s * book.rate))
    ends = []
    for right in (True, False):
        whole = replace(
            units, trials=[turned(book, trial, right, floor_n if right else None) for trial in units.trials]
        )
        ends.append(whole.rates(np.ones((1, units.sizes.size))))
    found = {name: (float(ends[0][name][0]), float(ends[1][name][0])) for name in ends[0]}
    return {name: (min(pair), max(pair)) for name, pair in found.items()} | dict.fromkeys(
        book.scoring.shares, (0.0, 1.0)
    )


def guessed(units: Units, draws: int, rng: np.random.Generator, answers: int = 16) -> Floats:
    """Scores of runs that answer at the same times by chance, and stay quiet where nothing is asked; shape (draws,)."""
    book = units.book
    words = list(book.vocabulary)
    trials: list[Trial] = []
    for trial in units.trials:
        for word in rng.integers(len(words), size=answers):
            answer = words[int(word)]
            right = answer == trial.truth
            answered = replace(trial, answer=answer, correct=right, status="in_time")
            trials.append(turned(book, trial, True) if trial.status in IDLE else answered)
    marks = book.scoring.marks_of(book, trials)
    picks = np.arange(len(units.trials)) * answers + rng.integers(answers, size=(draws, len(units.trials)))
    return units.replayed(picks, marks)["score"]
