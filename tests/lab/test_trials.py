"""Where a block goes on when it was cut, for every step of every experiment."""

from __future__ import annotations

import pytest

from bciarena.contests import CONTESTS, rulebook
from bciarena.lab.trials import onward, trials_of, with_repeat
from bciarena.protocol import protocol_of
from tests.lab.blocks import plan

SETS = [(name, split) for name in sorted(CONTESTS) for split in protocol_of(name).splits]


@pytest.mark.parametrize(("name", "split"), SETS)
def test_a_cut_block_goes_on_with_a_cue_and_sends_no_code_twice(name, split):
    steps, opens = [step.as_json() for step in plan(name, split).steps], rulebook(name).opens
    trials = trials_of(steps, opens)
    assert [steps[trial.opening]["code"] in opens for trial in trials] == [True] * len(trials)
    for at, following in enumerate(onward(steps, trials)):
        assert following > at
        skipped = [step["code"] for step in steps[at + 1 : following]]
        begun = any(trial.begin <= at <= trial.close for trial in trials)
        # Only what belongs to the trial that was begun is left out.
        assert begun or not any(skipped)
        assert sum(code in opens for code in skipped) <= 1
        if following < len(steps) and steps[following]["kind"] not in ("rest", "mark", "gap"):
            assert following in {trial.begin for trial in trials} or steps[following]["kind"].startswith("eyes")


@pytest.mark.parametrize(("name", "split"), SETS)
def test_a_repeated_trial_comes_behind_the_last(name, split):
    steps, opens = [step.as_json() for step in plan(name, split).steps], rulebook(name).opens
    trials = trials_of(steps, opens)
    longer = with_repeat(steps, trials, 0)
    again = trials_of(longer, opens)
    assert longer[: trials[-1].close] == steps[: trials[-1].close]
    codes = [longer[trial.opening]["code"] for trial in again]
    assert codes == [*(steps[trial.opening]["code"] for trial in trials), steps[trials[0].opening]["code"]]
    onsets = [step["onset_s"] for step in longer]
    assert onsets == sorted(onsets)
    assert longer[-1]["kind"] == steps[-1]["kind"]
