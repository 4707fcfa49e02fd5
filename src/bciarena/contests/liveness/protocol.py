"""Resting EEG of 23 people, real and generated, cut into trials of unequal length with zeros between.

A block mixes people. Of the codes a set needs, each person and each state comes equally often, as far as the
number of trials allows; then all are shuffled over all blocks.
"""

from __future__ import annotations

import numpy as np

from bciarena.contests.liveness.rules import EYES_CLOSED, EYES_OPEN, GENERATED, SPLITS, SUBJECTS
from bciarena.protocol import Kind, Protocol, Screening, Script, Split, Timeline, stream

TRIALS = 24
TRIAL_S = (4.0, 10.0)
GAP_S = (0.5, 2.0)
RESTING_S = 60.0
"""How long the lab records each state of the eyes."""
GENERATED_SHARE = {"eval_train": 0.5, "eval_A": 0.6, "eval_B": 0.4}
"""The text: the ratio of real to generated differs between sets. Calibration sets have no generated trials."""


def blocks_of(rng: np.random.Generator, split: str, people: int, blocks: int) -> list[Timeline]:
    """All blocks of a set; they belong together because people are shuffled over all of them."""
    total = blocks * TRIALS
    fake_n = round(GENERATED_SHARE.get(split, 0.0) * total)
    codes = _codes(rng, people, total - fake_n, (EYES_OPEN, EYES_CLOSED)) + _codes(rng, people, fake_n, (GENERATED,))
    order = [codes[index] for index in rng.permutation(total)]
    return [_block(rng, split, number + 1, order[number * TRIALS :][:TRIALS]) for number in range(blocks)]


def _codes(rng: np.random.Generator, people: int, count: int, states: tuple[int, ...]) -> list[int]:
    """``count`` codes: every (person, state) equally often, the remainder drawn without repetition."""
    every = [state + person for state in states for person in range(1, people + 1)]
    whole, rest = divmod(count, len(every))
    return every * whole + [int(code) for code in rng.permutation(every)[:rest]]


def _block(rng: np.random.Generator, split: str, block: int, codes: list[int]) -> Timeline:
    script = Script(250)
    script.add(1.0, "gap", 242)
    for code in codes:
        state = code & ~31
        closed = bool(rng.random() < 0.5) if state == GENERATED else state == EYES_CLOSED
        params = {"person": code & 31, "real": state != GENERATED, "eyes": "closed" if closed else "open"}
        script.add(rng.uniform(*TRIAL_S), "resting", code, **params)
        # The end code is on the trial's last sample: after it everything is zero.
        script.mark(241, back_n=1)
        script.add(rng.uniform(*GAP_S), "gap")
    script.add(0.5 + rng.random(), "gap", 243)
    return script.timeline("liveness/1", split, 1, block)


def resting_block(asked: Screening) -> Timeline:
    """A minute with eyes open and a minute with eyes closed, coded as real trials of the subject."""
    script = Script(250)
    script.opening(None)
    kinds: tuple[tuple[Kind, int], ...] = (("eyes_open", EYES_OPEN), ("eyes_closed", EYES_CLOSED))
    for kind, base in kinds:
        script.add(RESTING_S, kind, base + asked.subject)
        script.mark(241)
        script.add(2.0, "rest")
    script.closing(stream(0, "resting"), None)
    return script.timeline("liveness/1", "cali_train", asked.subject, asked.block)


PROTOCOL = Protocol(
    splits={name: Split(23, f"liveness-{name.split('_')[1]}") for name in SPLITS},
    mixed=blocks_of,
    people=SUBJECTS,
    most_people=SUBJECTS,
    scored="eval_A",
    practice={"split": "eval_train", "blocks": 2, "deep": False},
    screen=resting_block,
)
