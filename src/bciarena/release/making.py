"""The release itself: bring in, deal out, write twice, check what was written, describe it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.contests.codes import codes_of
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import check_form, trial_spans
from bciarena.errors import BadInput, Fault
from bciarena.importing import bring_in
from bciarena.recording import open_recording, write_contest
from bciarena.recording.bids import WITH_TRUTH, describe_bids, write_bids
from bciarena.recording.events import ENDING, Marks, events_text
from bciarena.recording.folder import open_sets
from bciarena.recording.model import Block, Recording
from bciarena.release.card import card_of, write_card
from bciarena.release.dealing import Part, dealt, public_block
from bciarena.release.part import Asked, release_of
from bciarena.writing import wanted_folder

PLAN = "plan.json"
"""In the truth folder: which file each block came from. It names people's files, so it stays with the truth."""
GENERATORS = "generators.json"
MASKED = "Codes in events.tsv column value are the trigger codes as the stream shows them: the truth is masked."


@dataclass(frozen=True)
class Wanted:
    """What a release is asked for.

    Attributes
    ----------
    events, names : mapping
        What the source's events mean and what it calls channels, as in `arena import`.
    blocks : mapping of str to int
        How many blocks of each person go into each set; as the text says where it is empty.
    one_set : str, optional
        All of the source is this set.
    hidden : tuple of str
        Sets that are not given out.
    """

    events: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, int] = field(default_factory=dict)
    one_set: str | None = None
    hidden: tuple[str, ...] = ()
    bids: bool = False
    licence: str = ""
    seed: int = 0
    deep: bool | None = None
    learn_from: str | None = None


def release(
    book: Rulebook, source: str, out: Path, wanted: Wanted | None = None, *, force: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:  # fmt: skip
    """Make ``out/public``, ``out/truth`` and the data card; returns the card. Nothing is left where it fails."""
    wanted = wanted or Wanted()
    release_of(book)
    with wanted_folder(out, force) as beside:
        work = beside / "work"
        found, notes, files = _sources(book, source, work, wanted, tell)
        parts, said = dealt(book, found, wanted.blocks, wanted.one_set, wanted.hidden)
        if not any(part.role == "scored" for part in parts):
            said = [*said, "no set of it is scored: there is nothing to mask"]
        for part in parts:
            tell(f"writing {part.name}")
            _write(book, part, beside, wanted.bids)
        _check(book, parts, beside)
        card = card_of(book, parts, beside, wanted.licence, notes, said)
        write_card(card, beside)
        (beside / "truth").mkdir(exist_ok=True)
        plan = {"challenge": book.id, "files": files, "sets": {part.name: _origins(part, work) for part in parts}}
        (beside / "truth" / PLAN).write_text(json.dumps(plan, ensure_ascii=False, indent=1) + "\n", "utf-8")
        for part in parts:
            made_by = work / part.name / GENERATORS
            if part.role != "train" and made_by.is_file():  # who made a trial is truth
                shutil.copyfile(made_by, beside / "truth" / part.name / GENERATORS)
        shutil.rmtree(work)
    return card


def _sources(
    book: Rulebook, source: str, work: Path, wanted: Wanted, tell: Callable[[str], None]
) -> tuple[dict[str, Recording], dict[str, list[str]], dict[str, str]]:
    """Every set of the source in the challenge's form; what was done to each, and where each file came from."""
    own = release_of(book)
    folders = {name: str(path) for name, path in _named(own.sets, source, work / "sessions").items()}
    if own.made is not None and not folders and wanted.one_set is None:
        made, done = own.made(
            Asked(source, work, wanted.names, wanted.blocks, wanted.seed, wanted.deep, wanted.learn_from, tell)
        )
        return {name: open_recording(path) for name, path in made.items()}, {k: list(v) for k, v in done.items()}, {}
    if wanted.learn_from is not None:
        raise BadInput(f"--from {wanted.learn_from}: nothing of {book.id} is generated from this source")
    notes: dict[str, list[str]] = {}
    files: dict[str, str] = {}
    for name, place in (folders or {"": source}).items():
        done = bring_in(
            book, place, work / name / "blocks", events=wanted.events, names=wanted.names, seed=wanted.seed, tell=tell
        )
        notes[name] = sorted({note for file in done["files"] for note in file["adapted"]})
        files |= {f"{name}/{file['file']}".lstrip("/"): file["source"] for file in done["files"]}
    return {name: open_recording(work / name / "blocks") for name in notes}, notes, files


def _named(sets: Mapping[str, Any], source: str, gathered: Path) -> dict[str, Path]:
    """The contest's sets that are folders of the source, or of sessions in it; empty where it is one recording."""
    path = Path(source)
    if not path.is_dir():
        return {}
    for name in sets:  # arena session leaves data/SET/S07 in the folder of each session
        for person in sorted([*path.glob(f"data/{name}/*/"), *path.glob(f"*/data/{name}/*/")]):
            link = gathered / name / person.name
            link.parent.mkdir(parents=True, exist_ok=True)
            if link.is_symlink():
                raise BadInput(f"{person}: {person.name} has this set in another session, too; give each a number")
            link.symlink_to(person.resolve(), target_is_directory=True)
    if gathered.is_dir():
        return {name: gathered / name for name in sets if (gathered / name).is_dir()}
    try:
        found = open_sets(path)
    except BadInput:
        found = {}
    if "" in found:
        return {}
    return {name: path / name for name in sets if (path / name).is_dir()}


def _write(book: Rulebook, part: Part, out: Path, bids: bool) -> None:
    """Both copies of a set, from the same blocks."""
    for where in ("public", "truth"):
        if where == ("truth" if part.role == "train" else "public" if part.role == "hidden" else ""):
            continue
        folder = out / where / part.name
        for subject in part.subjects:
            for number, block in enumerate(subject.blocks, 1):
                shown = block if where == "truth" else public_block(book, block, part.role)
                assert shown is not None  # a hidden set is not written there
                _write_block(book, folder, part.name, subject.name, number, shown, bids)
        if bids:
            people = [subject.name.removeprefix("S") for subject in part.subjects]
            readme = MASKED if where == "public" and part.role == "scored" else WITH_TRUTH
            describe_bids(folder, f"{book.id} {part.name}", people, readme)


def _write_block(book: Rulebook, folder: Path, name: str, who: str, number: int, block: Block, bids: bool) -> None:
    marks = Marks(book.opens | book.masked, block.invalid) if block.invalid else None
    if bids:
        write_bids(
            folder, who.removeprefix("S"), name.replace("_", ""), number, block.eeg, block.events, block.rate,
            block.channels, meanings=codes_of(book), marks=marks,
        )  # fmt: skip
        return
    path = folder / who / f"block_{number}.npz"
    write_contest(path, block.data.astype(np.float32), block.rate, block.channels)
    if marks:
        table = events_text(block.events, block.rate, {}, marks)
        path.with_name(path.stem + ENDING).write_text(table, "utf-8")


def _check(book: Rulebook, parts: list[Part], out: Path) -> None:
    """Read back what was written: form, trials, finite samples, and that the two copies differ in the mask alone."""
    for part in parts:
        source = part.recording
        check_form(book, source)
        kept = open_recording(out / ("public" if part.role == "train" else "truth") / part.name)
        if kept.digest != source.digest:
            raise Fault(f"{part.name}: what was written is not what was planned")
        if part.role != "scored":
            continue
        for (_, _, true), (_, _, shown) in zip(kept, open_recording(out / "public" / part.name), strict=True):
            trial_spans(book, true)
            same = np.array_equal(shown.trigger, book.masked_trigger(true.trigger))
            if not same or not np.array_equal(shown.eeg, true.eeg):
                raise Fault(f"{shown.source}: is not the masked copy of {true.source}")


def _origins(part: Part, work: Path) -> dict[str, list[str]]:
    """By new name: where in the source each block was, relative to what was brought in."""
    return {one.name: [_inside(block.source, work) for block in one.blocks] for one in part.subjects}


def _inside(source: str, work: Path) -> str:
    path = Path(source)
    return str(path.relative_to(work)).replace("blocks/", "", 1) if work in path.parents else source
