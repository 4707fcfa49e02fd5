"""What a plan may say, and how it is refused."""

from __future__ import annotations

import pytest

from bciarena.contests import CONTESTS
from bciarena.errors import BadInput
from bciarena.protocol import protocol_of
from bciarena.session.plan import practice, read_plan
from tests.lab.blocks import plan as screened

GOOD = 'challenge = "imagery"\nsubject = 7\nout = "out"\n[[part]]\nsplit = "train"\n'


def test_a_plan_names_blocks_entries_and_models_once(tmp_path):
    path = tmp_path / "plan.toml"
    (tmp_path / "model").mkdir()
    path.write_text(GOOD + '[[part]]\nsplit = "test"\nblocks = [2, 1]\nentry = "@imagery"\nmodel = "model"\n')
    plan = read_plan(path)
    assert [(part.split, part.blocks) for part in plan.parts] == [("train", (1, 2, 3)), ("test", (1, 2))]
    assert plan.parts[1].model == tmp_path / "model"
    assert plan.out == tmp_path / "out"
    assert plan.timeline(plan.parts[1], 2).block == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD.replace("subject = 7", "subject = 0"), "--subject 0"),
        (GOOD.replace("subject = 7", 'subject = "7"'), "subject = '7': is of the wrong type"),
        (GOOD.replace("train", "foo"), "unknown split 'foo'"),
        (GOOD.replace("imagery", "liveness").replace("7", "200").replace("train", "cali_A"), "--subject 200"),
        (GOOD + "blocks = [9]\n", "--block 9"),
        (GOOD + "blocks = [1, 1]\n", "different numbers"),
        (GOOD + 'model = "none"\n', "names no entry"),
        (GOOD + 'entry = "@imagery"\nmodel = "none"\n', "no such folder"),
        (GOOD + 'colour = "red"\n', "colour is not known"),
        (GOOD + "practice = -1\n", "0 to 100"),
        (GOOD + '[[part]]\nsplit = "train"\n', "two parts are of the set train"),
        (GOOD.replace("subject = 7\n", ""), "subject is missing"),
        ("lost_ms = 0\n" + GOOD, "lost_ms = 0: give more than 0"),
        ('language = "fr"\n' + GOOD, "choose one of en, zh"),
        ("challenge = [", "is no TOML"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_before_a_subject_sits_down(text, why, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as raised:
        read_plan(path)
    assert why in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", sorted(CONTESTS))
def test_practice_has_no_codes(name):
    block = screened(name, protocol_of(name).scored)
    shown = practice(block, 2)
    assert shown.events == ()
    assert 0 < shown.duration_s < block.duration_s
    assert shown.steps[0].onset_s == 1.0


@pytest.mark.parametrize(
    ("name", "split", "subject", "block"),
    [("liveness", "foo", 1, 1), ("speller", "foo", 1, 1), ("liveness", None, 200, 1), ("imagery", None, 0, 1),
     ("liveness", None, 1, 0), ("imagery", None, 1, 3)],
)  # fmt: skip
def test_the_lab_refuses_impossible_sets_subjects_and_blocks(name, split, subject, block):
    with pytest.raises(BadInput):
        screened(name, split, subject, block)
