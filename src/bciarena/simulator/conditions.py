"""What makes a simulated recording harder, or more like a real one, than the usual: chosen for a whole set.

The usual conditions draw no random number of these, so a seed's bytes are the same with and without this module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bciarena.errors import BadInput
from bciarena.protocol.timeline import Step, Timeline
from bciarena.simulator import artefacts, evoked
from bciarena.simulator.noise import Floats, ramp


class CueResponse(NamedTuple):
    """How far the response to a cue depends on what it shows; sizes are chosen.

    A cue beside the point of fixation evokes a larger negativity over the opposite half of the visual cortex
    (Luck 2014), and eyes follow an arrow: both tell the class before any movement is imagined.
    """

    lateral_uv: float  # negativity over the side opposite to the cue's
    glance_uv: float  # at the outer corner of the eye
    glances: float  # share of trials in which the eyes follow


CUES = {"usual": None, "off": None, "weak": CueResponse(0.8, 8.0, 0.3), "strong": CueResponse(3.0, 40.0, 0.9)}
"""``usual``: a response that is the same for every cue. ``off``: none at all."""
LATERAL_S, LATERAL_WIDTH_S = 0.25, 0.04
GLANCE_S, GLANCE_SD_S, GLANCE_STAY_S = 0.22, 0.04, 0.5
POP_UV, POP_DECAY_S = 80.0, (0.3, 3.0)
"""A contact that slips: a step of about this size, gone after a fraction of a second or some seconds (chosen)."""
MOST_POPS, MOST_UNSTEADY = 60.0, 5.0


@dataclass(frozen=True)
class Conditions:
    """Under what a set is recorded.

    Attributes
    ----------
    cue : str
        Response to cues, one of `CUES`.
    unsteady : float
        How far people change from block to block, as a share of the change from day to day.
    pops : float
        Contacts that slip, a minute.
    background : Path or None
        A data folder of resting EEG that takes the place of the simulated background.
    """

    cue: str = "usual"
    unsteady: float = 0.0
    pops: float = 0.0
    background: Path | None = None

    def __post_init__(self) -> None:
        if self.cue not in CUES:
            raise BadInput(f"--cue {self.cue!r}: choose one of {', '.join(CUES)}")
        if not 0 <= self.unsteady <= MOST_UNSTEADY:
            raise BadInput(f"--unsteady {self.unsteady:g}: give 0 to {MOST_UNSTEADY:g}")
        if not 0 <= self.pops <= MOST_POPS:
            raise BadInput(f"--pops {self.pops:g}: give 0 to {MOST_POPS:g} a minute")

    @property
    def told(self) -> list[str]:
        """What differs from the usual, as options."""
        usual, own = Conditions(), vars(self)
        return [f"--{name} {value}" for name, value in own.items() if value != getattr(usual, name)]


USUAL = Conditions()


def seen(timeline: Timeline, conditions: Conditions) -> Timeline:
    """The timeline as the brain meets it: cues without any response are pauses to it."""
    if conditions.cue != "off":
        return timeline
    steps = tuple(replace(step, kind="gap") if step.kind == "cue" else step for step in timeline.steps)
    return replace(timeline, steps=steps)


def add_cue_responses(
    waves: Floats, eyes: Floats, timeline: Timeline, conditions: Conditions, rng: np.random.Generator
) -> None:
    """Add what cues evoke by class to the courses of `evoked` and `artefacts`, in place."""
    response = CUES[conditions.cue]
    if response is None:
        return
    for step in timeline.of("cue"):
        across, upward = _direction(step)
        if across:
            peak_s = step.onset_s + LATERAL_S + 0.015 * rng.standard_normal()
            time = np.arange(timeline.samples) / timeline.rate - peak_s
            near = np.abs(time) < 5 * LATERAL_WIDTH_S
            size = response.lateral_uv * np.exp(0.3 * rng.standard_normal())
            opposite = "left" if across > 0 else "right"
            waves[evoked.ROWS.index(opposite), near] -= size * np.exp(-0.5 * (time[near] / LATERAL_WIDTH_S) ** 2)
        if rng.random() < response.glances:
            at_s = step.onset_s + max(0.1, GLANCE_S + GLANCE_SD_S * rng.standard_normal())
            size = response.glance_uv * np.exp(0.3 * rng.standard_normal())
            first, bump = ramp(timeline.samples, timeline.rate, at_s, 0.04, at_s + GLANCE_STAY_S, 0.05)
            for course, way in (("across", across), ("upward", upward)):
                eyes[artefacts.EYES.index(course), first : first + len(bump)] += (way * size * bump).astype(np.float32)


def _direction(step: Step) -> tuple[float, float]:
    """Where a cue points: to its side, or down for both feet."""
    limb = str(step.params.get("limb", ""))
    side = {"left": -1.0, "right": 1.0}.get(limb.partition("_")[0], 0.0)
    return side, -1.0 if limb and not side else 0.0


def add_pops(eeg: Floats, rate: int, conditions: Conditions, rng: np.random.Generator) -> None:
    """Let contacts slip, in place."""
    samples = eeg.shape[1]
    for _ in range(rng.poisson(conditions.pops * samples / rate / 60)):
        row, first = int(rng.integers(len(eeg))), int(rng.integers(samples))
        decay_s = float(np.exp(rng.uniform(*np.log(POP_DECAY_S))))
        size = float(rng.choice([-1, 1]) * POP_UV * np.exp(0.5 * rng.standard_normal()))
        time = np.arange(min(samples - first, round(6 * decay_s * rate))) / rate
        eeg[row, first : first + len(time)] += (size * np.exp(-time / decay_s)).astype(np.float32)
