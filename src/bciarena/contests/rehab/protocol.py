"""Rehabilitation session: eyes open 30 s, eyes closed 30 s, then four blocks of 40 trials.

Which files hold the session's parts (the text does not say): block 1's file begins with 250, 7, 8 and the two resting
recordings of half a minute; every file ends with 243 and 9 (the text: 123 codes a block, 9 among them); block 4's file
ends with 251. Training files are blocks 1-2, test files blocks 3-4 of the same session.

The text gives blocks 1 and 3 to the left hand, 2 and 4 to the right: so it is planned, and the number of a block then
tells the side of all its trials. Where the order is drawn, a coin for each person and each pair of blocks says which of
the two is the left hand's; a block remains one hand's, and a pair has both.
"""

from __future__ import annotations

import numpy as np

from bciarena.contests.rehab.rules import CLASSES, RULEBOOK
from bciarena.protocol import Place, Protocol, Script, Split, Timeline

EYES_S, TRIALS = 30.0, 40
CUE_S, IMAGERY_S, REST_S, PAUSE_S = 3.0, 4.0, 1.5, 2.0
LAST_BLOCK = 4


def block(place: Place) -> Timeline:
    """One block; odd session blocks are the left hand, even ones the right (or as drawn), flexion and fist shuffled.

    Further blocks continue the session.
    """
    rng, packet_n = place.rng, RULEBOOK.packet_n
    swapped = place.drawn is not None and place.drawn.integers(2, size=place.session_block)[::2][-1] == 1
    side = "left" if (place.session_block % 2 == 1) != swapped else "right"
    codes = rng.permutation(np.repeat([k for k, name in CLASSES.items() if name.startswith(side)], TRIALS // 2))
    script = Script(RULEBOOK.rate)
    if place.session_block == 1:
        script.mark(250)
        script.add(1.0, "gap")
        script.add(EYES_S, "eyes_open", 7)
        script.add(EYES_S, "eyes_closed", 8)
        script.add(PAUSE_S, "gap", wait="key")  # 闭眼结束后被试按任意键开始运动想象
    script.add(1.0, "gap", 242)
    script.linger(rng, packet_n)
    for code in map(int, codes):
        limb = CLASSES[code].replace(" ", "_")
        script.add(CUE_S, "cue", 240, limb=limb)
        script.add(IMAGERY_S, "imagine", code, limb=limb)
        script.add(REST_S, "rest", 241)
        script.linger(rng, packet_n)
    script.add(1.0, "gap", 243)
    script.add(PAUSE_S, "gap", 9)
    if place.session_block == LAST_BLOCK:
        script.mark(251)
    script.add(0.5 + rng.random(), "gap")
    return script.timeline("rehab/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(2, "people", 1), "test": Split(2, "people", 3)},
    block=block,
    drawable=True,
    practice={"split": "train", "subjects": 1, "blocks": 2},
)
