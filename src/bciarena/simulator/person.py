"""A simulated subject: traits drawn from documented distributions, and how they drift between sessions.

Every distribution has its origin beside it. A name and year is a publication (listed in docs/simulator.md) and what
was taken from it; ``measured`` is taken from recordings used in development; ``chosen`` is set by hand, so that the
whole looks and decodes as recordings of people do. Amplitudes are microvolts (rms for rhythms, at the electrode
where the source is strongest).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.protocol.seeds import stream

Array = NDArray[np.float64]


class Spread(NamedTuple):
    """A distribution over people and its source; ``log`` draws centre * exp(sd * normal)."""

    centre: float
    sd: float
    low: float
    high: float
    log: bool
    session_sd: float  # change between two sessions of one person, in the same terms as sd
    source: str

    def draw(self, rng: np.random.Generator) -> float:
        return self._clip(self._moved(self.centre, self.sd * rng.standard_normal()))

    def drift(self, value: float, rng: np.random.Generator) -> float:
        return self._clip(self._moved(value, self.session_sd * rng.standard_normal()))

    def _moved(self, value: float, by: float) -> float:
        return value * float(np.exp(by)) if self.log else value + by

    def _clip(self, value: float) -> float:
        return float(np.clip(value, self.low, self.high))


TRAITS: dict[str, Spread] = {
    "alpha_hz": Spread(10.0, 0.9, 8.0, 12.5, False, 0.12, "Haegens 2014: peak at 10.3 Hz on average; spread chosen"),
    "alpha_width_hz": Spread(0.9, 0.25, 0.5, 1.8, True, 0.05, "chosen: alpha peaks about 2 Hz wide"),
    "alpha_uv": Spread(3.8, 0.45, 1.0, 12.0, True, 0.12, "chosen: some uV at Oz with eyes open"),
    "berger": Spread(2.2, 0.25, 1.2, 4.5, True, 0.08, "Barry 2007: alpha is larger with eyes closed; factor chosen"),
    "exponent": Spread(1.35, 0.2, 0.8, 2.0, False, 0.05, "chosen: 1-2, as fits in the manner of Donoghue 2020 give"),
    "background": Spread(0.8, 0.35, 0.2, 4.0, True, 0.08, "measured: SSVEP recordings, 0.6-2 uV^2/Hz at 12 Hz at Oz"),
    "theta_uv": Spread(1.6, 0.35, 0.4, 5.0, True, 0.1, "Mitchell 2008: frontal-midline theta; size chosen"),
    "theta_hz": Spread(6.0, 0.5, 4.5, 7.5, False, 0.1, "Mitchell 2008: frontal-midline theta, 4-8 Hz"),
    "mu_hz": Spread(10.8, 0.9, 8.5, 13.0, False, 0.1, "Pfurtscheller 1999: mu within 8-13 Hz; centre chosen"),
    "mu_uv": Spread(4.6, 0.4, 0.8, 12.0, True, 0.12, "Blankertz 2010: rolandic peak above the 1/f part; size chosen"),
    "beta_hz": Spread(20.0, 2.0, 15.0, 26.0, False, 0.2, "Pfurtscheller 1999: central beta beside mu; centre chosen"),
    "beta_uv": Spread(1.4, 0.4, 0.2, 5.0, True, 0.1, "chosen: central beta about a third of mu"),
    "erd": Spread(0.46, 0.3, 0.05, 0.75, True, 0.1, "Pfurtscheller 1999: ERD; size chosen, decoders do as on eegmmidb"),
    "ipsilateral": Spread(0.38, 0.15, 0.1, 0.8, False, 0.05, "chosen: weaker ERD on the same side"),
    "erd_latency_s": Spread(0.45, 0.12, 0.2, 0.9, False, 0.03, "chosen: ERD builds up within a second"),
    "rebound": Spread(0.5, 0.4, 0.0, 1.2, True, 0.1, "Pfurtscheller 1996: beta rebound after the end; size chosen"),
    "ssvep_uv": Spread(4.6, 0.35, 1.0, 12.0, True, 0.1, "chosen: FBCCA does somewhat better than on Wang 2017, BETA"),
    "ssvep_latency_s": Spread(0.14, 0.008, 0.11, 0.17, False, 0.002, "Wang 2017's recordings: 0.136 s on average"),
    "ssvep_fall": Spread(0.9, 0.2, 0.3, 1.6, False, 0.05, "Pastor 2003: falls above 15 Hz; from 10 Hz on, chosen"),
    "harmonic": Spread(0.6, 0.25, 0.2, 1.2, True, 0.05, "chosen: second harmonic about half of the first"),
    "p300_uv": Spread(7.0, 0.35, 2.0, 16.0, True, 0.1, "Polich 2007: visual P3; size chosen, small for plain cues"),
    "n1_uv": Spread(5.0, 0.35, 1.5, 12.0, True, 0.1, "Luck 2014: visual P1/N1 at PO7/PO8; size chosen"),
    "blinks_a_minute": Spread(14.0, 0.45, 3.0, 40.0, True, 0.1, "Bentivoglio 1997: log-normal, 17; 4.5 when reading"),
    "blink_uv": Spread(130.0, 0.3, 50.0, 300.0, True, 0.08, "chosen: blinks of 100-200 uV at the forehead"),
    "muscle_uv": Spread(1.0, 0.5, 0.3, 8.0, True, 0.2, "Goncharova 2003: temples and brow, above 20 Hz; size chosen"),
    "heart_hz": Spread(1.15, 0.14, 0.8, 1.7, False, 0.05, "chosen: 60-80 beats a minute"),
    "mains_uv": Spread(2.0, 0.7, 0.1, 15.0, True, 0.4, "chosen: some uV at 50 Hz"),
    "sensor_uv": Spread(0.07, 0.3, 0.03, 0.2, True, 0.1, "measured: SSVEP recordings, floor below 0.1 uV/sqrt(Hz)"),
    "drift_uv": Spread(3.0, 0.4, 0.5, 12.0, True, 0.2, "Huigen 2002: skin contact, 1-20 uV rms; Gondran 1996: 1/f^2"),
    "attention": Spread(0.25, 0.3, 0.08, 0.6, True, 0.1, "Myrden & Chau 2015: results follow mental state; chosen"),
    "lapse": Spread(0.06, 0.6, 0.0, 0.3, True, 0.2, "Weissman 2006: attention lapses; share chosen"),
}  # fmt: skip
"""Name -> distribution. Amplitudes in uV, ``erd`` is the loss of amplitude, ``background`` uV^2/Hz at 10 Hz."""

ILLITERATE_SHARE = 0.2
"""Blankertz 2010: about 20 % of people do not reach control through imagery."""
PATIENT_SHARE = 0.4
"""Rehab: patients among the subjects, with weaker ERD on the affected side.

Braun 2017: imagery EEG of stroke patients tells the paretic side. Share and size are chosen.
"""
PLACE_SD = 0.07
"""How far a person's sources are from the textbook's, in head radii (6 mm, chosen)."""


@dataclass(frozen=True)
class Person:
    """One subject: traits by name, and seeds of what has no name (places of sources, maps)."""

    key: str
    seed: int
    traits: dict[str, float]
    illiterate: bool
    patient_side: str | None  # the affected hand of a patient

    def __getitem__(self, name: str) -> float:
        return self.traits[name]

    def rng(self, *words: str | int) -> np.random.Generator:
        """A random stream of this person's own."""
        return stream(self.seed, "person", self.key, *words)


def draw_person(seed: int, people: str, subject: int, vary: bool = True, patients: bool = False) -> Person:
    """The subject with that number; the same seed, group and number give the same person.

    Parameters
    ----------
    people : str
        Name of the group; sets with the same group have the same people.
    vary : bool
        False gives everyone the same traits, to measure what individuality contributes.
    patients : bool
        Whether some of the group are patients.
    """
    key = f"{people}/{subject}" if vary else people
    rng = stream(seed, "person", key)
    traits = {name: spread.draw(rng) if vary else spread.centre for name, spread in TRAITS.items()}
    illiterate = bool(vary and rng.random() < ILLITERATE_SHARE)
    side = ("left", "right")[int(rng.integers(2))] if patients and rng.random() < PATIENT_SHARE else None
    if illiterate:
        traits["erd"] *= 0.2
        traits["mu_uv"] *= 0.6
    return Person(key, seed, traits, illiterate, side)


def on_day(person: Person, session: str, amount: float = 1.0) -> Person:
    """The same person in another session: every trait changes a little.

    Parameters
    ----------
    amount : float
        1 is another day, less is later on the same day.
    """
    rng = person.rng("session", session)
    moved = {}
    for name, value in person.traits.items():
        spread = TRAITS[name]
        moved[name] = spread._replace(session_sd=spread.session_sd * amount, low=0.0).drift(value, rng)
    return replace(person, traits=moved)
