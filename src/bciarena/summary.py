"""One line that explains a score: what became of the trials, and where the time went.

Its English words stand here because companion packages carry this file alone; other languages have theirs beside it
(words.zh.toml, table ``summary``; see `bciarena.report.texts.explained`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

ENGLISH = {
    "line": "{made} reports in {trials} trials: {counts}",
    "one": "{made} report in {trials} trials: {counts}",
    "comma": ", ",
    "right": "{n} right",
    "wrong": "{n} wrong",
    "late": "{n} late",
    "missing": "{n} missing",
    "false_alarms": "{n} false alarms",
    "silent": "{n} rightly silent",
    "invalid": "{n} invalid answers",
    "left_out": "{n} left out (bad signal)",
    "time": "; computing {think:.1f} s of {data:.0f} s of data",
    "wall": ", {wall:.1f} s in all",
    "nothing": "NOTHING WAS REPORTED: {line}",
    "all_late": "ALL ANSWERS CAME TOO LATE: {line}",
    "all_invalid": "NO ANSWER WAS VALID: {line}",
}
ALWAYS = ("right", "wrong", "late", "missing")
COUNTED = (*ALWAYS, "false_alarms", "silent", "invalid", "left_out")


def tally(
    result: Mapping[str, Any],
    reports: int | None = None,
    think_s: float | None = None,
    data_s: float | None = None,
    wall_s: float | None = None,
) -> dict[str, float]:
    """What the line tells, as plain numbers that can be kept.

    Parameters
    ----------
    result : mapping
        The content of score.json.
    reports : int, optional
        How many reports were made, those included that decided nothing.
    think_s, data_s, wall_s : float, optional
        Computing time after packets were handed out, how long the data lasts, and the run from start to end.
    """
    trials = [trial for trial in result["trials"] if trial["status"] != "invalid"]
    states = Counter(trial["status"] for trial in trials)
    answered = [trial for trial in trials if trial["status"] in ("in_time", "after_target")]
    right = sum(trial["correct"] for trial in answered)
    made = len([trial for trial in trials if trial["answer"] is not None]) if reports is None else reports
    spent = {"think_s": think_s, "data_s": data_s, "wall_s": wall_s}
    return {
        "reports": made,
        "trials": len(trials),
        "right": right,
        "wrong": len(answered) - right,
        "late": states["late"],
        "missing": states["missing"],
        "false_alarms": states["false_positive"],
        "silent": states["quiet"],
        "invalid": sum(note.endswith("is not a valid answer") for note in result["notes"]),
        "left_out": len(result["trials"]) - len(trials),
        **{name: round(value, 3) for name, value in spent.items() if value is not None},
    }


def summary(counted: Mapping[str, float], words: Mapping[str, str] = ENGLISH) -> str:
    """The line, from a `tally`; loud where nothing was reported, or nothing that counts."""
    made, trials = counted["reports"], counted["trials"]
    counts = [words[name].format(n=counted[name]) for name in COUNTED if counted[name] or name in ALWAYS]
    line = words["one" if made == 1 else "line"].format(made=made, trials=trials, counts=words["comma"].join(counts))
    if "think_s" in counted and counted.get("data_s"):
        line += words["time"].format(think=counted["think_s"], data=counted["data_s"])
        if "wall_s" in counted:
            line += words["wall"].format(wall=counted["wall_s"])
    asked = trials - counted["silent"] - counted["false_alarms"]
    if not made:
        return words["nothing"].format(line=line)
    if asked and counted["late"] == asked:
        return words["all_late"].format(line=line)
    if asked and counted["invalid"] and not counted["right"] and counted["invalid"] >= counted["wrong"]:
        return words["all_invalid"].format(line=line)
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
