"""Fits the rehab entry on a training folder (blocks 1 and 2 of every person)."""

import numpy as np

from bciarena.decoders.limb import LimbModel
from bciarena.decoders.motor import MotorSetup
from bciarena.decoders.motor_model import TrainingBlock
from bciarena.errors import BadInput
from bciarena.recording import open_recording

PACKET_N = 40
LAST = 98  # packets: 3.92 s, the last time at which every trial still has real samples


def train(data: str, out: str) -> None:
    """Read labelled blocks from ``data``, write the model into ``out``."""
    people, rows = {}, 0
    for number, _, block in open_recording(data):
        codes = block.trigger
        at = np.flatnonzero((codes >= 1) & (codes <= 4))
        starts = (at // PACKET_N + 1) * PACKET_N
        inside = starts + LAST * PACKET_N <= block.samples
        if not inside.any():
            raise BadInput(f"{block.source}: no trial (codes 1-4) with 4 s of data; is this a training block?")
        rows = len(block.channels)
        labelled = TrainingBlock(block.eeg, starts[inside], codes[at[inside]])
        people.setdefault(number, []).append(labelled)
    setup = MotorSetup(rate=1000, packet_n=PACKET_N, rows=tuple(range(rows)), times=(LAST,), power_from=12)
    model = LimbModel(setup).fit(people)
    model.save(out)
    told = model.expected_
    print(
        f"{len(people)} people; on trials left out: movement {told['movement_accuracy']:.2f} (in the block), "
        f"side of a single trial {told['side_accuracy']:.2f} (from other people)"
    )
