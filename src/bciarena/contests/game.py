"""A question behind a contest's answers that anybody can be asked, such as whether a person is at work or a machine.

A contest that has one offers it as GAME in its game.py, with game.js beside it, which draws a scene. The answers of
decoders are read as yes or no, so that people who guess, decoders and chance can be put side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Game:
    """What a contest's game.py offers as GAME.

    Attributes
    ----------
    yes : callable
        What an answer of the contest's vocabulary says to the question: True, False, or None for nothing.
    scenes : callable
        From a random generator to some scenes in a row, each with its truth; the scene itself is what game.js draws
        and must not tell the truth.
    """

    yes: Callable[[str], bool | None]
    scenes: Callable[[np.random.Generator], list[tuple[dict[str, Any], bool]]]


class Share(NamedTuple):
    """``hits`` of ``all``, and the 95 % interval of the probability behind it (Jeffreys)."""

    hits: int
    all: int

    @property
    def value(self) -> float | None:
        return self.hits / self.all if self.all else None

    @property
    def interval(self) -> tuple[float, float] | None:
        from scipy.stats import beta

        if not self.all:
            return None
        a, b = self.hits + 0.5, self.all - self.hits + 0.5
        low = 0.0 if self.hits == 0 else float(beta.ppf(0.025, a, b))
        high = 1.0 if self.hits == self.all else float(beta.ppf(0.975, a, b))
        return low, high


class Told(NamedTuple):
    """How often somebody was right about a yes-or-no question: in all, where the truth is yes, and where it is no.

    ``accuracy``: right of all; ``sensitivity``: said yes where it is yes; ``alarms``: said yes where it is no. Saying
    nothing is not right, and no yes.
    """

    accuracy: Share
    sensitivity: Share
    alarms: Share

    def items(self) -> list[tuple[str, Share]]:
        return [(name, getattr(self, name)) for name in self._fields]


def told(pairs: Iterable[tuple[bool, bool | None]]) -> Told:
    """From truth and what was said."""
    counts = {(truth, said): 0 for truth in (True, False) for said in (True, False, None)}
    for pair in pairs:
        counts[pair] += 1
    return counted(counts)


def counted(counts: Mapping[tuple[bool, bool | None], int]) -> Told:
    """From how often each pair of truth and what was said has occurred."""
    yes, no = (sum(n for (truth, _), n in counts.items() if truth is value) for value in (True, False))
    hit, alarm, right = counts.get((True, True), 0), counts.get((False, True), 0), counts.get((False, False), 0)
    return Told(Share(hit + right, yes + no), Share(hit, yes), Share(alarm, no))


def of_trials(game: Game, trials: Iterable[Mapping[str, Any]]) -> Told:
    """What a run's answers say to the question; ``trials`` as in score.json. A late answer says nothing."""
    found = []
    for trial in trials:
        truth = game.yes(str(trial["truth"]))
        if truth is None or trial["status"] == "invalid":
            continue
        in_time = trial["answer"] is not None and trial["status"] in ("in_time", "after_target")
        found.append((truth, game.yes(str(trial["answer"])) if in_time else None))
    return told(found)
