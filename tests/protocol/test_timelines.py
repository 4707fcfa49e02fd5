"""Every count, duration, order and code of the experiments, against the contest texts."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import numpy as np
import pytest

from bciarena.contests import RULEBOOKS, rulebook
from bciarena.contests.speller.rules import FREQUENCY_HZ, PHASE_RAD
from bciarena.errors import BadInput
from bciarena.protocol import protocol_of, timelines

SPLITS = {book.name: protocol_of(book).splits for book in RULEBOOKS.values()}
EVERY = [(name, split) for name, splits in SPLITS.items() for split in splits]


def codes(block):
    return [code for _, code in block.events]


def intervals(block, first, second):
    """Seconds from each code of one kind to the next code of the other."""
    events = block.events
    found = []
    for sample, code in events:
        if code in first:
            later = next((at for at, other in events if at > sample and other in second), None)
            if later is not None:
                found.append((later - sample) / block.rate)
    return found


@pytest.mark.parametrize(("name", "split"), EVERY)
def test_steps_follow_each_other_and_codes_share_no_sample(name, split):
    for block in timelines(name, split, seed=5):
        lasting = [step for step in block.steps if step.duration_s]
        assert lasting[0].onset_s == 0
        for one, other in itertools.pairwise(lasting):
            assert one.end_s == pytest.approx(other.onset_s, abs=1e-9)
        assert block.rate == rulebook(name).rate
        assert np.count_nonzero(block.trigger()) == len(block.events)
        assert [at for at, _ in block.events] == sorted(at for at, _ in block.events)
        assert json.loads(block.as_json())["duration_s"] == block.duration_s


def spread(found, least_s, packet_n, rate=250):
    """Whether times lie from ``least_s`` to less than a packet above it, and are not all the same."""
    return len(set(found)) > 1 and least_s <= min(found) and max(found) < least_s + packet_n / rate


@pytest.mark.parametrize(("name", "split"), EVERY)
def test_trials_begin_at_every_sample_of_a_packet(name, split):
    """No experiment knows of packets: an entry that counts on a place within one must fail here, not in the contest."""
    book = rulebook(name)
    made = [block for subject in range(1, 9) for block in timelines(name, split, subject, seed=3)]
    found = {at % book.packet_n for block in made for at, code in block.events if code in book.opens}
    assert found == set(range(book.packet_n))


@pytest.mark.parametrize(("name", "split"), EVERY)
def test_same_seed_same_timeline_and_another_seed_another(name, split):
    one, again, other = (timelines(name, split, seed=seed) for seed in (1, 1, 2))
    assert [block.as_json() for block in one] == [block.as_json() for block in again]
    assert [block.as_json() for block in one] != [block.as_json() for block in other]


@pytest.mark.parametrize(("split", "blocks"), [("train", 3), ("test", 2)])
def test_imagery(split, blocks):
    made = timelines("imagery", split, subject=2, seed=1)
    assert len(made) == blocks
    for block in made:
        count = Counter(codes(block))
        assert [count[code] for code in (201, 202, 203, 240, 241, 242, 243)] == [10, 10, 10, 30, 30, 1, 1]
        assert set(intervals(block, {240}, {201, 202, 203})) == {2.0}
        assert set(intervals(block, {201, 202, 203}, {241})) == {4.0}
        assert spread(intervals(block, {241}, {240}), 2.0, 10)
    assert [codes(block).count(250) for block in made] == [1] + [0] * (blocks - 1)
    assert [codes(block).count(251) for block in made] == [0] * (blocks - 1) + [1]
    orders = {tuple(code for code in codes(block) if 200 < code < 204) for block in made}
    assert len(orders) == blocks


def test_turing_training():
    made = timelines("turing", "train", seed=1)
    assert len(made) == 10
    for block in made:
        count = Counter(codes(block))
        assert (count[9], count[34], count[240], count[241]) == (10, 10, 20, 20)
        assert set(intervals(block, {240}, {9, 34})) == {3.0}
        assert set(intervals(block, {9, 34}, {241})) == {5.0}
        assert spread(intervals(block, {241}, {240}), 5.0, 10)


def test_turing_test():
    made = [block for subject in range(1, 6) for block in timelines("turing", "test", subject, seed=1)]
    assert len(made) == 30
    for block in made:
        tasks = {code for code in codes(block) if code < 128}
        trials = sum(code < 128 for code in codes(block))
        assert 3 * 4 <= trials <= 5 * 6
        assert codes(block).count(240) == codes(block).count(241) == trials
        assert set(intervals(block, {240}, tasks)) == {3.0}
        assert spread(intervals(block, {240}, {240}), 13.0, 10)
        assert set(intervals(block, {241}, {240})) == {1 / 250}
        steps = block.of("imagine", "flicker", "idle")
        assert len(steps) == trials
        for step in steps:
            assert step.duration_s == 5
            assert step.code >> 3 == step.params["game"]["behaviour"]
            assert step.code & 7 == step.params["game"]["task"]
    flickers = {step.code & 7: step.params["hz"] for block in made for step in block.of("flicker")}
    assert flickers == {3: 15.4, 4: 15.5, 5: 15.6, 6: 15.7}


def test_speller():
    made = [block for subject in range(1, 21) for block in timelines("speller", "test", subject, seed=1)]
    assert len(made) == 60
    flickering, rests = set(), []
    for block in made:
        keys = [code for code in codes(block) if 1 <= code <= 40]
        still = [code for code in codes(block) if 101 <= code <= 141]
        assert len(keys) + len(still) == 60
        assert set(keys) == set(range(1, 41))
        flickering.add(len(keys))
        assert set(codes(block)) <= {*range(1, 41), *range(101, 142), 241, 242, 243}
        starts = {*keys, *still}
        assert set(intervals(block, starts, {241})) == {5.0}  # 4 s stimulus and 1 s feedback
        rests += [gap - 1 for gap in intervals(block, {241}, starts)]  # 1 s cue
        for step in block.of("flicker"):
            assert step.params["hz"] == FREQUENCY_HZ[step.code - 1] == pytest.approx(8 + 0.2 * (step.code - 1))
            assert step.params["phase_rad"] == PHASE_RAD[step.code - 1]
    assert flickering == set(range(40, 46))
    assert min(rests) >= 0
    assert 8 < max(rests) <= 12
    assert np.mean(np.array(rests) <= 4) == pytest.approx(0.9, abs=0.015)  # 3 standard errors of 3,540 rests


def test_the_order_that_a_text_fixes_is_drawn_for_each_person_where_asked():
    def sides(subject, **more):
        session = [*timelines("rehab", "train", subject, 5, **more), *timelines("rehab", "test", subject, 5, **more)]
        told = [
            "".join(sorted({"lr"[code % 2 == 0] for code in codes(block) if code in (1, 2, 3, 4)})) for block in session
        ]
        return "".join(told)

    assert {sides(subject) for subject in range(1, 25)} == {"lrlr"}
    drawn = [sides(subject, drawn=True) for subject in range(1, 41)]
    assert set(drawn) == {"lrlr", "lrrl", "rllr", "rlrl"}  # a block has one hand, a pair of blocks both
    assert drawn == [sides(subject, drawn=True) for subject in range(1, 41)]
    assert all(5 <= drawn.count(one) <= 17 for one in set(drawn))
    with pytest.raises(BadInput, match="nothing in a fixed order"):
        timelines("imagery", "test", drawn=True)


def test_rehab():
    session = timelines("rehab", "train", seed=1) + timelines("rehab", "test", seed=1)
    assert len(session) == 4
    for number, block in enumerate(session, 1):
        count = Counter(codes(block))
        flexion, fist = (1, 3) if number % 2 else (2, 4)
        assert (count[flexion], count[fist]) == (20, 20)
        own = [code for code in codes(block) if code not in (7, 8, 250, 251)]
        assert len(own) == 123  # 242 + 3 * 40 + 243 + 9
        assert own[-2:] == [243, 9]
        assert set(intervals(block, {240}, {1, 2, 3, 4})) == {3.0}
        assert set(intervals(block, {1, 2, 3, 4}, {241})) == {4.0}
        assert spread(intervals(block, {241}, {240}), 1.5, 40, 1000)
    assert codes(session[0])[:4] == [250, 7, 8, 242]
    assert intervals(session[0], {7}, {8}) == [30.0]
    assert session[0].of("eyes_closed")[0].duration_s == 30
    assert codes(session[3])[-1] == 251
    assert not any({7, 8, 250} & set(codes(block)) for block in session[1:])


@pytest.mark.parametrize("split", SPLITS["liveness"])
def test_liveness(split):
    made = timelines("liveness", split, seed=1)
    assert len(made) == 23
    trials = [step for block in made for step in block.of("resting")]
    for block in made:
        assert len(block.of("resting")) == 24
        assert codes(block)[0] == 242
        assert codes(block)[-1] == 243
        assert codes(block).count(241) == 24
        assert len({step.params["person"] for step in block.of("resting")}) > 5  # a block mixes people
    real = {code: n for code, n in Counter(step.code for step in trials).items() if code > 128}
    assert set(real) == {*range(129, 152), *range(193, 216)}
    fake = [step for step in trials if step.code <= 23]
    share = {"eval_train": 0.5, "eval_A": 0.6, "eval_B": 0.4}.get(split, 0)
    assert len(fake) == round(share * 552)
    assert {step.code for step in fake} == (set(range(1, 24)) if fake else set())
    lengths = {step.duration_s for step in trials}
    assert len(lengths) > 200
    assert min(lengths) > 3
    gaps = {step.duration_s for block in made for step in block.of("gap")}
    assert len(gaps) > 200
    for step in trials:
        assert step.params["real"] == (step.code > 128)
        if step.code > 128:
            assert step.params["eyes"] == ("open" if step.code < 192 else "closed")


def test_every_opening_code_has_a_truth():
    for name, split in EVERY:
        book = rulebook(name)
        opened = sum(code in book.truth for block in timelines(name, split, blocks=1) for code in codes(block))
        assert opened == {"imagery": 30, "speller": 60, "rehab": 40, "liveness": 24}.get(name, opened)
        assert opened >= 12
    assert len(RULEBOOKS) == len(SPLITS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("imagery", "dev"), "unknown split"),
        (("nothing", "test"), "unknown challenge"),
    ],
)
def test_wrong_use_is_told(arguments, message):
    with pytest.raises(BadInput, match=message):
        timelines(*arguments)
    with pytest.raises(BadInput, match="0 blocks"):
        timelines("imagery", "test", blocks=0)
    with pytest.raises(BadInput, match="24 people"):
        timelines("liveness", "cali_A", people=24)
