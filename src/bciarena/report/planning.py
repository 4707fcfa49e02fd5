"""How much to record so that a board can tell two entries apart: power, by simulation, before anyone is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.errors import BadInput
from bciarena.report.ranking import LEVEL, places, smallest_p
from bciarena.report.statistics import BLOCK_SD
from bciarena.report.units import Units, turned, units_of

PERSON_SD = 0.6
"""By how much people are assumed to differ, in log odds of a right answer."""
SPREAD = 0.3
"""Standard deviation of the logarithm of answer times."""
WANTED = 0.8
"""Power that counts as enough."""


@dataclass(frozen=True)
class Assumed:
    """What is assumed about entries and people."""

    accuracy: float
    seconds: float
    alarms: float
    codes: tuple[int, ...]  # the trials of one block


def blocks_like(codes: Sequence[int], trials: int | None) -> tuple[int, ...]:
    """The codes of a block, repeated or cut to ``trials``."""
    if not codes:
        raise BadInput("a block has no trials to plan with; give --trials")
    wanted = len(codes) if trials is None else trials
    return tuple(codes[index % len(codes)] for index in range(wanted))


class Maker:
    """Makes block sums of entries with given abilities, by the contest's own marks and block rule."""

    def __init__(self, book: Rulebook, assumed: Assumed, seed: int) -> None:
        self.book, self.assumed = book, assumed
        self.rng = np.random.default_rng(seed)

    def sums(self, people: int, blocks: int, gain: NDArray[np.float64]) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """Sums (entries, blocks) of entries better by ``gain`` (entries,) in log odds, and the person of each block."""
        units = self._units(people, blocks)
        asked = np.array([trial.length_n is not None for trial in units.trials])
        level = np.where(asked, _odds(self.assumed.accuracy), _odds(1 - self.assumed.alarms))
        level = level + PERSON_SD * self.rng.standard_normal(people)[units.subject[units.block] - 1]
        entries, total = gain.size, len(units.trials)
        moved = gain[:, None] * asked + BLOCK_SD * self.rng.standard_normal((entries, units.sizes.size))[:, units.block]
        right = self.rng.random((entries, total)) < 1 / (1 + np.exp(-(level + moved)))
        pool = [turned(self.book, trial, True) for trial in units.trials]
        pool += [self._wrong(trial) for trial in units.trials]
        marks = self.book.scoring.marks_of(self.book, pool)
        return units.summed(marks, np.arange(total) + total * ~right), units.subject

    def _wrong(self, trial: Trial) -> Trial:
        """A trial that was answered wrongly in time; the answer is any other one."""
        wrong = turned(self.book, trial, False)
        if trial.length_n is None:
            return wrong
        others = [word for word in self.book.vocabulary if word != trial.truth]
        answer = others[int(self.rng.integers(len(others)))]
        return Trial(
            trial.subject, trial.block, trial.trial, trial.truth, answer, False, trial.length_n, "in_time", trial.rate
        )

    def _units(self, people: int, blocks: int) -> Units:
        book, made = self.book, []
        for person in range(1, people + 1):
            for block in range(1, blocks + 1):
                for number, code in enumerate(self.assumed.codes, 1):
                    seconds = self.assumed.seconds * np.exp(SPREAD * self.rng.standard_normal() - SPREAD**2 / 2)
                    seconds = max(seconds, book.floor_s, book.packet_n / book.rate)
                    length_n = min(round(seconds * book.rate), round((book.limit_s or 60.0) * book.rate) - 1)
                    idle = code in book.idle
                    truth = book.truth[code]
                    made.append(
                        Trial(person, block, number, truth, None if idle else truth, True, None if idle else length_n,
                              "quiet" if idle else "in_time", book.rate)
                    )  # fmt: skip
        return units_of(book, made)


def _odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


def adds_up(book: Rulebook, assumed: Assumed) -> bool:
    """Whether the score is a sum over blocks: a difference is then that of one block, whatever the design."""
    sums, subject = Maker(book, assumed, 0).sums(1, 4, np.full(1, 2.0))
    once, twice = (book.scoring.rates(book, sums, np.full((1, 4), times), subject)["score"][0] for times in (1.0, 2.0))
    return bool(once > 0 and np.isclose(twice, 2 * once))


def gain_for(
    book: Rulebook, assumed: Assumed, difference: float, people: int, blocks: int, seed: int
) -> tuple[float, float]:
    """How much better in log odds an entry must be to score ``difference`` more on average, and the others' score."""
    maker = Maker(book, assumed, seed)
    gains = np.linspace(0, 6, 25)
    total = np.zeros(gains.size)
    rounds = max(10, 120 // (people * blocks))
    for _ in range(rounds):
        sums, subject = maker.sums(people, blocks, gains)
        total += book.scoring.rates(book, sums, np.ones((gains.size, subject.size)), subject)["score"]
    scores = np.maximum.accumulate(total / rounds)
    if scores[-1] - scores[0] < difference:
        raise BadInput(
            f"--difference {difference:g}: no entry can be that much better: at accuracy {assumed.accuracy:g} and "
            f"{assumed.seconds:g} s the score is {scores[0]:.1f}, without a mistake {scores[-1]:.1f} {book.unit}"
        )
    return float(np.interp(scores[0] + difference, scores, gains)), float(scores[0])


def power(
    book: Rulebook, assumed: Assumed, teams: int, gain: float, people: int, blocks: int, boards: int, seed: int
) -> float:
    """Share of boards on which the better entry is told from one other entry, chosen beforehand."""
    maker = Maker(book, assumed, seed)
    gains = np.zeros(teams)
    gains[0] = gain
    told = 0
    for number in range(boards):
        sums, subject = maker.sums(people, blocks, gains)
        scores = book.scoring.rates(book, sums, np.ones((teams, subject.size)), subject)["score"]
        order = np.argsort(-scores, kind="stable")
        found = places(book, {name: column[order] for name, column in sums.items()}, subject, seed=number)
        rank = {int(team): at for at, team in enumerate(order)}
        told += rank[0] < rank[1] and found[rank[0]].first != found[rank[1]].first
    return told / boards


def plan(
    book: Rulebook,
    assumed: Assumed,
    teams: int,
    difference: float,
    people: Sequence[int],
    blocks: Sequence[int],
    boards: int = 100,
    seed: int = 0,
    tell: Callable[[dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """Power for every design, one row each."""
    rows, refused = [], []
    summed = adds_up(book, assumed)
    for persons in dict.fromkeys(people):
        for each in dict.fromkeys(blocks):
            row: dict[str, Any] = {"people": persons, "blocks": each, "trials": len(assumed.codes), "power": None}
            row |= {
                "error": None,
                "usual_score": None,
                "gain_log_odds": None,
                "testable": testable(teams, persons * each),
            }
            try:
                row["gain_log_odds"], row["usual_score"] = gain_for(
                    book, assumed, difference * (persons * each if summed else 1), persons, each, seed
                )
            except BadInput as trouble:
                refused.append(trouble)
            else:
                row["power"] = 0.0
                if row["testable"]:
                    row["power"] = power(book, assumed, teams, row["gain_log_odds"], persons, each, boards, seed)
                row["error"] = _error(row["power"], boards) if row["testable"] else 0.0
            rows.append(row)
            if tell is not None:
                tell(row)
    if len(refused) == len(rows):
        raise refused[-1]
    return rows


def testable(teams: int, blocks: int) -> bool:
    """Whether any outcome on so many blocks could tell one team from the others."""
    return any(smallest_p(size, blocks) <= 1 - (1 - LEVEL) ** (size / teams) for size in range(2, teams + 1))


def _error(share: float, boards: int) -> float:
    """Standard error of a share, with two boards added each way, so that none or all of a few is not certainty."""
    moved = (share * boards + 2) / (boards + 4)
    return float((moved * (1 - moved) / (boards + 4)) ** 0.5)


COLOURS = ("#1f6f8b", "#c9833e", "#2a9d6f", "#7b4fb3", "#d1495b", "#8a8f98")


def figure(rows: list[dict[str, Any]], title: str) -> str:
    """Power against blocks per person, a line for every number of people, as SVG."""
    people = list(dict.fromkeys(row["people"] for row in rows))
    blocks = sorted({row["blocks"] for row in rows})

    def x(value: int) -> float:
        return 60.0 + 480 * float(value - blocks[0]) / float(max(blocks[-1] - blocks[0], 1))

    def y(value: float) -> float:
        return 300 - 250 * value

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 360" font-family="sans-serif" font-size="13">']
    parts.append(f'<rect width="680" height="360" fill="#fff"/><text x="60" y="28">{escape(title)}</text>')
    for value in (0, 0.2, 0.4, 0.6, 0.8, 1):
        dash = ' stroke-dasharray="5 4" stroke="#d1495b"' if value == WANTED else ' stroke="#ddd"'
        parts.append(f'<line x1="60" x2="540" y1="{y(value):.1f}" y2="{y(value):.1f}"{dash}/>')
        parts.append(f'<text x="52" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in blocks:
        parts.append(f'<text x="{x(value):.1f}" y="320" text-anchor="middle">{value}</text>')
    parts.append('<text x="300" y="345" text-anchor="middle">blocks per person</text>')
    parts.append('<text transform="translate(18 175) rotate(-90)" text-anchor="middle">power</text>')
    parts.append(f'<text x="556" y="{y(WANTED) + 4:.1f}" fill="#d1495b">{WANTED:g}: enough</text>')
    for index, number in enumerate(people):
        colour = COLOURS[index % len(COLOURS)]
        own = [row for row in rows if row["people"] == number and row["power"] is not None]
        line = " ".join(f"{x(row['blocks']):.1f},{y(row['power']):.1f}" for row in own)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for row in own:
            at, low, high = x(row["blocks"]), row["power"] - row["error"], row["power"] + row["error"]
            ends = f'y1="{y(max(low, 0)):.1f}" y2="{y(min(high, 1)):.1f}"'
            parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" {ends} stroke="{colour}" stroke-opacity=".5"/>')
            parts.append(f'<circle cx="{at:.1f}" cy="{y(row["power"]):.1f}" r="3.5" fill="{colour}"/>')
        who = "person" if number == 1 else "people"
        parts.append(f'<text x="556" y="{130 + 22 * index}" fill="{colour}">{number} {who}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
