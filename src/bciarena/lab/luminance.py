"""What a flickering area shows, as a pure function of time. static/luminance.js holds the same formula."""

from __future__ import annotations

from math import pi, sin
from typing import NamedTuple


class Range(NamedTuple):
    """Lowest and highest grey, 0 black to 1 white."""

    low: float
    high: float


BACKGROUND = 0.5


def luminance(time_s: float, hz: float, phase_rad: float, within: Range) -> float:
    """Grey at a time after onset: sinusoidal, ``phase_rad`` at time 0."""
    return within.low + (within.high - within.low) * (1 + sin(2 * pi * hz * time_s + phase_rad)) / 2


def level(grey: float) -> int:
    """The 8-bit value drawn."""
    return int(grey * 255 + 0.5)


def refusal(refresh_hz: float, frequencies_hz: list[float]) -> str | None:
    """Why a monitor cannot show these frequencies, or None: two frames a period are the least, with some room."""
    limit = refresh_hz / 2.2
    beyond = sorted(hz for hz in frequencies_hz if hz > limit)
    if not beyond:
        return None
    return f"this screen refreshes at {refresh_hz:.1f} Hz and can show up to {limit:.1f} Hz, not {beyond[-1]:g} Hz"
