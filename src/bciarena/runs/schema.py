"""The files of a run folder, as types: what is written, what is checked, and the JSON Schema, all from here.

``FORMAT`` counts changes that an older reader would not understand; added fields do not count.
"""

# No `from __future__ import annotations` here: Python 3.11 does not see NotRequired in annotations kept as text.

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from bciarena.runs.shape import json_schema
from bciarena.verdicts import Verdict

FORMAT = 1


class Header(TypedDict):
    """The first line: what was played, by which rules, under which conditions."""

    type: Literal["header"]
    format: NotRequired[Annotated[int, "Version of the run folder's format; absent in the first ones, which are 1."]]
    challenge: Annotated[str, "Id of the rulebook: its name and version."]
    rulebook: Annotated[str, "Digest of the rulebook."]
    data: Annotated[str, "Digest of the recording; empty while a live run is still recording it."]
    entry: Annotated[str, "Digest of the entry; empty for an object in the referee's own process."]
    versions: Annotated[dict[str, str], "Of bciarena, numpy and Python on the referee's side."]
    seed: Annotated[int, "Given to the entry; its random numbers start from it."]
    clock: Annotated[Literal["think", "data"], "Whether computing time was measured."]
    sandbox: Annotated[str, "How the entry was to be confined; the end line says how it actually was."]
    live: NotRequired[Annotated[str, "Name of the stream, for a live run."]]
    calibration: NotRequired[
        Annotated[
            dict[str, Any],
            "What the organiser let the entry learn: `mode` (labelled, unlabelled, after_trial), names of the `sets`, "
            "`blocks` of each subject, whether it was `fitted`, its `model` in the site's storage and `train_s`.",
        ]
    ]
    reference_load: NotRequired[
        Annotated[
            dict[str, float],
            "On the think clock: seconds that a fixed piece of work took on the referee's side just before the run "
            "(`took_s`), and would have taken at the speed of its quickest piece on that machine within a week "
            "(`best_s`).",
        ]
    ]


class ReportLine(TypedDict):
    """One report of the entry."""

    type: Literal["report"]
    subject: int
    block: int
    position: Annotated[int, "Samples of this block handed out so far."]
    packet: Annotated[int, "Number of the last packet handed out, within the block, from 1."]
    value: Annotated[Any, "The answer as given; an object {other: text} for what JSON cannot express."]
    think_s: Annotated[float, "How far behind the data the entry was on the think clock."]


class EndLine(TypedDict):
    """The last line: how the run ended."""

    type: Literal["end"]
    verdict: Verdict
    reason: Annotated[str, "Why, where the verdict is not ok."]
    notes: Annotated[list[str], "What a contestant should know."]
    sandbox: Annotated[str, "How the entry was confined."]
    packets: Annotated[int, "Handed out, over all blocks."]
    cpu_s: Annotated[float, "Of the entry and all processes it started, seconds."]
    wall_s: Annotated[float, "From the start of its box to its end, seconds."]


class SubjectRow(TypedDict):
    """The score of one subject."""

    subject: int
    score: float


class BlockRow(TypedDict):
    """The score of one block, with what the contest shows beside it."""

    subject: int
    block: int
    score: float


class TrialRow(TypedDict):
    """A judged trial."""

    subject: int
    block: int
    trial: int
    truth: str
    answer: Annotated[str | None, "As it counted; null where there was none."]
    correct: bool
    length_s: Annotated[float | None, "The length that entered the score; null where none did."]
    status: Literal["in_time", "late", "missing", "false_positive", "quiet", "after_target", "invalid"]


class Score(TypedDict):
    """A pure function of rulebook, truth and ledger."""

    challenge: str
    verdict: Verdict
    reason: Annotated[str, "Why, where the verdict is not ok."]
    score: float
    unit: str
    sandbox: Annotated[str, "How the entry was confined."]
    metrics: Annotated[dict[str, float], "By name; which ones, the contest decides."]
    subjects: list[SubjectRow]
    blocks: list[BlockRow]
    trials: list[TrialRow]
    notes: Annotated[list[str], "What a contestant should know."]


class LayoutBlock(TypedDict):
    """One item per block: where its trials are, without their truth."""

    subject: int
    block: int
    samples: int
    rate: int
    trials: Annotated[list[list[int]], "[opened, data_start, stop] of each, in samples."]


class Mark(TypedDict):
    """One line per mark: what was printed from this byte on came after this packet."""

    stream: Literal["stdout", "stderr"]
    offset: Annotated[int, "In bytes, in stdout.txt or stderr.txt."]
    packet: Annotated[int, "Packets handed out before, over all blocks."]


class About(TypedDict):
    """Where things were, to find them again; no part of the result."""

    data: Annotated[str, "The data folder; empty where it is kept by digest."]
    entry: NotRequired[Annotated[str, "As it was named on the command line."]]
    name: NotRequired[Annotated[str, "Its short name."]]
    model: NotRequired[Annotated[str, "The folder of its trained model."]]
    python: NotRequired[Annotated[str, "The version that was asked for."]]
    stored_data: NotRequired[Annotated[str, "Digest in the site's storage."]]
    stored_entry: NotRequired[Annotated[str, "Digest in the site's storage, or a reference entry's name."]]
    shards: NotRequired[Annotated[int, "How many shards it was joined from."]]
    live: NotRequired[Annotated[str, "Name of the stream."]]
    subject: NotRequired[Annotated[int, "Of a live run: the number of the person; in data folder and ledger it is 1."]]
    block: NotRequired[Annotated[int, "Of a live run: the number of the block; in data folder and ledger it is 1."]]
    delays_ms: NotRequired[Annotated[list[float], "Of a live run: from a sample's arrival to each answer."]]


LINES: dict[str, Any] = {"header": Header, "report": ReportLine, "end": EndLine}
"""The lines of ledger.jsonl by their ``type``."""
FILES: dict[str, Any] = {
    "ledger.jsonl": Header | ReportLine | EndLine,
    "score.json": Score,
    "layout.json": list[LayoutBlock],
    "output.jsonl": Mark,
    "run.json": About,
}
"""Type of each JSON file, or of each of its lines; the folder also has think.npz, stdout.txt and stderr.txt."""


def run_schema() -> dict[str, Any]:
    """The JSON Schema of all files, under ``$defs`` by file name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:bciarena:run:{FORMAT}",
        "title": "A run folder of BCI Arena",
        "description": "Under $defs: each JSON file, or each line of a .jsonl file. There may be further fields.",
        "$defs": {name: json_schema(kind) for name, kind in FILES.items()},
    }
