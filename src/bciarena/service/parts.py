"""The public and the private part of a phase's recordings, and what of a result somebody may see.

A score is made from the sums of blocks, so the score of some blocks is made from theirs by the contest's own code:
nothing is played again. Until a phase is revealed its teams see the public part alone, everywhere.

Exact scores tell the truth they are made of: answers at random, submitted a few times, become equations for it. While
a phase on hidden truth lasts its teams see scores rounded to a step that their intervals could not tell apart anyway,
and no number of a block.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bciarena.contests import Rulebook
from bciarena.contests import registered as find_rulebook
from bciarena.service.models import UNSHOWN, Phase, Result, ends_of
from bciarena.service.spec import Terms

Keep = Callable[[int, int], bool]
"""Whether a block, given by subject and number, belongs to a part."""


class View(NamedTuple):
    """What a board tells: which part of the recordings (all, public, private), and runs submitted before when."""

    part: str = "all"
    until: float | None = None
    rounded: bool = False


WHOLE = View()


def view_of(phase: Phase, full: bool = False, now: float | None = None) -> View:
    """What of a phase may be told; ``full``: to its organisers."""
    now = time.time() if now is None else now
    secret = not phase.revealed and not full
    part = "all" if not terms_of(phase).public else "public" if secret else "private"
    frozen = secret and phase.freezes_at is not None and now >= phase.freezes_at
    return View(part, phase.freezes_at if frozen else None, rounds(phase, full, now))


def rounds(phase: Phase, full: bool = False, now: float | None = None) -> bool:
    """Whether scores are told only rounded: on hidden truth, until the phase is over or, with secrets, revealed."""
    terms = terms_of(phase)
    if full or phase.revealed or not phase.hidden_data or terms.scores == "exact":
        return False
    now = time.time() if now is None else now
    last = None if phase.ends_at is None else max(phase.ends_at, phase.late_until or 0.0)
    return last is None or now < last or bool(terms.public) or phase.freezes_at is not None


def step_of(result: AnyResult) -> float:
    """What a score is rounded to: 1, 2 or 5 times a power of ten, at most half the width of its interval.

    Where there is no interval, or hardly one, a tenth of the score stands for that.
    """
    wide = 0.1 * abs(result.score)
    if result.low is not None and result.high is not None:
        wide = max((result.high - result.low) / 2, wide / 2)
    if wide <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wide))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= wide * (1 + 1e-9))


def to_step(value: float, step: float) -> float:
    return round(round(value / step) * step, 10)


def coarse(result: AnyResult) -> PartResult:
    """A result with its score and interval rounded, and without metrics, blocks and counts."""
    step = step_of(result)
    low, high, new_low, new_high = (
        None if end is None else to_step(end, step)
        for end in (result.low, result.high, result.new_low, result.new_high)
    )  # fmt: skip
    return PartResult(
        result.submission_id, result.job_id, result.team_id, result.rulebook, result.verdict, result.reason,
        to_step(result.score, step), low, high, new_low, new_high, {}, [], result.sandbox, result.ranked, result.run,
    )  # fmt: skip


def terms_of(phase: Phase) -> Terms:
    return Terms(**(phase.terms or {}))


@dataclass
class PartResult:
    """A result as it is for some of its blocks; the fields of `Result` that pages and boards show."""

    submission_id: int
    job_id: int
    team_id: int
    rulebook: str
    verdict: str
    reason: str
    score: float
    low: float | None
    high: float | None
    new_low: float | None
    new_high: float | None
    metrics: dict[str, Any]
    blocks: list[Any]
    sandbox: str
    ranked: bool
    run: str | None
    tally: dict[str, Any] = field(default_factory=dict)  # counted over all trials: not told

    @property
    def block_rows(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in block.items() if name not in UNSHOWN} for block in self.blocks]


AnyResult = Result | PartResult


def keeps(phase: Phase, part: str) -> Keep:
    """Which blocks belong to a part of a phase's recordings."""
    public = terms_of(phase).public
    if part == "all" or not public:
        return lambda subject, block: True
    wanted = part == "public"
    return lambda subject, block: public.has(subject, block) == wanted


def cut(result: Result, phase: Phase, part: str) -> PartResult:
    """A part of a result; without any blocks, and where no sums were kept, it is worth nothing."""
    book, keep = find_rulebook(result.rulebook), keeps(phase, part)
    own = [block for block in result.blocks or () if keep(block["subject"], block["block"])]
    score, metrics = 0.0, dict[str, Any]()
    if own and all("sums" in block for block in own):
        score, metrics = _scored(book, own)
    low, high, new_low, new_high = ends_of(result.ends, part)
    return PartResult(
        result.submission_id, result.job_id, result.team_id, result.rulebook, result.verdict, result.reason, score, low,
        high, new_low, new_high, metrics, own, result.sandbox, result.ranked, result.run,
    )  # fmt: skip


def _scored(book: Rulebook, blocks: list[Any]) -> tuple[float, dict[str, Any]]:
    """Score and metrics of some blocks."""
    sums = {name: np.array([[block["sums"][name] for block in blocks]]) for name in blocks[0]["sums"]}
    subject = np.array([block["subject"] for block in blocks])
    rates = {
        name: value[0].item()
        for name, value in book.scoring.rates(book, sums, np.ones((1, len(blocks)), dtype=np.int64), subject).items()
    }
    score = float(rates.pop("score"))
    return score, {name: value for name, value in rates.items() if name not in book.scoring.hidden}


def shown(phase: Phase, result: Result | None, full: bool) -> AnyResult | None:
    """A result as its team sees it (``full``: as the organisers do): before the reveal the public part alone, rounded.

    Organisers, and after the reveal everybody, see the whole.
    """
    if result is None:
        return None
    told = cut(result, phase, "public") if partial(phase, full) else result
    return coarse(told) if rounds(phase, full) else told


def partial(phase: Phase, full: bool) -> bool:
    """Whether only a part of the result may be told."""
    return not full and not phase.revealed and bool(terms_of(phase).public)
