"""What a session's plan says: who, which blocks in which order, what decodes them. One TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bciarena.contests import rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.lab.hub import CUES, LOST_MS
from bciarena.lab.trials import trials_of
from bciarena.live.amplifier import Wiring
from bciarena.live.photodiode import read_offset
from bciarena.protocol import Screening, Timeline, protocol_of, screened, split_of
from bciarena.words import LANGUAGES

NUMBER = (int, float)


@dataclass(frozen=True)
class Part:
    """Blocks of one set, decoded by one entry that stays alive from the first to the last of them."""

    split: str
    blocks: tuple[int, ...]
    entry: str = ""
    model: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    practice: int = 0  # trials shown before the first block, neither recorded nor decoded


@dataclass(frozen=True)
class Plan:
    """A session as it was planned."""

    path: Path
    challenge: str
    subject: int
    out: Path
    parts: tuple[Part, ...]
    seed: int = 0
    stream: str = "bciarena"
    language: str = "en"
    cue: str = "arrow"
    distance_cm: float | None = None
    screen_cm: float | None = None
    lost_ms: float = LOST_MS
    repeat_void: bool = True
    sandbox: str = "bwrap"
    map: Mapping[str, str] = field(default_factory=dict)  # channels, ours to the amplifier's
    unit: str = ""
    keep_all: bool = False
    offset: Path | None = None  # what arena lab verify wrote

    @property
    def wiring(self) -> Wiring:
        return Wiring(self.map, self.unit, self.keep_all)

    @property
    def book(self) -> Rulebook:
        return rulebook(self.challenge)

    def timeline(self, part: Part, block: int) -> Timeline:
        return screened(self.challenge, Screening(part.split, self.subject, block, self.seed, part.options))


PART = {"split": str, "blocks": (int, list), "entry": str, "model": str, "options": dict, "practice": int}
WHOLE = {
    "challenge": str, "subject": int, "out": str, "part": list, "seed": int, "stream": str, "language": str, "cue": str,
    "distance_cm": NUMBER, "screen_cm": NUMBER, "lost_ms": NUMBER, "repeat_void": bool, "sandbox": str,
    "map": dict, "unit": str, "keep_all": bool, "offset": str,
}  # fmt: skip
MOST_BLOCKS = 10_000  # more than any set has: the first that is not there is named
CHOICES = {"language": LANGUAGES, "cue": CUES, "sandbox": ("bwrap", "none")}


def read_plan(path: Path) -> Plan:
    """A plan from its file; BadInput names the field that cannot be used."""
    try:
        told = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is no TOML ({error})") from error
    _types(path, "", told, WHOLE, ("challenge", "subject", "out", "part"))
    for name, choices in CHOICES.items():
        if told.get(name, choices[0]) not in choices:
            raise BadInput(f"{path}: {name} = {told[name]!r}: choose one of {', '.join(choices)}")
    for name in ("distance_cm", "screen_cm", "lost_ms"):
        if not told.get(name, 1) > 0:
            raise BadInput(f"{path}: {name} = {told[name]}: give more than 0")
    if not told["part"]:
        raise BadInput(f"{path}: has no [[part]]: name at least one set of blocks")
    book, here = rulebook(told["challenge"]), path.parent
    parts = tuple(_part(path, here, book, number, part) for number, part in enumerate(told.pop("part"), 1))
    if not all(isinstance(name, str) for name in told.get("map", {}).values()):
        raise BadInput(f'{path}: map: write CHANNEL = "NAME IN THE STREAM", and "" where there is no such electrode')
    offset = here / told["offset"] if "offset" in told else None
    if offset:
        read_offset(offset)
    whole = {"challenge": book.id, "out": here / told["out"], "parts": parts, "offset": offset}
    plan = Plan(path, **told | whole)
    splits = [part.split for part in parts]
    if twice := next((split for split in splits if splits.count(split) > 1), None):
        raise BadInput(f"{path}: two parts are of the set {twice}: put their blocks into one")
    for number, part in enumerate(parts, 1):  # every block must be there before a subject sits down
        for block in part.blocks:
            try:
                plan.timeline(part, block)
            except BadInput as error:
                raise BadInput(f"{path}: part {number}, block {block}: {error}") from error
    return plan


def _types(path: Path, where: str, told: dict[str, Any], known: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    for name in needed:
        if name not in told:
            raise BadInput(f"{path}: {where}{name} is missing")
    for name, value in told.items():
        if name not in known:
            raise BadInput(f"{path}: {where}{name} is not known; a plan has {', '.join(known)}")
        wrong = isinstance(value, bool) and known[name] is not bool
        if wrong or not isinstance(value, known[name]):
            raise BadInput(f"{path}: {where}{name} = {value!r}: is of the wrong type")


def _part(path: Path, here: Path, book: Rulebook, number: int, told: Any) -> Part:
    where = f"part {number}: "
    if not isinstance(told, dict):
        raise BadInput(f"{path}: part: write [[part]], one table for each")
    _types(path, where, told, PART, ())
    split = told.get("split", protocol_of(book).scored)
    try:
        blocks = told.get("blocks", split_of(book.id, split).blocks)
    except BadInput as error:
        raise BadInput(f"{path}: {where}{error}") from error
    blocks = tuple(range(1, min(blocks, MOST_BLOCKS) + 1)) if isinstance(blocks, int) else tuple(blocks)
    if not blocks or not all(type(block) is int for block in blocks) or len(set(blocks)) != len(blocks):
        raise BadInput(f"{path}: {where}blocks: give a number, or a list of different numbers")
    if not 0 <= told.get("practice", 0) <= 100:
        raise BadInput(f"{path}: {where}practice = {told['practice']}: give 0 to 100 trials")
    model = here / told["model"] if "model" in told else None
    if model and "entry" not in told:
        raise BadInput(f"{path}: {where}model: names no entry that could use it")
    if model and not model.is_dir():
        raise BadInput(f"{path}: {where}model {model}: there is no such folder; arena train makes one")
    return Part(split, tuple(sorted(blocks)), told.get("entry", ""), model, told.get("options", {}),
                told.get("practice", 0))  # fmt: skip


def practice(timeline: Timeline, trials: int) -> Timeline:
    """The first trials of a block as practice: no codes, so nothing of it can be taken for data."""
    steps = [step.as_json() for step in timeline.steps]
    shown = trials_of(steps, rulebook(timeline.challenge).opens)[:trials]
    kept = timeline.steps[shown[0].begin : shown[-1].close]
    begin_s = kept[0].onset_s
    moved = tuple(replace(step, onset_s=step.onset_s - begin_s + 1.0, code=0) for step in kept)
    end_s = moved[-1].end_s + 1.0
    return replace(timeline, steps=moved, samples=round(end_s * timeline.rate))
