"""Which steps of a block belong together as a trial, and where a block goes on when one of them was cut short."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

CLOSING = 241
BETWEEN = ("rest", "gap", "mark")
AFTER_VOID_S = 2.0
"""Quiet between a void trial and the next."""

Steps = Sequence[dict[str, Any]]


class Shown(NamedTuple):
    """A trial as steps of its block: from its cue to the step that ends it."""

    begin: int
    opening: int  # the step whose code opens the trial in the recording
    close: int  # the first step that is no part of it any more, or the one that carries its closing code


def trials_of(steps: Steps, opens: Collection[int]) -> list[Shown]:
    """The trials of a block, in order."""
    openings = [k for k, step in enumerate(steps) if step["code"] in opens]
    begins = [_begin(steps, k) for k in openings]
    found = []
    for begin, opening, limit in zip(begins, openings, [*begins, len(steps)][1:], strict=True):
        after = range(opening + 1, limit)
        ends = [k for k in after if steps[k]["code"] == CLOSING] or [k for k in after if steps[k]["kind"] in BETWEEN]
        found.append(Shown(begin, opening, ends[0] if ends else limit))
    return found


def _begin(steps: Steps, opening: int) -> int:
    while opening > 0 and steps[opening - 1]["kind"] == "cue":
        opening -= 1
    return opening


def onward(steps: Steps, trials: Sequence[Shown]) -> list[int]:
    """For every step: where the block goes on when it was cut there. No code is sent twice, no trial lacks its cue."""
    closes = {trial.close for trial in trials}
    begins = {trial.begin for trial in trials}
    inside = {k for trial in trials for k in range(trial.begin + 1, trial.close)}
    stops = [
        k
        for k, step in enumerate(steps)
        if k in begins or (step["code"] and k not in inside and (k not in closes or step["code"] != CLOSING))
    ]
    return [next((k for k in stops if k > at), len(steps)) for at in range(len(steps))]


def repeat_at(steps: Steps, trial: Shown) -> int:
    """The step behind a trial and the rest that follows it."""
    after = trial.close + 1
    while after < len(steps) and steps[after]["kind"] in BETWEEN and not steps[after]["code"]:
        after += 1
    return min(after, len(steps))


def with_repeat(steps: Steps, trials: Sequence[Shown], number: int) -> list[dict[str, Any]]:
    """The block with one of its trials shown once more behind the last."""
    trial, last = trials[number], trials[-1]
    part, place = list(steps[trial.begin : repeat_at(steps, trial)]), repeat_at(steps, last)
    begin_s = steps[place]["onset_s"] if place < len(steps) else steps[-1]["onset_s"] + steps[-1]["duration_s"]
    end_s = max(step["onset_s"] + step["duration_s"] for step in part)
    moved = [step | {"onset_s": step["onset_s"] - part[0]["onset_s"] + begin_s} for step in part]
    later = [step | {"onset_s": step["onset_s"] + end_s - part[0]["onset_s"]} for step in steps[place:]]
    return [*steps[:place], *moved, *later]
