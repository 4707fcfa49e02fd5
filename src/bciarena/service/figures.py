"""Small pictures as SVG: presentation attributes only, since the site's policy allows no inline styles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from bciarena.contests.rulebook import Rulebook
from bciarena.service.task import Trial

Say = Callable[..., str]


def sparkline(values: Sequence[float], label: str) -> Markup:
    """A line through values in their order, the last one marked."""
    if not values:
        return Markup("")
    low, high = min(values), max(values)
    spread = (high - low) or 1.0
    step = 96 / max(len(values) - 1, 1)
    points = [(2 + i * step, 21 - 18 * ((v - low) / spread if high > low else 0.5)) for i, v in enumerate(values)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    return Markup(
        '<svg class="spark" viewBox="0 0 100 24" role="img" aria-label="{}"><polyline points="{}"/>'
        '<circle cx="{:.1f}" cy="{:.1f}" r="2"/></svg>'
    ).format(label, line, x, y)


def interval(low: float, high: float, value: float, most: float, label: str) -> Markup:
    """A score with its interval on an axis from 0 to the board's largest bound."""
    scale = 116 / (most or 1.0)

    def at(x: float) -> float:
        return 2 + max(0.0, x) * scale

    return Markup(
        '<svg class="range" viewBox="0 0 120 16" role="img" aria-label="{}"><line class="rail" x1="2" y1="8" x2="118" '
        'y2="8"/><line x1="{:.1f}" y1="8" x2="{:.1f}" y2="8"/><circle cx="{:.1f}" cy="8" r="3.2"/></svg>'
    ).format(label, at(low), at(high), at(value))


def bars(blocks: Sequence[dict[str, Any]], label: str, say: Say) -> Markup:
    """Block scores as bars, shaded alternately by subject: blocks and subjects below, the largest score beside."""
    if not any(block["score"] > 0 for block in blocks):
        return Markup("")
    most = max((block["score"] for block in blocks), default=0) or 1.0
    left, width = 44, min(410 / len(blocks), 40)
    shapes = [
        Markup(
            '<text x="{}" y="12" text-anchor="end">{:.3g}</text><text x="{}" y="100" text-anchor="end">0</text>'
        ).format(left - 5, most, left - 5)
    ]
    for name, y in (("metric.block", 110), ("metric.subject", 122)):
        shapes.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(left - 5, y, say(name)))
    for i, block in enumerate(blocks):
        height = 92 * max(block["score"], 0) / most
        shade = Markup(' class="alt"') if block["subject"] % 2 == 0 else ""
        said = f"{say('run.block_of', subject=block['subject'], block=block['block'])}: {block['score']:.2f}"
        at = left + i * width
        shapes.append(
            Markup('<rect{} x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>').format(
                shade, at + 0.5, 98 - height, max(width - 1, 0.5), max(height, 0.6), said
            )
        )
        if width >= 16:
            shapes.append(
                Markup('<text x="{:.1f}" y="110" text-anchor="middle">{}</text>').format(at + width / 2, block["block"])
            )
    at = 0
    for subject, own in groupby(blocks, key=lambda block: block["subject"]):
        count = len(list(own))
        if count * width >= 16:
            middle = left + (at + count / 2) * width
            shapes.append(Markup('<text x="{:.1f}" y="122" text-anchor="middle">{}</text>').format(middle, subject))
        at += count
    right = left + len(blocks) * width
    return Markup(
        '<svg class="bars" viewBox="0 0 460 126" role="img" aria-label="{}">{}<line x1="{}" y1="98.5" x2="{:.1f}" '
        'y2="98.5"/></svg>'
    ).format(label, Markup("").join(shapes), left, right)


WIDE = 720


def timeline(trial: Trial, book: Rulebook, say: Say) -> Markup:
    """A trial as bars in a row: what happens, how long, the codes an entry sees, and until when it may answer."""
    first, last = trial.steps[0].onset_s, trial.steps[-1].end_s
    scale = (WIDE - 20) / max(last - first, 0.1)

    def x(at_s: float) -> float:
        return 10 + (at_s - first) * scale

    shapes: list[Markup] = []
    for number, step in enumerate(one for one in trial.steps if one.duration_s):
        wide = step.duration_s * scale
        own = "open" if step.onset_s == trial.opened_s else "odd" if number % 2 else "even"
        shapes.append(
            Markup('<rect class="{}" x="{:.1f}" y="34" width="{:.1f}" height="34" rx="4"/>').format(
                own, x(step.onset_s), max(wide - 2, 1)
            )
        )
        shapes.append(
            Markup('<text x="{:.1f}" y="49" text-anchor="middle">{}</text><text class="faint" x="{:.1f}" y="63" '
                   'text-anchor="middle">{:.3g} s</text>').format(
                x(step.onset_s) + wide / 2, say(f"step.{step.kind}"), x(step.onset_s) + wide / 2, step.duration_s
            )
        )  # fmt: skip
    for step in trial.steps:
        if step.code and book.mask[step.code]:
            shapes.append(_mark(x(step.onset_s), str(book.mask[step.code])))
    limit_s = trial.opened_s + book.limit_s if book.limit_s is not None else None
    if limit_s is not None and limit_s <= last + 1e-6:
        shapes.append(
            Markup('<line class="limit" x1="{0:.1f}" y1="30" x2="{0:.1f}" y2="84"/><text class="limit" x="{0:.1f}" '
                   'y="97" text-anchor="end">{1}</text>').format(x(limit_s), say("task.limit", s=f"{book.limit_s:g}"))
        )  # fmt: skip
    shapes.append(
        Markup('<line class="clock" x1="{0:.1f}" y1="76" x2="{1:.1f}" y2="76"/>').format(
            x(trial.opened_s), x(min(limit_s or last, last))
        )
    )
    return Markup('<svg class="timeline" viewBox="0 0 {} 104" role="img" aria-label="{}">{}</svg>').format(
        WIDE, say("task.timeline"), Markup("").join(shapes)
    )


def _mark(x: float, text: str) -> Markup:
    return Markup(
        '<path class="code" d="M{0:.1f} 32l-4 -8h8z"/>'
        '<text class="code" x="{0:.1f}" y="18" text-anchor="middle">{1}</text>'
    ).format(max(x, 14), text)


MARKS = {
    "in_time": "good",
    "quiet": "good",
    "late": "warn",
    "false_positive": "bad",
    "missing": "none",
    "after_target": "none",
    "invalid": "none",
}


def ribbons(trials: Iterable[dict[str, Any]]) -> list[tuple[int, int, Markup]]:
    """Per block one strip with a cell per trial: right, wrong, late, missing."""
    rows = []
    for (subject, block), own in groupby(trials, key=lambda t: (t["subject"], t["block"])):
        cells = list(own)
        width = 460 / len(cells)
        shapes = []
        for i, trial in enumerate(cells):
            mark = MARKS[trial["status"]]
            if mark == "good" and not trial["correct"]:
                mark = "bad"
            shapes.append(
                f'<rect class="{mark}" x="{i * width:.1f}" y="0" width="{max(width - 1, 0.5):.1f}" height="20"/>'
            )
        svg = Markup('<svg class="ribbon" viewBox="0 0 460 20" preserveAspectRatio="none" aria-hidden="true">{}</svg>')
        rows.append((subject, block, svg.format(Markup("".join(shapes)))))
    return rows
