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

from bciarena.report.units import IDLE, Array, Units, turned

TAIL = 0.025
OUTSIDE = 0.0025
"""How rare a share may be under abilities kept for a score: a score that a limit has taken to 0 cannot tell itself."""
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
    # Marks of what happened, then of what could have: every trial gone right, every trial gone wrong.
    pool = [*units.trials]
    pool += [turned(units.book, trial, True) for trial in units.trials]
    pool += [turned(units.book, trial, False) for trial in units.trials]
    marks = units.book.scoring.marks_of(units.book, pool)
    threshold = np.log(np.divide(u := rng.random((draws, total)), 1 - u))
    threshold -= block_sd * rng.standard_normal((draws, units.sizes.size))[:, units.block]
    good = np.zeros((draws, total), dtype=np.int32)
    bad = np.zeros((draws, total), dtype=np.int32)
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
    made = [units.replayed(np.where(threshold < move, good, bad), marks) for move in moves]
    columns = {name: [one[name] for one in made] for name in observed}
    shares = [name for name in observed if name in units.book.scoring.shares]
    chance = {name: _chance(moves, fine, columns[name], value) for name, value in observed.items()}
    plausible = np.all([chance[name] > OUTSIDE for name in shares] or [fine == fine], axis=0)
    found = {}
    for name, value in observed.items():
        kept = (chance[name] > TAIL) & (plausible if name not in shares else True)
        means = np.interp(fine, moves, [column.mean() for column in columns[name]])[kept]
        ends = np.append(means, value)  # where nothing is kept the rate moves with no ability: nothing to add
        found[name] = float(ends.min()), float(ends.max())
    return found


def _chance(moves: Array, fine: Array, made: list[Array], value: float) -> Array:
    """How often a value as high, or one as low, as the observed one comes up: the smaller of both, for every move."""
    from scipy.special import ndtr, ndtri

    draws, slack = made[0].size, 1e-9 * max(1.0, abs(value))
    above = [(np.sum(one >= value - slack) + 0.5) / (draws + 1) for one in made]
    below = [(np.sum(one <= value + slack) + 0.5) / (draws + 1) for one in made]
    return np.asarray(ndtr(np.minimum(np.interp(fine, moves, ndtri(above)), np.interp(fine, moves, ndtri(below)))))
