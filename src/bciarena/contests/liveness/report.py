"""What only a report about liveness says: real and generated, and whose."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from bciarena.contests.liveness.rules import SUBJECTS
from bciarena.contests.liveness.score import real_right, subject_right
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.errors import BadInput
from bciarena.report.figures import Figure
from bciarena.report.kept import KeptRun
from bciarena.report.part import Part
from bciarena.report.texts import Said, listed, said


def _kinds(run: KeptRun) -> dict[tuple[int, int, int], str]:
    """How each generated trial was made, if the data folder says so (as those of arena simulate do)."""
    try:
        folder = run.recording.folder or Path()
        rows = json.loads((folder / "generators.json").read_text("utf-8"))
        return {(row["subject"], row["block"], row["trial"]): str(row["generator"]) for row in rows}
    except (BadInput, OSError, ValueError, KeyError, TypeError):
        return {}  # not known: generated trials are shown as one group


def detection(run: KeptRun) -> Figure:
    """Share of real and generated trials recognised, separately for each generator where the data names them."""
    groups = told_rightly(run)
    names, values = list(groups), [float(np.mean(own)) for own in groups.values()]
    bar = {
        "type": "bar",
        "x": names,
        "y": values,
        "text": [f"{v:.2f} ({len(groups[n])})" for n, v in zip(names, values, strict=True)],
    }
    layout = {
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "@told_rightly"}, "range": [0, 1]},
        "height": 360,
    }
    alt = listed(run.book, {name: f"{value:.2f}" for name, value in zip(names, values, strict=True)})
    return Figure("detection", [bar], layout, alt)


def told_rightly(run: KeptRun) -> dict[str, list[bool]]:
    """Whether real/generated was right, of real trials and of each generator's."""
    kinds, groups = _kinds(run), defaultdict(list)
    for trial in run.trials:
        made = kinds.get((trial.subject, trial.block, trial.trial), "generated")
        groups["@real" if trial.truth[0] == "1" else f"@{made}"].append(real_right(run.book, trial))
    return {name: groups[name] for name in sorted(groups, key=lambda name: (name != "@real", name))}


def identity(run: KeptRun) -> Figure:
    """The true person against the answered one."""
    grid = np.zeros((SUBJECTS, SUBJECTS + 1), int)
    for trial in run.trials:
        named = int(trial.answer[1:], 2) if trial.answer in run.book.vocabulary and trial.answer else 0
        grid[int(trial.truth[1:], 2) - 1, named - 1 if named else SUBJECTS] += 1
    labels = [str(k) for k in range(1, SUBJECTS + 1)]
    heat = {
        "type": "heatmap",
        "z": grid.tolist(),
        "x": [*labels, "–"],
        "y": labels,
        "colorscale": "Blues",
        "reversescale": True,
        "showscale": False,
    }
    layout = {"xaxis": {"title": {"text": "@answer"}, "type": "category"}, "height": 560}
    layout["yaxis"] = {"title": {"text": "@truth"}, "type": "category", "autorange": "reversed"}
    return Figure(
        "identity", [heat], layout, said(run.book, "alt_diagonal", right=int(np.trace(grid)), n=int(grid.sum()))
    )


def findings(run: KeptRun) -> list[Said]:
    """How well real and generated trials, the hardest generator and the person were recognised."""
    groups = told_rightly(run)
    real = groups.pop("@real", [])
    fakes = [right for own in groups.values() for right in own]
    found = [said(run.book, "say_real", n=real.count(False), m=len(real), k=fakes.count(False), j=len(fakes))]
    if len(groups) > 1:
        name = min(groups, key=lambda kind: float(np.mean(groups[kind])))
        found.append(said(run.book, "say_generator", name=listed(run.book, {name: ""}), p=float(np.mean(groups[name]))))
    wrong = sum(not subject_right(run.book, t) for t in run.trials)
    return [*found, said(run.book, "say_person", n=wrong, m=len(run.trials))]


def _answered(book: Rulebook, trial: Trial, real: bool, whose: bool) -> Trial:
    """The trial with one part of its answer corrected."""
    if trial.status != "in_time" or trial.answer not in book.vocabulary or trial.answer is None:
        return trial
    answer = (trial.truth if real else trial.answer)[:1] + (trial.truth if whose else trial.answer)[1:]
    return replace(trial, answer=answer, correct=answer == trial.truth)


REPORT = Part(
    columns=("itr_real", "itr_subject", "accuracy_real", "accuracy_subject", "mean_length_s"),
    channels=("Fz", "Cz", "C3", "C4", "Oz"),
    figures=(detection, identity),
    findings=findings,
    changes={
        "no_wrong_real": lambda book, trial: _answered(book, trial, real=True, whose=False),
        "no_wrong_person": lambda book, trial: _answered(book, trial, real=False, whose=True),
    },
    person=lambda trial: int(trial.truth[1:], 2),
    mistakes=False,
)
