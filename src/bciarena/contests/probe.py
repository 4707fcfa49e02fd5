"""A fixed set of synthetic trials that shows what a contest's score code does, for the rulebook's digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bciarena.contests.trial import Status, Trial

if TYPE_CHECKING:
    from bciarena.contests.rulebook import Rulebook

RUNS = (0.0, 0.35, 0.6, 0.8, 0.9, 0.97, 1.0)
"""Share of right answers in each synthetic run."""
SUBJECTS, BLOCKS, TRIALS = 3, 2, 15


def probe(rules: Rulebook) -> list[Any]:
    """Scores, metrics and rows of every synthetic run, to nine digits."""
    return [_shown(rules, skill) for skill in RUNS]


def _shown(rules: Rulebook, skill: float) -> Any:
    found = rules.score(made_up(rules, skill))
    states = [(trial.status, trial.length_n) for trial in found.trials]
    return _rounded([found.score, found.metrics, found.subjects, found.blocks, states, found.notes])


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def made_up(rules: Rulebook, skill: float) -> list[Trial]:
    """Trials of every kind, drawn from a hash so that they do not depend on any library's version."""
    draws = _draws(f"{skill}")
    codes, answers = sorted(rules.truth), sorted(rules.vocabulary)
    whole_n = round((rules.limit_s or rules.missing_s or 5.0) * rules.rate)
    made = []
    for subject in range(1, SUBJECTS + 1):
        for block in range(1, BLOCKS + 1):
            for number in range(1, TRIALS + 1):
                code = codes[int(next(draws) * len(codes))]
                truth, length_n = rules.truth[code], max(1, int(next(draws) * whole_n))
                right, other, fate = next(draws) < skill, answers[int(next(draws) * len(answers))], next(draws)
                answer: str | None = truth if right else other
                status: Status = "in_time"
                if code in rules.idle:
                    alarm = fate > 0.5 + skill / 2
                    status, answer = ("false_positive", other) if alarm else ("quiet", None)
                elif fate < 0.05 * (1 - skill):
                    status, answer = "missing", None
                elif fate < 0.1 * (1 - skill):
                    status = "late"
                correct = status == "quiet" or (status == "in_time" and answer == truth)
                length = None if code in rules.idle else max(length_n, round(rules.floor_s * rules.rate))
                made.append(Trial(subject, block, number, truth, answer, correct, length, status, rules.rate))
    return made


def _draws(word: str) -> Iterator[float]:
    count = 0
    while True:
        digest = hashlib.sha256(f"{word}/{count}".encode()).digest()
        yield from (int.from_bytes(digest[at : at + 4], "big") / 2**32 for at in range(0, 32, 4))
        count += 1
