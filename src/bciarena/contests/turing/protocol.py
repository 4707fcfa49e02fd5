"""BCI Turing test: soccer blocks (3-5 rounds of 4-6 trials) and the imagery training set (20 trials a block).

A soccer trial is 3 s cue, 5 s task, 5 s action without pause, so its end code is on its last sample. A
training trial is 3 s cue and 5 s imagery, 5 s apart; no robots play, so its code names a behaviour that Table 2 allows
for the task (R21).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from bciarena.contests.turing.rules import RULEBOOK, SSVEP_HZ
from bciarena.contests.turing.soccer import SoccerTrial, play_block, play_round
from bciarena.errors import BadInput
from bciarena.protocol import Kind, Place, Protocol, Screening, Script, Split, Timeline, stream

CUE_S, TASK_S, ACTION_S, GAP_S = 3.0, 5.0, 5.0, 5.0
TRAINING_TRIALS = 20
LIMBS = {1: "left_hand", 2: "right_hand"}
TRAINING_CODES = {1: 1 << 3 | 1, 2: 4 << 3 | 2}
"""R21: both robots go left (9), or right (34)."""


def block(place: Place) -> Timeline:
    """One block: soccer in ``test``, imagery alone in ``train``."""
    rng = place.rng
    script = Script(250)
    script.opening(250 if place.first else None)
    if place.split == "train":
        tasks = rng.permutation(np.repeat(list(LIMBS), TRAINING_TRIALS // 2))
        script.linger(rng, RULEBOOK.packet_n)
        for task in map(int, tasks):
            script.add(CUE_S, "cue", 240, limb=LIMBS[task])
            script.add(TASK_S, "imagine", TRAINING_CODES[task], limb=LIMBS[task])
            script.add(GAP_S, "idle", 241)
            script.linger(rng, RULEBOOK.packet_n)
    else:
        _soccer(script, rng, play_block(rng))
    script.closing(rng, 251 if place.last else None)
    return script.timeline("turing/1", place.split, place.subject, place.block)


def _soccer(script: Script, rng: np.random.Generator, rounds: Iterable[tuple[SoccerTrial, ...]]) -> None:
    script.linger(rng, RULEBOOK.packet_n)
    for trial in chain.from_iterable(rounds):
        game = trial.as_json()
        script.add(CUE_S, "cue", 240, game=game)
        kind, params = task_step(trial.task)
        script.add(TASK_S, kind, trial.behaviour << 3 | trial.task, **params, game=game)
        script.add(ACTION_S, "action", game=game)
        script.linger(rng, RULEBOOK.packet_n)
        script.mark(241, back_n=1)


def task_step(task: int) -> tuple[Kind, dict[str, Any]]:
    """The kind and parameters of the step in which a task of Table 3 is performed."""
    if task in LIMBS:
        return "imagine", {"limb": LIMBS[task]}
    if task in SSVEP_HZ:
        others = tuple(hz for key, hz in SSVEP_HZ.items() if key != task)
        return "flicker", {"key": task, "hz": SSVEP_HZ[task], "phase_rad": 0.0, "others_hz": others}
    return "idle", {}


def rounds_block(asked: Screening) -> Timeline | None:
    """Some rounds of soccer; None if no number is asked for."""
    rounds = asked.options.get("rounds")
    if rounds is None:
        return None
    if rounds < 1:
        raise BadInput(f"--rounds {rounds}: give 1 or more")
    rng = stream(asked.seed, "lab soccer", asked.subject, asked.block)
    script = Script(250)
    script.opening(250)
    _soccer(script, rng, [play_round(rng) for _ in range(rounds)])
    script.closing(rng, 251)
    return script.timeline("turing/1", "test", asked.subject, asked.block)


PROTOCOL = Protocol(
    splits={"train": Split(10, "people"), "test": Split(6, "people")},
    block=block,
    # The training set has imagery only, so the practice set is like a test set.
    practice={"split": "test", "subjects": 1, "blocks": 2},
    screen=rounds_block,
    options=frozenset({"rounds"}),
)
