"""How currents in the brain look on the scalp: a head of four spheres, solved as a Legendre series.

The model and its numbers are those of MNE's sphere model (radii .90 .92 .97 1 of 9 cm; brain, fluid, skull and skin
with .33 1 .004 .33 S/m; Berg & Scherg 1994), and the tests compare the two. It is implemented here so that
simulating needs numpy alone and every person can have sources in different places.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RADIUS_M = 0.09
SHELLS = (0.90, 0.92, 0.97, 1.0)
CONDUCTIVITY = (0.33, 1.0, 0.004, 0.33)
TERMS = 80
FACE = {
    "HEOR": (0.80, 0.55, -0.25),
    "HEOL": (-0.80, 0.55, -0.25),
    "VEOU": (0.30, 0.95, -0.05),
    "VEOL": (0.30, 0.90, -0.45),
}
"""Eye electrodes: beside both eyes, above and below the right one."""


@cache
def _table() -> dict[str, tuple[float, float, float]]:
    text = files("bciarena.simulator").joinpath("electrodes.json").read_text("utf-8")
    return {name.upper(): tuple(place) for name, place in (json.loads(text) | FACE).items()}


def electrodes(names: tuple[str, ...]) -> Array:
    """Places of electrodes on the unit sphere, shape (electrodes, 3): x right, y front, z up."""
    places = np.array([_table()[name.upper()] for name in names])
    unit: Array = places / np.linalg.norm(places, axis=1, keepdims=True)
    return unit


def lead_field(scalp: Array, sources: Array, moments: Array) -> Array:
    """Potential of each source at each electrode.

    Parameters
    ----------
    scalp : ndarray, shape (electrodes, 3)
        Unit vectors.
    sources : ndarray, shape (sources, 3)
        Places inside the brain sphere, in head radii (norm below 0.9).
    moments : ndarray, shape (sources, 3)
        Dipole moments in nAm.

    Returns
    -------
    ndarray, shape (electrodes, sources)
        Microvolts against infinity.
    """
    depth = np.linalg.norm(sources, axis=1)
    outward = sources / depth[:, None]
    cosine = np.clip(scalp @ outward.T, -1, 1)
    radial = np.sum(moments * outward, axis=1)
    tangential = scalp @ moments.T - cosine * radial
    potential = np.zeros_like(cosine)
    before, legendre = np.ones_like(cosine), cosine.copy()  # P0, P1
    slope_before, slope = np.zeros_like(cosine), np.ones_like(cosine)  # P0', P1'
    for n, factor in enumerate(_factors(), 1):
        potential += factor * depth ** (n - 1) * (n * radial * legendre + tangential * slope)
        following = ((2 * n + 1) * cosine * legendre - n * before) / (n + 1)
        slope_before, slope = slope, slope_before + (2 * n + 1) * legendre
        before, legendre = legendre, following
    # nAm to uV: 1e-9 / (4 pi sigma R^2) V = 1e-3 / (4 pi sigma R^2) uV
    volt: Array = potential * 1e-3 / (4 * np.pi * CONDUCTIVITY[0] * RADIUS_M**2)
    return volt


@cache
def _factors() -> tuple[float, ...]:
    """Surface potential of each degree for a source term of one, from the outer sphere inwards.

    In every shell a degree's potential is A r^n + B r^-(n+1). On the outermost sphere no current flows outward;
    potential and radial current are continuous at each boundary.
    """
    values = []
    for n in range(1, TERMS + 1):
        b = 1.0
        a = (n + 1) / n * b
        surface = a + b
        for shell in range(len(SHELLS) - 2, -1, -1):
            r = SHELLS[shell]
            ratio = CONDUCTIVITY[shell + 1] / CONDUCTIVITY[shell]
            potential = a * r**n + b * r ** -(n + 1)
            current = ratio * (n * a * r ** (n - 1) - (n + 1) * b * r ** -(n + 2))
            # Solve A r^n + B r^-(n+1) = potential and its derivative = current for the next shell inwards.
            a = ((n + 1) * potential + r * current) / ((2 * n + 1) * r**n)
            b = (n * potential - r * current) * r ** (n + 1) / (2 * n + 1)
        values.append(surface / b)
    return tuple(values)


def topographies(scalp: Array, places: Array, tilts: Array) -> Array:
    """Scalp maps of sources of unit strength at their strongest electrode, shape (electrodes, sources).

    Parameters
    ----------
    scalp : ndarray, shape (electrodes, 3)
        Unit vectors.
    places : ndarray, shape (sources, 3)
        In head radii.
    tilts : ndarray, shape (sources, 3)
        Directions of the currents.
    """
    strongest = np.abs(lead_field(electrodes(tuple(_table())), places, tilts)).max(axis=0)
    own: Array = lead_field(scalp, places, tilts) / strongest
    return own
