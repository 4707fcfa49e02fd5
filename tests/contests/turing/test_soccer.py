"""The soccer game: Table 2 is obeyed, rounds have 4-6 trials, and a block replays from its seed."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from bciarena.contests.turing.rules import BEHAVIOURS
from bciarena.contests.turing.soccer import EDGE, GOAL, play_block
from bciarena.protocol.seeds import stream


@pytest.fixture(scope="module")
def games():
    return [play_block(stream(seed, "soccer")) for seed in range(1000)]


def trials_of(games):
    return [trial for block in games for played in block for trial in played]


def test_table_2_is_obeyed_in_a_thousand_games(games):
    action_of = {1: "left", 2: "right", 3: "left", 4: "right", 5: "pass", 6: "shoot"}
    for trial in trials_of(games):
        one, two, allowed = BEHAVIOURS[trial.behaviour]
        assert trial.task in allowed
        if trial.task != 7:  # a command moves the robot that is under control
            assert action_of[trial.task] == (one, two)[trial.controlled - 1]


def test_rounds_and_trials_have_their_lengths(games):
    assert {len(block) for block in games} == {3, 4, 5}
    assert {len(played) for block in games for played in block} == {4, 5, 6}


def test_every_behaviour_task_outcome_and_robot_occurs(games):
    trials = trials_of(games)
    assert set(Counter(trial.behaviour for trial in trials)) == set(range(1, 10))
    assert set(Counter(trial.task for trial in trials)) == set(range(1, 8))
    assert {"goal", "saved", "intercepted", "blocked", "wide"} <= {trial.outcome for trial in trials}
    controlled = Counter(trial.controlled for trial in trials)
    assert controlled[1] / len(trials) == pytest.approx(0.5, abs=0.02)


def test_robots_stay_on_the_pitch_and_move_one_column_at_most(games):
    for trial in trials_of(games):
        one, two, _ = BEHAVIOURS[trial.behaviour]
        for action, before, after in zip((one, two), trial.before.columns, trial.after.columns, strict=False):
            assert after - before == {"left": -1, "right": 1}.get(action, 0)
        for before, after in zip(trial.before.columns, trial.after.columns, strict=True):
            assert abs(after - before) <= 1
            assert abs(after) <= EDGE
        assert abs(trial.after.columns[3]) <= GOAL


def test_ball_changes_hands_only_by_a_pass_and_only_its_holder_shoots(games):
    for trial in trials_of(games):
        assert (trial.after.holder != trial.before.holder) == (trial.outcome == "passed")
        actions = BEHAVIOURS[trial.behaviour][:2]
        if "shoot" in actions:
            assert actions[trial.before.holder - 1] == "shoot"
            assert trial.outcome in ("goal", "saved", "blocked", "wide")
        if trial.outcome == "goal":
            assert abs(trial.target) <= GOAL


def test_a_round_is_one_story_and_begins_at_random_positions(games):
    for played in (played for block in games for played in block):
        for one, other in itertools.pairwise(played):
            assert one.after == other.before
    starts = {played[0].before for block in games for played in block}
    assert len(starts) > 1000


def test_a_block_replays_from_its_seed(games):
    assert play_block(stream(77, "soccer")) == games[77]
    assert games[77] != games[78]
