"""What the electrodes and the mains add, channel by channel: noise, drift, 50 Hz, and bad contacts."""

from __future__ import annotations

import numpy as np

from bciarena.simulator.noise import Floats, coloured, grid, slow_walk
from bciarena.simulator.person import Person

MAINS_HZ = 50
BAD_SHARE = 0.012
"""Share of channels with a bad contact in a session."""
CHUNK = 32


def electrode_noise(
    person: Person, session: str, channels: int, samples: int, rate: int, rng: np.random.Generator
) -> Floats:
    """White noise, 1/f^2 drift and mains of every channel in microvolts, shape (channels, samples)."""
    _, hz = grid(samples, rate)
    contact = person.rng("contacts", session)
    level = np.exp(0.3 * contact.standard_normal(channels))
    bad = contact.random(channels) < BAD_SHARE
    drift = (person["drift_uv"] * level * np.where(bad, 4, 1)) ** 2
    white = (person["sensor_uv"] * level * np.where(bad, 12, 1)) ** 2
    # Drift is slow: it falls even more steeply above 1 Hz, and leaves the EEG's bands alone.
    fall = 1 / np.maximum(hz, 0.05) ** 2 / (1 + hz**2)
    made = np.empty((channels, samples), dtype=np.float32)
    for first in range(0, channels, CHUNK):
        some = slice(first, min(first + CHUNK, channels))
        made[some] = coloured(rng, drift[some, None] * fall + white[some, None], samples, rate)
    made += mains(person, contact, level * np.where(bad, 6, 1), samples, rate, rng)
    return made


def mains(
    person: Person, contact: np.random.Generator, level: np.ndarray, samples: int, rate: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """50 Hz and its odd harmonics: one source for all channels, each with its own pick-up and phase."""
    time = np.arange(samples) / rate
    made = np.zeros((len(level), samples), dtype=np.float32)
    wander = 0.3 * np.cumsum(rng.standard_normal(samples)) / np.sqrt(samples)  # the mains frequency is not exact
    swell = 1 + 0.1 * slow_walk(rng, samples, rate, 5.0)
    for k, share in ((1, 1.0), (2, 0.08), (3, 0.25), (5, 0.1), (7, 0.06)):
        if k * MAINS_HZ > 0.45 * rate:
            break
        pick_up = share * person["mains_uv"] * level * np.exp(0.4 * contact.standard_normal(len(level)))
        phase = contact.normal(0, 0.7, len(level))
        angle = k * (2 * np.pi * MAINS_HZ * time + wander)
        waves = np.stack([swell * np.cos(angle), swell * np.sin(angle)]).astype(np.float32)
        weights = np.column_stack([pick_up * np.cos(phase), pick_up * np.sin(phase)])
        made += weights.astype(np.float32) @ waves
    return made
