"""30 trials a block: 2 s cue, 4 s imagery, 2 s rest."""

import numpy as np

from bciarena.protocol import Protocol, Script, Split

LIMBS = {201: "left_hand", 202: "right_hand", 203: "feet"}


def block(place):
    script = Script(250)
    script.opening(None)
    for code in map(int, place.rng.permutation(np.repeat(list(LIMBS), 10))):
        script.add(2.0, "cue", 240, limb=LIMBS[code])
        script.add(4.0, "imagine", code, limb=LIMBS[code])
        script.add(2.0, "rest", 241)
    script.closing(place.rng, None)
    return script.timeline("imagery2022/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(3, "people"), "test": Split(2, "people")},
    block=block,
    practice={"split": "train", "subjects": 1, "blocks": 1},
)
