"""Fits the imagery part of the turing entry: left hand, right hand, idle. The flicker part learns while it plays."""

import numpy as np

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
    people = {}
    for number, _, block in open_recording(data):
        at, labels = trials(block.trigger)
        starts = (at // PACKET_N + 1) * PACKET_N
        inside = (starts + max(TIMES) * PACKET_N <= block.samples) & (starts >= 10 * PACKET_N)
        labelled = TrainingBlock(np.asarray(block.eeg), starts[inside], labels[inside])
        if not np.isin([LEFT, RIGHT], labelled.labels).all():
            raise BadInput(f"{block.source}: no left and right imagery (task codes 1 and 2); is this a training block?")
        people.setdefault(number, []).append(labelled)
    setup = MotorSetup(rate=RATE, packet_n=PACKET_N, rows=SCALP, times=TIMES)
    # Idle samples lie between trials and follow no cue, so potentials evoked by the cue would tell them apart for the
    # wrong reason: band power alone is looked at.
    model = MotorModel(setup, Target(), slow_until=1).fit(people)
    model.per_class_ = []  # a block of the match is balanced in no way
    model.save(out)
    told = model.expected_
    print(
        f"{len(people)} people; left, right or idle on blocks left out: accuracy {told['accuracy']:.2f} "
        f"after {told['mean_length_s']:.2f} s"
    )


def trials(codes):
    """Samples and labels of the imagery trials, and of an idle stretch after each."""
    codes = np.asarray(codes)
    onsets = np.flatnonzero((codes > 0) & (codes < 128))
    tasks = codes[onsets].astype(int) & 7
    kept = np.isin(tasks, (LEFT, RIGHT))
    ends = np.flatnonzero(codes == TRIAL_END)
    # 5 s of rest and 3 s of cue follow a trial; one idle stretch for every second trial keeps the classes equal.
    idle = ends[::2] + RATE
    at = np.concatenate([onsets[kept], idle])
    labels = np.concatenate([tasks[kept], np.full(len(idle), IDLE)])
    order = np.argsort(at)
    return at[order], labels[order]
