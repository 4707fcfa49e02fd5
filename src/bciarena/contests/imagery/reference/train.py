"""Fits the imagery entry on a training folder: everyone's blocks at once, in the order of their folders."""

import numpy as np

from bciarena.decoders.motor import MotorSetup
from bciarena.decoders.motor_model import MotorModel, TrainingBlock
from bciarena.decoders.stopping import Itr
from bciarena.errors import BadInput
from bciarena.recording import open_recording

PACKET_N = 10
SCALP = tuple(range(59))
# Every second packet while answers pay most, then more rarely; the last one below 4 s.
TIMES = (*range(5, 40, 2), *range(43, 98, 6), 98)


def train(data: str, out: str) -> None:
    """Read labelled blocks from ``data``, write the model into ``out``."""
    people = {}
    for number, _, block in open_recording(data):
        codes = block.trigger
        at = np.flatnonzero((codes >= 201) & (codes <= 203))
        starts = (at // PACKET_N + 1) * PACKET_N
        inside = (starts + max(TIMES) * PACKET_N <= block.samples) & (starts >= 10 * PACKET_N)
        if not inside.any():
            raise BadInput(f"{block.source}: no trial (codes 201-203) with 4 s of data; is this a training block?")
        labelled = TrainingBlock(np.asarray(block.eeg), starts[inside], codes[at[inside]])
        people.setdefault(number, []).append(labelled)
    setup = MotorSetup(rate=250, packet_n=PACKET_N, rows=SCALP, times=TIMES)
    model = MotorModel(setup, Itr(3, rest_s=0.5)).fit(people)
    model.save(out)
    told = model.expected_
    print(
        f"{len(people)} people; on blocks left out: {told['score']:.1f} bits/min, accuracy {told['accuracy']:.2f}, "
        f"answers after {told['mean_length_s']:.2f} s"
    )
