"""What a subject goes through in each experiment, as data.

>>> block = timelines("imagery", "train", subject=1, seed=7)[0]
>>> [step.kind for step in block.steps[2:5]]
['cue', 'imagery', 'rest']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bciarena.contests import rulebook
from bciarena.contests.liveness.rules import SPLITS as LIVENESS_SPLITS
from bciarena.contests.liveness.rules import SUBJECTS as LIVENESS_PEOPLE
from bciarena.errors import BadInput
from bciarena.contests.imagery.protocol import imagery_block
from bciarena.contests.liveness.protocol import liveness_blocks
from bciarena.contests.rehab.protocol import rehab_block
from bciarena.protocol.seeds import stream
from bciarena.contests.speller.protocol import speller_block
from bciarena.protocol.timeline import Kind, Script, Step, Timeline
from bciarena.contests.turing.protocol import turing_block


class Split(NamedTuple):
    """One set of a challenge: how many blocks a subject has, and whose recordings they are."""

    blocks: int
    people: str  # sets with the same word hold the same people
    first_block: int = 1  # rehab: where in the session the set begins


SPLITS: dict[str, dict[str, Split]] = {
    "turing": {"train": Split(10, "people"), "test": Split(6, "people")},
    "imagery": {"train": Split(3, "people"), "test": Split(2, "people")},
    # The contest gives no training data: a training set is an extra, of other people.
    "speller": {"train": Split(3, "practice"), "test": Split(3, "people")},
    "rehab": {"train": Split(2, "people", 1), "test": Split(2, "people", 3)},
    "liveness": {name: Split(23, f"liveness-{name.split('_')[1]}") for name in LIVENESS_SPLITS},
}
"""The sets of each challenge."""

_BLOCKS: dict[str, Callable[..., Timeline]] = {
    "turing": turing_block,
    "imagery": imagery_block,
    "speller": speller_block,
}


def split_of(challenge: str, split: str) -> Split:
    """The named set of a challenge."""
    name = rulebook(challenge).name
    if split not in SPLITS[name]:
        raise BadInput(f"{name}: unknown split {split!r}: choose one of {', '.join(SPLITS[name])}")
    return SPLITS[name][split]


def timelines(
    challenge: str, split: str, subject: int = 1, seed: int = 0, blocks: int | None = None,
    people: int = LIVENESS_PEOPLE,
) -> list[Timeline]:  # fmt: skip
    """Every block a subject goes through in a set; in liveness every block of the set.

    Parameters
    ----------
    blocks : int, optional
        How many; what the text says unless given.
    people : int
        Liveness only: how many people the blocks mix, 1-23.
    """
    name, chosen = rulebook(challenge).name, split_of(challenge, split)
    count = chosen.blocks if blocks is None else blocks
    if count < 1:
        raise BadInput(f"{name}: {count} blocks cannot be made; give 1 or more")
    if name == "liveness":
        if not 1 <= people <= LIVENESS_PEOPLE:
            raise BadInput(f"liveness: {people} people; the codes number 1 to {LIVENESS_PEOPLE}")
        return liveness_blocks(stream(seed, name, split, "timeline"), split, people, count)
    made = []
    for block in range(1, count + 1):
        rng = stream(seed, name, split, "timeline", subject, block)
        if name == "rehab":
            made.append(rehab_block(rng, split, subject, block, chosen.first_block + block - 1))
        else:
            made.append(_BLOCKS[name](rng, split, subject, block, block == 1, block == count))
    return made


__all__ = ["SPLITS", "Kind", "Script", "Split", "Step", "Timeline", "split_of", "stream", "timelines"]
