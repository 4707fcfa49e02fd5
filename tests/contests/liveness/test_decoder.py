"""The liveness model on made-up people: bursty ones are real, steady ones of the same colour are not."""

import numpy as np
import pytest

from bciarena.contests.liveness.decoder import (
    TIMES_N,
    LivenessModel,
    LivenessPlayer,
    People,
    Windows,
    _last_window,
    _third,
)
from bciarena.contests.liveness.statistics import WINDOW_N
from bciarena.errors import BadInput

PEOPLE = (1, 2, 3, 4, 5, 6)
T_S = np.arange(2000) / 250


def _signal(subject, real, rng, n=WINDOW_N):
    """Noise and a rhythm of the person's own frequency; the real one's rhythm comes in bursts."""
    gain = np.exp(1.2 * np.sin(2 * np.pi * (0.6 + 0.2 * rng.random()) * T_S[:n] + rng.uniform(0, 7))) if real else 1.3
    rhythm = np.sin(2 * np.pi * (7 + subject) * T_S[:n] + rng.uniform(0, 7))
    channels = np.arange(1, 6)[:, None] * (1 + subject % 3)
    return 4 * rng.standard_normal((5, n)) + channels * rhythm * gain


def _windows(real, count, rng):
    state = np.array([(subject, eyes) for subject in PEOPLE for eyes in (0, 1) for _ in range(count)])
    eeg = np.stack([_signal(subject, real, rng) for subject, _ in state])
    return Windows(eeg, state, np.arange(len(state)) // 2, np.full(len(state), real))


def _labelled(rng):
    eeg, state, trial, real = [], [], [], []
    for index in range(36):
        subject, truth = PEOPLE[index % 6], index % 4 < 2
        signal = _signal(subject, truth, rng, 1300)
        for used_n in [n for n in TIMES_N if n <= 1300]:
            eeg.append(signal[:, used_n - WINDOW_N : used_n])
            state.append((subject, -1))
            trial.append(index)
            real.append(truth)
    return Windows(np.stack(eeg), np.array(state), np.array(trial), np.array(real))


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    people = People(_windows(True, 5, rng), _windows(False, 5, rng), _labelled(rng))
    return LivenessModel().fit({"cali_A": people}, "cali_A", ridge=200.0)


def test_tells_real_from_generated_and_who(model):
    rng = np.random.default_rng(7)
    right = named = 0
    for index in range(40):
        subject, real = PEOPLE[index % 6], index % 4 < 2
        window = _signal(subject, real, rng)
        scores, states = model.identify(window)
        named += states[np.argmax(scores), 0] == subject
        right += (model.log_odds(window, subject) > 0) == real
    assert right >= 36
    assert named >= 38


def test_a_saved_model_says_the_same(model, tmp_path):
    model.save(tmp_path)
    again = LivenessModel.load(tmp_path)
    window = _signal(3, True, np.random.default_rng(1))
    assert again.log_odds(window, 3) == model.log_odds(window, 3)
    assert np.array_equal(again.identify(window)[0], model.identify(window)[0])
    assert {path.suffix for path in tmp_path.iterdir()} == {".npz"}


def test_the_player_answers_at_3_s(model):
    player = LivenessPlayer(model)
    signal = _signal(2, True, np.random.default_rng(2), 1700)
    player.begin(signal[:, :30])
    for packet in range(1, 34):
        said = player.push(signal[:, 30 + 50 * (packet - 1) : 30 + 50 * packet], last=False)
        if said is not None:
            break
    assert said == (True, 2)
    assert packet == 15  # 3 s: shorter answers count as much


def test_a_trial_that_ends_is_answered_at_once_however_short(model):
    player = LivenessPlayer(model)
    signal = _signal(4, False, np.random.default_rng(3), 300)
    player.begin(signal[:, :0])
    assert player.push(signal[:, :50], last=False) is None
    said = player.push(signal[:, 50:60], last=True)
    assert said is not None
    assert said[1] in PEOPLE


def test_odd_packets_never_crash_a_match(model):
    player = LivenessPlayer(model)
    for value in (0.0, 1e6):
        player.begin(np.zeros((5, 1)))
        said = player.push(np.full((5, 50), value), last=True)
        assert said is not None


def test_a_short_signal_is_mirrored():
    short = np.arange(10.0)[None].repeat(5, 0)
    window = _last_window(short)
    assert window.shape == (5, WINDOW_N)
    assert np.array_equal(window[:, -10:], short)


def test_related_generators_are_left_out_together():
    kinds = np.array([0, 0, 2, 3, 7, 7, 8, 9])
    assert _third(kinds).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]


def test_one_kind_of_window_is_no_training_set():
    rng = np.random.default_rng(0)
    real = _windows(True, 2, rng)
    with pytest.raises(BadInput, match="both needed"):
        LivenessModel().fit({"cali_A": People(real, real)}, "cali_A")
    with pytest.raises(BadInput, match="no windows"):
        Windows(np.zeros((0, 5, WINDOW_N)), np.zeros((0, 2), int), np.zeros(0, int), np.zeros(0, bool))
