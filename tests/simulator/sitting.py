"""Short sittings for the tests: an average person with a few steps before the screen."""

from __future__ import annotations

import numpy as np
from scipy.signal import welch

from bciarena.protocol.timeline import Script
from bciarena.recording.montages import CAP64
from bciarena.simulator.eeg import Cap, Sitting
from bciarena.simulator.person import draw_person

CAP = Cap(CAP64, "CPz")
RATE = 250


def sit(person, *steps, cap=CAP, seed=1, rate=RATE):
    """Record steps given as (duration_s, kind, params); returns EEG (channels, samples) and the timeline."""
    script = Script(rate)
    for duration_s, kind, params in steps:
        script.add(duration_s, kind, **params)
    timeline = script.timeline("test", "test", 1, 1)
    return Sitting(person, "one", cap).record(timeline, np.random.default_rng(seed)), timeline


def average_person():
    return draw_person(1, "average", 1, vary=False)


def someone(number, seed=1):
    return draw_person(seed, "tests", number)


def row(name):
    return CAP64.index(name)


def spectrum(signal, rate=RATE, window_s=4):
    """Frequencies and power spectral density in uV^2/Hz."""
    return welch(signal, rate, nperseg=int(window_s * rate))


def band(signal, low, high, rate=RATE):
    """Mean power spectral density of a band."""
    hz, power = spectrum(signal, rate, 2)
    return power[..., (hz >= low) & (hz < high)].mean(axis=-1)
