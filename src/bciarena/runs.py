"""Run folders: play, keep, recompute."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import bciarena
from bciarena.challenges import rulebook as find_rulebook
from bciarena.challenges.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.match import End, Match, Player, Progress
from bciarena.recording import Recording, open_recording
from bciarena.referee import Ledger, Truth, judge, read_ledger
from bciarena.referee.desk import Clock

VOID = frozenset({"over_budget"})
"""Verdicts that make the whole run invalid: the score is 0, the trials are kept."""


def score_of(rulebook: Rulebook, truth: Truth, reports: list[dict[str, Any]], end: dict[str, Any]) -> dict[str, Any]:
    """The content of score.json: a pure function of rulebook, truth and ledger."""
    result = judge(rulebook, truth, reports)
    verdict = end["verdict"]
    return {
        "challenge": rulebook.id,
        "verdict": verdict,
        "reason": end.get("reason", ""),
        "score": 0.0 if verdict in VOID else result.score,
        "unit": rulebook.unit,
        "sandbox": end.get("sandbox", "none"),
        "metrics": result.metrics,
        "subjects": result.subjects,
        "blocks": result.blocks,
        "trials": [trial.as_json() for trial in result.trials],
        "notes": result.notes + list(end.get("notes", [])),
    }


def run_match(
    rulebook: Rulebook,
    recording: Recording,
    player: Player,
    *,
    out: Path | None = None,
    force: bool = False,
    clock: Clock = "think",
    sandbox: str = "in-process",
    entry_digest: str = "",
    about: dict[str, Any] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    budget_s: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Play a recording through a player, score it, and keep the run folder ``out`` if one is named.

    ``sandbox`` says in the ledger's header how the player was asked to run the entry; the end line says what it did.
    ``about`` is kept in run.json (paths, names): what helps to find things again but is no part of the result.
    """
    truth = Truth.of(rulebook, recording)
    header = {
        "challenge": rulebook.id,
        "rulebook": rulebook.digest,
        "data": recording.digest,
        "entry": entry_digest,
        "versions": {
            "bciarena": bciarena.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "seed": seed,
        "clock": clock,
        "sandbox": sandbox,
    }
    with ExitStack() as stack:
        folder = stack.enter_context(_beside(out, force)) if out else None
        file = stack.enter_context(open(folder / "ledger.jsonl", "w", encoding="utf-8")) if folder else None
        ledger = Ledger(header, file)
        match = Match(rulebook, recording, ledger, clock, folder, on_progress, budget_s, seed)
        end = player(match)
        ledger.append(end_line(match, end))
        result = score_of(rulebook, truth, ledger.reports, ledger.lines[-1])
        if folder:
            _write_json(folder / "score.json", result)
            _write_json(folder / "layout.json", _layout(rulebook, recording, truth))
            data = str(recording.folder.absolute()) if recording.folder else ""  # found again from wherever one stands
            _write_json(folder / "run.json", {"data": data, **(about or {})})
            np.savez_compressed(folder / "think.npz", think_s=np.frombuffer(match.think_s, np.float32))
    return result


def _layout(rulebook: Rulebook, recording: Recording, truth: Truth) -> list[dict[str, Any]]:
    """Where trials lie, so that a run can be shown without its data: [opened, data_start, stop] in samples."""
    return [
        {
            "subject": subject,
            "block": number,
            "samples": block.samples,
            "rate": rulebook.rate,
            "trials": [[span.opened, span.data_start, span.stop] for span in spans],
        }
        for (subject, number, block), (_, _, spans) in zip(recording, truth.blocks, strict=True)
    ]


def end_line(match: Match, end: End) -> dict[str, Any]:
    """The last line of a ledger."""
    return {
        "type": "end",
        "verdict": end.verdict,
        "reason": end.reason,
        "notes": list(end.notes),
        "sandbox": end.sandbox,
        "packets": match.packets,
        "cpu_s": round(end.cpu_s, 6),
        "wall_s": round(end.wall_s, 6),
    }


def rescore(run: Path, data: Path | None = None, challenge: str | None = None) -> dict[str, Any]:
    """Recompute the score of a kept run from its ledger and the data; never re-runs anything.

    ``challenge`` scores the same ledger under another rulebook id.
    """
    header, reports, end = read_ledger(run / "ledger.jsonl")
    if end is None:
        raise BadInput(f"{run / 'ledger.jsonl'}: has no end line: the run was cut off, so there is no score")
    book = find_rulebook(challenge or header["challenge"])
    if challenge is None and header["rulebook"] != book.digest:
        raise BadInput(f"{run}: was made under another reading of {book.id}; its rules have a new id since then")
    folder = data or Path(_about(run).get("data", ""))
    if not str(folder) or str(folder) == "." or not folder.is_dir():
        raise BadInput(f"{run}: its data folder {str(folder)!r} is not here; name it with --data")
    recording = open_recording(folder)
    if recording.digest != header["data"]:
        raise BadInput(f"{folder}: is not the data of this run: its digest differs from the ledger's")
    return score_of(book, Truth.of(book, recording), reports, end)


def _about(run: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((run / "run.json").read_text("utf-8")))
    except (OSError, ValueError):
        return {}


class _beside:
    """A folder that gets its final name only when everything in it is written."""

    def __init__(self, out: Path, force: bool) -> None:
        self.out, self.force = out, force
        self.work = out.with_name(f".{out.name}.{os.getpid()}.part")

    def __enter__(self) -> Path:
        if self.out.exists() and not self.force:
            raise BadInput(f"{self.out}: exists already; choose another name or give --force to replace it")
        try:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir(parents=True)
        except OSError as error:
            raise BadInput(f"{self.out}: cannot be written ({error.strerror})") from error
        return self.work

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            if self.out.exists():
                shutil.rmtree(self.out)
            os.replace(self.work, self.out)
        else:
            shutil.rmtree(self.work, ignore_errors=True)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
