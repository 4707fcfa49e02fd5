"""From ledger to score file, right after a run or at any later time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bciarena.contests import registered
from bciarena.contests import rulebook as find_rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.recording import open_recording
from bciarena.referee import Truth, judge
from bciarena.runs.folder import LEDGER, RunFolder
from bciarena.runs.result import Result
from bciarena.summary import tally
from bciarena.verdicts import VOID


def score_of(rulebook: Rulebook, truth: Truth, reports: Sequence[Mapping[str, Any]], end: Mapping[str, Any]) -> Result:
    """The content of score.json: a pure function of rulebook, truth and ledger."""
    result = judge(rulebook, truth, reports)
    verdict = end["verdict"]
    return Result(
        challenge=rulebook.id,
        verdict=verdict,
        reason=end.get("reason", ""),
        score=0.0 if verdict in VOID else result.score,
        unit=rulebook.unit,
        sandbox=end.get("sandbox", "none"),
        metrics=result.metrics,
        subjects=result.subjects,
        blocks=result.blocks,
        trials=[trial.as_json() for trial in result.trials],
        notes=result.notes + list(end.get("notes", [])),
    )


def rescore(run: Path, data: Path | None = None, challenge: str | None = None) -> Result:
    """Recompute the score of a kept run from its ledger and the data; never re-runs anything.

    ``challenge`` scores the same ledger under another rulebook id.
    """
    folder = RunFolder(run)
    header, reports, end = folder.ledger()
    if end is None:
        raise BadInput(f"{run / LEDGER}: has no end line: the run was cut off, so there is no score")
    book = find_rulebook(challenge) if challenge else registered(header["challenge"])
    if challenge is None and header["rulebook"] not in {book.digest, *book.formerly}:
        raise BadInput(f"{run}: its rules differ from those of {book.id} today; choose a rulebook with --rules")
    where = str(data) if data else RunFolder(run, lenient=True).about().get("data", "")
    if not where or not Path(where).is_dir():
        raise BadInput(f"{run}: its data folder {where!r} is not here; name it with --data")
    recording = open_recording(where)
    if recording.digest != header["data"]:
        raise BadInput(f"{where}: is not the data of this run: its digest differs from the ledger's")
    result = score_of(book, Truth.of(book, recording), reports, end)
    think_s = RunFolder(run, lenient=True).think_s()  # explains the score, but is no part of it
    result.tally = tally(result, len(reports), float(think_s.sum()), recording.seconds, end["wall_s"])
    return result
