"""What is not from the brain: eyes, muscles, heart. Each is a few source time courses and their scalp maps."""

from __future__ import annotations

import numpy as np

from bciarena.protocol.timeline import Timeline
from bciarena.simulator.head import Array
from bciarena.simulator.noise import Floats, coloured, grid, ramp
from bciarena.simulator.person import Person

EYES = ("blink", "across", "upward")
MUSCLES = {
    "temple_left": (-0.85, 0.50, 0.0),
    "temple_right": (0.85, 0.50, 0.0),
    "brow_left": (-0.35, 0.93, 0.1),
    "brow_right": (0.35, 0.93, 0.1),
    "neck_left": (-0.55, -0.80, -0.25),
    "neck_right": (0.55, -0.80, -0.25),
}
"""Where the muscles are on the unit head (Goncharova 2003: brow and temples): a decaying spot around each."""
MUSCLE_SPOT = 0.38
FIBRES = 2
"""Independent fibres in each muscle: a muscle is not a single source."""
CALM = {"flicker": 0.25, "still": 0.3, "imagine": 0.5, "resting": 1.0, "rest": 1.6, "action": 1.3, "feedback": 1.2}
"""Blink rate by kind of step, relative to the person's; subjects suppress blinks during a stimulus."""
LOOKS = {"cue": 1.5, "action": 2.0, "rest": 1.0, "feedback": 0.6, "idle": 0.8, "eyes_open": 0.4}
"""Saccades a second; elsewhere the subject fixates (0.1 a second)."""
BURSTS_A_MINUTE = 2.0
HEART_LEAK_UV = 1.0
WAVES = ((0.12, -0.17, 0.025), (-0.12, -0.028, 0.01), (1.0, 0.0, 0.011), (-0.25, 0.03, 0.012), (0.28, 0.25, 0.05))
"""P, Q, R, S and T: size, time after R and width in seconds."""


def maps(person: Person, names: tuple[str, ...], scalp: Array) -> Array:
    """Maps of eyes, muscles and heart, shape (electrodes, courses)."""
    right, left = np.array([0.30, 0.90, -0.30]), np.array([-0.30, 0.90, -0.30])
    near = [np.linalg.norm(scalp - eye, axis=1) for eye in (right, left)]
    blink = sum(np.exp(-distance / 0.42) for distance in near)
    blink = blink / np.exp(-0.32 / 0.42) / 1.6  # about one at Fp1 and Fp2
    below = np.array([name == "VEOL" for name in names])
    blink = np.where(below, -0.6, blink)
    across = 1.2 * scalp[:, 0] * np.exp(-np.minimum(*near) / 0.55)
    upward = 0.7 * blink
    rng = person.rng("muscles")
    spots = []
    for place in MUSCLES.values():
        for _ in range(FIBRES):
            moved = np.array(place) + 0.1 * rng.standard_normal(3)
            spots.append(np.exp(-((np.linalg.norm(scalp - moved, axis=1) / MUSCLE_SPOT) ** 2)))
    heart = -0.5 * scalp[:, 0] - 0.8 * scalp[:, 2]  # the heart's field, seen from the neck up
    return np.column_stack([blink, across, upward, *spots, heart])


def artefacts(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    """Courses of eyes, muscles and heart in microvolts, shape (courses, samples)."""
    beats = heart(person, timeline, rng)
    return np.concatenate([_eyes(person, timeline, rng), _muscles(person, timeline, rng), HEART_LEAK_UV * beats])


def _eyes(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    samples, rate = timeline.samples, timeline.rate
    made = np.zeros((3, samples), dtype=np.float32)
    for step in timeline.steps:
        shut = step.kind == "eyes_closed"
        calm = 0.05 if shut else CALM.get(step.kind, 1.0)
        for _ in range(rng.poisson(person["blinks_a_minute"] / 60 * calm * step.duration_s)):
            _blink(person, made[0], rate, step.onset_s + rng.uniform(0, step.duration_s), rng)
        for _ in range(rng.poisson(LOOKS.get(step.kind, 0.1) * step.duration_s)):
            _saccade(made, rate, step.onset_s + rng.uniform(0, step.duration_s), rng)
    return made


def _blink(person: Person, row: Floats, rate: int, at_s: float, rng: np.random.Generator) -> None:
    size = person["blink_uv"] * np.exp(0.2 * rng.standard_normal())
    width_s = 0.3 * np.exp(0.15 * rng.standard_normal())
    time = np.arange(round(1.6 * width_s * rate)) / rate / width_s
    # Closing is faster than opening.
    wave = size * np.sin(np.pi * np.clip(time, 0, 1) ** 0.7) ** 2 - 0.08 * size * np.exp(-((time - 1.1) ** 2) / 0.05)
    first = round(at_s * rate)
    row[first : first + len(wave)] += wave[: max(0, len(row) - first)].astype(np.float32)


def _saccade(made: Floats, rate: int, at_s: float, rng: np.random.Generator) -> None:
    """A glance: out within 40 ms, back within a second."""
    x, y = 30 * rng.standard_normal(2)
    stay_s = 0.2 + rng.exponential(0.4)
    first, bump = ramp(made.shape[1], rate, at_s, 0.04, at_s + stay_s, 0.05)
    made[1, first : first + len(bump)] += (x * bump).astype(np.float32)
    made[2, first : first + len(bump)] += (y * bump).astype(np.float32)


def _muscles(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    samples, rate = timeline.samples, timeline.rate
    _, hz = grid(samples, rate)
    # Flat from 30 to 100 Hz, little below 15 Hz, falling above 150 Hz (chosen).
    shape = 1 / (1 + (20 / np.maximum(hz, 1)) ** 4) / (1 + (hz / 150) ** 4)
    shape /= shape.sum() * (hz[1] - hz[0])
    tonic = np.exp(0.5 * person.rng("tonic muscles").standard_normal(len(MUSCLES)))
    power = np.repeat(tonic * person["muscle_uv"] ** 2, FIBRES)[:, None] * shape
    made = coloured(rng, power, samples, rate)
    for muscle in range(len(MUSCLES)):
        level = np.full(samples, 0.5, dtype=np.float32)
        for _ in range(rng.poisson(BURSTS_A_MINUTE * timeline.duration_s / 60)):
            at_s, lasts_s = rng.uniform(0, timeline.duration_s), 0.2 + rng.exponential(0.6)
            first, bump = ramp(samples, rate, at_s, 0.1, at_s + lasts_s, 0.2)
            level[first : first + len(bump)] += (5 * np.exp(0.5 * rng.standard_normal()) * bump).astype(np.float32)
        made[muscle * FIBRES : (muscle + 1) * FIBRES] *= level
    return made


def heart(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    """The electrocardiogram with an R wave of one, shape (1, samples)."""
    made = np.zeros((1, timeline.samples), dtype=np.float32)
    at_s = rng.uniform(0, 1)
    time = np.arange(round(0.75 * timeline.rate)) / timeline.rate - 0.25
    beat = np.zeros(len(time))
    for size, peak_s, width_s in WAVES:
        beat += size * np.exp(-0.5 * ((time - peak_s) / width_s) ** 2)
    while at_s < timeline.duration_s:
        first = round((at_s - 0.25) * timeline.rate)
        low, high = max(first, 0), min(first + len(beat), timeline.samples)
        made[0, low:high] += beat[low - first : high - first].astype(np.float32)
        # Breathing makes the heart faster and slower.
        pace = person["heart_hz"] * (1 + 0.04 * np.sin(2 * np.pi * 0.25 * at_s) + 0.02 * rng.standard_normal())
        at_s += 1 / pace
    return made
