"""One line that explains a score: what became of the trials, and where the time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any


def summary(
    result: dict[str, Any],
    reports: int | None = None,
    think_s: float | None = None,
    data_s: float | None = None,
    wall_s: float | None = None,
) -> str:
    """The line, from the content of score.json and what is known of the run.

    Parameters
    ----------
    result : dict
        The content of score.json.
    reports : int, optional
        How many reports were made, those included that decided nothing.
    think_s, data_s, wall_s : float, optional
        Computing time after packets were handed out, how long the data lasts, and the run from start to end.
    """
    trials = [trial for trial in result["trials"] if trial["status"] != "invalid"]
    left_out = len(result["trials"]) - len(trials)
    states = Counter(trial["status"] for trial in trials)
    answered = [trial for trial in trials if trial["status"] in ("in_time", "after_target")]
    invalid = sum(note.endswith("is not a valid answer") for note in result["notes"])
    right = sum(trial["correct"] for trial in answered)
    counts = {
        "right": right,
        "wrong": len(answered) - right,
        "late": states["late"],
        "missing": states["missing"],
        "false alarms": states["false_positive"],
        "rightly silent": states["quiet"],
        "invalid answers": invalid,
        "left out (bad signal)": left_out,
    }
    made = len([trial for trial in trials if trial["answer"] is not None]) if reports is None else reports
    always = ("right", "wrong", "late", "missing")
    parts = [f"{count} {name}" for name, count in counts.items() if count or name in always]
    line = f"{made} report{'s' * (made != 1)} in {len(trials)} trials: {', '.join(parts)}"
    if think_s is not None and data_s:
        line += f"; computing {think_s:.1f} s of {data_s:.0f} s of data"
        if wall_s is not None:
            line += f", {wall_s:.1f} s in all"
    asked = len(trials) - states["quiet"] - states["false_positive"]
    if not made:
        line = f"NOTHING WAS REPORTED: {line}"
    elif asked and states["late"] == asked:
        line = f"ALL ANSWERS CAME TOO LATE: {line}"
    elif asked and invalid and right == 0 and invalid >= len(answered):
        line = f"NO ANSWER WAS VALID: {line}"
    return line


def timing_words(timing: Mapping[str, float]) -> str:
    """How noisy the clock of a run was, from ``Result.timing``."""
    parts = []
    if "think_p50_ms" in timing:
        parts.append(f"think time {timing['think_p50_ms']:.3g} ms median, {timing['think_p99_ms']:.3g} ms p99")
    if "reference_ms" in timing:
        parts.append(
            f"reference load {timing['reference_ms']:.1f} ms, "
            f"{timing['reference_times_best']:.2f} times this machine's best"
        )
    return "; ".join(parts)
