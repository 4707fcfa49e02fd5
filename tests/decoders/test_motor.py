"""The pooled classifier, and the motor-imagery model fed whole blocks or packets."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from bciarena.decoders.motor import MotorSetup, MotorStream, cut_trials, mean_whitening, tangent
from bciarena.decoders.motor_model import MotorModel, MotorPlayer, TrainingBlock, alike, choose_setup
from bciarena.decoders.pooled import PooledRidge
from bciarena.decoders.stopping import Itr
from bciarena.errors import BadInput

SETUP = MotorSetup(rate=250, packet_n=10, rows=tuple(range(6)), times=(10, 25, 50, 90))


def test_pooled_ridge_equals_ridge_on_copied_features():
    """Shared plus own weights are plain ridge on [x, sqrt(own) x in the person's place] (Evgeniou and Pontil)."""
    rng = np.random.default_rng(0)
    x, y, who = rng.standard_normal((40, 5)), rng.integers(0, 3, 40), np.arange(40) % 2 + 1
    model = PooledRidge(own=2.0, ridge=0.1).fit(x, y, who)
    wide = np.concatenate([x] + [np.sqrt(2.0) * x * (who == s)[:, None] for s in (1, 2)], axis=1)
    alpha = 0.1 * np.mean(np.sum(wide**2, axis=1))
    goal = np.eye(3)[y] - 1 / 3
    plain = Ridge(alpha=alpha, fit_intercept=False).fit(wide, goal)
    for s in (1, 2):
        np.testing.assert_allclose(model.decision_function(x[who == s], s), plain.predict(wide[who == s]), atol=1e-9)
    np.testing.assert_allclose(model.weights(99), plain.coef_[:, :5].T, atol=1e-9)
    fold = np.arange(40) // 20
    left_out = PooledRidge(own=2.0, ridge=0.1).fit(x, y, who, fold).left_out_
    half = PooledRidge(own=2.0, ridge=0.1).fit(x[20:], y[20:], who[20:])
    np.testing.assert_allclose(
        left_out[:20][who[:20] == 1], half.decision_function(x[:20][who[:20] == 1], 1), atol=1e-9
    )


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((3, 2)), [0, 0, 0], "two classes"),
        (np.full((3, 2), np.nan), [0, 1, 0], "NaN"),
        (np.zeros((3, 2)), [0, 1, 0], "zero"),
        (np.ones((3, 2)), [0, 1], "fit together"),
    ],
)
def test_pooled_ridge_refuses_bad_input(x, y, message):
    with pytest.raises(BadInput, match=message):
        PooledRidge().fit(x, y)


def block(seed, trials=15, flat=None):
    """A block whose class k makes channel k louder in the alpha band from 0.3 s after the cue."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(trials) % 3) + 201
    length = 300 + trials * 1500
    eeg = rng.standard_normal((6, length)) * 5
    starts = 10 * (30 + 150 * np.arange(trials))
    t = np.arange(1000) / 250
    for k, start in zip(labels - 201, starts, strict=True):
        wave = 12 * np.sin(2 * np.pi * 11 * t + rng.uniform(0, 6)) * (t > 0.3)
        eeg[k, start : start + 1000] += wave
        eeg[k + 3, start : start + 1000] -= 15 * np.exp(-((t - 0.35) ** 2) / 0.01)
    if flat is not None:
        eeg[flat] = 0
    return TrainingBlock(eeg, starts, labels)


@pytest.fixture(scope="module")
def model():
    people = {n: [block(10 * n + b) for b in range(3)] for n in (1, 2)}
    return MotorModel(SETUP, Itr(3, rest_s=0.5)).fit(people)


def play(model, person, given, spoil=None):
    """Answers to a block played packet by packet, as the entry does."""
    player = MotorPlayer(model)
    player.start_block(person)
    onsets = set((given.starts_n // 10 - 1).tolist())
    answers, answered = [], True
    for i in range(given.eeg.shape[1] // 10):
        packet = given.eeg[:, 10 * i : 10 * i + 10].copy()
        if spoil is not None:
            spoil(i, packet)
        said = player.push(packet)
        if said is not None and not answered:
            answer = model.policy_.decide(*said)
            if answer is not None:
                answers.append((int(model.classes_[answer]), said[1]))
                answered = True
        if i in onsets:
            player.start_trial()
            answered = False
    return np.array(answers)


@pytest.mark.parametrize("setup", [SETUP, replace(SETUP, slow_from=-50, power_from=-43)])
def test_packets_and_whole_blocks_give_the_same_features(setup):
    """Also where the look goes back beyond the block's beginning: 50 packets, when the first trial begins at 30."""
    given = block(1)
    slow, covs = cut_trials(setup, given.eeg, given.starts_n)
    stream = MotorStream(setup)
    trial = 0
    for i in range(given.eeg.shape[1] // 10):
        stream.push(given.eeg[:, 10 * i : 10 * i + 10])
        if trial > 0 and stream.used in SETUP.times:
            j = SETUP.times.index(stream.used)
            np.testing.assert_allclose(stream.covariance(stream.used), covs[trial - 1, j], rtol=2e-4, atol=1e-4)
            seen = stream.slow(stream.used)
            np.testing.assert_allclose(seen, slow[trial - 1, : len(seen)], atol=1e-9)
        if trial < 15 and 10 * (i + 1) == given.starts_n[trial]:
            stream.start_trial()
            trial += 1
    assert trial == 15


def test_regions_are_tangent_vectors_of_their_own_electrodes():
    """Side by side, as large as if each had all electrodes; other electrodes do not matter."""
    covs = cut_trials(SETUP, block(1).eeg, block(1).starts_n)[1][:, 2]
    parts = replace(SETUP, regions=((0, 1, 2, 3, 4, 5), (1, 4)))
    both = tangent(parts, covs, mean_whitening(parts, covs))
    np.testing.assert_allclose(both[:, :21], tangent(SETUP, covs, mean_whitening(SETUP, covs)))
    pair = replace(SETUP, rows=(1, 4))
    few = covs[:, :, [[1], [4]], [1, 4]]
    np.testing.assert_allclose(both[:, 21:], 3 * tangent(pair, few, mean_whitening(pair, few)))
    assert MotorSetup.from_dict(parts.to_dict()) == parts


def test_evidence_before_the_onset_is_found_by_rehearsal():
    """Onset codes 2 s after what tells the classes apart: looking back is chosen, and answers come at once."""

    def later(given):
        eeg, rng = given.eeg.copy(), np.random.default_rng(0)
        for start in given.starts_n:  # one second of response, and nothing at the onset itself
            eeg[:, start + 250 : start + 1000] = rng.standard_normal((6, 750)) * 5
        return TrainingBlock(eeg, given.starts_n + 500, given.labels)

    onset = replace(SETUP, times=(1, 5, 10, 25, 45))
    back = replace(onset, slow_from=-50, power_from=-43)
    moved = {n: [later(block(10 * n + b)) for b in range(3)] for n in (1, 2)}
    objective = Itr(3, rest_s=0.5)
    chosen, told = choose_setup([onset, back, onset], moved)
    assert chosen == back
    assert told[1] > 2 * told[0] == 2 * told[2]
    fitted = MotorModel(back, objective).fit(moved)
    given = later(block(77))
    answers = play(fitted, 1, given)
    assert np.mean(answers[:, 0] == given.labels) > 0.85
    assert answers[:, 1].mean() < 0.3
    for n, promised in fitted.expected_["people"].items():
        low, high = fitted.expected_["ranges"][n]
        assert low <= promised <= high


def test_plays_a_known_person_and_a_stranger(model):
    given = block(77)
    for person in (1, 2, 5):
        answers = play(model, person, given)
        assert len(answers) == 15
        assert np.mean(answers[:, 0] == given.labels) > 0.85
        assert answers[:, 1].max() < 4


def test_saved_and_loaded_it_gives_the_same_answers(model, tmp_path):
    model.save(tmp_path / "m")
    given = block(78)
    np.testing.assert_array_equal(play(MotorModel.load(tmp_path / "m"), 1, given), play(model, 1, given))
    with pytest.raises(BadInput, match="arena train"):
        MotorModel.load(tmp_path / "nothing")


def test_broken_packets_never_break_the_match(model):
    given = block(79)

    def spoil(i, packet):
        if i % 7 == 0:
            packet[2] = np.nan
        if 500 < i < 600:
            packet[:] = 0
        if i == 700:
            packet[:] = np.inf

    answers = play(model, 1, given, spoil)
    assert len(answers) == 15
    assert np.mean(answers[:, 0] == given.labels) > 0.5


def test_a_dead_channel_is_no_obstacle():
    people = {1: [block(b, flat=5) for b in range(3)], 2: [block(20 + b) for b in range(3)]}
    fitted = MotorModel(SETUP, Itr(3, rest_s=0.5)).fit(people)
    given = block(90, flat=5)
    assert np.mean(play(fitted, 1, given)[:, 0] == given.labels) > 0.8


def test_training_says_what_is_missing():
    given = block(1)
    keep = given.labels != 203
    part = TrainingBlock(given.eeg, given.starts_n[keep], given.labels[keep])
    with pytest.raises(BadInput, match="subject 2 has 0 training trials of class 203"):
        MotorModel(SETUP, Itr(3)).fit({1: [given], 2: [part]})
    one = given.labels == 201
    left = TrainingBlock(given.eeg, given.starts_n[one], given.labels[one])
    with pytest.raises(BadInput, match="two classes"):
        MotorModel(SETUP, Itr(3)).fit({1: [left]})
    late = TrainingBlock(given.eeg, given.starts_n + 1200, given.labels)
    with pytest.raises(BadInput, match="too near"):
        MotorModel(SETUP, Itr(3)).fit({1: [late]})
    with pytest.raises(BadInput, match="flat"):
        MotorModel(SETUP, Itr(3)).fit({1: [TrainingBlock(given.eeg * 0, given.starts_n, given.labels)]})
    with pytest.raises(BadInput, match="no training"):
        MotorModel(SETUP, Itr(3)).fit({})


def test_left_out_trials_do_not_tell_their_persons_mean():
    """With recentre, a fold shifted as a whole by any amount is scored as a fit on the other folds alone would."""
    rng = np.random.default_rng(1)
    x, y, who = rng.standard_normal((40, 5)), rng.integers(0, 3, 40), np.arange(40) % 2 + 1
    fold = np.arange(40) // 20
    x[:20] += 7.0
    left_out = PooledRidge(own=2.0, ridge=0.1).fit(x, y, who, fold, level=who).left_out_
    known = np.stack([x[20:][who[20:] == s].mean(axis=0) for s in who])
    alone = PooledRidge(own=2.0, ridge=0.1).fit((x - known)[20:], y[20:], who[20:])
    mine = np.flatnonzero(who[:20] == 1)
    np.testing.assert_allclose(left_out[mine], alone.decision_function((x - known)[mine], 1), atol=1e-9)


def test_a_person_whose_scores_mean_nothing_is_believed_less():
    """Person 2's labels are shuffled: posteriors are flattened, the promise is near nothing, person 1 keeps his."""
    rng = np.random.default_rng(5)
    people = {1: [block(b) for b in range(3)], 2: [block(20 + b) for b in range(3)]}
    people[2] = [TrainingBlock(b.eeg, b.starts_n, rng.permutation(b.labels)) for b in people[2]]
    fitted = MotorModel(SETUP, Itr(3, rest_s=0.5)).fit(people)
    assert fitted.strength_[2] < 0.7 * fitted.strength_[1]
    assert fitted.expected_["people"][2] < 0.2 * fitted.expected_["people"][1]


def test_trials_of_one_recording_are_left_out_together():
    """Two recordings of each class, shuffled, classes 1 and 2 in the same two; one trial has an artefact."""
    rng = np.random.default_rng(0)
    labels = np.repeat([201, 202, 203], 14)
    recording = np.tile(np.repeat([0, 1], 7), 3)
    looks = rng.standard_normal((42, 30))
    looks[:, 0] += 8 * recording * (labels < 203)
    looks[:, 1] += 8 * recording * (labels == 203)
    looks[:, 2] += 20 * (labels == 203)  # feet were recorded at another time: no half of its own
    looks[3, 4] += 100
    mixed = rng.permutation(42)
    half = alike(looks[mixed], labels[mixed])
    for same in (labels[mixed] < 203, labels[mixed] == 203):
        assert np.mean(half[same] == recording[mixed][same]) in (0.0, 1.0)
