"""Whole sets by a contest's own timelines, with coloured noise for EEG: quick, and clean of any leak."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.signal

from bciarena.contests import rulebook
from bciarena.protocol import protocol_of, timelines
from bciarena.recording import Block, Recording, Subject
from bciarena.simulator.brain import brain_of


def noise_set(
    name: str, split: str = "", subjects: int = 2, blocks: int = 2, seed: int = 0, drawn: bool = False
) -> Recording:
    """Like `simulate`, without a brain."""
    book, own = rulebook(name), protocol_of(name)
    split = split or own.scored
    rng = np.random.default_rng(seed)
    if own.mixed is not None:
        planned = {1: timelines(name, split, 1, seed, blocks, own.people)}
    else:
        people = range(1, subjects + 1)
        planned = {subject: timelines(name, split, subject, seed, blocks, drawn=drawn) for subject in people}
    people = []
    for subject, plan in planned.items():
        made = []
        for timeline in plan:
            white = rng.standard_normal((len(book.channels), timeline.samples), np.float32) * 5
            eeg = scipy.signal.lfilter([1], [1, -0.9], white, axis=1).astype(np.float32)
            if name == "rehab":
                for step in timeline.of("cue", "rest"):
                    eeg[:, timeline.at(step.onset_s) : timeline.at(step.end_s)] = 0
            if brain_of(name).recordings is not None:  # nothing between trials
                for step in timeline.of("gap"):
                    eeg[:, timeline.at(step.onset_s) : timeline.at(step.end_s)] = 0
            made.append(Block(eeg, timeline.trigger().astype(np.float32), book.rate, book.channels))
        people.append(Subject(f"S{subject:02d}", tuple(made)))
    return Recording(tuple(people))


def changed(recording: Recording, change) -> Recording:
    """Every block through ``change(eeg, trigger, subject, block) -> (eeg, trigger)``, on copies."""
    people = []
    for number, subject in enumerate(recording.subjects, 1):
        blocks = []
        for index, block in enumerate(subject.blocks, 1):
            eeg, row = change(np.array(block.eeg), np.array(block.trigger), number, index)
            blocks.append(replace(block, eeg=eeg, trigger_row=row))
        people.append(Subject(subject.name, tuple(blocks)))
    return Recording(tuple(people))


def recoded(recording: Recording, codes: dict[int, int] | None, rng: np.random.Generator, opens) -> Recording:
    """Opening codes drawn anew: all of ``codes`` equally often in every block, in random order."""

    def change(eeg, row, subject, block):
        at = np.flatnonzero(np.isin(row, list(opens)))
        every = list(codes or opens)
        row[at] = rng.permutation([every[k % len(every)] for k in range(len(at))])
        return eeg, row

    return changed(recording, change)


def write(recording: Recording, folder) -> None:
    """The same as a data folder."""
    from bciarena.recording import write_contest

    for subject in recording.subjects:
        for number, block in enumerate(subject.blocks, 1):
            path = folder / subject.name / f"block_{number}.npz"
            write_contest(path, block.data, block.rate, block.channels)
