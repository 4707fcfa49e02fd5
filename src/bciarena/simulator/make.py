"""Whole sets: every subject and block of a split, written to a folder that appears only when complete."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.contests import rulebook
from bciarena.contests.codes import codes_of
from bciarena.errors import BadInput
from bciarena.protocol import protocol_of, split_of, stream, timelines
from bciarena.protocol.seeds import LEAST_SECRET
from bciarena.protocol.timeline import Timeline
from bciarena.recording import Block, Event, Recording, Subject, write_contest
from bciarena.recording.bids import describe_bids, write_bids
from bciarena.recording.events import Marks
from bciarena.simulator.brain import Made, brain_of
from bciarena.simulator.conditions import USUAL, Conditions
from bciarena.simulator.eeg import Cap, Sitting
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import draw_person, on_day
from bciarena.simulator.recorded import Resting
from bciarena.writing import wanted_folder

FORMATS = ("contest", "bids")
GENERATORS = "generators.json"
"""Which generator made each generated trial: [{subject, block, trial, generator}]. This is truth, like the codes."""


@dataclass(frozen=True)
class Order:
    """What to simulate."""

    challenge: str
    split: str
    subjects: int | None = None
    blocks: int | None = None
    seed: int = 0
    format: str = "contest"
    deep: bool | None = None  # the deep generator among those of generated trials; None where PyTorch is installed
    drawn: bool = False  # for each person at random what the text keeps in a fixed order
    conditions: Conditions = USUAL

    def __post_init__(self) -> None:
        split_of(self.challenge, self.split)
        if self.subjects is not None and self.subjects < 1:
            raise BadInput(f"--subjects {self.subjects}: give 1 or more")
        most = protocol_of(self.challenge).most_people
        if most is not None and self.people > most:
            raise BadInput(f"--subjects {self.people}: {self.name} codes number 1 to {most} people")
        if self.blocks is not None and self.blocks < 1:
            raise BadInput(f"--blocks {self.blocks}: give 1 or more")
        if self.drawn and not protocol_of(self.challenge).drawable:
            raise BadInput(f"--drawn: the text of {self.name} keeps nothing in a fixed order")
        if self.conditions != USUAL and brain_of(self.challenge).recordings is not None:
            raise BadInput(f"{' '.join(self.conditions.told)}: {self.name} makes its recordings in its own way")
        _ = self.resting  # refused before anything is done
        if self.seed < 0:
            raise BadInput(f"--seed {self.seed}: give 0 or more")
        if self.format not in FORMATS:
            raise BadInput(f"--format {self.format!r}: choose one of {', '.join(FORMATS)}")

    @property
    def name(self) -> str:
        return rulebook(self.challenge).name

    @property
    def resting(self) -> Resting | None:
        """The recorded background, if there is one."""
        book, folder = rulebook(self.challenge), self.conditions.background
        return None if folder is None else Resting(folder, book.channels, book.rate)

    @property
    def people(self) -> int:
        return self.subjects or protocol_of(self.challenge).people

    @property
    def files(self) -> int:
        """How many block files the set has."""
        blocks = self.blocks or split_of(self.challenge, self.split).blocks
        return blocks if protocol_of(self.challenge).mixed else blocks * self.people


@dataclass
class Summary:
    """What was simulated."""

    challenge: str
    split: str
    seed: int
    out: str
    subjects: int
    blocks: int = 0
    seconds: float = 0.0
    trials: dict[str, int] = field(default_factory=dict)
    illiterate: list[int] = field(default_factory=list)
    patients: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    generated: list[dict[str, Any]] = field(default_factory=list)  # what generators.json says


def make(
    order: Order, out: Path, force: bool = False, advance: Callable[[str], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> Summary:  # fmt: skip
    """Make a set in ``out``; nothing is left there when it fails.

    Parameters
    ----------
    advance : callable, optional
        Called after each block with what was made.
    say : callable, optional
        Called with what is being done where that takes long (training the generators).
    """
    book = rulebook(order.challenge)
    summary = Summary(book.id, order.split, order.seed, str(out), order.people)
    with wanted_folder(out, force) as beside:
        write = _write_bids if order.format == "bids" else _write_contest
        names: list[str] = []
        for subject, timeline, eeg in recordings(order, summary, say):
            write(beside, order, subject, timeline, eeg)
            if f"{subject:02d}" not in names:
                names.append(f"{subject:02d}")
            summary.blocks += 1
            summary.seconds += timeline.duration_s
            for _, code in timeline.events:
                if code in book.truth:
                    truth = book.truth[code]
                    summary.trials[truth] = summary.trials.get(truth, 0) + 1
            if advance:
                advance(f"subject {subject}, block {timeline.block}")
        if summary.generated:
            rows = ",\n".join(map(json.dumps, summary.generated))
            (beside / GENERATORS).write_text(f"[\n{rows}\n]\n", encoding="utf-8")
        if order.format == "bids":
            told = f", seed {order.seed}" if order.seed < LEAST_SECRET else ""
            describe_bids(beside, f"{book.id} {order.split}, simulated{told}", names)
            (beside / ".bidsignore").write_text(f"{GENERATORS}\nquality.html\nquality.zh.html\n", encoding="utf-8")
    summary.trials = dict(sorted(summary.trials.items(), key=lambda item: (len(item[0]), item[0])))
    return summary


def simulate(
    challenge: str, *, split: str | None = None, subjects: int = 1, blocks: int | None = None, seed: int = 0
) -> Recording:
    """A set of simulated subjects in memory, with truth: the samples that ``arena simulate`` writes to files.

    Parameters
    ----------
    challenge : str
        ``imagery``, ``speller/1``, ..., or a contest folder.
    split : str, optional
        ``train``, ``test``, ...; otherwise the one that is scored.
    subjects, blocks : int
        How many; blocks otherwise as in the contest.
    seed : int
        Same seed, same numbers; the same subject numbers are the same people in every split.
    """
    order = Order(challenge, split or protocol_of(challenge).scored, subjects, blocks, seed)
    book = rulebook(challenge)
    people: dict[int, list[Block]] = {}
    for subject, timeline, eeg in recordings(order):
        block = Block(eeg, timeline.trigger().astype(np.float32), book.rate, book.channels)
        people.setdefault(subject, []).append(block)
    return Recording(tuple(Subject(f"S{number:02d}", tuple(own)) for number, own in people.items()))


def recordings(
    order: Order, summary: Summary | None = None, say: Callable[[str], None] | None = None
) -> Iterator[Made]:
    """Every block as (subject, timeline, EEG of shape (channels, samples)), one at a time."""
    brain = brain_of(order.challenge)
    if brain.recordings is not None:
        yield from brain.recordings(order, summary, say or (lambda words: None))
        return
    book, split = rulebook(order.challenge), split_of(order.challenge, order.split)
    cap = Cap(book.channels, brain.reference)
    under = order.conditions
    resting = order.resting
    if summary is not None:
        summary.notes += [f"conditions: {' '.join(under.told)}"] if under.told else []
    for subject in range(1, order.people + 1):
        usual = draw_person(order.seed, split.people, subject, patients=brain.patients)
        session = f"{order.name}-{order.split}"
        person = on_day(usual, session, brain.drift)
        sitting = Sitting(person, brain.session or session, cap)
        if summary is not None:
            summary.illiterate += [subject] if person.illiterate else []
            summary.patients += [subject] if person.patient_side else []
        for timeline in timelines(order.challenge, order.split, subject, order.seed, order.blocks, drawn=order.drawn):
            rng = stream(order.seed, order.name, order.split, "eeg", subject, timeline.block)
            if under.unsteady:
                sitting.person = on_day(person, f"{session} block {timeline.block}", under.unsteady)
            eeg = sitting.record(timeline, rng, under, resting)
            if brain.finish is not None:
                brain.finish(eeg, timeline, usual)
            yield subject, timeline, eeg


def _write_contest(folder: Path, order: Order, subject: int, timeline: Timeline, eeg: Floats) -> None:
    book = rulebook(order.challenge)
    data = np.concatenate([eeg, timeline.trigger()[None].astype(np.float32)])
    write_contest(folder / f"S{subject:02d}" / f"block_{timeline.block}.npz", data, book.rate, book.channels)


def _write_bids(folder: Path, order: Order, subject: int, timeline: Timeline, eeg: Floats) -> None:
    book = rulebook(order.challenge)
    events = tuple(Event(sample, code) for sample, code in sorted(timeline.events))
    write_bids(
        folder, f"{subject:02d}", order.name, timeline.block, eeg, events, book.rate, book.channels,
        meanings=codes_of(book), marks=Marks(book.opens),
    )  # fmt: skip
