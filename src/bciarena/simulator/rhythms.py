"""Alpha, mu, beta and theta: narrow-band sources whose strength follows the eyes and the imagery."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bciarena.protocol.timeline import Timeline
from bciarena.simulator.head import Array, electrodes, topographies
from bciarena.simulator.noise import Floats, coloured, grid, peak, ramp, slow_walk
from bciarena.simulator.person import PLACE_SD, Person


class Source(NamedTuple):
    """A rhythm's source: under which electrode, how deep, how tilted, and whose amplitude it takes."""

    name: str
    electrode: str
    depth: float
    forward: float  # share of current along the scalp towards the front, e.g. in the central sulcus
    hz: str
    width_hz: float
    uv: str
    share: float
    arch: float = 0.0  # how far the waves are arched instead of round: gives mu its harmonic


SOURCES = (
    Source("alpha_left", "PO7", 0.70, 0.3, "alpha_hz", 0.0, "alpha_uv", 0.55),
    Source("alpha_right", "PO8", 0.70, 0.3, "alpha_hz", 0.0, "alpha_uv", 0.55),
    Source("alpha_mid", "Oz", 0.65, 0.4, "alpha_hz", 0.0, "alpha_uv", 0.75),
    Source("alpha_parietal", "Pz", 0.65, 0.2, "alpha_hz", 0.0, "alpha_uv", 0.55),
    Source("tau_left", "T7", 0.70, 0.0, "alpha_hz", 1.5, "alpha_uv", 0.20),
    Source("tau_right", "T8", 0.70, 0.0, "alpha_hz", 1.5, "alpha_uv", 0.20),
    Source("mu_hand_left", "C3", 0.78, 0.6, "mu_hz", 1.0, "mu_uv", 1.0, 0.25),
    Source("mu_hand_right", "C4", 0.78, 0.6, "mu_hz", 1.0, "mu_uv", 1.0, 0.25),
    Source("mu_arm_left", "C1", 0.78, 0.5, "mu_hz", 1.0, "mu_uv", 0.7, 0.25),
    Source("mu_arm_right", "C2", 0.78, 0.5, "mu_hz", 1.0, "mu_uv", 0.7, 0.25),
    Source("mu_foot", "Cz", 0.70, 0.2, "mu_hz", 1.2, "mu_uv", 0.7, 0.2),
    Source("beta_hand_left", "C3", 0.80, 0.7, "beta_hz", 2.2, "beta_uv", 1.0),
    Source("beta_hand_right", "C4", 0.80, 0.7, "beta_hz", 2.2, "beta_uv", 1.0),
    Source("beta_arm_left", "C1", 0.80, 0.6, "beta_hz", 2.2, "beta_uv", 0.7),
    Source("beta_arm_right", "C2", 0.80, 0.6, "beta_hz", 2.2, "beta_uv", 0.7),
    Source("beta_foot", "Cz", 0.72, 0.2, "beta_hz", 2.5, "beta_uv", 0.9),
    Source("theta_mid", "Fz", 0.60, 0.0, "theta_hz", 0.9, "theta_uv", 1.0),
)
"""Where the rhythms come from (Pfurtscheller & Lopes da Silva 1999; Hari & Salmelin 1997; Mitchell 2008)."""

RESPONSE: dict[str, dict[str, float]] = {
    "hand": {"hand": 1.0, "arm": 0.5, "foot": -0.1},
    "fist": {"hand": 1.0, "arm": 0.5, "foot": -0.1},
    "flexion": {"hand": 0.6, "arm": 1.0, "foot": -0.1},
    "feet": {"hand": -0.3, "arm": -0.1, "foot": 1.0},
}
"""How far each area desynchronises when a limb is imagined, relative to the person's ERD.

Below zero it synchronises: hand areas when the feet are imagined (Pfurtscheller 2006). Fist and elbow of the same
arm overlap, and differ in centre and strength (Yong & Menon 2015).
"""
OWN_WEIGHT_SD = 0.25
"""Spread of these factors between people."""
RISE_S, FALL_S, JITTER_S = 0.5, 0.6, 0.12
GAZE = {"flicker": 0.5, "still": 0.55, "cue": 0.8, "eyes_closed": None}
"""Alpha while looking hard, relative to eyes open (None: the person's Berger effect)."""
CHUNK = 9


def maps(person: Person, scalp: Array) -> Array:
    """Scalp maps of all sources, shape (electrodes, sources), each of unit strength where it is strongest."""
    places, tilts = zip(*(_place(person, source) for source in SOURCES), strict=True)
    return topographies(scalp, np.array(places), np.array(tilts))


def _place(person: Person, source: Source) -> tuple[Array, Array]:
    """A source's place and direction, each shape (3,): near its electrode, slightly different in every person."""
    # Mu and beta of one area share a place, which the area's name determines.
    area = source.name.split("_", 1)[1] if source.uv in ("mu_uv", "beta_uv") else source.name
    rng = person.rng("place", area)
    where = electrodes((source.electrode,))[0]
    front = np.array([0.0, 1.0, 0.0])
    moved = where * source.depth + PLACE_SD * rng.standard_normal(3)
    moved *= source.depth / np.linalg.norm(moved)
    return moved, where + source.forward * (front - where * where[1]) + 0.25 * rng.standard_normal(3)


def rhythms(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    """Courses of all sources, shape (sources, samples), in microvolts at the strongest electrode."""
    samples, rate = timeline.samples, timeline.rate
    _, hz = grid(samples, rate)
    course = gains(person, timeline, rng)
    made = np.empty((len(SOURCES), samples), dtype=np.float32)
    for first in range(0, len(SOURCES), CHUNK):
        some = SOURCES[first : first + CHUNK]
        power = np.array([
            (person[source.uv] * source.share) ** 2
            * peak(hz, person[source.hz], source.width_hz or person["alpha_width_hz"])
            for source in some
        ])  # fmt: skip
        made[first : first + CHUNK] = coloured(rng, power, samples, rate)
    for row, source in enumerate(SOURCES):
        if source.arch:
            size = person[source.uv] * source.share
            made[row] += source.arch * (made[row] ** 2 / size - size)
        made[row] *= course[row]
    return made


def gains(person: Person, timeline: Timeline, rng: np.random.Generator) -> Floats:
    """How strong each source is at each moment, shape (sources, samples); 1 is the person's usual."""
    samples, rate = timeline.samples, timeline.rate
    course = np.ones((len(SOURCES), samples), dtype=np.float32)
    for row in range(len(SOURCES)):  # waxing and waning
        course[row] = np.exp(0.3 * slow_walk(rng, samples, rate, 1.5) - 0.09)
    eyes = np.ones(samples, dtype=np.float32)
    for step in timeline.steps:
        if step.kind in GAZE:
            level = GAZE[step.kind] or person["berger"]
            first, bump = ramp(samples, rate, step.onset_s + 0.2, 0.5, step.end_s, 0.5)
            eyes[first : first + len(bump)] *= 1 + (level - 1) * bump
    for row, source in enumerate(SOURCES):
        if source.uv == "alpha_uv":
            course[row] *= eyes
    for step in timeline.of("imagine"):
        _imagine(person, course, timeline, step.params["limb"], step.onset_s, step.end_s, rng)
    return course


def effect(person: Person, limb: str, source: Source) -> float:
    """Loss of a source's amplitude while a limb is imagined: 0.4 loses 40 %, below zero it gains.

    Parameters
    ----------
    limb : str
        ``feet``, or a side and a part: ``left_hand``, ``right_fist``, ``left_flexion``.
    """
    if source.uv not in ("mu_uv", "beta_uv"):
        return 0.0
    side, part = limb.split("_") if "_" in limb else ("", limb)
    area, _, at = source.name.split("_", 1)[1].partition("_")
    weight = RESPONSE[part][area] * (1 + OWN_WEIGHT_SD * person.rng("weight", limb, source.name).standard_normal())
    if side and at == side:  # the same side of the brain: the hand's other half
        weight *= person["ipsilateral"]
    if side and side == person.patient_side:
        weight *= 0.6
    return float(np.clip(person["erd"] * weight, -0.6, 0.95))


def _imagine(
    person: Person, course: Floats, timeline: Timeline, limb: str, onset_s: float, end_s: float,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    strength = trial_strength(person, rng)
    start_s = onset_s + max(0.05, person["erd_latency_s"] - RISE_S / 2 + JITTER_S * rng.standard_normal())
    first, bump = ramp(timeline.samples, timeline.rate, start_s, RISE_S, end_s + 0.1, FALL_S)
    # After the end, beta of the limb that was imagined overshoots for about a second.
    late, over = ramp(timeline.samples, timeline.rate, end_s + 0.5, 0.3, end_s + 0.9, 0.5)
    for row, source in enumerate(SOURCES):
        loss = float(np.clip(strength * effect(person, limb, source), -0.8, 0.95))
        if loss:
            course[row, first : first + len(bump)] *= (1 - loss * bump).astype(np.float32)
        if loss > 0 and source.uv == "beta_uv":
            rebound = person["rebound"] * loss / 0.5
            course[row, late : late + len(over)] *= (1 + rebound * over).astype(np.float32)


def trial_strength(person: Person, rng: np.random.Generator) -> float:
    """How much of the person's usual response a trial gets: attention varies, and sometimes lapses."""
    lapsed, wave = rng.random() < person["lapse"], rng.standard_normal()
    return 0.15 if lapsed else float(np.exp(person["attention"] * wave))
