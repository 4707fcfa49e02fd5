"""Conditions that make simulated recordings harder or more like real ones, and the distance to real ones."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.errors import BadInput
from bciarena.protocol.timeline import Script
from bciarena.recording import write_contest
from bciarena.recording.montages import CAP64
from bciarena.simulator import Conditions, Order, evoked, recordings, simulate
from bciarena.simulator.beside import distance
from bciarena.simulator.conditions import seen
from bciarena.simulator.eeg import Sitting
from bciarena.simulator.quality import measure
from bciarena.simulator.quality_page import quality_html
from bciarena.simulator.recorded import Resting
from tests.simulator.sitting import CAP, RATE, average_person, row


def cues(cue, seed=1):
    """What cues to the left and to the right evoke, shape (sides, channels, samples)."""
    script, limbs = Script(RATE), ["left_hand", "right_hand"]
    for limb in limbs * 10:
        script.add(1.2, "cue", limb=limb)
    timeline = script.timeline("test", "test", 1, 1)
    sitting = Sitting(average_person(), "one", CAP)
    eeg = sitting.record(timeline, np.random.default_rng(seed), Conditions(cue=cue))
    return np.array([eeg[:, :6000].reshape(len(eeg), 20, 300)[:, side::2].mean(axis=1) for side in (0, 1)])


def test_eyes_and_visual_potentials_tell_the_class_of_a_cue_as_far_as_asked():
    usual = cues("usual")
    apart = {cue: np.subtract(*(cues(cue) - usual)[::-1]) for cue in ("weak", "strong")}  # right minus left
    eyes, n2 = slice(80, 150), slice(58, 68)
    assert apart["strong"][row("F8"), eyes].mean() > 20  # eyes to the right: that side of the face is positive
    assert 0 < apart["weak"][row("F8"), eyes].mean() < 5
    assert apart["strong"][row("PO7"), n2].mean() < apart["strong"][row("PO8"), n2].mean() - 2


def test_without_cue_response_nothing_is_evoked():
    script = Script(RATE)
    script.add(2.0, "cue", limb="feet")
    timeline = script.timeline("test", "test", 1, 1)
    for conditions, least in ((Conditions(), 2.0), (Conditions(cue="off"), 0.0)):
        waves = evoked.evoked(average_person(), seen(timeline, conditions), np.random.default_rng(1))
        assert np.abs(waves).max() >= least
    assert not waves.any()


def test_pops_are_steps_on_single_channels():
    script = Script(RATE)
    script.add(60.0, "rest")
    timeline = script.timeline("test", "test", 1, 1)
    with_, without = (
        Sitting(average_person(), "one", CAP).record(timeline, np.random.default_rng(5), Conditions(pops=pops))
        for pops in (6.0, 0.0)
    )
    more = with_ - without
    touched = np.abs(more).max(axis=1) > 20
    assert 2 <= touched.sum() <= 14
    assert not more[~touched].any()


def test_people_change_from_block_to_block_and_the_usual_bytes_stay():
    first, second = ([eeg for _, _, eeg in recordings(order)] for order in (
        Order("imagery", "test", 1, 2, seed=3), Order("imagery", "test", 1, 2, seed=3, conditions=Conditions()),
    ))  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    changed = Order("imagery", "test", 1, 1, seed=3, conditions=Conditions(unsteady=2.0))
    assert not np.array_equal(next(recordings(changed))[2], first[0])


@pytest.fixture
def resting(tmp_path):
    """Two people, the second five times as strong, without Oz."""
    rng = np.random.default_rng(2)
    names = tuple(name for name in CAP64 if name != "Oz")
    for person, size in ((1, 4.0), (2, 20.0)):
        data = np.zeros((len(names) + 1, 30 * 250), dtype=np.float32)
        data[:-1] = size * rng.standard_normal((len(names), data.shape[1]))
        data[:-1, 4000:4200] = 0
        write_contest(tmp_path / "rest" / f"S{person:02d}" / "block_1.npz", data, 250, names)
    return tmp_path / "rest"


def test_recorded_rest_takes_the_place_of_the_background(resting):
    order = Order("imagery", "test", 2, 1, seed=3, conditions=Conditions(background=resting))
    one, two = (eeg for _, _, eeg in recordings(order))
    assert np.median(two.std(axis=1)) > 2 * np.median(one.std(axis=1))
    assert one[row("FZ")].std() < 10  # 4 uV and what imagery adds: no blinks, no drift
    assert np.diff(one, axis=1)[row("PO3")].std() == pytest.approx(4 * np.sqrt(2), rel=0.1)  # white, as recorded
    rows, eeg = Resting(resting, CAP64, 250).stretch(1, 20_000, np.random.default_rng(1))
    assert eeg.shape == (len(rows), 20_000)
    assert row("Oz") not in rows
    assert np.abs(np.diff(eeg, axis=1)).max() < 45  # no step where pieces meet


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["imagery", "--cue", "loud"], "choose one of usual, off, weak, strong"),
        (["imagery", "--pops", "-1"], "give 0 to 60 a minute"),
        (["imagery", "--unsteady", "9"], "give 0 to 5"),
        (["liveness", "--pops", "2"], "makes its recordings in its own way"),
        (["imagery", "--beside", "nowhere"], "no such folder"),
        (["rehab", "--background", "{rest}"], "250 Hz, the contest has 1000 Hz"),
    ],
)
def test_wrong_conditions_are_refused_in_one_line(words, told, resting, tmp_path, capsys):
    words = [word.format(rest=resting) for word in words]
    assert main(["simulate", *words, "--subjects", "1", "--blocks", "1", "--out", str(tmp_path / "set")]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not (tmp_path / "set").exists()


def test_the_distance_is_small_between_people_alike_and_large_to_noise():
    made = simulate("imagery", split="train", subjects=3, blocks=1, seed=8)
    alike = distance(made, simulate("imagery", split="train", subjects=3, blocks=1, seed=9), "imagery")
    names = {one.name for one in alike.statistics}
    assert {"exponent", "mu_opposite", "potential Cz", "accuracy CSP", "accuracy tangent space", "Oz alpha"} <= names
    noise = simulate("imagery", split="train", subjects=3, blocks=1, seed=9)
    rng = np.random.default_rng(0)
    for person in noise.subjects:
        for block in person.blocks:
            block.eeg[:] = 10 * rng.standard_normal(block.eeg.shape)
    far = distance(made, noise, "imagery")
    assert far.whole > 3 * alike.whole
    assert alike.by_chance == pytest.approx(np.sqrt(2 / 3))
    page = quality_html(measure(made, "imagery"), "en", far)
    assert f"Distance {far.whole:.2f}" in page
    assert "dashed: recorded" in page
    with pytest.raises(BadInput, match="2 people; a distance needs 3 or more"):
        distance(made, simulate("imagery", subjects=2, blocks=1), "imagery")
