"""The cue moved before the onset, or cut out."""

import numpy as np
import pytest

from bciarena.contests.imagery.layouts import cue_before, cue_cut_out
from bciarena.errors import BadInput


@pytest.fixture
def data():
    """One row that counts samples, two trials of 4 s."""
    rows = np.zeros((2, 4000))
    rows[0] = np.arange(4000)
    for at, code in ((500, 201), (2000, 203)):
        rows[1, at], rows[1, at + 1000] = code, 241
    return rows


def codes(data):
    return [(int(at), int(data[-1, at])) for at in np.flatnonzero(data[-1])]


def test_the_cue_stands_before_the_onset_and_the_samples_stay(data):
    moved = cue_before(data)
    assert codes(moved) == [(1000, 201), (1500, 241), (2500, 203), (3000, 241)]
    np.testing.assert_array_equal(moved[0], data[0])


def test_two_seconds_are_cut_out_without_a_step(data):
    cut = cue_cut_out(data)
    assert codes(cut) == [(500, 201), (1000, 241), (1500, 203), (2000, 241)]
    assert cut.shape == (2, 3000)
    assert np.abs(np.diff(cut[0])).max() < 15  # the counter jumps by 500 where nothing is done
    assert cut[0, 1000] == data[0, 1500]
    assert cut[0, -1] == data[0, -1]


def test_a_trial_too_short_is_named(data):
    data[-1, 2300] = 241
    with pytest.raises(BadInput, match="sample 2000"):
        cue_before(data)
