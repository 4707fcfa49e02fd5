"""The virtual subject answers to what is on the screen, in time and in place."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bciarena.live.brain import LiveBrain
from bciarena.protocol.timeline import Step

OZ, C3, C4, FPZ = 56, 28, 29, 0


def power(eeg, hz, rate=250):
    time_s = np.arange(eeg.size) / rate
    return abs(np.exp(-2j * np.pi * hz * time_s) @ (eeg - eeg.mean())) ** 2 / eeg.size


def test_a_flicker_is_seen_at_its_frequency_and_only_while_it_lasts():
    brain = LiveBrain("speller", subject=2, seed=3)
    found = {"before": [], "during": [], "after": [], "beside": []}
    for _ in range(8):
        found["before"].append(power(brain.take(1000)[OZ], 13.0))
        brain.see(Step(0.0, 4.0, "flicker", 26, {"key": 26, "hz": 13.0, "phase_rad": 0.0}), brain.taken_n)
        during = brain.take(1000)[OZ]
        brain.take(500)
        found["after"].append(power(brain.take(1000)[OZ], 13.0))
        found["during"].append(power(during, 13.0))
        found["beside"].append(np.mean([power(during, hz) for hz in (12.0, 12.5, 13.5, 14.0)]))
    middle = {name: np.median(values) for name, values in found.items()}
    assert middle["during"] > 4 * max(middle["before"], middle["after"], middle["beside"]), middle
    brain.close()


def test_imagery_lowers_the_rhythm_of_the_other_side():
    brain = LiveBrain("imagery", subject=2, seed=1)
    from scipy.signal import butter, sosfiltfilt

    sos = butter(3, (9, 13), "bandpass", fs=250, output="sos")
    drops = []
    for _ in range(30):
        rest = brain.take(1000)
        brain.see(Step(0.0, 4.0, "imagine", 202, {"limb": "right_hand"}), brain.taken_n)
        during = brain.take(1000)
        brain.take(700)
        size = [np.log(sosfiltfilt(sos, part[[C3, C4]], axis=1)[:, 250:].std(axis=1)) for part in (rest, during)]
        drops.append(size[0] - size[1])
    left, right = np.mean(drops, axis=0)
    assert left > 0.1
    assert left > right
    brain.close()


def test_pieces_join_without_a_step():
    brain = LiveBrain("speller", seed=2)
    eeg = brain.take(250 * 40)
    steps = np.abs(np.diff(eeg[OZ]))
    borders = [k * brain._piece_n for k in (1, 2, 3)]
    assert max(steps[b - 3 : b + 3].max() for b in borders) < 1.5 * np.percentile(steps, 99.9)
    assert eeg.shape == (64, 10000)
    brain.close()


@pytest.mark.parametrize("challenge", ["speller", "rehab"])
def test_it_keeps_up_with_real_time(challenge):
    """Not a timed test of speed, only of being fast enough at all: 4 s of EEG in packets, in less than 4 s."""
    brain = LiveBrain(challenge)
    n = brain.book.packet_n
    begin = time.process_time()
    for _ in range(100):
        brain.take(n)
    assert time.process_time() - begin < 4.0
    brain.close()
