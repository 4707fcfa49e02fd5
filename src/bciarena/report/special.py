"""Figures that only one challenge has."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bciarena.contests import liveness, rehab, speller
from bciarena.contests.trial import Trial, by_block
from bciarena.errors import BadInput
from bciarena.report.texts import Said, listed, said

if TYPE_CHECKING:
    from bciarena.report.figures import Figure
    from bciarena.report.kept import KeptRun

HIT_RATE = [[0, "#d1495b"], [0.5, "#f4e7b0"], [1, "#2a9d6f"]]
"""Colours of a hit rate of 0, 0.5 and 1."""
KEYS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789␣,.⌫"
"""The 40 keys in the order of their labels: letters, digits, space, comma, full stop, backspace."""


def number(text: str) -> tuple[int, str]:
    """Sorts "2" before "10"."""
    return (int(text), "") if text.isdigit() else (1 << 30, text)


def figures(run: KeptRun) -> list[Figure | None]:
    """The figures of the run's challenge."""
    makers = {"speller": [key_map], "turing": [turing_trace], "liveness": [detection, identity], "rehab": [sides]}
    return [maker(run) for maker in makers.get(run.book.name, [])]


def _figure(name: str, data: list[dict[str, Any]], layout: dict[str, Any], alt: Said) -> Figure:
    from bciarena.report.figures import Figure

    return Figure(name, data, layout, alt)


def key_map(run: KeptRun) -> Figure:
    """The keyboard, coloured by hit rate; false alarms of idle trials are written into the key they named."""
    hits: dict[str, list[bool]] = defaultdict(list)
    alarms: dict[str, int] = defaultdict(int)
    for trial in run.trials:
        if trial.length_n is not None:
            hits[trial.truth].append(trial.correct)
        elif trial.status == "false_positive" and trial.answer:
            alarms[trial.answer] += 1
    rate = [np.mean(hits[str(k)]) if hits[str(k)] else None for k in range(1, speller.KEYS + 1)]
    text = [
        f"{KEYS[k]}<br>{speller.FREQUENCY_HZ[k]:g} Hz" + (f"<br>⚠{alarms[str(k + 1)]}" if alarms[str(k + 1)] else "")
        for k in range(speller.KEYS)
    ]
    grid = [rate[row * 10 : row * 10 + 10] for row in range(4)]
    heat: dict[str, Any] = {"type": "heatmap", "z": grid, "text": [text[row * 10 : row * 10 + 10] for row in range(4)]}
    heat |= {"texttemplate": "%{text}", "colorscale": HIT_RATE, "zmin": 0, "zmax": 1, "xgap": 3, "ygap": 3}
    axis = {"visible": False}
    layout = {"xaxis": axis, "yaxis": axis | {"autorange": "reversed"}, "height": 420}
    worst = min((r, KEYS[k]) for k, r in enumerate(rate) if r is not None) if any(r is not None for r in rate) else None
    n = sum(alarms.values())
    alt = said("alt_keys", rate=worst[0], key=worst[1], n=n) if worst else said("alt_alarms", n=n)
    return _figure("key_map", [heat], layout, alt)


def turing_trace(run: KeptRun) -> Figure:
    """S = 200 N / L after each trial of a block, to where 80 % were right."""
    traces, passed = [], 0
    for subject, block, own in by_block(run.trials):
        x, y, right, used_s = [], [], 0, 0.0
        for trial in own:
            if trial.status == "after_target":
                break
            right += trial.correct
            used_s += trial.length_s or 0.0
            x.append(trial.trial)
            y.append(200 * right / used_s if used_s else 0.0)
        done = right >= -(-4 * len(own) // 5)
        passed += done
        mark = {"symbol": ["circle"] * (len(x) - 1) + ["star" if done else "x"], "size": [5] * (len(x) - 1) + [13]}
        traces.append(
            {"type": "scatter", "mode": "lines+markers", "x": x, "y": y, "name": f"S{subject} B{block}", "marker": mark}
        )
    layout = {"xaxis": {"title": {"text": "@trial"}}, "yaxis": {"title": {"text": "@running_score"}}, "height": 420}
    return _figure("turing_trace", traces, layout, said("alt_target", n=passed, m=len(traces)))


def _kinds(run: KeptRun) -> dict[tuple[int, int, int], str]:
    """How each generated trial was made, where the data folder tells (made by arena simulate)."""
    try:
        folder = run.recording.folder or Path()
        rows = json.loads((folder / "generators.json").read_text("utf-8"))
        return {(row["subject"], row["block"], row["trial"]): str(row["generator"]) for row in rows}
    except (BadInput, OSError, ValueError, KeyError, TypeError):
        return {}  # recordings of people, or not here: generated trials are shown as one group


def detection(run: KeptRun) -> Figure:
    """Share of real and generated trials told rightly, generators apart where the data names them."""
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
    alt = listed({name: f"{value:.2f}" for name, value in zip(names, values, strict=True)})
    return _figure("detection", [bar], layout, alt)


def told_rightly(run: KeptRun) -> dict[str, list[bool]]:
    """Whether real/generated was right, of real trials and of each generator's."""
    kinds, groups = _kinds(run), defaultdict(list)
    for trial in run.trials:
        made = kinds.get((trial.subject, trial.block, trial.trial), "generated")
        groups["@real" if trial.truth[0] == "1" else f"@{made}"].append(liveness.real_right(trial))
    return {name: groups[name] for name in sorted(groups, key=lambda name: (name != "@real", name))}


def identity(run: KeptRun) -> Figure:
    """Whose it was against whose it was said to be."""
    grid = np.zeros((liveness.SUBJECTS, liveness.SUBJECTS + 1), int)
    for trial in run.trials:
        named = int(trial.answer[1:], 2) if trial.answer in liveness.VOCABULARY and trial.answer else 0
        grid[int(trial.truth[1:], 2) - 1, named - 1 if named else liveness.SUBJECTS] += 1
    labels = [str(k) for k in range(1, liveness.SUBJECTS + 1)]
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
    return _figure("identity", [heat], layout, said("alt_diagonal", right=int(np.trace(grid)), n=int(grid.sum())))


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
    return _figure("sides", traces, layout, listed({kind: sum(counts[kind].values()) for kind in kinds}))


def _side_kind(trial: Trial) -> str:
    if trial.correct:
        return "@exact"
    if trial.status != "in_time":
        return "@no_answer"
    return "@side_only" if rehab.side_right(trial) else "@wrong_side"
