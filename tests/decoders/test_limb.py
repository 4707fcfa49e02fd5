"""The rehab decoder: side over the block, movement per trial, dead channels, wrong training sets."""

import numpy as np
import pytest

from bciarena.decoders.limb import GAIN, LimbModel, LimbPlayer
from bciarena.decoders.motor import MotorSetup
from bciarena.decoders.motor_model import TrainingBlock
from bciarena.errors import BadInput

SETUP = MotorSetup(rate=1000, packet_n=40, rows=tuple(range(6)), times=(98,), power_from=12)


def block(side, seed, trials=20, dead=None):
    """One arm's block: rows 0-2 are louder for left, 3-5 for right; the fist adds to one row, flexion to another."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(trials) % 2) * 2 + 1 + side
    starts = 40 * (50 + 150 * np.arange(trials))
    eeg = np.zeros((6, starts[-1] + 6000))
    t = np.arange(4000) / 1000
    for label, start in zip(labels, starts, strict=True):
        x = rng.standard_normal((6, 4000)) * 10
        wave = np.sin(2 * np.pi * 12 * t + rng.uniform(0, 6))
        x[3 * side] += 6 * wave
        x[3 * side + (1 if label >= 3 else 2)] += 8 * np.sin(2 * np.pi * 20 * t)
        eeg[:, start - 20 : start + 3980] = x + 100  # only the imagery is kept, with an offset
    if dead is not None:
        eeg[dead] = 0
    return TrainingBlock(eeg, starts, labels)


def play(model, person, blocks):
    player = LimbPlayer(model)
    answers = []
    for given in blocks:
        player.start_block(person)
        onsets = set((given.starts_n // 40 - 1).tolist())
        for i in range(given.eeg.shape[1] // 40):
            said = player.push(given.eeg[:, 40 * i : 40 * i + 40])
            if said is not None:
                answers.append(said)
            if i in onsets:
                player.start_trial()
    return np.array(answers)


@pytest.fixture(scope="module")
def model():
    people = {n: [block(0, 2 * n), block(1, 2 * n + 1, dead=4 if n == 3 else None)] for n in (1, 2, 3)}
    return LimbModel(SETUP).fit(people)


def test_plays_both_sides_also_for_a_stranger(model):
    given = [block(0, 50), block(1, 51)]
    truth = np.concatenate([b.labels for b in given])
    for person in (1, 3, 9):
        answers = play(model, person, given)
        assert len(answers) == 40
        assert np.mean(answers % 2 == truth % 2) > 0.95
        assert np.mean(answers == truth) > 0.85


def test_the_data_overrule_the_order(model):
    given = [block(1, 60), block(0, 61)]  # the other way round than in training
    truth = np.concatenate([b.labels for b in given])
    answers = play(model, 1, given)
    late = np.arange(40) % 20 >= 6
    assert np.mean(answers[late] % 2 == truth[late] % 2) > 0.95


def test_saved_and_loaded_it_gives_the_same_answers(model, tmp_path):
    model.save(tmp_path / "m")
    given = [block(0, 70)]
    np.testing.assert_array_equal(play(LimbModel.load(tmp_path / "m"), 2, given), play(model, 2, given))
    with pytest.raises(BadInput, match="arena train"):
        LimbModel.load(tmp_path / "nothing")


def test_broken_data_never_break_the_match(model):
    given = block(0, 80)
    broken = given.eeg.copy()
    broken[2, 5000:9000] = np.nan
    broken[:, 20000:26000] = 0
    answers = play(model, 1, [TrainingBlock(broken, given.starts_n, given.labels)])
    assert len(answers) == 20
    assert set(answers.tolist()) <= {1, 2, 3, 4}


def test_gain_is_the_rule():
    for t in range(1, 5):
        for a in range(1, 5):
            want = 1.0 if a == t else 0.5 if a % 2 == t % 2 else 0.0
            assert GAIN[t - 1][a - 1] == want


def test_training_says_what_is_missing():
    left, right = block(0, 1), block(1, 2)
    mixed = TrainingBlock(left.eeg, left.starts_n, np.where(np.arange(20) < 10, left.labels, left.labels + 1))
    with pytest.raises(BadInput, match="mixes both sides"):
        LimbModel(SETUP).fit({1: [mixed, right]})
    with pytest.raises(BadInput, match="both sides are needed"):
        LimbModel(SETUP).fit({1: [left]})
    one = TrainingBlock(left.eeg, left.starts_n, np.ones(20, int))
    with pytest.raises(BadInput, match="class 3"):
        LimbModel(SETUP).fit({1: [one, right]})
    with pytest.raises(BadInput, match="no training"):
        LimbModel(SETUP).fit({})
    with pytest.raises(BadInput, match="just one"):
        LimbModel(MotorSetup(1000, 40, (0, 1), (50, 98)))
