"""The public and the private part of a phase's recordings, and what of a result somebody may see.

A score is made from the sums of blocks, so the score of some blocks is made from theirs by the contest's own code:
nothing is played again. Until a phase is revealed its teams see the public part alone, everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bciarena.contests import Rulebook
from bciarena.contests import registered as find_rulebook
from bciarena.report.choosing import Z95, block_error
from bciarena.service.models import Phase, Result
from bciarena.service.spec import Terms

Keep = Callable[[int, int], bool]
"""Whether a block, given by subject and number, belongs to a part."""


class View(NamedTuple):
    """What a board tells: which part of the recordings (all, public, private), and runs submitted before when."""

    part: str = "all"
    until: float | None = None


WHOLE = View()


def view_of(phase: Phase, full: bool = False, now: float | None = None) -> View:
    """What of a phase may be told; ``full``: to its organisers."""
    now = time.time() if now is None else now
    secret = not phase.revealed and not full
    part = "all" if not terms_of(phase).public else "public" if secret else "private"
    frozen = secret and phase.freezes_at is not None and now >= phase.freezes_at
    return View(part, phase.freezes_at if frozen else None)


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
    metrics: dict[str, Any]
    blocks: list[Any]
    sandbox: str
    ranked: bool
    run: str | None
    tally: dict[str, Any] = field(default_factory=dict)  # counted over all trials: not told

    @property
    def block_rows(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in block.items() if name != "sums"} for block in self.blocks]


AnyResult = Result | PartResult


def keeps(phase: Phase, part: str) -> Keep:
    """Which blocks belong to a part of a phase's recordings."""
    public = terms_of(phase).public
    if part == "all" or not public:
        return lambda subject, block: True
    wanted = part == "public"
    return lambda subject, block: public.has(subject, block) == wanted


def cut(result: Result, keep: Keep) -> PartResult:
    """A result of the blocks that are kept; without any, and where no sums were kept, it is worth nothing."""
    book = find_rulebook(result.rulebook)
    own = [block for block in result.blocks or () if keep(block["subject"], block["block"])]
    score, metrics, ends = 0.0, dict[str, Any](), None
    if own and all("sums" in block for block in own):
        score, metrics, ends = _scored(book, own)
    low, high = ends or (None, None)
    return PartResult(
        result.submission_id, result.job_id, result.team_id, result.rulebook, result.verdict, result.reason, score, low,
        high, metrics, own, result.sandbox, result.ranked, result.run,
    )  # fmt: skip


def _scored(book: Rulebook, blocks: list[Any]) -> tuple[float, dict[str, Any], tuple[float, float] | None]:
    """Score, metrics and interval (blocks left out one at a time) of some blocks."""
    sums = {name: np.array([[block["sums"][name] for block in blocks]]) for name in blocks[0]["sums"]}
    subject = np.array([block["subject"] for block in blocks])
    rates = {
        name: value[0].item()
        for name, value in book.scoring.rates(book, sums, np.ones((1, len(blocks)), dtype=np.int64), subject).items()
    }
    score = float(rates.pop("score"))
    error = block_error(book, sums, subject)
    ends = None if error is None else (max(0.0, score - Z95 * error), score + Z95 * error)
    return score, {name: value for name, value in rates.items() if name not in book.scoring.hidden}, ends


def shown(phase: Phase, result: Result | None, full: bool) -> AnyResult | None:
    """A result as its team sees it (``full``: as the organisers do): before the reveal the public part alone.

    Organisers, and after the reveal everybody, see the whole.
    """
    if result is None or full or phase.revealed or not terms_of(phase).public:
        return result
    return cut(result, keeps(phase, "public"))


def partial(phase: Phase, full: bool) -> bool:
    """Whether only a part of the result may be told."""
    return not full and not phase.revealed and bool(terms_of(phase).public)
