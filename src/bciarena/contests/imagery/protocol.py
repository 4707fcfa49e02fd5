"""Three-class imagery: 30 trials a block, 10 of each class in random order; 2 s cue, 4 s imagery, 2 s rest.

The text describes a trial's parts but not the place of its end code; here 241 marks the end of the imagery, as the
rehabilitation text says for the same codes.
"""

from __future__ import annotations

import numpy as np

from bciarena.contests.imagery.rules import RULEBOOK
from bciarena.protocol import Place, Protocol, Script, Split, Timeline

LIMBS = {201: "left_hand", 202: "right_hand", 203: "feet"}
PER_CLASS = 10
CUE_S, IMAGERY_S, REST_S = 2.0, 4.0, 2.0


def block(place: Place) -> Timeline:
    """One block of 30 trials; the first and last blocks of a set carry the experiment's codes 250 and 251."""
    codes = place.rng.permutation(np.repeat(list(LIMBS), PER_CLASS))
    script = Script(RULEBOOK.rate)
    script.opening(250 if place.first else None)
    script.linger(place.rng, RULEBOOK.packet_n)
    for code in codes:
        script.add(CUE_S, "cue", 240, limb=LIMBS[int(code)])
        script.add(IMAGERY_S, "imagine", int(code), limb=LIMBS[int(code)])
        script.add(REST_S, "rest", 241)
        script.linger(place.rng, RULEBOOK.packet_n)
    script.closing(place.rng, 251 if place.last else None)
    return script.timeline("imagery/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(3, "people"), "test": Split(2, "people")},
    block=block,
    practice={"split": "train", "subjects": 2, "blocks": 1},
)
