"""Responses to what is seen: the steady response to a flicker, and potentials evoked by cues and onsets."""

from __future__ import annotations

import numpy as np

from bciarena.protocol.timeline import Step, Timeline
from bciarena.simulator.head import Array, electrodes, topographies
from bciarena.simulator.noise import Floats, ramp, slow_walk
from bciarena.simulator.person import PLACE_SD, Person
from bciarena.simulator.rhythms import trial_strength

PLACES = {
    "v1": ("Oz", 0.70, 0.5),
    "left": ("PO7", 0.72, 0.2),
    "right": ("PO8", 0.72, 0.2),
    "parietal": ("Pz", 0.60, 0.0),
    "motor": ("Cz", 0.72, 0.2),
}
"""Sources: the electrode above, depth in head radii, share of current towards the front."""
ROWS = tuple(PLACES)
HARMONICS = (1.0, 1.0, 0.42, 0.36, 0.2)
"""Size of each harmonic: the first, then relative to the person's second (chosen)."""
UPSTREAM = {"left": (0.45, 0.35), "right": (0.45, -0.35)}
"""Higher visual areas: share of V1's response and its phase lead in radians, which rotates the map a little."""
UNATTENDED = 0.12
"""Relative response to a flicker that is not looked at (Mueller 1998: attention raises it; size chosen)."""
ADAPTATION, ADAPTATION_S = 0.2, 1.5
"""Loss of response to a lasting flicker, and how fast (Heinrich & Bach 2001: exponential; numbers chosen)."""
SSVEP_RISE_S = 0.12


def maps(person: Person, scalp: Array) -> Array:
    """Scalp maps, shape (electrodes, sources)."""
    places, tilts = [], []
    for name, (electrode, depth, forward) in PLACES.items():
        rng = person.rng("evoked place", name)
        where = electrodes((electrode,))[0]
        moved = where * depth + PLACE_SD * rng.standard_normal(3)
        places.append(moved * depth / np.linalg.norm(moved))
        tilts.append(where + forward * np.array([0.0, 1.0, 0.0]) + 0.25 * rng.standard_normal(3))
    return topographies(scalp, np.array(places), np.array(tilts))


def evoked(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    """Courses of the sources, shape (sources, samples), in microvolts at the strongest electrode."""
    made = np.zeros((len(ROWS), timeline.samples), dtype=np.float32)
    attention = np.exp(0.15 * slow_walk(rng, timeline.samples, timeline.rate, 20.0))
    for step in timeline.steps:
        if step.kind == "flicker":
            _flicker(person, made, timeline, step, attention, rng)
        if step.kind in ("cue", "flicker", "imagine", "feedback", "flash"):
            _onset(person, made, timeline, step, rng)
    return made


def amplitude_uv(person: Person, hz: float, harmonic: int) -> float:
    """Steady response of V1 to a flicker at ``hz``: falls above 10 Hz, and from harmonic to harmonic."""
    fall = (10.0 / max(hz, 6.0)) ** person["ssvep_fall"]
    share = HARMONICS[harmonic - 1] * (person["harmonic"] if harmonic > 1 else 1.0)
    return float(person["ssvep_uv"] * fall * share)


def _flicker(
    person: Person, made: Floats, timeline: Timeline, step: Step, attention: Array, rng: np.random.Generator
) -> None:
    lag_s = person["ssvep_latency_s"]
    first, envelope = ramp(
        timeline.samples, timeline.rate, step.onset_s + lag_s, SSVEP_RISE_S, step.end_s + lag_s, SSVEP_RISE_S
    )
    time = np.arange(first, first + len(envelope)) / timeline.rate - step.onset_s - lag_s
    tired = 1 - ADAPTATION * (1 - np.exp(-np.maximum(time, 0) / ADAPTATION_S))
    envelope = envelope * tired * attention[first : first + len(envelope)]
    seen = [(step.params["hz"], step.params["phase_rad"], trial_strength(person, rng))]
    seen += [(hz, 0.0, UNATTENDED) for hz in step.params.get("others_hz", ())]
    own_phase = person.rng("harmonic phases").uniform(-0.6, 0.6, len(HARMONICS))
    own_phase[0] = 0.0  # the fundamental's is the latency
    for hz, phase, strength in seen:
        for k in range(1, len(HARMONICS) + 1):
            if k * hz > 0.42 * timeline.rate:
                continue
            angle = k * (2 * np.pi * hz * time + phase) + own_phase[k - 1]
            size = strength * amplitude_uv(person, hz, k) * envelope
            span = slice(first, first + len(envelope))
            made[ROWS.index("v1"), span] += (size * np.sin(angle)).astype(np.float32)
            for name, (share, lead) in UPSTREAM.items():
                made[ROWS.index(name), span] += (share * size * np.sin(angle + lead)).astype(np.float32)


def _onset(person: Person, made: Floats, timeline: Timeline, step: Step, rng: np.random.Generator) -> None:
    """P1, N1 and P3 after something appears; a slow negative shift while a movement is imagined."""
    strength = float(np.exp(0.3 * rng.standard_normal()))
    n1, p3 = person["n1_uv"] * strength, person["p300_uv"] * strength
    shift = 0.02 * rng.standard_normal()
    relevance = 0.3 if step.kind == "imagine" else step.params.get("relevance", 1.0)
    waves = [
        ("left", 0.6 * n1, 0.11, 0.018), ("right", 0.6 * n1, 0.11, 0.018),
        ("left", -n1, 0.17 + shift, 0.025), ("right", -n1, 0.17 + shift, 0.025),
        ("parietal", relevance * p3, 0.38 + 3 * shift, 0.09),
    ]  # fmt: skip
    if step.kind == "imagine":
        waves.append(("motor", -2.0 * strength, 1.2, 0.5))
    for name, size, peak_s, width_s in waves:
        first = round((step.onset_s + max(0.0, peak_s - 4 * width_s)) * timeline.rate)
        last = min(timeline.samples, round((step.onset_s + peak_s + 4 * width_s) * timeline.rate))
        time = np.arange(first, last) / timeline.rate - step.onset_s
        wave = size * np.exp(-0.5 * ((time - peak_s) / width_s) ** 2) * np.minimum(1, time / 0.05)
        made[ROWS.index(name), first:last] += wave.astype(np.float32)
