"""Runs made by a model of its own, to audit intervals and ranks with; it shares nothing with the report.

A person has an ability, a speed and a readiness to answer when nothing is asked; a block is easier or harder for every
entry and suits one entry more than another; a trial has its own difficulty, the same for all entries that play it; and
answers come at random times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial, by_block

DRAWS = 2000
"""Runs put together to find what is true."""


@dataclass(frozen=True)
class World:
    """What runs are like: log odds of a right answer and of a false alarm, and standard deviations of log odds."""

    level: float = 1.4
    alarm: float = -3.0
    block_sd: float = 0.2  # a block's ease, the same for every entry
    entry_sd: float = 0.22  # how much better a block suits one entry than another
    trials: int = 30


@dataclass(frozen=True)
class People:
    """Abilities, speeds and readiness to answer when nothing is asked, by person."""

    ability: Any
    log_s: Any
    alarm: Any


@dataclass(frozen=True)
class Stage:
    """Blocks to be played, the same for all entries: what is asked in every trial, and how hard it is."""

    people: People
    person: Any  # (blocks,)
    number: Any  # (blocks,), counted from 1 within a person
    ease: Any  # (blocks,)
    codes: Any  # (blocks, trials)
    ease_of_trial: Any  # (blocks, trials)


def people(world: World, number: int, rng: np.random.Generator) -> People:
    return People(
        world.level + 0.5 * rng.standard_normal(number),
        np.log(1.3) + 0.2 * rng.standard_normal(number),
        world.alarm + 0.5 * rng.standard_normal(number),
    )


def stage(book: Rulebook, world: World, who: People, blocks: int, rng: np.random.Generator) -> Stage:
    """New blocks of these people."""
    asked, idle = sorted(book.opens - book.idle), sorted(book.idle)
    total, shape = len(who.ability) * blocks, (len(who.ability) * blocks, world.trials)
    codes = rng.choice(asked, shape)
    if idle:
        codes = np.where(rng.random(shape) < 0.3, rng.choice(idle, shape), codes)
    person = np.repeat(np.arange(len(who.ability)), blocks)
    number = np.tile(np.arange(1, blocks + 1), len(who.ability))
    ease = world.block_sd * rng.standard_normal(total)
    return Stage(who, person, number, ease, codes, 0.4 * rng.standard_normal(shape))


def play(book: Rulebook, world: World, on: Stage, rng: np.random.Generator, better: float = 0.0) -> list[Trial]:
    """One run of an entry."""
    words, rate = list(book.vocabulary), book.rate
    limit_s = book.limit_s or 9.0
    missing_n = round((book.missing_s or limit_s) * rate)
    total, trials = on.codes.shape
    suits = on.ease + world.entry_sd * rng.standard_normal(total)
    odds = (on.people.ability[on.person] + suits + better)[:, None] + on.ease_of_trial
    alarm = on.people.alarm[on.person] + world.entry_sd * rng.standard_normal(total)
    right = rng.random((total, trials)) < 1 / (1 + np.exp(-odds))
    false = rng.random((total, trials)) < 1 / (1 + np.exp(-alarm))[:, None]
    log_s = on.people.log_s[on.person] + 0.05 * rng.standard_normal(total)
    seconds = np.exp(log_s[:, None] + 0.3 * rng.standard_normal((total, trials))) + 2 * book.floor_s
    length = np.maximum(np.rint(seconds * rate), book.packet_n).astype(int)
    late = (seconds >= limit_s).tolist()
    said = rng.integers(len(words), size=(total, trials)).tolist()
    codes, right, false, length = on.codes.tolist(), right.tolist(), false.tolist(), length.tolist()
    made = []
    for b in range(total):
        person, block = int(on.person[b]) + 1, int(on.number[b])
        for t in range(trials):
            code = codes[b][t]
            truth, word = book.truth[code], words[said[b][t]]
            if code in book.idle:
                alarmed = false[b][t]
                made.append(
                    Trial(person, block, t + 1, truth, word if alarmed else None, not alarmed, None,
                          "false_positive" if alarmed else "quiet", rate)
                )  # fmt: skip
            elif late[b][t]:
                made.append(Trial(person, block, t + 1, truth, None, False, missing_n, "missing", rate))
            else:
                answer = truth if right[b][t] else word
                made.append(
                    Trial(person, block, t + 1, truth, answer, answer == truth, length[b][t], "in_time", rate)
                )  # fmt: skip
    return made


def run(
    book: Rulebook, world: World, who: People, blocks: int, rng: np.random.Generator, better: float = 0.0
) -> list[Trial]:
    """One run of an entry on new blocks of these people."""
    return play(book, world, stage(book, world, who, blocks, rng), rng, better)


def score_file(book: Rulebook, trials: list[Trial]) -> dict[str, Any]:
    """What score.json holds of a run, as far as the report reads it."""
    found = book.score(trials)
    return {
        "challenge": book.id,
        "verdict": "ok",
        "score": found.score,
        "metrics": found.metrics,
        "blocks": found.blocks,
        "trials": [trial.as_json() for trial in found.trials],
    }


def most_possible(book: Rulebook, trials: list[Trial]) -> float:
    """The score of a run that answers all of these trials rightly, in the shortest time."""
    shortest = max(book.packet_n, round(book.floor_s * book.rate))
    return book.score(
        [
            Trial(t.subject, t.block, t.trial, t.truth, None, True, None, "quiet", t.rate)
            if t.length_n is None
            else Trial(t.subject, t.block, t.trial, t.truth, t.truth, True, shortest, "in_time", t.rate)
            for t in trials
        ]
    ).score


def expected(
    book: Rulebook, world: World, who: People, blocks: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of every rate over new runs on new blocks of these people.

    Many blocks of each person are played, and runs put together from them.
    """
    many, persons = max(200, 40 * blocks), len(who.ability)
    picks = rng.integers(many, size=(DRAWS, persons, blocks)) + many * np.arange(persons)[None, :, None]
    return _put_together(book, run(book, world, who, many, rng), picks)


def expected_anew(
    book: Rulebook, world: World, persons: int, blocks: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """The same over runs of new people."""
    many = 200 * persons
    who = rng.integers(many, size=(DRAWS, persons, 1)) * blocks
    return _put_together(book, run(book, world, people(world, many, rng), blocks, rng), who + np.arange(blocks))


def _put_together(book: Rulebook, trials: list[Trial], picks: Any) -> dict[str, tuple[float, float]]:
    """Rates of runs made of blocks ``picks`` (draws, people, blocks) of a long run."""
    sums = book.scoring.block_sums(book, by_block(trials))
    draws, persons, blocks = picks.shape
    picked = {name: column[0][picks.reshape(draws, -1)] for name, column in sums.items()}
    subject = np.repeat(np.arange(1, persons + 1), blocks)
    rates = book.scoring.rates(book, picked, np.ones((draws, subject.size)), subject)
    return {name: (float(np.mean(column)), float(np.std(column))) for name, column in rates.items()}
