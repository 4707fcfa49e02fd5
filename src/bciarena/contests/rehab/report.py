"""What only a report about rehabilitation imagery says: side and action."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from bciarena.contests.rehab.score import side_right
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.report.figures import Figure
from bciarena.report.kept import KeptRun
from bciarena.report.part import Part
from bciarena.report.texts import Said, listed, said

OTHER_HAND = {"1": "2", "2": "1", "3": "4", "4": "3"}


def sides(run: KeptRun) -> Figure:
    """Per class: exact, right side only, wrong side, no answer in time."""
    kinds = {"@exact": "#2a9d6f", "@side_only": "#e8a33d", "@wrong_side": "#d1495b", "@no_answer": "#8a8f98"}
    counts: dict[str, dict[str, int]] = {kind: defaultdict(int) for kind in kinds}
    for trial in run.trials:
        counts[_side_kind(trial)][trial.truth] += 1
    names = {code: f"{code} {words}" for code, words in run.book.vocabulary.items()}
    traces = [
        {
            "type": "bar",
            "name": kind,
            "x": list(names.values()),
            "y": [counts[kind][c] for c in names],
            "marker": {"color": colour},
        }
        for kind, colour in kinds.items()
    ]
    layout = {"barmode": "stack", "yaxis": {"title": {"text": "@trials"}}, "height": 360}
    return Figure("sides", traces, layout, listed(run.book, {kind: sum(counts[kind].values()) for kind in kinds}))


def _side_kind(trial: Trial) -> str:
    if trial.correct:
        return "@exact"
    if trial.status != "in_time":
        return "@no_answer"
    return "@side_only" if side_right(trial) else "@wrong_side"


def findings(run: KeptRun) -> list[Said]:
    """Wrong sides and wrong actions."""
    answered = [t for t in run.trials if t.status == "in_time"]
    sides = sum(not side_right(t) for t in answered)
    actions = sum(side_right(t) and not t.correct for t in answered)
    return [said(run.book, "say_sides", n=sides, m=len(answered), k=actions)]


def _side_mended(book: Rulebook, trial: Trial) -> Trial:
    if trial.status != "in_time" or trial.answer not in OTHER_HAND or side_right(trial):
        return trial
    return _answered(trial, OTHER_HAND[trial.answer])


def _action_mended(book: Rulebook, trial: Trial) -> Trial:
    return _answered(trial, trial.truth) if side_right(trial) else trial


def _answered(trial: Trial, answer: str) -> Trial:
    return replace(trial, answer=answer, correct=answer == trial.truth)


REPORT = Part(
    columns=("mean_points", "accuracy", "side_accuracy", "itr"),
    figures=(sides,),
    findings=findings,
    changes={"no_wrong_side": _side_mended, "no_wrong_action": _action_mended},
)
