"""Play a recording to an entry, and keep the run."""

from __future__ import annotations

import platform
from array import array
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import bciarena
from bciarena.clocks import Reference, reference_load
from bciarena.contests.rulebook import Rulebook
from bciarena.match import End, Match, Player, Progress
from bciarena.recording import Recording
from bciarena.referee import Ledger, Truth
from bciarena.referee.desk import Clock
from bciarena.runs.folder import RunFolder, new_run
from bciarena.runs.result import Result
from bciarena.runs.schema import FORMAT, About, EndLine, Header, LayoutBlock
from bciarena.runs.scoring import score_of
from bciarena.stream import Stream
from bciarena.summary import tally


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
    reference: Reference | None = None,
    calibration: Mapping[str, Any] | None = None,
) -> Result:
    """Play a recording through a player, score it, and keep the run folder ``out`` if one is named.

    ``sandbox`` says in the ledger's header how the player was asked to run the entry; the end line says what it did.
    ``about`` is kept in run.json (paths, names): where things were, which is no part of the result.
    ``calibration`` is what the entry may learn (see `Header`); in the mode after_trial the stream tells each trial's
    truth when it is over.
    ``reference`` is the reference load, if it was measured already; otherwise it is measured now, on the think clock.
    """
    truth = Truth.of(rulebook, recording)
    if clock == "think" and reference is None:
        reference = reference_load()
    header = header_of(
        rulebook,
        recording.digest,
        clock=clock,
        sandbox=sandbox,
        entry_digest=entry_digest,
        seed=seed,
        reference=reference,
    )
    if calibration:
        header["calibration"] = dict(calibration)
    labels = calibration is not None and calibration["mode"] == "after_trial"
    with new_run(out, force) as folder:
        with folder.open_ledger(header) if folder else nullcontext(Ledger(dict(header))) as ledger:
            source = Stream(rulebook, recording, labels)
            match = Match(rulebook, source, ledger, clock, folder, on_progress, budget_s, seed)
            if labels:
                match.info["labels_after"] = True
            end = player(match)
            ledger.append(dict(end_line(end, match.packets)))
        return keep(folder, rulebook, recording, truth, ledger, match.think_s, about)


def header_of(
    rulebook: Rulebook,
    data: str,
    *,
    clock: Clock = "think",
    sandbox: str,
    entry_digest: str = "",
    seed: int = 0,
    reference: Reference | None = None,
) -> Header:
    """The first line of a ledger; ``data`` is the digest of the recording."""
    header: Header = {
        "type": "header",
        "format": FORMAT,
        "challenge": rulebook.id,
        "rulebook": rulebook.digest,
        "data": data,
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
    if reference:
        header["reference_load"] = {"took_s": round(reference.took_s, 6), "best_s": round(reference.best_s, 6)}
    return header


def end_line(end: End, packets: int) -> EndLine:
    """The last line of a ledger."""
    return {
        "type": "end",
        "verdict": end.verdict,
        "reason": end.reason,
        "notes": list(end.notes),
        "sandbox": end.sandbox,
        "packets": packets,
        "cpu_s": round(end.cpu_s, 6),
        "wall_s": round(end.wall_s, 6),
    }


def keep(
    folder: RunFolder | None,
    rulebook: Rulebook,
    recording: Recording,
    truth: Truth,
    ledger: Ledger,
    think_s: array[float],
    about: dict[str, Any] | None = None,
) -> Result:
    """Score a run whose ledger is complete, and write the other files of its folder."""
    result = score_of(rulebook, truth, ledger.reports, ledger.lines[-1])
    wall_s = ledger.lines[-1].get("wall_s")
    result.tally = tally(result, len(ledger.reports), float(sum(think_s)), recording.seconds, wall_s)
    result.timing = _timing(np.frombuffer(think_s, np.float32), ledger.lines[0].get("reference_load"))
    if folder:
        folder.write_score(result)
        folder.write_layout(_layout(rulebook, recording, truth))
        data = (
            str(recording.folder.absolute()) if recording.folder else ""
        )  # absolute: the current folder may be another later
        folder.write_about(cast(About, {"data": data, **(about or {})}))
        folder.write_think(np.frombuffer(think_s, np.float32))
    return result


def _timing(think_s: NDArray[np.float32], reference: dict[str, float] | None) -> dict[str, float]:
    """How evenly the entry computed, and how quiet the machine was: shown beside the score."""
    found = {}
    if len(think_s):
        found["think_p50_ms"], found["think_p99_ms"] = (float(x) * 1e3 for x in np.percentile(think_s, [50, 99]))
    if reference:
        found["reference_ms"] = reference["took_s"] * 1e3
        found["reference_times_best"] = reference["took_s"] / reference["best_s"]
    return {name: round(value, 4) for name, value in found.items()}


def _layout(rulebook: Rulebook, recording: Recording, truth: Truth) -> list[LayoutBlock]:
    """Where the trials are, so that a run can be shown without its data."""
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
