"""A trial before and after judgement, and what a score consists of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple

VOID = 244
"""Code of a trial that ends here and does not count: its stimulus was not shown as planned."""
Status = Literal["in_time", "late", "missing", "false_positive", "quiet", "after_target", "invalid"]


class TrialSpan(NamedTuple):
    """Where a trial is in its block, in samples.

    A report at position p (samples handed out) belongs to the trial with ``data_start < p <= stop``.
    """

    opened: int  # sample of the opening code
    code: int
    data_start: int  # end of the packet that holds the opening code: counting begins here
    stop: int  # the next trial's data_start, or the block's end
    closed: int | None  # sample of the closing code, where the rules have one
    closed_end: int | None  # end of the packet that holds it: the last position in time
    invalid: str = ""  # why the trial must not be used; empty where it may


@dataclass(frozen=True)
class Trial:
    """A judged trial. ``length_n`` is the length that entered the score, in samples; None where none did."""

    subject: int
    block: int
    trial: int
    truth: str
    answer: str | None
    correct: bool
    length_n: int | None
    status: Status
    rate: int

    @property
    def length_s(self) -> float | None:
        return None if self.length_n is None else self.length_n / self.rate

    def as_json(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "block": self.block,
            "trial": self.trial,
            "truth": self.truth,
            "answer": self.answer,
            "correct": self.correct,
            "length_s": self.length_s,
            "status": self.status,
        }


@dataclass(frozen=True)
class Score:
    """What the rules make of the judged trials; everything but ``trials`` is ready for JSON."""

    score: float
    metrics: dict[str, float | int]
    subjects: list[dict[str, Any]]
    blocks: list[dict[str, Any]]
    trials: list[Trial]
    notes: list[str]


def by_block(trials: Iterable[Trial]) -> list[tuple[int, int, list[Trial]]]:
    """Trials as (subject, block, trials of that block), in playing order."""
    return [(*key, list(group)) for key, group in groupby(trials, key=lambda t: (t.subject, t.block))]


def accuracy(trials: Iterable[Trial]) -> float:
    """Share of correct trials; 0 when there are none."""
    marks = [trial.correct for trial in trials]
    return sum(marks) / len(marks) if marks else 0.0
