"""Runs side by side, pair by pair."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput
from bciarena.report.kept import KeptRun, open_run
from bciarena.report.statistics import compare


def compare_runs(folders: list[Path]) -> list[dict[str, Any]]:
    """Every pair of runs: paired difference with interval and test, and the trials only one of them got."""
    runs = [open_run(folder) for folder in folders]
    same_trials(runs)
    return [_pair(one, two) for one, two in combinations(runs, 2)]


def same_trials(runs: list[KeptRun]) -> None:
    """Refuse runs of different rules, or on different data."""
    first = runs[0]
    for run in runs[1:]:
        if run.book is not first.book:
            raise BadInput(
                f"{run.folder}: was played under {run.book.id}, {first.folder} under {first.book.id}; "
                "compare runs under the same rules"
            )
        if run.header.get("data") != first.header.get("data") or _places(run) != _places(first):
            raise BadInput(f"{run.folder}: was played on other data than {first.folder}; pairs need the same trials")


def _places(run: KeptRun) -> list[tuple[int, int, int]]:
    return [(t.subject, t.block, t.trial) for t in run.trials]


def _pair(one: KeptRun, two: KeptRun) -> dict[str, Any]:
    if not one.trials:
        raise BadInput(f"{one.folder}: has no judged trials to compare")
    found = compare(one.score, two.score)
    pairs = list(zip(one.trials, two.trials, strict=True))
    return {
        "one": str(one.folder),
        "two": str(two.folder),
        "challenge": one.book.id,
        "score_one": one.score["score"],
        "score_two": two.score["score"],
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "unit": found.unit,
        "distinguishable": None if found.p is None else found.distinguishable,
        "only_one": [[a.subject, a.block, a.trial] for a, b in pairs if a.correct and not b.correct],
        "only_two": [[a.subject, a.block, a.trial] for a, b in pairs if b.correct and not a.correct],
    }
