"""The figures of a run as Plotly specifications: plain dictionaries, drawn by the page or by plotly itself.

Words that begin with @ are keys of report.texts or of the contest's own words; the page translates them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial, accuracy
from bciarena.report.insight import fixed_time_curve
from bciarena.report.kept import KeptRun
from bciarena.report.part import part_of
from bciarena.report.texts import COMMAS, Said, listed, said

COLOURS = {
    "right": "#2a9d6f",
    "wrong": "#d1495b",
    "late": "#e8a33d",
    "missing": "#8a8f98",
    "false_positive": "#7b4fb3",
    "quiet": "#c9d3dc",
    "after_target": "#b7c4e0",
}


class Figure(NamedTuple):
    """Name, Plotly data and layout, and what it shows in words for those who cannot see it."""

    name: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    alt: Said


def outcome(trial: Trial) -> str:
    """The colour class of a trial."""
    if trial.status == "in_time":
        return "right" if trial.correct else "wrong"
    return trial.status


def named(book: Rulebook, code: str | None) -> str:
    """The key of an answer's word, or the answer itself where it has none."""
    return "–" if code is None else f"@answer_{code}" if code in book.vocabulary else code


def _number(text: str) -> tuple[int, str]:
    """Sorts "2" before "10"."""
    return (int(text), "") if text.isdigit() else (1 << 30, text)


def all_figures(run: KeptRun) -> list[Figure]:
    """Every figure for which the run has data."""
    if not run.trials:
        return []
    makers = [timeline, confusion, score_against_time, by_subject, answer_times, thinking, cumulative]
    figures = [maker(run) for maker in (*makers, *part_of(run.book).figures)]
    return [figure for figure in figures if figure is not None]


def timeline(run: KeptRun) -> Figure | None:
    """Every trial at its place: a bar from the first countable sample to the answer, a row per block."""
    if not run.layout:
        return None
    places = {(b["subject"], b["block"]): b for b in run.layout}
    traces = []
    for kind, colour in COLOURS.items():
        x, y, base, text = [], [], [], []
        for trial in run.trials:
            place = places.get((trial.subject, trial.block))
            if outcome(trial) != kind or place is None or trial.trial > len(place["trials"]):
                continue
            _, start, stop = place["trials"][trial.trial - 1]
            length_s = trial.length_s if trial.length_s is not None else min((stop - start) / place["rate"], 5.0)
            base.append(round(start / place["rate"], 3))
            x.append(round(length_s, 3))
            y.append(f"@place|{trial.subject}|{trial.block}")
            text.append(f"@trial_answer|{trial.trial}|{named(run.book, trial.truth)}|{named(run.book, trial.answer)}")
        if x:
            bar = {"type": "bar", "orientation": "h", "name": f"@{kind}", "x": x, "y": y, "base": base}
            traces.append(bar | {"text": text, "textposition": "none", "marker": {"color": colour}})
    rows = len({(t.subject, t.block) for t in run.trials})
    layout = _axes("@time_in_block_s", None) | {"barmode": "overlay", "height": 160 + 26 * rows}
    layout["yaxis"] |= {"autorange": "reversed", "type": "category"}
    counts = Counter(map(outcome, run.trials))
    return Figure("timeline", traces, layout, listed(run.book, counts))


def confusion(run: KeptRun) -> Figure | None:
    """Truth against answer."""
    if not part_of(run.book).mistakes:
        return None  # an answer to several questions: the contest has its own figures
    truths = sorted({t.truth for t in run.trials if t.status not in ("quiet", "false_positive")}, key=_number)
    answers = [*run.book.vocabulary, "–"]
    grid = np.zeros((len(truths), len(answers)), int)
    for trial in run.trials:
        if trial.truth in truths:
            answer = trial.answer if trial.answer is not None and trial.answer in run.book.vocabulary else "–"
            grid[truths.index(trial.truth), answers.index(answer)] += 1
    small = len(answers) <= 8
    heat = {
        "type": "heatmap",
        "z": grid.tolist(),
        "x": answers,
        "y": truths,
        "colorscale": [[0, "#e8f1f0"], [1, "#0b6b6a"]],
        "showscale": False,
    }
    if small:
        heat |= {"text": grid.tolist(), "texttemplate": "%{text}"}
    layout = _axes("@answer", "@truth") | {"height": 420 if small else 640}
    for axis, codes in (("xaxis", answers), ("yaxis", truths)):
        names = [f"@answer_{code}" if code in run.book.vocabulary else "@missing" for code in codes]
        layout[axis] |= {"type": "category", "tickmode": "array", "tickvals": codes, "ticktext": names}
    layout["yaxis"] |= {"autorange": "reversed", "automargin": True}
    right = int(sum(grid[truths.index(t), answers.index(t)] for t in truths))
    return Figure("confusion", [heat], layout, said(run.book, "alt_diagonal", right=right, n=int(grid.sum())))


def score_against_time(run: KeptRun) -> Figure | None:
    """The score against one fixed answer time (see insight.at_fixed_time)."""
    times, scores = fixed_time_curve(run.book, run.trials)
    if len(times) < 2:
        return None  # one time only: nothing to compare with
    best = int(np.argmax(scores))
    own = [run.score["metrics"].get("mean_length_s", 0.0)], [run.score["score"]]
    line = {"type": "scatter", "mode": "lines+markers", "x": times, "y": scores, "name": "@fixed_time"}
    mark: dict[str, Any] = {"type": "scatter", "mode": "markers", "x": own[0], "y": own[1], "name": "@this_run"}
    mark |= {"marker": {"size": 12, "symbol": "diamond", "color": COLOURS["wrong"]}}
    alt = said(run.book, "alt_fixed", best_s=times[best], best=scores[best], own=run.score["score"])
    return Figure("score_against_time", [line, mark], _axes("@answer_time_s", "@score"), alt)


def by_subject(run: KeptRun) -> Figure:
    """Accuracy of each subject."""
    values = subject_accuracy(run)
    people = [f"@person|{number}" for number in values]
    bar = {"type": "bar", "x": people, "y": list(values.values()), "marker": {"color": COLOURS["right"]}}
    bar |= {"text": [f"{v:.2f}" for v in values.values()], "textposition": "auto"}
    layout = _axes("@subject", "@accuracy")
    layout["yaxis"]["range"] = [0, 1]
    alt = {code: [f"{person_of(run, number)[code]} {value:.2f}" for number, value in values.items()] for code in COMMAS}
    return Figure("by_subject", [bar], layout, {code: COMMAS[code].join(parts) for code, parts in alt.items()})


def person_of(run: KeptRun, number: int) -> Said:
    """What somebody is called in the report."""
    return said(run.book, "person", n=number)


def subject_accuracy(run: KeptRun) -> dict[int, float]:
    """Share of right answers by subject, or by the person where blocks mix people."""
    person = part_of(run.book).person
    groups: dict[int, list[Trial]] = {}
    for trial in run.trials:
        if trial.length_n is not None:
            own = person(trial) if person else trial.subject
            groups.setdefault(own, []).append(trial)
    return {number: accuracy(groups[number]) for number in sorted(groups)}


def answer_times(run: KeptRun) -> Figure | None:
    """Distribution of the answer times, right and wrong."""
    traces, everything = [], []
    for kind in ("right", "wrong", "late"):
        lengths = [t.length_s for t in run.trials if outcome(t) == kind and t.length_s is not None]
        everything += lengths
        if lengths:
            trace = {"type": "histogram", "x": lengths, "name": f"@{kind}", "marker": {"color": COLOURS[kind]}}
            traces.append(trace | {"xbins": {"size": 0.2}})
    if not traces:
        return None
    layout = _axes("@answer_time_s", "@trials") | {"barmode": "stack"}
    layout["xaxis"]["range"] = [0, 1.1 * max(*everything, run.book.limit_s or 0.0)]
    return Figure("answer_times", traces, layout, said(run.book, "alt_median", s=float(np.median(everything))))


def thinking(run: KeptRun) -> Figure | None:
    """Computing time per packet against the time the packet lasts."""
    if not run.think_s.size:
        return None
    packet_s = run.book.packet_n / run.book.rate
    pieces = np.array_split(run.think_s, min(400, run.think_s.size))
    x = np.cumsum([piece.size for piece in pieces]) * packet_s
    worst = [round(float(piece.max()) * 1e3, 4) for piece in pieces]
    typical = [round(float(np.median(piece)) * 1e3, 4) for piece in pieces]
    line = {"type": "scatter", "mode": "lines", "x": x.round(2).tolist()}
    limit = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, float(x[-1])],
        "y": [packet_s * 1e3] * 2,
        "name": "@real_time",
    }
    traces = [
        line | {"y": worst, "name": "@worst_packet", "line": {"color": COLOURS["late"]}},
        line | {"y": typical, "name": "@median_packet", "line": {"color": COLOURS["right"]}},
        limit | {"line": {"dash": "dash", "color": COLOURS["wrong"]}},
    ]
    layout = _axes("@data_s", "@think_ms")
    layout["yaxis"]["type"] = "log"
    p50, p99 = np.percentile(run.think_s, [50, 99]) * 1e3
    return Figure("thinking", traces, layout, said(run.book, "alt_thinking", p50=p50, p99=p99, ms=packet_s * 1e3))


def cumulative(run: KeptRun) -> Figure:
    """The score after each block."""
    seen: list[Trial] = []
    x, y = [], []
    keys = list(dict.fromkeys((t.subject, t.block) for t in run.trials))
    for key in keys:
        seen += [t for t in run.trials if (t.subject, t.block) == key]
        x.append(f"@place|{key[0]}|{key[1]}")
        y.append(run.book.score(seen).score)
    line = {"type": "scatter", "mode": "lines+markers", "x": x, "y": y}
    return Figure("cumulative", [line], _axes("@block", "@score"), said(run.book, "alt_course", first=y[0], last=y[-1]))


def _axes(x: str | None, y: str | None) -> dict[str, Any]:
    return {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}, "height": 360}
