"""Hands: rest of the same day carries a classifier over to a day on which everything is stronger and turned."""

import numpy as np
import pytest

from bciarena.contests.turing.hands import RATE, SCALP, TIMES, HandsBlock, HandsModel, HandsPlayer
from bciarena.contests.turing.humans import Authors, author, human_or_machine
from bciarena.contests.turing.tasks import prior
from bciarena.errors import BadInput

TRIAL_N = 13 * RATE
SIDES = {1: [29, 31], 2: [28, 30]}


def day(seed, trials, mixing):
    """EEG (59, n), onsets and labels: imagery of a side takes that side's rhythm away."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.resize([1, 2, 7], trials))
    n = trials * TRIAL_N + 500
    rhythm = 5 * np.sin(2 * np.pi * 11 * np.arange(n) / RATE + np.cumsum(0.2 * rng.standard_normal((59, n)), axis=1))
    starts = 760 + TRIAL_N * np.arange(trials)
    for start, label in zip(starts, labels, strict=True):
        if label in SIDES:
            rhythm[SIDES[label], start : start + 1250] *= 0.2
    return mixing @ (rhythm + rng.standard_normal((59, n))), starts, labels


def another(seed, size):
    rng = np.random.default_rng(seed)
    return np.diag(np.exp(size * rng.standard_normal(SCALP))) @ (np.eye(SCALP) + 0.02 * rng.standard_normal((59, 59)))


@pytest.fixture(scope="module")
def model():
    blocks = []
    for seed in (1, 2, 3):
        eeg, starts, labels = day(seed, 15, np.eye(SCALP))
        rest = np.stack([starts[:-1] + 1650, starts[1:] - 10], axis=1)
        blocks.append(HandsBlock(eeg, starts, labels, rest))
    return HandsModel().fit({1: blocks})


def accuracy(model, mixing, person=1):
    eeg, starts, labels = day(9, 21, mixing)
    player = HandsPlayer(model)
    player.start_block(person)
    at, right = 0, []
    for start, label in zip(starts, labels, strict=True):
        while at < start:
            player.push(eeg[:, at : at + 10])
            at += 10
        player.start_trial()
        for _ in range(max(TIMES)):
            told = player.push(eeg[:, at : at + 10])
            at += 10
        right.append(model.classes_[told.argmax()] == label)
        player.stop_trial()
    return np.mean(right[5:])  # the first trials are there to learn the day


def test_another_day_is_no_other_task(model, tmp_path):
    assert model.accuracy_ > 0.9
    assert accuracy(model, another(5, 0.3)) > 0.85
    model.save(tmp_path)
    again = HandsModel.load(tmp_path)
    assert accuracy(again, np.eye(SCALP)) == accuracy(model, np.eye(SCALP)) > 0.9


def test_an_unknown_person_and_dead_channels_do_no_harm(model):
    dead = np.eye(SCALP)
    dead[[3, 50]] = 0
    assert accuracy(model, dead, person=7) > 0.6


def test_a_block_without_rest_is_refused():
    eeg, starts, labels = day(1, 3, np.eye(SCALP))
    with pytest.raises(BadInput, match="rest between them"):
        HandsModel().fit({1: [HandsBlock(eeg, starts, labels, np.zeros((0, 2), int))]})


def test_what_the_behaviour_makes_likely():
    assert prior(5).tolist() == pytest.approx([0, 0, 0, 0, 0.5, 0, 0.5])
    # One robot shoots (shoot or idle), one moves left (hand, flicker or idle).
    assert prior(6).tolist() == pytest.approx([1 / 6, 0, 1 / 6, 0, 0, 1 / 4, 5 / 12])
    assert prior(0).tolist() == pytest.approx([1 / 7] * 7)


def test_human_or_machine():
    assert [author(task) for task in range(1, 8)] == ["human"] * 6 + ["machine"]
    told = human_or_machine(["1", "7", "3", "7", "5", "7"], ["2", "7", None, "4", "7", "nonsense"])
    assert told == Authors(1, 1, 1, 1, 2)
    assert told.trials == 6
    assert told.accuracy == pytest.approx(2 / 6)
    assert Authors().accuracy == 0
    with pytest.raises(ValueError, match="tasks are 1 to 7"):
        human_or_machine([8], [1])
