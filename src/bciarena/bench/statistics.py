"""Do intervals cover, and do boards keep their word? Measured with runs of `made_runs`, not of the report.

Runs are judged by the contests' score; intervals, groups and tests are those of the report and the board; the truth is
the mean over many further blocks. Every cell has its own seed made of its name, so that cells can be repeated alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from bciarena.bench.kept import HOME, KeptRows, code_digest, key_of
from bciarena.bench.made_runs import World, expected, expected_anew, most_possible, people, play, run, score_file, stage
from bciarena.contests import RULEBOOKS, contest
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import by_block

SEED = 20261120
RUNS = 200
SETS = 20
"""Sets of people in a cell; each has its own truth and RUNS / SETS runs."""
BOARDS = 200
TRIES = 20
WORLDS = {
    "usual": World(),
    "near perfect": World(level=4.0),
    "rarely right": World(level=0.8),
    "blocks differ": World(block_sd=0.5, entry_sd=0.6),
    "at the limit": World(alarm=-2.3),
    "above the limit": World(alarm=-1.6),
    "board": World(trials=20),
    "board, blocks differ": World(block_sd=0.5, entry_sd=0.6, trials=20),
    "board, at the limit": World(alarm=-2.3, trials=20),
}
SHAPES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (1, 6), (8, 1), (4, 3), (8, 6))
"""People and blocks each."""
HARD = (
    ("near perfect", (1, 1)), ("near perfect", (2, 2)),
    ("rarely right", (1, 1)), ("rarely right", (2, 2)), ("rarely right", (4, 3)),
    ("blocks differ", (1, 1)), ("blocks differ", (1, 2)), ("blocks differ", (2, 1)), ("blocks differ", (1, 3)),
    ("blocks differ", (3, 1)), ("blocks differ", (2, 2)), ("blocks differ", (4, 3)),
)  # fmt: skip
NEW = ((3, 2), (4, 3), (8, 6))
LIMITS = ("at the limit", "above the limit")
AT_LIMITS = ((1, 1), (2, 2), (4, 3), (8, 6))
BETTER = 1.5
ON_BOARDS = (3, 3)
TEAMS = (2, 5, 20, 100)
Cell = dict[str, Any]


def generator(seed: int, *name: Any) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(repr(name).encode())])


def coverage(book: Rulebook, world: str, shape: tuple[int, int], runs: int, seed: int, sets: int = SETS) -> Cell:
    """Share of intervals for the same people that hold the truth: of the score, and of each metric.

    ``error`` is the standard error of the score's, from the sets; ``width`` how wide intervals are, in widths of
    2 x 1.96 true standard deviations; ``outside`` counts ends of the score beyond what these trials allow.
    """
    from bciarena.report.statistics import intervals

    how, rng = WORLDS[world], generator(seed, "coverage", book.id, world, shape)
    names = ["score", *book.score([]).metrics]
    held: dict[str, list[list[bool]]] = {name: [] for name in names}
    widths, outside = [], 0
    for _ in range(sets):
        who = people(how, shape[0], rng)
        truth = expected(book, how, who, shape[1], rng)
        for name in names:
            held[name].append([])
        for index in range(runs // sets):
            trials = run(book, how, who, shape[1], rng)
            got = intervals(score_file(book, trials), 1000, seed=index)
            for name in names:
                held[name][-1].append(_holds(got[name].low, got[name].high, truth[name][0]))
            one, most = got["score"], most_possible(book, trials)
            ends = [end for end in (one.low, one.high, one.new_low, one.new_high) if end is not None]
            outside += sum(not -1e-9 <= end <= most * (1 + 1e-9) for end in ends)
            widths.append((ends[1] - ends[0]) / max(2 * 1.96 * truth["score"][1], 1e-9))
    found: Cell = {name: float(np.mean(marks)) for name, marks in held.items()}
    by_set = np.mean(held["score"], axis=1)
    return found | {
        "runs": sets * (runs // sets),
        "error": float(np.std(by_set) / np.sqrt(max(sets - 1, 1))),
        "width": float(np.median(widths)),
        "outside": outside,
    }


def new_people(book: Rulebook, world: str, shape: tuple[int, int], runs: int, seed: int) -> Cell:
    """Share of intervals for new people that hold the mean over all people."""
    from bciarena.report.statistics import intervals

    how, rng = WORLDS[world], generator(seed, "new people", book.id, world, shape)
    truth = expected_anew(book, how, *shape, rng)["score"][0]
    held = []
    for index in range(runs):
        trials = run(book, how, people(how, shape[0], rng), shape[1], rng)
        got = intervals(score_file(book, trials), 1000, seed=index)["score"]
        held.append(_holds(got.new_low, got.new_high, truth))
    return {"score": float(np.mean(held)), "runs": runs}


def best_of(book: Rulebook, world: str, shape: tuple[int, int], runs: int, seed: int) -> Cell:
    """The best of equally good runs on the same blocks: coverage as the board shows it, what choosing added and is said
    to add."""
    from bciarena.report.choosing import block_error, chosen_low, luck_of
    from bciarena.report.statistics import intervals

    how, rng = WORLDS[world], generator(seed, "best of", book.id, world, shape)
    held, plain, added, told = [], [], [], []
    subject = np.repeat(np.arange(1, shape[0] + 1), shape[1])
    for _ in range(SETS):
        who = people(how, shape[0], rng)
        truth, spread = expected(book, how, who, shape[1], rng)["score"]
        for index in range(runs // SETS):
            on = stage(book, how, who, shape[1], rng)
            tries = [play(book, how, on, rng) for _ in range(TRIES)]
            best = max(tries, key=lambda one: book.score(one).score)
            got = intervals(score_file(book, best), 1000, seed=index)["score"]
            error = block_error(book, book.scoring.block_sums(book, by_block(best)), subject)
            plain.append(_holds(got.low, got.high, truth))
            held.append(_holds(chosen_low(got.value, got.low, TRIES), got.high, truth))
            added.append((got.value - truth) / max(spread, 1e-9))
            told.append((luck_of(error, TRIES) or 0.0) / max(spread, 1e-9))
    means = {name: float(np.mean(column)) for name, column in (("added", added), ("told", told))}
    return {"score": float(np.mean(held)), "plain": float(np.mean(plain)), "runs": len(held), **means}


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    if low is None or high is None:
        return False
    slack = 1e-6 * max(1.0, abs(truth))
    return low - slack <= truth <= high + slack


def boards(book: Rulebook, world: str, teams: int, number: int, seed: int, better: float = 0.0, tries: int = 1) -> Cell:
    """Boards of teams on the same blocks, all equal but the first: better, or the best of several tries.

    ``split``: any two equal teams told apart; ``told``: the first told from one other, chosen beforehand; ``odd``:
    teams whose judged score is not the one that is ranked. Intervals are made for the best and the worst team only:
    others' could hardly split a board that these leave whole.
    """
    from bciarena.report.ranking import places
    from bciarena.report.statistics import intervals

    how, rng = WORLDS[world], generator(seed, "board", book.id, world, teams, better, tries)
    subject = np.repeat(np.arange(1, ON_BOARDS[0] + 1), ON_BOARDS[1])
    split = told = odd = 0
    for index in range(number):
        on = stage(book, how, people(how, ON_BOARDS[0], rng), ON_BOARDS[1], rng)
        runs = [play(book, how, on, rng, better if team == 0 else 0.0) for team in range(teams)]
        if tries > 1:
            again = [runs[0], *(play(book, how, on, rng) for _ in range(tries - 1))]
            runs[0] = max(again, key=lambda one: book.score(one).score)
        each = [book.scoring.block_sums(book, by_block(one)) for one in runs]
        sums = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
        scores = book.scoring.rates(book, sums, np.ones((teams, subject.size)), subject)["score"]
        order = np.argsort(-scores, kind="stable")
        ends = np.tile([-np.inf, np.inf], (teams, 1))
        for at in (0, teams - 1):
            file = score_file(book, runs[order[at]])
            got = intervals(file, 500, seed=index)["score"]
            ends[at] = got.low, got.high
            odd += not np.isclose(file["score"], scores[order[at]])
        found = places(book, {name: column[order] for name, column in sums.items()}, subject, ends, seed=index)
        group = {int(team): found[at].first for at, team in enumerate(order)}
        split += len({group[team] for team in range(1 if better else 0, teams)}) > 1
        told += group[0] < group[1]
    return {"split": split / number, "told": told / number, "odd": odd, "runs": number}


def compared(book: Rulebook, world: str, shape: tuple[int, int], runs: int, seed: int) -> Cell:
    """Share of pairs of equal entries that arena compare tells apart, and how often p and interval disagree."""
    from bciarena.report.statistics import compare

    how, rng = WORLDS[world], generator(seed, "compare", book.id, world, shape)
    told, disagree = [], 0
    for index in range(runs):
        on = stage(book, how, people(how, shape[0], rng), shape[1], rng)
        one, two = (score_file(book, play(book, how, on, rng)) for _ in range(2))
        got = compare(one, two, 500, index)
        told.append(got.distinguishable)
        disagree += got.low is not None and got.high is not None and got.distinguishable == (got.low <= 0 <= got.high)
    return {"told": float(np.mean(told)), "disagree": disagree, "runs": runs}


class Audit:
    """Cells by their names: taken from ``kept`` where measured before, else measured while there is time."""

    def __init__(
        self, kept: KeptRows, tell: Callable[[str], None], minutes: float, seed: int, runs: int, number: int
    ) -> None:
        self.kept, self.tell, self.until = kept, tell, time.monotonic() + 60 * minutes
        self.seed, self.runs, self.number = seed, runs, number
        self.code = code_digest(_judged())
        self.found: list[Cell] = []
        self.lacking = 0

    def cell(self, measure: Callable[..., Cell], book: Rulebook, *what: Any, size: int = 0, **more: Any) -> Cell | None:
        """A cell of the audit; None where it was not measured and time is up."""
        size = size or self.runs
        key = key_of("statistics", measure.__name__, book.id, repr(what), repr(more), str(size), str(self.seed))
        found = self.kept.find(key, self.code)
        if found is None and time.monotonic() < self.until:
            self.tell(f"{measure.__name__} {book.name} {what} {more or ''}")
            found = measure(book, *what, size, self.seed, **more)
            self.kept.keep(key, self.code, found)
        if found is None:
            self.lacking += 1
        else:
            self.found.append(found)
        return found

    def shown(self, text: str, *asked: Any, **more: Any) -> str:
        """A cell as text, or a dash."""
        found = self.cell(*asked, **more)
        return "–" if found is None else text.format(**found)

    def total(self, name: str) -> int:
        return sum(one.get(name, 0) for one in self.found)


def main(
    tell: Callable[[str], None] = lambda text: None,
    kept: KeptRows | None = None,
    minutes: float = 60.0,
    seed: int = SEED,
    runs: int = RUNS,
    number: int = BOARDS,
) -> str:
    """The audit as Markdown; seeds are fixed, so it repeats. What there was no time for is a dash, for another call."""
    audit = Audit(kept or KeptRows(), tell, minutes, seed, runs, number)
    books = list(RULEBOOKS.values())
    limited = [book for book in books if book.idle]
    lines = [
        f"Seed {seed}. {runs} runs a cell on {SETS} sets of people, {number} boards a cell ({number // 2} for power). "
        f"A share of .95 of {runs} runs has a standard error of {_error(0.95, runs):.3f}, one of .05 of {number} "
        f"boards one of {_error(0.05, number):.3f}."
    ]
    for title, who, columns in (
        ("same people", books, [("usual", shape) for shape in SHAPES]),
        ("same people, hard cases", books, list(HARD)),
        ("same people, false alarms", limited, [(world, shape) for world in LIMITS for shape in AT_LIMITS]),
    ):
        lines += ["", f"**Coverage, {title}** (people x blocks): score, worst metric; width.", ""]
        lines += _head("contest", [_named(world, shape) for world, shape in columns])
        for book in who:
            lines.append(_row(book.name, [_covered(audit, book, *column) for column in columns]))
    lines += ["", "**Coverage, new people**: score.", "", *_head("contest", [_named("usual", shape) for shape in NEW])]
    for book in books:
        lines.append(_row(book.name, [audit.shown("{score:.3f}", new_people, book, "usual", shape) for shape in NEW]))
    lines += ["", f"**Best of {TRIES} equal runs counts**, 2 x 2.", ""]
    lines += _head("contest", ["board's interval", "run's own", "choosing added (SD)", "the board says (SD)"])
    for book in books:
        text = audit.shown("{score:.3f} | {plain:.3f} | {added:.1f} | {told:.1f}", best_of, book, "usual", (2, 2))
        lines.append(_row(book.name, text.split(" | ") if " | " in text else [text] * 4))
    lines += _tables_of_boards(audit, books, limited)
    errors = [one["error"] for one in audit.found if "error" in one] or [0.0]
    lines += [
        "",
        f"Ends of the score beyond what the trials allow: {audit.total('outside')}. Teams whose judged score is not "
        f"the one that is ranked and tested: {audit.total('odd')}. Comparisons whose p and interval disagree: "
        f"{audit.total('disagree')}. Standard errors of the score's coverage, counted over sets of people: "
        f"{np.median(errors):.3f} in the middle, {max(errors):.3f} at most. Cells not measured: {audit.lacking}.",
    ]
    return "\n".join(lines) + "\n"


def _tables_of_boards(audit: Audit, books: list[Rulebook], limited: list[Rulebook]) -> list[str]:
    size = f"{ON_BOARDS[0]} people x {ON_BOARDS[1]} blocks of {WORLDS['board'].trials} trials"
    lines = [
        "",
        f"**Boards**, {size}: equal teams split anywhere; told: a team better by {BETTER} log odds is told from",
    ]
    lines += ["one other, chosen beforehand.", "", *_head("contest", [f"{teams} teams" for teams in TEAMS])]
    some = [books[0], *(book for book in limited if book is not books[0])]
    number = audit.number
    for book in some:
        row = []
        for teams in TEAMS:
            null = audit.shown("{split:.3f}", boards, book, "board", teams, size=number)
            row.append(
                null + audit.shown("; told {told:.2f}", boards, book, "board", teams, size=number // 2, better=BETTER)
            )
        lines.append(_row(book.name, row))
    head = ["blocks suit entries differently (SD .6)", f"one team has the best of {TRIES} runs", "at the limit"]
    lines += ["", "The same with 5 equal teams: split anywhere.", "", *_head("contest", head)]
    for book in some:
        row = [audit.shown("{split:.3f}", boards, book, "board, blocks differ", 5, size=number)]
        row.append(audit.shown("{split:.3f}", boards, book, "board", 5, size=number, tries=TRIES))
        near = "board, at the limit"
        row.append(audit.shown("{split:.3f}", boards, book, near, 5, size=number) if book in limited else "")
        lines.append(_row(book.name, row))
    columns = [
        ("usual", (1, 3)),
        ("usual", (3, 2)),
        ("blocks differ", (3, 2)),
        ("usual", (8, 6)),
        ("at the limit", (4, 3)),
    ]
    lines += ["", "**`arena compare`** of equal entries: distinguishable.", ""]
    lines += _head("contest", [_named(world, shape) for world, shape in columns])
    for book in books:
        own = [column for column in columns if column[0] not in LIMITS or book in limited]
        row = [audit.shown("{told:.3f}", compared, book, *column) for column in own]
        lines.append(_row(book.name, row + [""] * (len(columns) - len(row))))
    return lines


def _judged() -> list[Path]:
    """The files whose change makes a cell stale."""
    names = ("statistics", "inversion", "units", "ranking", "choosing")
    own = [HOME / "report" / f"{name}.py" for name in names]
    own += [HOME / "bench" / "made_runs.py", HOME / "contests" / "scoring.py"]
    return own + [contest(book).folder / "score.py" for book in RULEBOOKS.values()]


def _covered(audit: Audit, book: Rulebook, world: str, shape: tuple[int, int]) -> str:
    one = audit.cell(coverage, book, world, shape)
    if one is None:
        return "–"
    worst = min(one[name] for name in book.score([]).metrics)
    width = f"{one['width']:.1f}" if one["width"] < 1e3 else "-"  # a score that is always 0 has no spread
    return f"{one['score']:.3f}, {worst:.3f}; {width}"


def _error(share: float, runs: int) -> float:
    return float(np.sqrt(share * (1 - share) / runs))


def _named(world: str, shape: tuple[int, int]) -> str:
    return f"{shape[0]} x {shape[1]}" + ("" if world == "usual" else f" {world}")


def _head(first: str, rest: list[str]) -> list[str]:
    return [_row(first, rest), "|---|" + "---|" * len(rest)]


def _row(first: str, rest: list[str]) -> str:
    return f"| {first} | " + " | ".join(rest) + " |"
