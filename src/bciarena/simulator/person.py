"""Who a made-up subject is: traits drawn from documented distributions, and how they drift between sessions.

Every distribution stands with the source of its centre and spread. Amplitudes are microvolts (rms for rhythms, at the
electrode where the source is strongest). Where a source gives a range and no spread, the spread is set so
that about 95 % of people lie inside the range.
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
    "alpha_hz": Spread(10.0, 0.9, 8.0, 12.5, False, 0.12, "Klimesch 1999: adult alpha peak 10 Hz, SD about 1 Hz"),
    "alpha_width_hz": Spread(0.9, 0.25, 0.5, 1.8, True, 0.05, "Donoghue 2020: alpha peak widths of 1-4 Hz (2 SD)"),
    "alpha_uv": Spread(3.8, 0.45, 1.0, 12.0, True, 0.12, "Barry 2007: eyes-open alpha of 3-8 uV at Oz"),
    "berger": Spread(2.2, 0.25, 1.2, 4.5, True, 0.08, "Barry 2007: eyes closed doubles to trebles alpha amplitude"),
    "exponent": Spread(1.35, 0.2, 0.8, 2.0, False, 0.05, "Donoghue 2020, Voytek 2015: aperiodic exponent 1-2"),
    "background": Spread(0.8, 0.35, 0.2, 4.0, True, 0.08, "SSVEP recordings: 0.6-2 uV^2/Hz at 12 Hz at Oz"),
    "theta_uv": Spread(1.6, 0.35, 0.4, 5.0, True, 0.1, "Mitchell 2008: frontal-midline theta of some uV"),
    "theta_hz": Spread(6.0, 0.5, 4.5, 7.5, False, 0.1, "Mitchell 2008: frontal-midline theta 4-8 Hz"),
    "mu_hz": Spread(10.8, 0.9, 8.5, 13.0, False, 0.1, "Pfurtscheller 1999: mu 8-13 Hz, above occipital alpha"),
    "mu_uv": Spread(4.6, 0.4, 0.8, 12.0, True, 0.12, "Blankertz 2010: rolandic peak 2-10 dB above the aperiodic part"),
    "beta_hz": Spread(20.0, 2.0, 15.0, 26.0, False, 0.2, "Pfurtscheller 1999: beta near twice mu, 16-24 Hz"),
    "beta_uv": Spread(1.4, 0.4, 0.2, 5.0, True, 0.1, "Pfurtscheller 1999: central beta about a third of mu"),
    "erd": Spread(0.46, 0.3, 0.05, 0.75, True, 0.1, "Pfurtscheller 1999: imagery ERD of 20-80 % of power"),
    "ipsilateral": Spread(0.38, 0.15, 0.1, 0.8, False, 0.05, "Pfurtscheller 1997: weaker ERD on the same side"),
    "erd_latency_s": Spread(0.45, 0.12, 0.2, 0.9, False, 0.03, "Pfurtscheller 1999: ERD builds up within 0.5-1 s"),
    "rebound": Spread(0.5, 0.4, 0.0, 1.2, True, 0.1, "Pfurtscheller 1996: beta rebound within 1 s after the end"),
    "ssvep_uv": Spread(4.6, 0.35, 1.0, 12.0, True, 0.1, "Wang 2017: 1-4 uV at Oz, against a near reference"),
    "ssvep_latency_s": Spread(0.14, 0.008, 0.11, 0.17, False, 0.002, "Chen 2015: 0.14 s"),
    "ssvep_fall": Spread(0.9, 0.2, 0.3, 1.6, False, 0.05, "Pastor 2003, Wang 2017: amplitude falls above 10 Hz"),
    "harmonic": Spread(0.6, 0.25, 0.2, 1.2, True, 0.05, "Wang 2017: second harmonic about half of the first"),
    "p300_uv": Spread(7.0, 0.35, 2.0, 16.0, True, 0.1, "Polich 2007: visual P3 of 5-15 uV, less for plain cues"),
    "n1_uv": Spread(5.0, 0.35, 1.5, 12.0, True, 0.1, "Luck 2014: visual P1/N1 of some uV at PO7/PO8"),
    "blinks_a_minute": Spread(14.0, 0.45, 3.0, 40.0, True, 0.1, "Bentivoglio 1997: 17 at rest, 4.5 when reading"),
    "blink_uv": Spread(130.0, 0.3, 50.0, 300.0, True, 0.08, "Joyce 2004: blinks of 100-200 uV at the forehead"),
    "muscle_uv": Spread(1.0, 0.5, 0.3, 8.0, True, 0.2, "Goncharova 2003: temporal and frontal muscle above 20 Hz"),
    "heart_hz": Spread(1.15, 0.14, 0.8, 1.7, False, 0.05, "Task Force 1996: 60-80 beats a minute"),
    "mains_uv": Spread(2.0, 0.7, 0.1, 15.0, True, 0.4, "Neuracle recordings: some uV at 50 Hz"),
    "sensor_uv": Spread(0.07, 0.3, 0.03, 0.2, True, 0.1, "SSVEP recordings: floor below 0.1 uV/sqrt(Hz)"),
    "drift_uv": Spread(3.0, 0.4, 0.5, 12.0, True, 0.2, "Huigen 2002: electrode drift, 1/f^2, some uV at 1 Hz"),
    "attention": Spread(0.25, 0.3, 0.08, 0.6, True, 0.1, "trial-to-trial spread of responses (Myrden & Chau 2015)"),
    "lapse": Spread(0.06, 0.6, 0.0, 0.3, True, 0.2, "Weissman 2006: lapses of attention in some % of trials"),
}  # fmt: skip
"""Name -> distribution. Amplitudes in uV, ``erd`` is the loss of amplitude, ``background`` uV^2/Hz at 10 Hz."""

ILLITERATE_SHARE = 0.2
"""Blankertz 2010: 15-30 % of people gain no control through imagery."""
PATIENT_SHARE = 0.4
"""Rehab: patients among the subjects; weaker, slower ERD on the affected side (Platz 2000, Scherer 2007)."""
PLACE_SD = 0.07
"""How far a person's sources lie from the textbook's, in head radii (6 mm; Yousry 1997: hand knob)."""


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
        """A stream that is this person's own."""
        return stream(self.seed, "person", self.key, *words)


def draw_person(seed: int, people: str, subject: int, vary: bool = True, patients: bool = False) -> Person:
    """The subject of that number; the same seed, group and number give the same person.

    Parameters
    ----------
    people : str
        Name of the group; sets with the same group hold the same people.
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
    """The same person in another session: every trait a little moved.

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
