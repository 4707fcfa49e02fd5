"""A block: every key once in random order; 0.5 s cue, 4 s flicker, a short pause of varying length."""

from bciarena.protocol import Protocol, Script, Split

from .rules import CODES, END, FREQUENCY_HZ, PHASE_RAD

CUE_S, FLICKER_S = 0.5, 4.0


def block(place):
    script = Script(250)
    script.opening(None)
    for code in map(int, place.rng.permutation(list(CODES))):
        script.add(CUE_S, "cue", key=code)
        script.add(FLICKER_S, "flicker", code, key=code, hz=FREQUENCY_HZ[code - 1], phase_rad=PHASE_RAD[code - 1])
        script.add(0.5 + 0.2 * place.rng.random(), "rest", END)
    script.closing(place.rng, None)
    return script.timeline("ssvep2021/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(2, "practice"), "test": Split(2, "people")},
    block=block,
    practice={"split": "train", "subjects": 1, "blocks": 1},
)
