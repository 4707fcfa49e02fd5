"""BCI Turing test: soccer blocks (3-5 rounds of 4-6 trials) and the imagery training set (20 trials a block).

A soccer trial is 3 s cue, 5 s task, 5 s action without pause, so its end code stands on its last sample. A
training trial is 3 s cue and 5 s imagery, 5 s apart; no robots play, so bits 6-3 of its code are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bciarena.contests.turing.rules import SSVEP_HZ
from bciarena.contests.turing.soccer import SoccerTrial, play_block
from bciarena.protocol.timeline import Kind, Script, Timeline

CUE_S, TASK_S, ACTION_S, GAP_S = 3.0, 5.0, 5.0, 5.0
TRAINING_TRIALS = 20
LIMBS = {1: "left_hand", 2: "right_hand"}


def turing_block(rng: np.random.Generator, split: str, subject: int, block: int, first: bool, last: bool) -> Timeline:
    """One block: soccer in ``test``, imagery alone in ``train``."""
    script = Script(250)
    script.opening(250 if first else None)
    if split == "train":
        for task in map(int, rng.permutation(np.repeat(list(LIMBS), TRAINING_TRIALS // 2))):
            script.add(CUE_S, "cue", 240, limb=LIMBS[task])
            script.add(TASK_S, "imagery", task, limb=LIMBS[task])
            script.add(GAP_S, "idle", 241)
    else:
        for round_trials in play_block(rng):
            for trial in round_trials:
                _soccer_trial(script, trial)
    script.closing(rng, 251 if last else None)
    return script.timeline("turing/1", split, subject, block)


def _soccer_trial(script: Script, trial: SoccerTrial) -> None:
    game = trial.as_json()
    script.add(CUE_S, "cue", 240, game=game)
    kind, params = task_step(trial.task)
    script.add(TASK_S, kind, trial.behaviour << 3 | trial.task, **params, game=game)
    script.add(ACTION_S, "action", game=game)
    script.mark(241, back_n=1)


def task_step(task: int) -> tuple[Kind, dict[str, Any]]:
    """The kind and parameters of the step in which a task of Table 3 is performed."""
    if task in LIMBS:
        return "imagery", {"limb": LIMBS[task]}
    if task in SSVEP_HZ:
        others = tuple(hz for key, hz in SSVEP_HZ.items() if key != task)
        return "flicker", {"key": task, "hz": SSVEP_HZ[task], "phase_rad": 0.0, "others_hz": others}
    return "idle", {}
