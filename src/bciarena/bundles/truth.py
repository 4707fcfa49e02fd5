"""The truth of a recording without its samples: as much of it as a score needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NotRequired, TypedDict

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import TrialSpan
from bciarena.errors import BadInput
from bciarena.referee import Truth
from bciarena.runs.shape import parsed, problem, read_text

NAME = "truth.json"


class Span(TypedDict):
    """A trial, in samples of its block (see `TrialSpan`)."""

    opened: int
    code: int
    data_start: int
    stop: int
    closed: int | None
    closed_end: int | None
    invalid: NotRequired[str]


class BlockOf(TypedDict):
    """The trials of one block."""

    subject: int
    block: int
    trials: list[Span]


def write_truth(truth: Truth, folder: Path) -> None:
    """Write the truth into a bundle."""
    blocks = [
        {"subject": subject, "block": block, "trials": [span._asdict() for span in spans]}
        for subject, block, spans in truth.blocks
    ]
    (folder / NAME).write_text(json.dumps(blocks, ensure_ascii=False) + "\n", "utf-8")


def read_truth(folder: Path, book: Rulebook) -> Truth:
    """Read it back; BadInput where it is damaged, or has a code that opens no trial by these rules."""
    try:
        blocks: list[BlockOf] = parsed(read_text(folder / NAME))
    except (OSError, ValueError) as error:
        raise BadInput(f"{NAME}: is missing or damaged ({type(error).__name__})") from error
    if wrong := problem(blocks, list[BlockOf]):
        raise BadInput(f"{NAME}: is damaged ({wrong})")
    for block in blocks:
        for span in block["trials"]:
            if span["code"] not in book.truth or (book.missing_s is None and span["closed"] is None):
                raise BadInput(f"{NAME}: code {span['code']} opens no trial of {book.id}, or lacks its end")
    return Truth(tuple((b["subject"], b["block"], tuple(TrialSpan(**span) for span in b["trials"])) for b in blocks))
