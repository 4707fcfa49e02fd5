"""A trial: the light to wait for is shown for 2 s, then ten rounds of six flashes in random order, 5 flashes a second."""

from bciarena.protocol import Protocol, Script, Split

from .rules import FLASH

ROUNDS, FLASH_S, CUE_S = 10, 0.2, 2.0
TRIALS = 18


def block(place):
    rng, script = place.rng, Script(250)
    script.opening(None)
    for light in map(int, rng.permutation([*FLASH] * (TRIALS // len(FLASH)))):
        script.add(CUE_S, "cue", item=light)
        script.add(0.3 + 0.2 * rng.random(), "rest", 100 + light)
        for _ in range(ROUNDS):
            for item in map(int, rng.permutation(list(FLASH))):
                script.add(FLASH_S, "flash", item, item=item, relevance=1.0 if item == light else 0.15)
        script.add(1.0 + rng.random(), "rest")
    script.closing(rng, None)
    return script.timeline("oddball/1", place.split, place.subject, place.block)


PROTOCOL = Protocol(
    splits={"train": Split(2, "people"), "test": Split(1, "people")},
    block=block,
    practice={"split": "train", "subjects": 1, "blocks": 1},
)
