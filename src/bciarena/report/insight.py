"""Where a run lost points: speed or accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.report.part import part_of


def alternatives(book: Rulebook, trials: Sequence[Trial]) -> dict[str, float]:
    """The score without each kind of loss, by its key among the words; only those that would have gained."""
    whole = _restored(book, trials)
    in_time = [t.length_n for t in whole if t.status == "in_time" and t.length_n]
    usual_n = round(median(in_time)) if in_time else round((book.missing_s or book.floor_s) * book.rate)
    changes: dict[str, Callable[[Trial], Trial]] = {
        "no_silence": lambda t: _answered(t, t.truth, usual_n) if t.status in ("late", "missing") else t,
        "no_alarms": lambda t: _perfect(t) if t.status == "false_positive" else t,
        "sooner": lambda t: replace(t, length_n=min(t.length_n, usual_n)) if t.length_n else t,
    }
    own_changes = part_of(book).changes
    for name, change in own_changes.items():
        changes[name] = partial(change, book)
    if not own_changes:
        changes["no_wrong"] = lambda t: _answered(t, t.truth) if t.status == "in_time" else t
    own = book.score(whole).score
    found = {name: book.score([change(trial) for trial in whole]).score for name, change in changes.items()}
    gained = {name: value for name, value in found.items() if value > own + 1e-9}
    return dict(sorted(gained.items(), key=lambda item: -item[1]))


def _answered(trial: Trial, answer: str, length_n: int | None = None) -> Trial:
    length_n = trial.length_n if length_n is None else length_n
    return replace(trial, answer=answer, correct=answer == trial.truth, status="in_time", length_n=length_n)


def perfect_at_own_times(book: Rulebook, trials: Sequence[Trial]) -> float:
    """The score if every answer had been right (and no idle trial answered), at the times they were given."""
    return book.score([_perfect(trial) for trial in _restored(book, trials)]).score


def _perfect(trial: Trial) -> Trial:
    if trial.status in ("quiet", "false_positive"):
        return replace(trial, answer=None, correct=True, status="quiet")
    return replace(trial, answer=trial.truth, correct=True, status="in_time")


def at_fixed_time(book: Rulebook, trials: Sequence[Trial], wait_s: float) -> float:
    """The score if every answer known by ``wait_s`` had been given exactly then; later ones count as wrong.

    A lower bound for an entry that waits: an answer known earlier stays the same, one known later is lost.
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
    """Trials after a block's stop have no length; they get that of a missing one, so that they can be scored again."""
    missing_n = round((book.missing_s or 0) * book.rate)
    return [
        replace(trial, length_n=missing_n, status="in_time" if trial.answer is not None else "missing")
        if trial.status == "after_target"
        else trial
        for trial in trials
    ]
