"""What the signal check says of a signal that is fit, and of each kind that is not."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.live.brain import LiveBrain
from bciarena.live.check import places
from bciarena.live.signal import Watch, judged
from bciarena.live.traces import hints

BOOK = rulebook("speller")
N = 4 * BOOK.rate
AT = {name: row for row, name in enumerate(BOOK.channels)}


@pytest.fixture(scope="module")
def eeg():
    """Four seconds of a made-up person at rest."""
    brain = LiveBrain("speller", subject=3, seed=1)
    made = np.asarray(brain.take(N), float)
    brain.close()
    return made


def test_a_person_at_rest_is_fit(eeg):
    found = judged(BOOK, eeg, set())
    assert found.fit, (found.faults, found.bridged)


TIME_S = np.arange(N) / BOOK.rate
WRONG = {
    "flat": lambda x: x * 0,
    "railed": lambda x: np.clip(x * 20, -150, 150),
    "drift": lambda x: x + 120 * TIME_S,
    "mains": lambda x: x + 40 * np.sin(2 * np.pi * 50 * TIME_S),
    "large": lambda x: x + 250 * np.sin(2 * np.pi * 7 * TIME_S),
}


@pytest.mark.parametrize("kind", sorted(WRONG))
def test_each_fault_is_found_where_it_is(eeg, kind):
    bad = eeg.copy()
    bad[AT["C3"]] = WRONG[kind](bad[AT["C3"]])
    found = judged(BOOK, bad, set())
    assert kind in found.faults[AT["C3"]]
    assert sum(map(bool, found.faults)) == 1
    assert not found.fit


def test_a_row_without_an_electrode_is_not_judged(eeg):
    missing = eeg.copy()
    missing[AT["C3"]] = 0
    assert judged(BOOK, missing, set(), absent=[AT["C3"]]).fit
    assert hints(BOOK, missing, [AT["C3"]]) == []
    assert hints(BOOK, missing) == [("flat", "C3")]
    watch = Watch(BOOK, absent=[AT["C3"]])
    watch.add(missing)
    whole = np.delete(watch.traces(0, 0, False, "average")[:59], AT["C3"], axis=0)
    assert np.abs(whole.mean(axis=0)).max() < 1e-6


def test_bridged_electrodes_and_channels_without_numbers(eeg):
    bad = eeg.copy()
    bad[AT["O1"]] = bad[AT["Oz"]] + np.random.default_rng(0).normal(0, 0.1, N)
    found = judged(BOOK, bad, {"Pz"})
    assert found.bridged == [("Oz", "O1")]
    assert found.faults[AT["Pz"]] == ["numbers"]


def test_traces_are_what_was_asked_for(eeg):
    watch = Watch(BOOK)
    watch.add(eeg + 1000)
    whole = watch.traces(0, 0, False, "")
    assert whole.shape == (64, N // 4)
    assert np.abs(watch.traces(1, 40, True, "average")[:59].mean(axis=0)).max() < 1e-6
    assert np.abs(watch.traces(1, 40, True, "Cz")[AT["Cz"]]).max() < 1e-9
    spots = places(BOOK)
    assert spots["Oz"][1] < -0.6 < 0.6 < spots["Fpz"][1]
    assert spots["C3"][0] < 0 < spots["C4"][0]
