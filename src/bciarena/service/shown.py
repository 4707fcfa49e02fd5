"""Numbers and times as people read them."""

from __future__ import annotations

import datetime
from typing import Any

from markupsafe import Markup

from bciarena.contests import RULEBOOKS


def metric(value: Any, name: str) -> str:
    """A metric of the score in its usual form: 71.4 %, 1.24 s, 32.10."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if any(name in book.scoring.shares for book in RULEBOOKS.values()):
        return f"{100 * value:.1f} %"
    if name.endswith("_s"):
        return f"{value:.2f} s"
    if isinstance(value, int):
        return str(value)
    return f"{value:.2f}"


def moment(value: float | None) -> Markup:
    """A time in UTC; the page's script turns it into the reader's own."""
    if value is None:
        return Markup("–")
    at = datetime.datetime.fromtimestamp(value, datetime.UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        at.strftime("%Y-%m-%dT%H:%M:%SZ"), at.strftime("%Y-%m-%d %H:%M UTC")
    )


def for_input(value: float | None) -> str:
    """A time as the value of a datetime-local input, in UTC."""
    return "" if value is None else datetime.datetime.fromtimestamp(value, datetime.UTC).strftime("%Y-%m-%dT%H:%M")


def size(value: int) -> str:
    """Bytes as kB, MB or GB."""
    if value >= 1e9:
        return f"{value / 1e9:.1f} GB"
    return f"{value / 1e6:.1f} MB" if value >= 1e6 else f"{max(value / 1e3, 0.1):.1f} kB"


def duration(value: float) -> str:
    """Seconds as minutes or hours."""
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


FILTERS = {
    "metric": metric,
    "moment": moment,
    "for_input": for_input,
    "size": size,
    "duration": duration,
    "score": score,
}
