"""Do intervals cover the truth, and do boards keep their error rates? Measured on runs from a separate model.

The model has people, blocks and trials and shares nothing with the report: a person has an ability and a speed, a block
changes both, a trial has its own difficulty, and answers come at random times. Runs are scored by the contests' code,
intervals and ranks are those of the report and the board, and the truth is the mean of many further runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bciarena.contests import RULEBOOKS
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial

SHAPES = ((1, 1), (1, 2), (2, 1), (3, 2), (2, 6))
"""People and blocks each."""
RUNS = 40
BOARDS = 40
LEVELS = {"usual": 1.4, "near perfect": 4.0, "weak": 0.3}
"""Ability of an average person, in log odds."""
TRIALS = 30


@dataclass(frozen=True)
class People:
    """Abilities, speeds and readiness to answer when nothing is asked, by person."""

    ability: Any
    log_s: Any
    alarm: Any


def people(level: float, number: int, rng: np.random.Generator) -> People:
    return People(
        level + 0.5 * rng.standard_normal(number),
        np.log(1.3) + 0.2 * rng.standard_normal(number),
        -3.0 + 0.5 * rng.standard_normal(number),
    )


def run(
    book: Rulebook, who: People, blocks: int, rng: np.random.Generator, trials: int = TRIALS, better: float = 0.0
) -> list[Trial]:
    """One run of an entry on new blocks of these people."""
    asked, idle = sorted(book.opens - book.idle), sorted(book.idle)
    words = list(book.vocabulary)
    limit_s = book.limit_s or 9.0
    made = []
    for person, base in enumerate(who.ability):
        for block in range(1, blocks + 1):
            ability = base + better + 0.3 * rng.standard_normal()
            log_s = who.log_s[person] + 0.05 * rng.standard_normal()
            alarm = 1 / (1 + np.exp(-(who.alarm[person] + 0.3 * rng.standard_normal())))
            for number in range(1, trials + 1):
                place = (person + 1, block, number)
                if idle and rng.random() < 0.3:
                    false = bool(rng.random() < alarm)
                    truth = book.truth[idle[rng.integers(len(idle))]]
                    status = "false_positive" if false else "quiet"
                    answer = words[rng.integers(len(words))] if false else None
                    made.append(Trial(*place, truth, answer, not false, None, status, book.rate))  # type: ignore[arg-type]
                    continue
                truth = book.truth[asked[rng.integers(len(asked))]]
                right = bool(rng.random() < 1 / (1 + np.exp(-(ability + 0.4 * rng.standard_normal()))))
                answer = truth if right else words[rng.integers(len(words))]
                seconds = float(np.exp(log_s + 0.3 * rng.standard_normal())) + 2 * book.floor_s
                length_n = max(round(seconds * book.rate), book.packet_n)
                if seconds >= limit_s:
                    length_n = round((book.missing_s or limit_s) * book.rate)
                    made.append(Trial(*place, truth, None, False, length_n, "missing", book.rate))
                    continue
                made.append(Trial(*place, truth, answer, answer == truth, length_n, "in_time", book.rate))
    return made


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


def coverage(
    book: Rulebook, level: float, shape: tuple[int, int], runs: int, seed: int, sets: int = 4, truths: int = 150
) -> dict[str, float]:
    """Share of intervals that contain the truth: of the score and of each rate between 0 and 1."""
    from bciarena.report.statistics import intervals

    rng = np.random.default_rng([seed, *shape])
    subjects, blocks = shape
    names = ["score", *sorted(book.scoring.shares - book.scoring.hidden)]
    held: dict[str, list[bool]] = {name: [] for name in names}
    for _ in range(sets):
        who = people(level, subjects, rng)
        further = [book.score(run(book, who, blocks, rng)) for _ in range(truths)]
        values = [{"score": one.score, **one.metrics} for one in further]
        truth = {name: float(np.mean([one[name] for one in values])) for name in names}
        for index in range(runs // sets):
            got = intervals(score_file(book, run(book, who, blocks, rng)), 1000, seed=index)
            for name in names:
                held[name].append(_holds(got[name].low, got[name].high, truth[name]))
    result = {name: float(np.mean(marks)) for name, marks in held.items()}
    result["runs"] = len(held["score"])
    return result


def new_people(book: Rulebook, level: float, shape: tuple[int, int], runs: int, seed: int) -> float:
    """Share of intervals for new people that contain the mean over all people."""
    from bciarena.report.statistics import intervals

    rng = np.random.default_rng([seed, *shape, 1])

    def once() -> list[Trial]:
        return run(book, people(level, shape[0], rng), shape[1], rng)

    truth = float(np.mean([book.score(once()).score for _ in range(4 * runs)]))
    found = [intervals(score_file(book, once()), 1000)["score"] for _ in range(runs)]
    return float(np.mean([_holds(one.new_low, one.new_high, truth) for one in found]))


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    if low is None or high is None:
        return False
    slack = 1e-6 * max(1.0, abs(truth))
    return low - slack <= truth <= high + slack


def board(book: Rulebook, teams: int, shape: tuple[int, int], rng: np.random.Generator, better: float = 0.0) -> Any:
    """A board of teams on the same people, the first one better; places in rank order, and the order of the teams."""
    from bciarena.report.ranking import places
    from bciarena.report.units import units_of

    who = people(LEVELS["usual"], shape[0], rng)
    runs = [units_of(book, run(book, who, shape[1], rng, 20, better if team == 0 else 0.0)) for team in range(teams)]
    sums = {name: np.array([one.sums[name] for one in runs]) for name in runs[0].sums}
    subject = runs[0].subject
    scores = book.scoring.rates(book, sums, np.ones((teams, subject.size)), subject)["score"]
    order = np.argsort(-scores, kind="stable")
    return places(book, {name: column[order] for name, column in sums.items()}, subject), order


def false_splits(book: Rulebook, teams: int, shape: tuple[int, int], boards: int, seed: int) -> float:
    """Share of boards of equal teams on which any two are told apart."""
    rng = np.random.default_rng([seed, teams])
    return float(np.mean([len({p.first for p in board(book, teams, shape, rng)[0]}) > 1 for _ in range(boards)]))


def board_power(book: Rulebook, teams: int, shape: tuple[int, int], better: float, boards: int, seed: int) -> float:
    """Share of boards on which the better team is told from one of the others, chosen beforehand."""
    rng = np.random.default_rng([seed, teams, 1])
    told = []
    for _ in range(boards):
        found, order = board(book, teams, shape, rng, better)
        first, other = (int(np.flatnonzero(order == team)[0]) for team in (0, 1))
        told.append(first < other and found[first].first != found[other].first)
    return float(np.mean(told))


def compared(book: Rulebook, shape: tuple[int, int], runs: int, seed: int) -> float:
    """Share of pairs of equal entries that arena compare calls distinguishable."""
    from bciarena.report.statistics import compare

    rng = np.random.default_rng([seed, *shape, 2])
    told = []
    for _ in range(runs):
        who = people(LEVELS["usual"], shape[0], rng)
        one, two = (score_file(book, run(book, who, shape[1], rng)) for _ in range(2))
        told.append(compare(one, two, 500).distinguishable)
    return float(np.mean(told))


def main(tell: Callable[[str], None] = lambda text: None, runs: int = RUNS, boards: int = BOARDS) -> str:
    """The whole audit as Markdown; seeds are fixed, so it repeats."""
    columns = [(level, shape) for shape in SHAPES for level in ("usual",)] + [("near perfect", (1, 1))]
    head = [f"{shape[0]} x {shape[1]}" + ("" if level == "usual" else f", {level}") for level, shape in columns]
    lines = [f"Coverage of 95 % intervals, {runs} runs a cell (people x blocks): score, then the worst share.\n"]
    lines += ["| contest | " + " | ".join(head) + " | new people, 4 x 2 |", "|---|" + "---|" * (len(head) + 1)]
    for book in RULEBOOKS.values():
        cells = []
        for level, shape in columns:
            tell(f"coverage {book.name} {shape} {level}")
            found = coverage(book, LEVELS[level], shape, runs, 3, truths=60)
            found.pop("runs")
            score = found.pop("score")
            cells.append(f"{score:.2f}, {min(found.values()):.2f}")
        tell(f"new people {book.name}")
        cells.append(f"{new_people(book, LEVELS['usual'], (4, 2), runs, 3):.2f}")
        lines.append(f"| {book.name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *_boards(tell, runs, boards)]) + "\n"


def _boards(tell: Callable[[str], None], runs: int, boards: int) -> list[str]:
    """Lines about boards and comparisons."""
    first = next(iter(RULEBOOKS.values()))
    lines = [f"Boards of {first.id}, {boards} each, 3 people x 3 blocks of 20 trials.\n"]
    lines += ["| teams | equal teams split anywhere | one better by 1.5 log odds is told from a given other |"]
    lines += ["|---|---|---|"]
    for teams in (2, 5, 20, 100):
        tell(f"board of {teams}")
        split = false_splits(first, teams, (3, 3), boards, 3)
        told = board_power(first, teams, (3, 3), 1.5, max(boards // 2, 10), 3)
        lines.append(f"| {teams} | {split:.2f} | {told:.2f} |")
    tell("compare")
    told = compared(first, (3, 2), 2 * runs, 3)
    return [*lines, f"\n`arena compare` of equal entries, 3 x 2: distinguishable in {told:.2f}."]
