"""Fits the imagery part of the turing entry (left hand, right hand, idle), then rehearses with simulated flickers.

The flicker part itself learns while it plays; the rehearsal shows how much to trust it and when to answer.
"""

import json
from pathlib import Path

import numpy as np
from rehearsal import TASK_S, rehearse
from rehearsal import TIMES as ANSWERS

from bciarena.contests.turing.blocks import PRICES_S
from bciarena.contests.turing.hands import REST_AFTER_S, TIMES, HandsBlock, HandsModel
from bciarena.errors import BadInput
from bciarena.recording import open_recording

RATE = 250
PACKET_N = 10
LEFT, RIGHT, IDLE = 1, 2, 7
TRIAL_END = 241


def train(data: str, out: str) -> None:
    """Read labelled blocks from ``data``, write the model into ``out``."""
    people, parts = {}, {}
    for number, _, block in open_recording(data):
        at, labels, spare = trials(block.trigger)
        starts = (at // PACKET_N + 1) * PACKET_N
        inside = (starts + max(TIMES) * PACKET_N <= block.samples) & (starts >= 10 * PACKET_N)
        at, labels = at[inside], labels[inside]
        eeg = np.asarray(block.eeg)
        labelled = HandsBlock(eeg, starts[inside], labels, rest(block.trigger))
        if not np.isin([LEFT, RIGHT], labels).all() or not len(labelled.rest_n):
            raise BadInput(f"{block.source}: no left and right imagery (task codes 1 and 2); is this a training block?")
        people.setdefault(number, []).append(labelled)
        spare = spare[spare + 6 * RATE < block.samples]
        idle = labels == IDLE
        parts.setdefault(number, []).append((eeg, at[~idle], labels[~idle], at[idle], spare))
    model = HandsModel().fit(people)
    model.save(out)
    print(f"{len(people)} people; left, right or idle on blocks left out: accuracy {model.accuracy_:.2f}", flush=True)
    held = np.searchsorted(TIMES, ANSWERS, "right") - 1  # the last look at imagery before each possible answer

    def motor(person, block, kind):
        labels = people[person][block].labels
        found = model.left_out_[person, block][labels == IDLE if kind == "idle" else labels != IDLE]
        equal = np.full((len(found), 1, 3), 1 / 3)
        return np.concatenate([equal, found], axis=1)[:, held + 1]

    weights, patience, ways = rehearse(parts, motor)
    plain = {"weights": weights.to_dict(), "patience": patience.to_dict(), "ways": ways, "packets": ANSWERS}
    (Path(out) / "turing.json").write_text(json.dumps(plain), "utf-8")
    for price in (1, 4):
        at = PRICES_S.index(price)
        print(
            f"rehearsed with simulated flickers, a right answer worth {price} s: "
            f"accuracy {ways[0]['accuracy'][at]:.2f} after {ways[0]['length_s'][at]:.2f} s"
        )


def rest(codes):
    """Stretches outside the tasks, first and end sample of each: from 1.5 s after a task until the next."""
    codes = np.asarray(codes)
    onsets = np.flatnonzero((codes > 0) & (codes < 128))
    ends = onsets[:-1] + round((TASK_S + REST_AFTER_S) * RATE)
    return np.stack([ends, onsets[1:]], axis=1)[ends + RATE < onsets[1:]]


def trials(codes):
    """Samples and labels of the imagery trials and of an idle stretch after every second; stretches left over."""
    codes = np.asarray(codes)
    onsets = np.flatnonzero((codes > 0) & (codes < 128))
    tasks = codes[onsets].astype(int) & 7
    kept = np.isin(tasks, (LEFT, RIGHT))
    # 5 s of rest and 3 s of cue follow a trial; one idle stretch for every second trial keeps the classes equal.
    free = np.flatnonzero(codes == TRIAL_END) + RATE
    idle = free[::2]
    at = np.concatenate([onsets[kept], idle])
    labels = np.concatenate([tasks[kept], np.full(len(idle), IDLE)])
    order = np.argsort(at)
    return at[order], labels[order], free[1::2]
