"""Fits the imagery entry on a training folder: everyone's blocks at once, in the order of their folders."""

import numpy as np

from bciarena.decoders.motor import MotorSetup
from bciarena.decoders.motor_model import PROMISED_TRIALS, MotorModel, TrainingBlock, choose_setup
from bciarena.decoders.stopping import Itr
from bciarena.errors import BadInput
from bciarena.recording import open_recording

PACKET_N = 10
SCALP = tuple(range(59))
# Every second packet while answers pay most, then more rarely; the last one below 4 s.
TIMES = (*range(1, 24, 2), 26, 29, 32, 36, 40, 46, 53, 61, 70, 80, 89, 98)
BANDS_HZ = ((8.0, 30.0),)  # mu and beta; above, recordings differ more than classes
WHITENING = 0.1
# All electrodes; without forehead and temples, where eyes and jaw are heard; central and parietal ones; central ones.
CENTRAL = (*range(16, 23), *range(25, 32), *range(34, 40))
REGIONS = (SCALP, (*range(7, 14), *CENTRAL, *range(42, 59)), (*CENTRAL, *range(42, 56)), CENTRAL)
# Where the cue may stand: slow potentials are looked at from there on, power from a little later (in packets of 40 ms).
VIEWS = {
    "a cue at the onset": {"slow_from": 0, "power_from": 7},
    "imagery under way at the onset": {"slow_from": 0, "power_from": 0},
    "a cue 1 s before the onset": {"slow_from": -25, "power_from": -18},
    "a cue 2 s before the onset": {"slow_from": -50, "power_from": -43},
}


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
    setups = [
        MotorSetup(
            rate=250,
            packet_n=PACKET_N,
            rows=SCALP,
            times=TIMES,
            power_hz=BANDS_HZ,
            regions=REGIONS,
            ridge=WHITENING,
            **view,
        )
        for view in VIEWS.values()
    ]
    setup, tried = choose_setup(setups, people)
    for name, bits, kind in zip(VIEWS, tried, setups, strict=True):
        print(f"{name}: {bits:.2f} bits a trial at a few looks{', chosen' if kind == setup else ''}", flush=True)
    model = MotorModel(setup, Itr(3, rest_s=0.5)).fit(people)
    model.save(out)
    told = model.expected_
    print(
        f"{len(people)} people; on blocks left out: {told['score']:.1f} bits/min, accuracy {told['accuracy']:.2f}, "
        f"answers after {told['mean_length_s']:.2f} s; "
        + ", ".join(
            f"S{n:02d} {told['people'][n]:.1f} [{low:.0f}, {high:.0f}]" for n, (low, high) in told["ranges"].items()
        )
        + f"; in brackets where nine of ten blocks of {PROMISED_TRIALS} trials should lie"
    )
