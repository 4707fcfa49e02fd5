"""Fits the imagery part of the turing entry (left hand, right hand, idle), then rehearses with simulated flickers.

The flicker part itself learns while it plays; the rehearsal shows how much to trust it and when to answer.
"""

import json
from pathlib import Path

import numpy as np
from rehearsal import TIMES as ANSWERS
from rehearsal import rehearse

from bciarena.decoders.motor import MotorSetup
from bciarena.decoders.motor_model import MotorModel, TrainingBlock
from bciarena.decoders.stopping import Target
from bciarena.errors import BadInput
from bciarena.recording import open_recording

RATE = 250
PACKET_N = 10
SCALP = tuple(range(59))
TIMES = (*range(25, 113, 12), 123)
LEFT, RIGHT, IDLE = 1, 2, 7
TRIAL_END = 241


def train(data: str, out: str) -> None:
    """Read labelled blocks from ``data``, write the model into ``out``."""
    people, parts = {}, {}
    for number, _, block in open_recording(data):
        at, labels, spare = trials(block.trigger)
        starts = (at // PACKET_N + 1) * PACKET_N
        inside = (starts + max(TIMES) * PACKET_N <= block.samples) & (starts >= 10 * PACKET_N)
        labelled = TrainingBlock(np.asarray(block.eeg), starts[inside], labels[inside])
        if not np.isin([LEFT, RIGHT], labelled.labels).all():
            raise BadInput(f"{block.source}: no left and right imagery (task codes 1 and 2); is this a training block?")
        people.setdefault(number, []).append(labelled)
        at, labels = at[inside], labels[inside]
        spare = spare[spare + 6 * RATE < block.samples]
        idle = labels == IDLE
        parts.setdefault(number, []).append((labelled.eeg, at[~idle], labels[~idle], at[idle], spare))
    setup = MotorSetup(rate=RATE, packet_n=PACKET_N, rows=SCALP, times=TIMES, slow_n=1)
    # Idle samples are between trials and follow no cue, so potentials evoked by the cue would distinguish them for
    # the wrong reason: only band power is used.
    model = MotorModel(setup, Target()).fit(people)
    model.per_class_ = []  # the classes of a match's block are not balanced
    model.save(out)
    told = model.expected_
    print(
        f"{len(people)} people; left, right or idle on blocks left out: accuracy {told['accuracy']:.2f} "
        f"after {told['mean_length_s']:.2f} s",
        flush=True,
    )
    held = np.searchsorted(TIMES, ANSWERS, "right") - 1  # the last look at imagery before each possible answer

    def motor(person, block, kind):
        found = model.left_out_[person, block][
            people[person][block].labels == IDLE if kind == "idle" else people[person][block].labels != IDLE
        ]
        equal = np.full((len(found), 1, 3), 1 / 3)
        return np.concatenate([equal, found], axis=1)[:, held + 1]

    weights, policy, accuracy, length_s = rehearse(parts, motor)
    plain = {"weights": weights.to_dict(), "policy": policy.to_dict(), "packets": ANSWERS}
    (Path(out) / "turing.json").write_text(json.dumps(plain, indent=1), "utf-8")
    print(f"rehearsed with simulated flickers: accuracy {accuracy:.2f} after {length_s:.2f} s")


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
