"""One block of EEG: a person goes through a timeline, seen by a cap of electrodes.

All parts are source courses times their maps, so that a block is one matrix product and some channel noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from bciarena.protocol.timeline import Timeline
from bciarena.simulator import artefacts, background, evoked, rhythms
from bciarena.simulator.conditions import USUAL, Conditions, add_cue_responses, add_pops, seen
from bciarena.simulator.electrode import electrode_noise
from bciarena.simulator.head import Array, electrodes
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import Person
from bciarena.simulator.recorded import Resting

WHOLE_CAP = tuple(
    """Fp1 Fpz Fp2 AF7 AF3 AFz AF4 AF8 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 FT8 T7 C5 C3 C1 Cz
    C2 C4 C6 T8 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 P7 P5 P3 P1 Pz P2 P4 P6 P8 PO7 PO3 POz PO4 PO8 O1 Oz O2""".split()
)
"""The channels an average reference is taken over."""

CAP_SHIFT = 0.03
"""How far a cap is turned between sittings, in radians: 3 mm on the scalp (Atcherson 2007: SD of 3-13 mm)."""
HEART_UV = 900.0
"""R wave of the ECG row."""


@dataclass(frozen=True)
class Cap:
    """Which rows a recording has and what they are measured against: ``average`` or an electrode's name."""

    channels: tuple[str, ...]
    reference: str


class Sitting:
    """A person with a cap on, for one session: the maps are computed once and serve every block.

    Parameters
    ----------
    person : Person
        As on that day (see ``on_day``).
    session : str
        Names the sitting: the cap sits a little differently in each.
    """

    def __init__(self, person: Person, session: str, cap: Cap) -> None:
        self.person, self.session, self.cap = person, session, cap
        self.scalp = [row for row, name in enumerate(cap.channels) if name != "ECG"]
        beside = WHOLE_CAP if cap.reference == "average" else (cap.reference,)
        names = (*(cap.channels[row] for row in self.scalp), *beside)
        places = electrodes(names) @ _turn(CAP_SHIFT * person.rng("cap", session).standard_normal(3))
        parts = [rhythms.maps(person, places), evoked.maps(person, places), artefacts.maps(person, names, places)]
        self.patches = self._against_reference(background.mixing(person, places))
        self.sources = self._against_reference(np.concatenate(parts, axis=1)).astype(np.float32)

    def _against_reference(self, whole: Array) -> Array:
        own: Array = whole[: len(self.scalp)] - whole[len(self.scalp) :].mean(axis=0)
        return own

    def record(
        self, timeline: Timeline, rng: np.random.Generator, conditions: Conditions = USUAL,
        resting: Resting | None = None,
    ) -> Floats:  # fmt: skip
        """The EEG of one block in microvolts, shape (channels, samples).

        Parameters
        ----------
        resting : Resting, optional
            Recorded EEG in place of the background, the rhythms that no imagery changes, eyes, muscles and contacts.
        """
        person, samples, rate = self.person, timeline.samples, timeline.rate
        made = electrode_noise(person, self.session, len(self.cap.channels), samples, rate, rng)
        met = seen(timeline, conditions)
        courses = [
            rhythms.rhythms(person, met, rng),
            evoked.evoked(person, met, rng),
            artefacts.artefacts(person, met, rng),
        ]
        noise = background.background(person, self.patches, samples, rate, rng)
        heart = courses[2][-1].copy()
        rows: list[int] = []
        if resting is not None:
            found, eeg = resting.stretch(timeline.subject, samples, rng)
            rows = [int(row) for row in found if row in self.scalp]
            own = [self.scalp.index(row) for row in rows]
            made[rows] = eeg[[int(row) in rows for row in found]]
            noise[own] = 0
            courses[0][[source.uv not in ("mu_uv", "beta_uv") for source in rhythms.SOURCES]] = 0
            courses[2][:] = 0
        add_cue_responses(courses[1], courses[2], timeline, conditions, rng)
        made[self.scalp] += self.sources @ np.concatenate(courses)
        made[self.scalp] += noise
        if "ECG" in self.cap.channels:
            made[self.cap.channels.index("ECG")] += HEART_UV * heart / artefacts.HEART_LEAK_UV
        add_pops(made, rate, conditions, rng)
        return made


def _turn(angles: Array) -> Array:
    """A small rotation about x, y and z, shape (3, 3)."""
    x, y, z = angles
    turn: Array = scipy.linalg.expm(np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))
    return turn
