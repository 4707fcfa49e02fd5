"""Small pictures as SVG: presentation attributes only, since the site's policy allows no inline styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape


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


def bars(blocks: Sequence[dict[str, Any]], label: str) -> Markup:
    """Block scores as bars, shaded alternately by subject."""
    if not any(block["score"] > 0 for block in blocks):
        return Markup("")
    most = max((block["score"] for block in blocks), default=0) or 1.0
    width = min(460 / len(blocks), 28)
    shapes = []
    for i, block in enumerate(blocks):
        height = 88 * max(block["score"], 0) / most
        shade = ' class="alt"' if block["subject"] % 2 == 0 else ""
        said = f"S{block['subject']:02d} B{block['block']}: {block['score']:.2f}"
        shapes.append(
            f'<rect{shade} x="{i * width + 0.5:.1f}" y="{94 - height:.1f}" width="{max(width - 1, 0.5):.1f}" '
            f'height="{max(height, 0.6):.1f}"><title>{escape(said)}</title></rect>'
        )
    return Markup(
        '<svg class="bars" viewBox="0 0 460 96" preserveAspectRatio="none" role="img" aria-label="{}">'
        '{}<line x1="0" y1="94.5" x2="460" y2="94.5"/></svg>'
    ).format(label, Markup("".join(shapes)))


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
