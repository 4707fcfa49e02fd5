"""Where a run lost points: speed or accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bciarena.challenges.rulebook import Rulebook
from bciarena.challenges.trial import Trial


def perfect_at_own_times(book: Rulebook, trials: Sequence[Trial]) -> float:
    """The score had every answer been right (and no idle trial answered), at the times they were given."""
    return book.score([_perfect(trial) for trial in _restored(book, trials)]).score


def _perfect(trial: Trial) -> Trial:
    if trial.status in ("quiet", "false_positive"):
        return replace(trial, answer=None, correct=True, status="quiet")
    return replace(trial, answer=trial.truth, correct=True, status="in_time")


def at_fixed_time(book: Rulebook, trials: Sequence[Trial], wait_s: float) -> float:
    """The score had every answer known by ``wait_s`` been given exactly then; what came later counts as wrong.

    A lower bound for an entry that waits: an answer known earlier stays what it was, one known later is lost.
    """
    wait_n = max(round(wait_s * book.rate), 1, round(book.floor_s * book.rate))
    return book.score([_waited(trial, wait_n, book) for trial in _restored(book, trials)]).score


def _waited(trial: Trial, wait_n: int, book: Rulebook) -> Trial:
    if trial.status in ("quiet", "false_positive"):
        return trial
    known = trial.status == "in_time" and (trial.length_n or 0) <= wait_n
    if known:
        return replace(trial, length_n=wait_n)
    return replace(trial, correct=False, answer=None, status="missing", length_n=max(wait_n, trial.length_n or 0))


def fixed_time_curve(book: Rulebook, trials: Sequence[Trial], points: int = 40) -> tuple[list[float], list[float]]:
    """Times in seconds and the score at each (see at_fixed_time)."""
    times = sorted({t.length_n / t.rate for t in trials if t.length_n and t.status == "in_time"})
    if not times:
        return [], []
    step = max(1, len(times) // points)
    chosen = sorted({*times[::step], times[-1]})
    return chosen, [at_fixed_time(book, trials, wait_s) for wait_s in chosen]


def _restored(book: Rulebook, trials: Sequence[Trial]) -> list[Trial]:
    """Turing trials after the target have no length; give them the missing length so that they can be scored again."""
    missing_n = round((book.missing_s or 0) * book.rate)
    return [
        replace(trial, length_n=missing_n, status="in_time" if trial.answer is not None else "missing")
        if trial.status == "after_target"
        else trial
        for trial in trials
    ]
