"""Which abilities could well have given this run? An interval by inverting a test, exact where resampling fails.

Drawing trials again cannot show what never happened: a run without a mistake would get an interval of no width. Here
the chance of every trial is moved up and down together, in standard errors of its log odds, whole runs are made with it
and scored by the contest's own rule, and all abilities are kept under which a score as high, and one as low, as the
observed one comes up in more than 2.5 % of the runs. For a single share without block effects this is the exact
binomial interval (Clopper and Pearson 1934); for scores that stop early or fall off a cliff the rule itself is replayed
(Garthwaite and Buckland 1992 describe intervals found by such a search).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bciarena.report.units import IDLE, Array, Units

TAIL = 0.025
OUTSIDE = 0.0025
"""How rare the observed shares may be under an ability kept for a score: a score of 0 by a limit says little itself."""
ROOM = 150_000
"""Trials made for one ability, over all draws."""
STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0)
"""How far abilities are moved, in standard errors."""


def inverted(units: Units, block_sd: float, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """95 % intervals of every rate under abilities moved together.

    Parameters
    ----------
    block_sd : float
        By how much the blocks of a person are taken to differ, in log odds of a right answer.
    """
    observed = {name: float(value[0]) for name, value in units.rates(np.ones((1, units.sizes.size))).items()}
    deciding = {name: units.book.scoring.decided_by.get(name, "") for name in observed}
    found: dict[str, tuple[float, float]] = {}
    for mark in dict.fromkeys(deciding.values()):
        own = {name: value for name, value in observed.items() if deciding[name] == mark}
        found |= _search(units, mark, own, block_sd, rng)
    return found


def successes(units: Units, mark: str = "") -> NDArray[np.bool_]:
    """Whether each trial went right, or one question of it, by the mark that decides it; shape (trials,)."""
    if mark:
        return units.marks[mark] > 0
    return np.array([trial.correct for trial in units.trials], dtype=bool)


def kinds(units: Units) -> Array:
    """Trials that share an ability: those of a subject, apart those in which nothing is asked; shape (trials,)."""
    idle = np.array([trial.status in IDLE for trial in units.trials], dtype=np.int64)
    return 2 * units.subject[units.block] + idle


def _search(
    units: Units, mark: str, observed: dict[str, float], block_sd: float, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    right, kind = successes(units, mark), kinds(units)
    total = right.size
    draws = int(np.clip(ROOM // total, 200, 600))
    threshold = np.log(np.divide(u := rng.random((draws, total)), 1 - u))
    threshold -= block_sd * rng.standard_normal((draws, units.sizes.size))[:, units.block]
    good = np.zeros((draws, total), dtype=np.intp)
    bad = np.zeros((draws, total), dtype=np.intp)
    for idle in (0, 1):
        information = 0.0
        for one in np.unique(kind[kind % 2 == idle]):
            members = np.flatnonzero(kind == one)
            hits, misses = members[right[members]], members[~right[members]]
            share = (hits.size + 0.5) / (members.size + 1)
            information += members.size * share * (1 - share)
            threshold[:, members] -= np.log(share / (1 - share))
            good[:, members] = rng.choice(hits if hits.size else members + total, (draws, members.size))
            bad[:, members] = rng.choice(misses if misses.size else members + 2 * total, (draws, members.size))
        if information:  # each kind moves by its own standard error
            threshold[:, kind % 2 == idle] /= np.sqrt(1 / information + block_sd**2 / units.sizes.size)
    moves = np.array([*(-step for step in reversed(STEPS)), 0.0, *STEPS])
    fine = np.linspace(moves[0], moves[-1], 4001)
    made = _made(units, good, bad, threshold, moves)
    columns = {name: list(made[name].reshape(moves.size, draws)) for name in observed}
    shares = [name for name in observed if name in units.book.scoring.shares]
    chance = {name: _chance(moves, fine, columns[name], value) for name, value in observed.items()}
    plausible = np.all([chance[name] > OUTSIDE for name in shares] or [fine == fine], axis=0)
    found = {}
    for name, value in observed.items():
        kept = (chance[name] > TAIL) & (plausible if name not in shares else True)
        means = np.interp(fine, moves, [column.mean() for column in columns[name]])[kept]
        ends = np.append(means, value)  # nothing is kept where the rate does not depend on ability
        found[name] = float(ends.min()), float(ends.max())
    return found


def _made(units: Units, good: Array, bad: Array, threshold: Array, moves: Array) -> dict[str, Array]:
    """Rates of runs in which a trial goes right where its threshold lies below the move, (moves * draws,) each."""
    draws, blocks = len(threshold), units.sizes.size
    if units.adds_up:  # what changes from one move to the next is counted once, not every run anew
        step = np.searchsorted(moves, threshold.ravel(), side="right").reshape(threshold.shape)
        key = ((np.arange(draws)[:, None] * blocks + units.block) * (moves.size + 1) + step).ravel()
        sums = {}
        for name, column in units.could.items():
            wrong = column[bad]
            gain = np.bincount(key, (column[good] - wrong).ravel(), draws * blocks * (moves.size + 1))
            risen = np.cumsum(gain.reshape(draws, blocks, -1), axis=2)[..., : moves.size]
            total = np.add.reduceat(wrong, units.starts, axis=1)[..., None] + risen
            sums[name] = np.moveaxis(total, 2, 0).reshape(-1, blocks)
    else:
        pairs = {}
        for name, column in units.could.items():
            small = column.astype(np.int32)
            pairs[name] = small[good], small[bad]
        parts = [
            units.added({name: np.where(threshold < move, *pair) for name, pair in pairs.items()}) for move in moves
        ]
        sums = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return units.book.scoring.rates(units.book, sums, np.ones((moves.size * draws, blocks)), units.subject)


def _chance(moves: Array, fine: Array, made: list[Array], value: float) -> Array:
    """How often a value as high, or one as low, as the observed one comes up: the smaller of both, for every move."""
    from scipy.special import ndtr, ndtri

    draws, slack = made[0].size, 1e-9 * max(1.0, abs(value))
    above = [(np.sum(one >= value - slack) + 0.5) / (draws + 1) for one in made]
    below = [(np.sum(one <= value + slack) + 0.5) / (draws + 1) for one in made]
    return np.asarray(ndtr(np.minimum(np.interp(fine, moves, ndtri(above)), np.interp(fine, moves, ndtri(below)))))
