"""The six sets from resting recordings of real people; generated trials are made from the same people's recordings.

A recording has each person with eyes open and eyes closed: stretches between the contest's own codes and 241, or,
where there are none, blocks in turn (open, closed, open, ...). The first part of a run is calibration, which is also
what generators learn; the rest is evaluation. Mains would give real trials away, since no generator makes a steady
line, and so would a notch against it: everything above the band is therefore taken out of all trials alike, and all
are rounded to the same step with the same dither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.signal

from bciarena.contests import rulebook
from bciarena.contests.fitting import STRUCTURE
from bciarena.contests.liveness import brain
from bciarena.contests.liveness.protocol import GENERATED_SHARE, TRIAL_S, TRIALS
from bciarena.contests.liveness.rules import EYES_CLOSED, EYES_OPEN, SPLITS, SUBJECTS
from bciarena.errors import BadInput
from bciarena.importing.adapt import adapted
from bciarena.importing.sources import pieces
from bciarena.protocol import Timeline, protocol_of, stream, timelines
from bciarena.recording import write_contest
from bciarena.release.part import Asked, Made, Release

CALIBRATION = 0.6
"""Share of a run that is calibration."""
LEAST_S = 20.0
"""A run must be this long at least, or no trial can be cut from its evaluation part."""
TOP_HZ, STEEP = 42.0, 12
STEP_UV = 1 / 16
GROUPS = {"train": ("cali_train", "eval_train"), "A": ("cali_A", "eval_A"), "B": ("cali_B", "eval_B")}
"""Each of other people; where there are too few for three groups, all are in group A."""
DRAWS = 5
Array = brain.Array


class Recorded:
    """A group of recorded people; ``part`` is the share of their runs that real trials are cut from."""

    def __init__(
        self, runs: Mapping[int, Mapping[str, Array]], learnt: Mapping[int, Mapping[str, Array]], part: str, seed: int
    ) -> None:
        self.runs, self.learnt, self.part = runs, learnt, part
        self.rng = stream(seed, "dither", part)

    def own(self, person: int, eyes: str) -> Array:
        """What real trials may be cut from."""
        whole = self.runs[person][eyes]
        border = round(CALIBRATION * whole.shape[1])
        return whole[:, :border] if self.part == "cali" else whole[:, border:]

    def run(self, person: int, eyes: str, length_s: float) -> Array:
        return self.own(person, eyes)[:, : round(length_s * 250)]

    def learnt_from(self, say: Callable[[str], None]) -> Mapping[int, list[Array]]:
        """The calibration part, or the whole of other recordings."""
        if self.learnt is not self.runs:
            return {person: [runs[eyes] for eyes in brain.EYES] for person, runs in self.learnt.items()}
        cut = Recorded(self.runs, self.runs, "cali", 0)
        return {person: [cut.own(person, eyes) for eyes in brain.EYES] for person in self.runs}

    def finish(self, eeg: Array) -> Array:
        sections = scipy.signal.butter(STEEP, TOP_HZ, fs=250, output="sos")
        low = brain.finished(scipy.signal.sosfiltfilt(sections, eeg, axis=1))
        dithered: Array = np.round(low / STEP_UV + self.rng.uniform(-0.5, 0.5, low.shape)) * STEP_UV
        return dithered


def made(asked: Asked) -> tuple[Made, dict[str, list[str]]]:
    """The six sets, as many blocks each as the recordings allow (at most what the text says)."""
    runs, notes = resting(asked.source, asked.names, asked.say)
    learnt = runs
    if asked.learn_from:
        learnt, _ = resting(asked.learn_from, asked.names, asked.say)
        if set(learnt) != set(runs):
            raise BadInput(f"--from {asked.learn_from}: has other people than {asked.source}; both need the same names")
        notes.append("generators learnt other recordings of the same people")
    names = sorted(runs)
    for groups in (GROUPS, {"A": GROUPS["A"]}):
        share = min(-(-len(names) // len(groups)), SUBJECTS)
        planned = {}
        for number, splits in enumerate(groups.values()):
            own = names[number * share : (number + 1) * share]
            here = {person: runs[name] for person, name in enumerate(own, 1)}
            learn = here if learnt is runs else {person: learnt[name] for person, name in enumerate(own, 1)}
            for split in splits:
                people = Recorded(here, learn, split.split("_")[0], asked.seed)
                planned[split] = people, _plan(asked, split, people)
        if all(blocks for _, blocks in planned.values()):
            break
        short = next(split for split, (_, blocks) in planned.items() if not blocks)
    else:
        raise BadInput(f"{asked.source}: not enough resting EEG for one block of {short}; give longer recordings")
    for split, count in asked.blocks.items():
        if split not in planned or len(planned[split][1]) < count:
            most = len(planned[split][1]) if split in planned else 0
            raise BadInput(f"--blocks {split}={count}: the recordings allow {most}")
    folders: Made = {}
    done: dict[str, list[str]] = {}
    for split, (people, blocks) in planned.items():
        folders[split], said = _set(asked, split, people, blocks)
        done[split] = [*notes, *said]
    return folders, done


def _plan(asked: Asked, split: str, people: Recorded) -> list[Timeline]:
    """As many blocks as the recordings allow, each sample used once; lengths are drawn anew where they do not fit."""
    book = rulebook("liveness")
    margin_n = 2 * round(brain.MARGIN_S * book.rate)
    most = asked.blocks.get(split) or protocol_of(book).splits[split].blocks
    room = {
        (person, eyes): people.own(person, eyes).shape[1] - margin_n for person in people.runs for eyes in brain.EYES
    }
    share = 1 - GENERATED_SHARE.get(split, 0.0)
    possible = int(sum(room.values()) / book.rate / (TRIALS * share * TRIAL_S[0]))  # of the shortest trials
    for blocks in range(min(most, possible), 0, -1):
        for draw in range(DRAWS):
            planned = timelines(book.id, split, 1, asked.seed + draw, blocks, len(people.runs))
            if all(n <= room[key] for key, n in brain.needed_n(planned).items()):
                return planned
    return []


def _set(asked: Asked, split: str, people: Recorded, planned: list[Timeline]) -> tuple[Path, list[str]]:
    book = rulebook("liveness")
    fake = None if split.startswith("cali") else brain.Faker(people, split, asked.seed, asked.deep, asked.say)
    folder = asked.work / split
    rows: list[dict[str, Any]] = []
    for _, timeline, eeg in brain.laid_out(planned, brain.Cutter(people, planned), fake, rows):
        data = np.concatenate([eeg, timeline.trigger()[None].astype(np.float32)])
        write_contest(folder / "S01" / f"block_{timeline.block}.npz", data, book.rate, book.channels)
    if rows:
        (folder / "generators.json").write_text(json.dumps(rows, indent=0) + "\n", "utf-8")
    return folder, fake.notes if fake else []


def resting(
    source: str, names: Mapping[str, str], say: Callable[[str], None]
) -> tuple[dict[str, dict[str, Array]], list[str]]:
    """Every person's runs by the state of the eyes, (5, samples) at 250 Hz, high-passed; and what was done."""
    book = rulebook("liveness")
    found: dict[str, dict[str, list[Array]]] = {}
    notes: set[str] = set()
    for piece in pieces(source):
        say(piece.source)
        piece.marks = []  # words of a resting recording say nothing that is needed here
        own = found.setdefault(piece.subject, {"open": [], "closed": []})
        data = adapted(book, piece, {}, names, keep_all=True)
        notes |= {note for note in piece.notes if not note.startswith("codes added")}
        turn = brain.EYES[sum(map(len, own.values())) % 2]
        for eyes, stretch in _stretches(data, turn):
            own[eyes].append(_high_passed(stretch))
    runs = {}
    for name, states in found.items():
        for eyes, stretches in states.items():
            longest = max((one.shape[1] for one in stretches), default=0) / 250
            if longest < LEAST_S:
                raise BadInput(f"{source}: {name}: {longest:.0f} s with eyes {eyes}; {LEAST_S:.0f} s are needed")
        runs[name] = {eyes: max(stretches, key=lambda one: one.shape[1]) for eyes, stretches in states.items()}
    top = f"high-pass {brain.FIRST_HZ:g} Hz; of all trials alike: {brain.BAND_HZ[0]:g}-{TOP_HZ:g} Hz, steps of 1/16 uV"
    return runs, [*sorted(notes), top]


def _stretches(data: np.ndarray, turn: str) -> list[tuple[str, Array]]:
    """(State of the eyes, EEG): between the contest's codes and 241, or the whole block as the state in turn."""
    opened = {EYES_OPEN: "open", EYES_CLOSED: "closed"}
    at = np.flatnonzero((data[-1] > 0) & (data[-1] < STRUCTURE))
    codes = data[-1, at].astype(int)
    if not len(at) or not all(code & ~31 in opened and 1 <= code & 31 <= SUBJECTS for code in codes):
        return [(turn, data[:-1].astype(np.float64))]  # codes of another experiment
    ends = [*np.flatnonzero(data[-1] == 241), data.shape[1]]
    return [
        (opened[code & ~31], data[:-1, start : next(end for end in ends if end > start)].astype(np.float64))
        for start, code in zip(at, codes.tolist(), strict=True)
    ]


def _high_passed(eeg: Array) -> Array:
    if eeg.shape[1] < 250:
        return eeg
    sections = scipy.signal.butter(2, brain.FIRST_HZ, "highpass", fs=250, output="sos")
    passed: Array = scipy.signal.sosfiltfilt(sections, eeg, axis=1)
    return passed


RELEASE = Release(
    sets={name: "scored" if name in ("eval_A", "eval_B") else "train" for name in SPLITS},
    made=made,
)
