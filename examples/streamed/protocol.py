"""A stream: a window that is not asked about, then twelve that are, each announced in the window before it."""

from bciarena.protocol import Protocol, Script, Split

from .rules import CLASSES

WINDOWS, EARLY_S, LATE_S = 12, 1.5, 0.5


def block(place):
    script = Script(250)
    order = [int(code) for code in place.rng.permutation([*CLASSES] * (WINDOWS // len(CLASSES)))]
    script.add(EARLY_S, "rest")
    script.add(LATE_S, "rest", order[0])
    for code, after in zip(order, [*order[1:], 0], strict=True):
        limb = {1: "left_hand", 2: "right_hand"}.get(code)
        for seconds, mark in ((EARLY_S, 0), (LATE_S, after)):
            if limb:
                script.add(seconds, "imagine", mark, limb=limb)
            else:
                script.add(seconds, "rest", mark)
    return script.timeline("streamed/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(2, "people"), "test": Split(2, "people")},
    block=block,
    practice={"split": "train", "subjects": 1, "blocks": 1},
)
