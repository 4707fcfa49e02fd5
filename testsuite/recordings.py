"""The small recordings the corpus is played on: known to the last sample, and the same on every machine.

Row 0 of every recording counts its samples, over all blocks: an entry that finds a lost, doubled or shuffled sample
stops with an assertion. Two blocks of four trials; every trial's code lies three samples into a packet.
"""

from dataclasses import dataclass

import numpy as np

from bciarena.contests import rulebook
from bciarena.recording.model import Block, Recording, Subject

BLOCKS = 2
FIRST_S, TAIL_S = 1.0, 3.0  # before the first trial of a block, and after the last trial's data begins


@dataclass(frozen=True)
class Score:
    """How a challenge's trials lie in its recording: codes and right answers of one block, and seconds between trials."""

    codes: tuple[int, ...]
    answers: tuple[object, ...]
    wrong: tuple[object, ...]
    apart_s: float
    closing_s: float | None = None  # where a trial has a closing code, so long after its opening one


CHALLENGES = {
    "imagery": Score((201, 202, 203, 201), (201, 202, 203, 201), (202, 203, 201, 203), 6.0),
    "turing": Score((9, 10, 11, 12), (1, 2, 3, 4), (2, 3, 4, 5), 7.0),
    "speller": Score((7, 101, 40, 1), (7, None, 40, 1), (8, 5, 39, 2), 7.0),
    "liveness": Score(
        (129, 2, 215, 23), ("100001", "000010", "110111", "010111"), ("000002", "100001", "000001", "100001"), 7.0, 2.5
    ),
    "rehab": Score((1, 2, 3, 4), ("1", "2", "3", "4"), ("2", "1", "4", "3"), 6.0),
}


def block_samples(name: str) -> int:
    book, plan = rulebook(name), CHALLENGES[name]
    return data_starts(name)[-1] + round(TAIL_S * book.rate)


def data_starts(name: str) -> list[int]:
    """Where the data of each trial of a block begins: the end of the packet that holds its code."""
    book, plan = rulebook(name), CHALLENGES[name]
    first = round(FIRST_S * book.rate)
    apart = round(plan.apart_s * book.rate)
    return [first + number * apart + book.packet_n for number in range(len(plan.codes))]


def recording(name: str) -> Recording:
    book, plan = rulebook(name), CHALLENGES[name]
    samples = block_samples(name)
    trigger = np.zeros(samples)
    for start, code in zip(data_starts(name), plan.codes, strict=True):
        opened = start - book.packet_n + 3
        trigger[opened] = code
        if plan.closing_s:
            trigger[opened + round(plan.closing_s * book.rate)] = 241
    blocks = []
    for number in range(BLOCKS):
        eeg = np.random.default_rng(number).standard_normal((len(book.channels), samples))
        eeg[0] = np.arange(samples) + number * samples
        blocks.append(Block(eeg, trigger, book.rate, book.channels, f"corpus {name} block {number + 1}"))
    return Recording((Subject("S01", tuple(blocks)),))
