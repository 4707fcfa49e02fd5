"""As much of a run folder as can be read: what is missing or damaged is listed, the rest is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import registered
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.errors import BadInput
from bciarena.recording import Recording, open_recording
from bciarena.report.statistics import trials_from
from bciarena.runs.folder import Printed, RunFolder
from bciarena.runs.schema import EndLine, LayoutBlock, ReportLine

PRINTED_MOST = 200_000  # bytes of the entry's output that go into a page


@dataclass
class KeptRun:
    """What a report is made from."""

    folder: Path
    book: Rulebook
    score: dict[str, Any]
    header: Mapping[str, Any] = field(default_factory=dict)
    reports: list[ReportLine] = field(default_factory=list)
    end: EndLine | None = None
    layout: list[LayoutBlock] = field(default_factory=list)
    think_s: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    printed: list[Printed] = field(default_factory=list)
    about: Mapping[str, Any] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    data: Path | None = None  # where the recordings are, if they have moved since the run

    @cached_property
    def recording(self) -> Recording:
        """The recordings of this run; BadInput says why they cannot be opened."""
        where = self.data or Path(self.about.get("data") or "")
        if where == Path() or not where.is_dir():
            raise BadInput(f"the data folder {str(where)!r} is not here")
        recording = open_recording(where)
        if self.header.get("data") and recording.digest != self.header["data"]:
            raise BadInput(f"{where} is not the data of this run")
        return recording


def open_run(folder: Path, data: Path | None = None) -> KeptRun:
    """Open a run folder; it is refused only if neither score nor ledger can be read."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such run folder")
    files = RunFolder(folder, lenient=True)
    header, reports, end = files.ledger()
    score = files.score()
    challenge = score.get("challenge") or header.get("challenge")
    if not isinstance(challenge, str):
        raise BadInput(f"{folder}: neither score.json nor ledger.jsonl names a challenge; is this a run folder?")
    book = registered(challenge)
    whole: dict[str, Any] = {"challenge": challenge, "verdict": "unknown", "reason": "", "score": 0.0}
    whole |= {"unit": book.unit, "metrics": {}, "subjects": [], "blocks": [], "trials": [], "notes": []}
    whole |= score
    run = KeptRun(folder, book, whole, header, reports, end, data=data)
    run.layout = files.layout()
    run.about = files.about()
    run.think_s = files.think_s()
    run.trials = trials_from(whole)
    run.printed = _first(files.printed(), PRINTED_MOST)
    run.missing = files.missing + ([] if run.trials else ["trials: none were judged"])
    return run


def _first(pieces: list[Printed], most: int) -> list[Printed]:
    """As many pieces as ``most`` bytes allow, the last one cut."""
    kept = []
    for piece in pieces:
        if most <= 0:
            break
        kept.append(piece._replace(raw=piece.raw[:most]))
        most -= len(piece.raw)
    return kept
