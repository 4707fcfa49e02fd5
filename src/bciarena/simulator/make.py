"""Whole sets: every subject and block of a split, written to a folder that appears only when complete."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.contests import rulebook
from bciarena.contests.liveness.rules import SUBJECTS as LIVENESS_PEOPLE
from bciarena.errors import BadInput
from bciarena.protocol import split_of, stream, timelines
from bciarena.protocol.timeline import Timeline
from bciarena.recording import Event, write_contest
from bciarena.recording.bids import describe_bids, write_bids
from bciarena.simulator.eeg import Cap, Sitting
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import Person, draw_person, on_day

SUBJECTS = 3
"""How many subjects are made unless told; liveness always mixes 23."""
REFERENCE = {"turing": "CPz", "imagery": "CPz", "speller": "CPz", "rehab": "average", "liveness": "average"}
"""What the channels are measured against. CPz is missing from the 64-channel table: it is that cap's reference.

Liveness: the text says common average. Rehab: all 77 electrodes are given and the text is silent; average.
"""
DEAD_SHARE = 0.15
"""Share of rehab subjects with a channel or more that recorded nothing."""
FORMATS = ("contest", "bids")
GENERATORS = "generators.json"
"""Which generator made each generated trial: [{subject, block, trial, generator}]. Truth, as the codes are."""
LATER_TODAY = 0.4
"""Rehab's test blocks follow its training blocks in one session: less drift than between days."""


@dataclass(frozen=True)
class Order:
    """What is to be made."""

    challenge: str
    split: str
    subjects: int | None = None
    blocks: int | None = None
    seed: int = 0
    format: str = "contest"
    deep: bool | None = None  # liveness: the deep generator among the fakes; None where PyTorch is installed

    def __post_init__(self) -> None:
        split_of(self.challenge, self.split)
        if self.subjects is not None and self.subjects < 1:
            raise BadInput(f"--subjects {self.subjects}: give 1 or more")
        if self.name == "liveness" and self.people > LIVENESS_PEOPLE:
            raise BadInput(f"--subjects {self.people}: liveness codes number 1 to {LIVENESS_PEOPLE} people")
        if self.blocks is not None and self.blocks < 1:
            raise BadInput(f"--blocks {self.blocks}: give 1 or more")
        if self.seed < 0:
            raise BadInput(f"--seed {self.seed}: give 0 or more")
        if self.format not in FORMATS:
            raise BadInput(f"--format {self.format!r}: choose one of {', '.join(FORMATS)}")

    @property
    def name(self) -> str:
        return rulebook(self.challenge).name

    @property
    def people(self) -> int:
        return self.subjects or (LIVENESS_PEOPLE if self.name == "liveness" else SUBJECTS)

    @property
    def files(self) -> int:
        """How many block files the set has."""
        blocks = self.blocks or split_of(self.challenge, self.split).blocks
        return blocks if self.name == "liveness" else blocks * self.people


@dataclass
class Summary:
    """What was made."""

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


Made = tuple[int, Timeline, Floats]


def make(
    order: Order, out: Path, force: bool = False, advance: Callable[[str], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> Summary:  # fmt: skip
    """Make a set in ``out``; nothing is left there when it fails.

    Parameters
    ----------
    advance : callable, optional
        Told after each block what was made.
    say : callable, optional
        Told what is being done meanwhile where that takes long (learning the generators).
    """
    book = rulebook(order.challenge)
    summary = Summary(book.id, order.split, order.seed, str(out), order.people)
    with whole_folder(out, force) as beside:
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
            describe_bids(beside, f"{book.id} {order.split}, simulated, seed {order.seed}", names)
            (beside / ".bidsignore").write_text(f"{GENERATORS}\nquality.html\nquality.zh.html\n", encoding="utf-8")
    summary.trials = dict(sorted(summary.trials.items(), key=lambda item: (len(item[0]), item[0])))
    return summary


def recordings(
    order: Order, summary: Summary | None = None, say: Callable[[str], None] | None = None
) -> Iterator[Made]:
    """Every block as (subject, timeline, EEG of shape (channels, samples)), one at a time."""
    if order.name == "liveness":
        from bciarena.contests.liveness.brain import liveness_recordings

        yield from liveness_recordings(order, summary, say or (lambda words: None))
        return
    book, split = rulebook(order.challenge), split_of(order.challenge, order.split)
    cap = Cap(book.channels, REFERENCE[order.name])
    for subject in range(1, order.people + 1):
        usual = draw_person(order.seed, split.people, subject, patients=order.name == "rehab")
        session = f"{order.name}-{order.split}"
        person = on_day(usual, session, LATER_TODAY if order.name == "rehab" else 1.0)
        # Rehab is one session: the cap stays where it is.
        sitting = Sitting(person, order.name if order.name == "rehab" else session, cap)
        if summary is not None:
            summary.illiterate += [subject] if person.illiterate else []
            summary.patients += [subject] if person.patient_side else []
        for timeline in timelines(order.challenge, order.split, subject, order.seed, order.blocks):
            rng = stream(order.seed, order.name, order.split, "eeg", subject, timeline.block)
            eeg = sitting.record(timeline, rng)
            if order.name == "rehab":
                _keep_imagery(eeg, timeline)
                eeg[dead_channels(usual, len(book.channels))] = 0
            yield subject, timeline, eeg


def dead_channels(person: Person, channels: int) -> list[int]:
    """Rehab's text: in a very few subjects some channels recorded nothing."""
    rng = person.rng("dead channels")
    count = int(rng.integers(1, 4)) if rng.random() < DEAD_SHARE else 0
    return [int(row) for row in rng.choice(channels, count, replace=False)]


def _keep_imagery(eeg: Floats, timeline: Timeline) -> None:
    """Rehab's text: only the 4 s of imagery are kept, every other sample is 0."""
    keep = np.zeros(timeline.samples, dtype=bool)
    for step in timeline.of("imagery"):
        keep[timeline.at(step.onset_s) : timeline.at(step.end_s)] = True
    eeg[:, ~keep] = 0


def _write_contest(folder: Path, order: Order, subject: int, timeline: Timeline, eeg: Floats) -> None:
    book = rulebook(order.challenge)
    data = np.concatenate([eeg, timeline.trigger()[None].astype(np.float32)])
    write_contest(folder / f"S{subject:02d}" / f"block_{timeline.block}.npz", data, book.rate, book.channels)


def _write_bids(folder: Path, order: Order, subject: int, timeline: Timeline, eeg: Floats) -> None:
    book = rulebook(order.challenge)
    events = tuple(Event(sample, code) for sample, code in sorted(timeline.events))
    meanings: dict[int, Any] = {code: book.vocabulary.get(truth, "still") for code, truth in book.truth.items()}
    write_bids(
        folder, f"{subject:02d}", order.name, timeline.block, eeg, events, book.rate, book.channels,
        meanings=meanings,
    )  # fmt: skip


@contextmanager
def whole_folder(out: Path, force: bool) -> Iterator[Path]:
    """Give a folder beside ``out`` to fill; it takes its place when all went well and is removed otherwise."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: is a file; give a folder")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise BadInput(f"{out}: is not empty; give another folder, or --force to replace it")
    beside = out.absolute().with_name(f".{out.absolute().name}.{os.getpid()}.part")
    try:
        beside.mkdir(parents=True)
        yield beside
        if out.exists():
            shutil.rmtree(out)
        beside.rename(out)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written ({error.strerror or error}); nothing half-made is left") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
