"""A small flicker generator for tests: a person's response in coloured noise, no more."""

import numpy as np

RATE = 250.0
FREQS_HZ = 8 + 0.2 * np.arange(40)
PHASES = (0.5 * np.pi * np.arange(40)) % (2 * np.pi)


def background(rng, channels, n):
    """Correlated 1/f-like noise plus white noise, (channels, n)."""
    slow = rng.standard_normal((channels, n)).cumsum(axis=1)
    slow -= np.linspace(0, 1, n) * slow[:, -1:]
    mix = np.eye(channels) + 0.5 * rng.standard_normal((channels, channels)) / np.sqrt(channels)
    return mix @ (0.2 * slow + rng.standard_normal((channels, n)))


def response(freq_hz, phase, n, channels, amplitude=1.0, delay_s=0.14, rate=RATE, weights=(1.0, 0.6, 0.3)):
    """Steady response of a person with a fixed pattern per harmonic, (channels, n)."""
    t = np.arange(n) / rate - delay_s
    pattern = np.random.default_rng(7).standard_normal((len(weights), channels))
    out = np.zeros((channels, n))
    for h, weight in enumerate(weights, start=1):
        out += amplitude * weight * np.outer(pattern[h - 1], np.sin(h * (2 * np.pi * freq_hz * t + phase) + 0.7 * h))
    return out


def epochs(rng, keys, n, channels=9, amplitude=1.0, freqs_hz=FREQS_HZ, phases=PHASES):
    """Trials (len(keys), channels, n) that begin at the onset."""
    return np.stack(
        [response(freqs_hz[k], phases[k], n, channels, amplitude) + background(rng, channels, n) for k in keys]
    )
