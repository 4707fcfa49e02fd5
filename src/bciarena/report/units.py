"""A run's trials or blocks as units that can be drawn again; every number comes from the contest's own sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import Scoring
from bciarena.contests.trial import Trial, by_block

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """Blocks, or single trials, with what each contributes.

    Attributes
    ----------
    whole : bool
        Whether each unit is a whole block.
    columns : dict of str to ndarray, shape (units,)
        The contest's sums of a block, or marks of a trial.
    block : ndarray of int, shape (units,)
        Which block a unit belongs to, counted over the run.
    subject : ndarray of int, shape (blocks,)
        Whose block it is.
    """

    book: Rulebook
    whole: bool
    columns: dict[str, NDArray[Any]]
    block: NDArray[np.int64]
    subject: NDArray[np.int64]

    @property
    def owner(self) -> NDArray[np.int64]:
        """Whose unit it is, shape (units,)."""
        return self.subject[self.block]

    def rates(self, weights: Floats) -> dict[str, Floats]:
        """Score and metrics when each unit counts as often as its weight says.

        Parameters
        ----------
        weights : ndarray, shape (draws, units)
            A row of ones gives the run's own numbers.
        """
        if not self.whole:
            return self._scored(self._sums(weights), np.ones((len(weights), self.subject.size)))
        sums = {name: np.broadcast_to(column, weights.shape) for name, column in self.columns.items()}
        return self._scored(sums, weights)

    def mixed(self, other: Units, take: Floats) -> dict[str, Floats]:
        """Score and metrics of a run that has each unit from here where ``take`` is 1, else from ``other``."""
        here, there = self._sums(take), other._sums(1 - take)
        sums = {name: here[name] + there[name] for name in here}
        return self._scored(sums, np.ones((len(take), self.subject.size)))

    def _scored(self, sums: dict[str, Floats], weights: Floats) -> dict[str, Floats]:
        return self.book.scoring.rates(self.book, sums, weights, self.subject)

    def _sums(self, weights: Floats) -> dict[str, Floats]:
        """Block sums under weights of the units, each of shape (draws, blocks)."""
        inside = (self.block[:, None] == np.arange(self.subject.size)).astype(float)
        return {name: (weights * column) @ inside for name, column in self.columns.items()}


def blocks_of(book: Rulebook, trials: Sequence[Trial]) -> Units:
    """A run's blocks."""
    groups = by_block(trials)
    columns = {name: column[0] for name, column in book.scoring.block_sums(book, groups).items()}
    subject = np.array([number for number, _, _ in groups], dtype=np.int64)
    return Units(book, True, columns, np.arange(len(groups)), subject)


def trials_of(book: Rulebook, trials: Sequence[Trial]) -> Units:
    """A run's single trials; only where a block's sums are the sums of its trials (see `adds_up`)."""
    groups = by_block(trials)
    subject = np.array([number for number, _, _ in groups], dtype=np.int64)
    block = np.repeat(np.arange(len(groups)), [len(own) for _, _, own in groups])
    return Units(book, False, book.scoring.marks_of(book, trials), block, subject)


def adds_up(book: Rulebook) -> bool:
    """Whether a block's sums are just its trials' marks added up, in any order and number."""
    return type(book.scoring).block is Scoring.block
