"""Ongoing activity without a rhythm: 1/f noise from patches all over the cortex."""

from __future__ import annotations

import numpy as np

from bciarena.simulator.head import Array, electrodes, lead_field
from bciarena.simulator.noise import Floats, coloured, grid
from bciarena.simulator.person import Person

PATCHES = 96
DEPTH = 0.80
CORRELATION = 0.6
"""Patches closer than this many head radii are correlated (about 5 cm, chosen)."""
CHUNK = 24


def patches() -> Array:
    """Places spread evenly over the cortex, shape (patches, 3), in head radii."""
    index = np.arange(PATCHES) + 0.5
    up = 1 - 1.5 * index / PATCHES  # from the vertex down to z = -0.5, where the brain ends
    turn = np.pi * (1 + 5**0.5) * index
    flat = np.sqrt(1 - up**2)
    return DEPTH * np.column_stack([flat * np.cos(turn), flat * np.sin(turn), up])


def mixing(person: Person, scalp: Array) -> Array:
    """Scalp maps of the patches, shape (electrodes, patches), of mean power one over the 10-05 cap."""
    places = patches()
    rng = person.rng("background")
    tilt = places / DEPTH + 0.7 * rng.standard_normal(places.shape)
    gap = np.linalg.norm(places[:, None] - places[None], axis=2)
    together = np.exp(-((gap / CORRELATION) ** 2))
    strength = np.exp(0.35 * _smooth_map(rng, places))
    cap = lead_field(electrodes(CAP), places, tilt) * strength @ together
    own = lead_field(scalp, places, tilt) * strength @ together
    scaled: Array = own / np.sqrt(np.mean(np.sum(cap**2, axis=1)))
    return scaled


CAP = tuple("Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 Oz O2".split())


def _smooth_map(rng: np.random.Generator, places: Array) -> Array:
    """A smooth random function over the cortex, shape (patches,), of about unit variance."""
    waves = rng.standard_normal((6, 3)) * 2.0
    made: Array = np.sum(np.sin(places @ waves.T + rng.uniform(0, 2 * np.pi, 6)), axis=1) / np.sqrt(3)
    return made


def background(person: Person, maps: Array, samples: int, rate: int, rng: np.random.Generator) -> Floats:
    """The 1/f part of the EEG, shape (electrodes, samples), in microvolts.

    Parameters
    ----------
    maps : ndarray, shape (electrodes, patches)
        From ``mixing``, against the recording's reference.
    """
    _, hz = grid(samples, rate)
    places = patches()
    tint = _smooth_map(person.rng("exponents"), places)
    exponents = person["exponent"] + 0.1 * tint + 0.15 * places[:, 1]  # steeper in front
    # Below 1 Hz the spectrum levels off; the electrodes' own drift takes over there.
    logarithm = np.log(np.maximum(hz, 1.0) / 10)
    made = np.zeros((len(maps), samples), dtype=np.float32)
    for first in range(0, PATCHES, CHUNK):
        some = slice(first, first + CHUNK)
        power = person["background"] * np.exp(-np.outer(exponents[some], logarithm))
        made += maps[:, some].astype(np.float32) @ coloured(rng, power, samples, rate)
    return made
