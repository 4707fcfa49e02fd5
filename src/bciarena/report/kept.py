"""A run folder as far as it is there: what is missing or damaged is said, the rest is used."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.challenges import RULEBOOKS
from bciarena.challenges.rulebook import Rulebook
from bciarena.challenges.trial import Trial
from bciarena.errors import BadInput
from bciarena.recording import Recording, open_recording
from bciarena.report.statistics import trials_from

PRINTED_MOST = 200_000  # characters of the entry's output that go into a page


@dataclass
class KeptRun:
    """What a report can draw on."""

    folder: Path
    book: Rulebook
    score: dict[str, Any]
    header: dict[str, Any] = field(default_factory=dict)
    reports: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    layout: list[dict[str, Any]] = field(default_factory=list)
    think_s: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    printed: list[dict[str, Any]] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    data: Path | None = None  # where the recordings are, if they have moved since the run

    @cached_property
    def recording(self) -> Recording:
        """The recordings of this run; BadInput says why they cannot be had."""
        where = self.data or Path(self.about.get("data") or "")
        if where == Path() or not where.is_dir():
            raise BadInput(f"the data folder {str(where)!r} is not here")
        recording = open_recording(where)
        if self.header.get("data") and recording.digest != self.header["data"]:
            raise BadInput(f"{where} is not the data of this run")
        return recording


def open_run(folder: Path, data: Path | None = None) -> KeptRun:
    """Open a run folder; only when not even a score is there is it refused."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such run folder")
    missing: list[str] = []
    header, reports, end = _ledger(folder / "ledger.jsonl", missing)
    score = _json(folder / "score.json", missing)
    challenge = (score or {}).get("challenge") or header.get("challenge")
    if challenge not in RULEBOOKS:
        raise BadInput(f"{folder}: neither score.json nor ledger.jsonl names a known challenge; is this a run folder?")
    empty = {"challenge": challenge, "verdict": "unknown", "score": 0.0, "metrics": {}, "subjects": [], "blocks": []}
    score = {"trials": [], "notes": [], "reason": "", "unit": RULEBOOKS[challenge].unit, **empty, **(score or {})}
    run = KeptRun(folder, RULEBOOKS[challenge], score, header, reports, end, data=data)
    run.layout = _json(folder / "layout.json", missing) or []
    run.about = _json(folder / "run.json", missing) or {}
    try:
        with np.load(folder / "think.npz") as file:
            run.think_s = file["think_s"]
    except (OSError, ValueError, KeyError):
        missing.append("think.npz: computing times")
    run.trials = trials_from(score)
    run.printed = _printed(folder)
    if not run.trials:
        missing.append("trials: none were judged")
    run.missing = missing
    return run


def _json(path: Path, missing: list[str]) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        missing.append(f"{path.name}: not in the run folder")
    except (OSError, ValueError):
        missing.append(f"{path.name}: damaged or cut")
    return None


def _ledger(path: Path, missing: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]:
    """Every readable line of a ledger, up to the first damaged one."""
    header: dict[str, Any] = {}
    reports: list[dict[str, Any]] = []
    end = None
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        missing.append("ledger.jsonl: not in the run folder")
        return header, reports, end
    for number, row in enumerate(lines, 1):
        try:
            line = json.loads(row)
            kind = line["type"]
        except (ValueError, KeyError, TypeError):
            missing.append(f"ledger.jsonl: damaged or cut at line {number}; shown up to there")
            break
        if kind == "header":
            header = line
        elif kind == "report":
            reports.append(line)
        else:
            end = line
    if end is None:
        missing.append("ledger.jsonl: has no end line, the run was cut off")
    return header, reports, end


def _printed(folder: Path) -> list[dict[str, Any]]:
    """What the entry printed, in pieces with the packet after which they came."""
    index = folder / "output.jsonl"
    texts = {}
    for name in ("stdout", "stderr"):
        path = folder / f"{name}.txt"
        texts[name] = path.read_bytes() if path.is_file() else b""
    pieces: list[dict[str, Any]] = []
    if index.is_file():
        for row in index.read_text("utf-8", "replace").splitlines():
            try:
                item = json.loads(row)
                raw = texts[item["stream"]][item["start"] : item["stop"]]
                pieces.append(
                    {"packet": item["packet"], "stream": item["stream"], "text": raw.decode("utf-8", "replace")}
                )
            except (ValueError, KeyError, TypeError):
                break
    elif any(texts.values()):
        pieces = [{"packet": 0, "stream": k, "text": v.decode("utf-8", "replace")} for k, v in texts.items() if v]
    total = 0
    for number, piece in enumerate(pieces):
        piece["text"] = piece["text"][: PRINTED_MOST - total]
        total += len(piece["text"])
        if total >= PRINTED_MOST:
            return pieces[: number + 1]
    return pieces
