"""Clean sets pass; every kind of leak is found by the probe it belongs to, and by it alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.signal

from bciarena import audit
from bciarena.audit.asking import audit_sets
from bciarena.audit.chance import as_told, examine, kernel, smoother
from bciarena.cli import main
from bciarena.contests import CONTESTS, rulebook
from bciarena.errors import BadInput
from tests.noise import changed, noise_set, recoded, write
from tests.realdata import real_data

RATE = 250


def leaks(name, recording, **others):
    found = audit_sets(rulebook(name), {"test": recording, **others}, ["test"])
    assert found["passed"] == (not any(row["leak"] for row in found["probes"]))
    return {(row["probe"], row["aspect"]) for row in found["probes"] if row["leak"]}


@pytest.fixture(scope="module")
def imagery():
    return noise_set("imagery", subjects=2, blocks=2)


@pytest.fixture(scope="module")
def liveness():
    return noise_set("liveness", blocks=6)


@pytest.fixture(scope="module")
def rehab():
    return noise_set("rehab", subjects=1, blocks=2)


@pytest.mark.parametrize("name", [name for name in CONTESTS if name in ("turing", "speller", "imagery")])
def test_clean_sets_pass(name):
    assert leaks(name, noise_set(name, subjects=1, blocks=2)) == set()


def test_a_clean_set_of_mixed_people_passes(liveness):
    assert leaks("liveness", liveness) == set()


def test_block_order_gives_the_side_away_unless_it_is_drawn_or_sides_are_mixed(rehab):
    """As the text has it: blocks 1 and 3 left, 2 and 4 right."""
    assert leaks("rehab", rehab) == {("file", "side")}
    opens = rulebook("rehab").opens
    assert leaks("rehab", recoded(rehab, None, np.random.default_rng(0), opens)) == set()
    assert leaks("rehab", noise_set("rehab", subjects=2, blocks=2, seed=1, drawn=True)) == set()


def test_an_order_that_is_nearly_everybodys_is_found():
    """Of many people: as the text has it, or as it has not, but for one of them."""
    people, rng = np.repeat(np.arange(16), 80), np.random.default_rng(0)
    for usual in (True, False):
        assert as_told(np.where(people == 3, not usual, usual), people, rng).p < 0.001
    drawn = rng.integers(0, 2, 16)[people] == 1
    assert as_told(drawn, people, rng).p > 0.01


def each_onset(row, opens):
    return [(int(at), int(row[at])) for at in np.flatnonzero(np.isin(row, list(opens)))]


def test_a_response_to_the_cue_before_the_onset_is_found(imagery):
    """A second before imagery begins a dozen electrodes swing by half of their spread, each class its own dozen."""

    def respond(eeg, row, subject, block):
        for at, code in each_onset(row, rulebook("imagery").opens):
            first = 12 * (code - 201)
            eeg[first : first + 12, at - 300 : at - 220] += 6 * np.hanning(80).astype(np.float32)
        return eeg, row

    assert leaks("imagery", changed(imagery, respond)) == {("before_shape", "answer")}


def test_imagery_that_begins_early_is_found(imagery):
    """A rhythm that weakens before the code, over one side."""

    def early(eeg, row, subject, block):
        for at, code in each_onset(row, rulebook("imagery").opens):
            eeg[26 + 2 * (code - 201) : 28 + 2 * (code - 201), at - 400 : at] *= 0.6
        return eeg, row

    found = leaks("imagery", changed(imagery, early))
    assert ("before_power", "answer") in found
    assert {probe for probe, _ in found} <= {"before_power", "before_shape"}


def test_a_notch_left_in_real_trials_only_is_found(liveness):
    b, a = scipy.signal.iirnotch(50.0, 20.0, RATE)

    def notch(eeg, row, subject, block):
        ends = np.flatnonzero(row == 241)
        for at, code in each_onset(row, rulebook("liveness").opens):
            if code > 128:
                end = ends[ends > at][0] + 1
                eeg[:, at:end] = scipy.signal.filtfilt(b, a, eeg[:, at:end], axis=1)
        return eeg, row

    assert leaks("liveness", changed(liveness, notch)) == {("traces", "real")}


def test_order_is_found(imagery):
    def sort(eeg, row, subject, block):
        at = np.flatnonzero(np.isin(row, list(rulebook("imagery").opens)))
        row[at] = np.sort(row[at])
        return eeg, row

    assert leaks("imagery", changed(imagery, sort)) == {("order", "answer")}


def test_triggers_are_found(imagery):
    """The cue lasts a little longer for the feet."""

    def shift(eeg, row, subject, block):
        for at, code in each_onset(row, rulebook("imagery").opens):
            cue = at - 500
            row[cue], row[cue + (10 if code == 203 else 0)] = 0, 240
        return eeg, row

    assert leaks("imagery", changed(imagery, shift)) == {("triggers", "answer")}


def test_zeros_are_found(liveness):
    def pad(eeg, row, subject, block):
        for at, code in each_onset(row, rulebook("liveness").opens):
            if code < 128:
                eeg[:, at : at + 3] = 0
        return eeg, row

    assert ("zeros", "real") in leaks("liveness", changed(liveness, pad))


def test_amplitude_is_found(imagery):
    def scale(eeg, row, subject, block):
        for at, code in each_onset(row, rulebook("imagery").opens):
            if code == 203:
                eeg[:, at : at + 1000] *= 1.3
        return eeg, row

    assert leaks("imagery", changed(imagery, scale)) == {("amplitude", "answer")}


def test_samples_that_another_set_holds_at_another_scale_are_found(imagery):
    def copy(eeg, row, subject, block):
        eeg[:, 5000:6000] = 2 * np.asarray(imagery.subjects[0].blocks[0].eeg[:, 9100:10100]) + 5
        return eeg, row

    other = noise_set("imagery", "train", 1, 1, seed=9)
    assert leaks("imagery", imagery, train=other) == set()
    assert leaks("imagery", imagery, train=changed(other, copy)) == {("duplicates", "train")}


def test_what_the_rules_show_is_no_leak():
    """A turing trial's behaviour code stays visible, and some behaviours leave two tasks only."""
    recording = noise_set("turing", subjects=2, blocks=3)
    found = audit_sets(rulebook("turing"), {"": recording}, [""])
    assert found["passed"]
    assert all(row["chance"] > 1.3 / 7 for row in found["probes"] if "chance" in row and row["probe"] == "order")


def test_chance_is_as_rare_as_it_says():
    """Of many probes that see nothing, about one in ten has p below 0.1."""
    rng = np.random.default_rng(3)
    blocks = np.repeat(np.arange(3), 20)
    below = 0
    for _ in range(100):
        labels = np.concatenate([rng.permutation(np.arange(20) % 3) for _ in range(3)])
        predict = smoother(kernel(rng.standard_normal((60, 4))), rng.permutation(60) % 10)
        below += examine(predict, labels, np.zeros(60, int), blocks, rng, 0.01, 1).p < 0.1
    assert 2 <= below <= 22, below  # 10 are expected; outside of this in fewer than 1 of 1000 studies


# ---------------------------------------------------------------------- for people


@pytest.fixture(scope="module")
def folders(tmp_path_factory, rehab, imagery):
    place = tmp_path_factory.mktemp("audit")
    write(rehab, place / "leaky")
    write(imagery, place / "clean")
    write(changed(imagery, lambda eeg, row, s, b: (eeg, rulebook("imagery").masked_trigger(row))), place / "masked")
    return place


def test_the_command(folders, capsys):
    assert main(["audit", str(folders / "clean"), "--challenge", "imagery"]) == 0
    assert "**Passed.**" in capsys.readouterr().out
    report = folders / "report.md"
    assert main(["audit", str(folders / "leaky"), "--challenge", "rehab", "--language", "zh", "-o", str(report)]) == 1
    text = report.read_text("utf-8")
    assert "未通过" in text
    assert "左或右" in text
    assert "在 block 内混合各类" in text
    assert main(["audit", str(folders / "leaky"), "--challenge", "rehab", "--json"]) == 1
    found = json.loads(capsys.readouterr().out.rpartition("\n{")[2].join(["{", ""]))
    assert not found["passed"]
    row = next(row for row in found["probes"] if row["leak"] and row["aspect"] == "side")
    assert row["accuracy"] == 1.0
    assert row["low"] > row["chance"]
    assert row["probe"] == "file"  # right of every trial: a leak however few people there are


@pytest.mark.parametrize(
    ("folder", "challenge", "words"),
    [
        ("masked", "imagery", "stands where the truth was taken out"),
        ("leaky", "imagery", "1000 Hz"),
        ("nowhere", "imagery", "no such data folder"),
    ],
)
def test_wrong_use_is_one_line(folders, capsys, folder, challenge, words):
    assert main(["audit", str(folders / folder), "--challenge", challenge]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said
    assert "Traceback" not in said


def test_a_phase_opens_on_a_leak_only_in_writing(folders):
    found = audit.verdict(folders / "leaky", "rehab")
    assert not found["opens"]
    with pytest.raises(BadInput, match="no reason"):
        audit.verdict(folders / "leaky", "rehab", "yes")
    reason = "The text fixes the order of sides.\nAll teams know it."
    found = audit.verdict(folders / "leaky", "rehab", reason)
    assert found["opens"]
    assert not found["passed"]
    for language in ("en", "zh"):
        assert "The text fixes the order of sides. All teams know it." in audit.markdown(found, language)
    assert audit.verdict(folders / "clean", "imagery")["opens"]


def test_real_people():
    """Real recordings with the cue at the onset: nothing before it tells the class, and no set shares samples."""
    found = audit.audit(real_data("imagery"), "imagery")
    assert [row for row in found["probes"] if row["leak"]] == []
