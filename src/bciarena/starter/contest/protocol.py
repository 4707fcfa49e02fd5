"""What a subject goes through: 2 s cue, 4 s imagery, 2 s rest. For `arena simulate` and `arena lab`."""

import numpy as np

from bciarena.protocol import Protocol, Script, Split

LIMBS = {1: "left_hand", 2: "right_hand"}
PER_CLASS = 10


def block(place):
    """One block of trials in random order."""
    script = Script(250)
    script.opening(None)
    for code in place.rng.permutation(np.repeat(list(LIMBS), PER_CLASS)):
        script.add(2.0, "cue", 240, limb=LIMBS[int(code)])
        script.add(4.0, "imagine", int(code), limb=LIMBS[int(code)])
        script.add(1.5 + place.rng.random(), "rest", 241)
    script.closing(place.rng, None)
    return script.timeline("__NAME__/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(2, "people"), "test": Split(1, "people")},
    block=block,
    practice={"split": "train", "subjects": 1, "blocks": 1},
)
