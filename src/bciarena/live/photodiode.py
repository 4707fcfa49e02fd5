"""A photodiode on the stimulus page's patch against the page's own log: did light come when the log says so?"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.live.streams import need_lsl

Array = NDArray[np.float64]
WITHIN_S = (-0.05, 0.25)
"""How far light may be from the frame that shows it: a little before (clocks differ), long after (slow screens)."""
SEARCH_HZ = 0.4
UNSURE = 0.005
NEAR_MS = 1.0  # the log rounds; two frames are never so near each other


@dataclass(frozen=True)
class Shown:
    """One step in which the patch was to flicker or to be on.

    Attributes
    ----------
    edges_s, rising : ndarray
        Times of the frames at which the patch changed, and whether to white.
    """

    onset_s: float
    hz: float | None
    phase_rad: float
    edges_s: Array
    rising: NDArray[np.bool_]
    until_s: float


def _pages(lines: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The log cut where a page was loaded: its clock begins anew there."""
    cuts = [k for k, line in enumerate(lines) if line["type"] == "hello"]
    return [lines[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(lines)], strict=True)]


def frames_of(lines: list[dict[str, Any]]) -> Array:
    """Milliseconds of every frame of a page, on the page's own clock."""
    times = [line["from_ms"] + np.concatenate([[0.0], np.cumsum(line["intervals_ms"])])
             for line in lines if line["type"] == "frames" and line.get("from_ms") is not None]  # fmt: skip
    every = np.sort(np.concatenate(times)) if times else np.zeros(0)
    return every[np.diff(every, prepend=-np.inf) > NEAR_MS]  # a line begins with the frame that ended the one before


def shown_of(lines: list[dict[str, Any]]) -> list[Shown]:
    """What the patch showed by the log: white in the first half of each period of the key to look at, or all along.

    Frames are told apart on the page's clock, on which a step has exactly its frame's time. The hub's clock is measured
    anew twice a second, so that one frame may have two times on it; a step's is the one that its code was sent with,
    and the frames of a step are counted from it.
    """
    found, any_step = [], False
    for page in _pages(lines):
        frames = frames_of(page)
        steps = [line for line in page if line["type"] == "step" and line.get("page_ms") is not None]
        any_step = any_step or bool(steps and len(frames))
        for step, following in zip_longest(steps, steps[1:]):
            params = step.get("params") or {}
            flicker = step.get("kind") == "flicker" and params.get("hz")
            if not flicker and step.get("kind") != "imagine":
                continue
            until_ms = following["page_ms"] if following else float("inf")
            own = frames[(frames >= step["page_ms"] - NEAR_MS) & (frames < until_ms - NEAR_MS)]
            if len(own) < 2:
                continue
            times_s = step["hub_s"] + (own - own[0]) / 1e3
            hz, phase = (float(params["hz"]), float(params.get("phase_rad") or 0.0)) if flicker else (None, 0.0)
            wave = np.sin(2 * np.pi * hz * (times_s - times_s[0]) + phase) if hz else np.ones(len(own))
            on = wave > 0
            changed = np.flatnonzero(np.diff(np.concatenate([[False], on])))
            # The log's times are rounded: where the sine is about 0, it cannot tell on which side the page saw it.
            beside = np.minimum(np.abs(wave[changed]), np.abs(wave[changed - 1]))
            changed = changed[(changed == 0) | (beside > UNSURE)]
            until_s = float(times_s[-1]) if following is None else step["hub_s"] + (until_ms - own[0]) / 1e3
            found.append(Shown(step["hub_s"], hz, phase, times_s[changed], on[changed], until_s))
    if not any_step:
        raise BadInput("the log holds no frames or no steps; play a block with the patch on and --log")
    if not found:
        raise BadInput("the log holds no step in which the patch lights up (flicker or imagery)")
    return found


def light_edges(light: Array, times_s: Array) -> tuple[Array, NDArray[np.bool_], Array]:
    """Times at which the light crosses the middle between dark and bright, whether upwards, and where it is bright."""
    dark, bright = np.percentile(light, [2, 98])
    if not bright - dark > 6 * np.median(np.abs(np.diff(light))) / 0.67 or bright == dark:
        raise BadInput("the light channel shows no patch: is the patch on, the diode on it, the channel the right one?")
    level = (light - dark) / (bright - dark)
    state = np.zeros(len(level), np.int8)
    state[level > 0.6], state[level < 0.4] = 1, -1  # what lies between belongs to the side it came from
    known = np.maximum.accumulate(np.where(state != 0, np.arange(len(state)), 0))
    on = state[known] > 0
    at = np.flatnonzero(np.diff(on))
    edges = []
    for k in at:  # the crossing of the middle nearest before the side was decided
        first = k
        while first > 0 and (level[first] > 0.5) == (level[k + 1] > 0.5):
            first -= 1
        share = (0.5 - level[first]) / (level[first + 1] - level[first])
        edges.append(times_s[first] + share * (times_s[first + 1] - times_s[first]))
    return np.array(edges), on[at + 1], on.astype(float)


def compared(lines: list[dict[str, Any]], light: Array, times_s: Array) -> dict[str, Any]:
    """Delay, jitter, missed changes, and frequency and phase of every key, measured."""
    steps = shown_of(lines)
    edges, rising, on = light_edges(light, times_s)
    first = []
    for step in steps:  # before a step's first light the patch was dark: this edge is not to be mistaken
        if step.rising.any():
            start = step.edges_s[step.rising][0]
            near = edges[rising & (edges > start + WITHIN_S[0]) & (edges < start + WITHIN_S[1])]
            first += [float(near[0] - start)] if len(near) else []
    if not first:
        raise BadInput("no light where the log has any: is this the log of that recording, on the same clock?")
    delay_s = float(np.median(first))
    frame_s = float(np.median(np.concatenate([np.diff(frames_of(page)) for page in _pages(lines)]))) / 1e3
    found: list[float] = []
    missed = total = 0
    for step in steps:
        inside = (step.edges_s + delay_s > times_s[0]) & (step.edges_s + delay_s < times_s[-1])
        for at_s, up in zip(step.edges_s[inside], step.rising[inside], strict=True):
            total += 1
            near = edges[rising == up]
            k = int(np.argmin(np.abs(near - at_s - delay_s))) if len(near) else -1
            if k < 0 or abs(near[k] - at_s - delay_s) > 0.75 * frame_s:
                missed += 1
            else:
                found.append(near[k] - at_s)
    off = np.array(found) if found else np.array(first)
    delay_s = float(np.median(off))
    return {
        "delay_ms": round(delay_s * 1e3, 3),
        "jitter_ms": {"std": round(float(off.std()) * 1e3, 3),
                      "p1": round(float(np.percentile(off, 1)) * 1e3, 3),
                      "p99": round(float(np.percentile(off, 99)) * 1e3, 3)},
        "changes": total,
        "missed": missed,
        "refresh_hz": round(1 / frame_s, 3),
        "frames_dropped": max((line["dropped"] for line in lines if line["type"] == "frames"), default=0),
        "keys": _keys(steps, on, times_s, delay_s, frame_s),
    }  # fmt: skip


def _keys(steps: list[Shown], on: Array, times_s: Array, delay_s: float, frame_s: float) -> list[dict[str, float]]:
    """Measured frequency and phase of each flicker, mean over its steps."""
    rows: dict[tuple[float, float], list[tuple[float, float]]] = {}
    for step in steps:
        seen = (times_s >= step.onset_s + delay_s) & (times_s < step.until_s + delay_s)
        if step.hz is None or seen.sum() < 2 or np.ptp(times_s[seen]) < 2 / step.hz:
            continue
        since_s = times_s[seen] - step.onset_s - delay_s
        wave = (on[seen] - on[seen].mean()) * np.hanning(seen.sum())
        grid = step.hz + np.arange(-SEARCH_HZ, SEARCH_HZ + 1e-9, 0.005)
        power = np.abs(np.exp(-2j * np.pi * grid[:, None] * since_s) @ wave)
        best = float(grid[np.argmax(power)])
        # A patch that is white while the sine is positive has the sine's own phase; a screen holds each frame until
        # the next, which is half a frame later in the mean.
        angle = float(np.angle(np.exp(-2j * np.pi * step.hz * since_s) @ wave)) + np.pi / 2
        angle += np.pi * step.hz * frame_s
        error = float((angle - step.phase_rad + np.pi) % (2 * np.pi) - np.pi)
        rows.setdefault((step.hz, step.phase_rad), []).append((best, error))
    return [
        {"hz": hz, "measured_hz": round(float(np.mean([b for b, _ in own])), 4),
         "phase_rad": round(phase, 4), "phase_error_rad": round(float(np.mean([e for _, e in own])), 4),
         "steps": len(own)}
        for (hz, phase), own in sorted(rows.items())
    ]  # fmt: skip


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lab's log; its last line may be cut."""
    try:
        texts = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give the file that arena lab --log wrote") from error
    lines = []
    for number, text in enumerate(texts, 1):
        try:
            lines.append(json.loads(text))
        except ValueError:
            if number < len(texts):
                raise BadInput(f"{path}: line {number} is no JSON; is this the log of arena lab?") from None
    return lines


def read_light(name: str, channel: str, stop: threading.Event, seconds: float | None,
               say: Callable[[str], None]) -> tuple[Array, Array]:  # fmt: skip
    """One channel of an LSL stream until ``stop`` or so long: its values and their times."""
    lsl = need_lsl()
    infos = lsl.resolve_streams(timeout=10.0, name=name)
    if not infos:
        raise BadInput(f"no LSL stream named {name!r}; is the light's stream running?")
    inlet = lsl.StreamInlet(infos[0], processing_flags=["clocksync"])
    inlet.open_stream(timeout=5.0)
    names = [one or "" for one in inlet.get_sinfo().get_channel_names() or []]
    folded = [one.casefold() for one in names]
    if channel and channel.casefold() not in folded:
        raise BadInput(f"stream {name!r}: has no channel {channel}; it has {', '.join(names) or 'unnamed ones'}")
    row = folded.index(channel.casefold()) if channel else 0
    say(f"reading light from {name!r}; play a block with the patch on, then press Ctrl-C")
    until = lsl.local_clock() + (seconds or 1e9)
    values, stamps = [], []
    while not stop.is_set() and lsl.local_clock() < until:
        data, at = inlet.pull_chunk(timeout=0.2)
        if len(at):
            values.append(np.array(data, float)[:, row])
            stamps.append(np.array(at))
    inlet.close_stream()
    if not values:
        raise BadInput(f"stream {name!r}: sent nothing")
    return np.concatenate(values), np.concatenate(stamps)


def verify(log: Path, light: Array, times_s: Array, out: Path | None) -> dict[str, Any]:
    """Compare and, where asked, write the offset for later sessions: ``{"offset_s": ...}``."""
    found = compared(read_log(log), light, times_s)
    if out is not None:
        out.write_text(json.dumps({"offset_s": found["delay_ms"] / 1e3} | found, indent=1) + "\n", "utf-8")
    return found


def read_offset(path: Path) -> float:
    """The offset that `verify` wrote."""
    try:
        offset_s = float(json.loads(path.read_text("utf-8"))["offset_s"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: holds no offset_s ({error}); arena lab verify --out writes it") from error
    if not -0.5 < offset_s < 0.5:
        raise BadInput(f"{path}: an offset of {offset_s:g} s cannot be a screen's delay")
    return offset_s
