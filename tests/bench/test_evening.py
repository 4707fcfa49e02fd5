"""The arrival curve of the deadline evening."""

from __future__ import annotations

import numpy as np

from bciarena.bench.evening import EACH, HOUR_S, HURRY_S, TEAMS, arrivals


def test_submissions_come_ever_faster_and_as_many_as_there_are():
    whole = arrivals(1, HOUR_S)
    assert whole == sorted(whole)
    assert whole[0] >= 0
    assert whole[-1] <= HOUR_S
    assert abs(len(whole) - TEAMS * EACH) < 5 * np.sqrt(TEAMS * EACH)
    late, before = (
        sum(HOUR_S - (k + 1) * HURRY_S <= at < HOUR_S - k * HURRY_S for at in whole) for k in (0, 1)
    )  # twelve minutes each
    assert 2.2 < late / before < 3.3  # e


def test_a_scaled_evening_has_its_share():
    counts = [len(arrivals(20, 120, seed)) for seed in range(200)]
    expected = TEAMS * EACH / 20 * (1 - np.exp(-120 / HURRY_S)) / (1 - np.exp(-HOUR_S / HURRY_S))
    assert abs(np.mean(counts) - expected) < 4 * np.sqrt(expected / 200)
