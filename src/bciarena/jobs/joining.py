"""Joining the runs of a match's shards into the one run folder a single run would have made (see shards.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.challenges import rulebook as find_rulebook
from bciarena.errors import Fault
from bciarena.jobs.storage import Storage
from bciarena.match import End, Match
from bciarena.recording import open_recording
from bciarena.referee import read_ledger
from bciarena.runs import run_match
from bciarena.sandbox.limits import Limits

SAME = ("challenge", "rulebook", "entry", "versions", "seed", "clock", "sandbox")
"""What the headers of all shards, and of the joined ledger, must agree on."""


def join_runs(payload: dict[str, Any], runs: list[Path], storage: Storage, out: Path) -> dict[str, Any]:
    """Make the run folder of the whole match from the run folders of its shards, in playing order."""
    book = find_rulebook(payload["challenge"])
    recording = open_recording(storage.fetch(payload["data"]))
    if len(runs) != len(recording.subjects):
        raise Fault(f"{len(runs)} shards for {len(recording.subjects)} subjects")
    first, _, _ = read_ledger(runs[0] / "ledger.jsonl")
    stored = {"data": "", "stored_data": payload["data"], "stored_entry": payload["entry"], "shards": len(runs)}

    def replay(match: Match) -> End:
        return _replay(match, runs)

    return run_match(
        book,
        recording,
        replay,
        out=out,
        clock=payload.get("clock", "think"),
        sandbox=payload.get("sandbox", "bwrap"),
        seed=payload.get("seed", 0),
        entry_digest=first["entry"],
        about=stored,
        budget_s=payload.get("budget_s"),
    )


def _replay(match: Match, runs: list[Path]) -> End:
    """A player that plays nothing: it copies what the shards' ledgers say, as far as a single run would have come."""
    used_s = cpu_s = 0.0
    notes: list[str] = []
    end: dict[str, Any] = {}
    for run in runs:
        header, reports, last = read_ledger(run / "ledger.jsonl")
        if last is None:
            raise Fault(f"{run.name}: the ledger of a shard has no end")
        ours = match.ledger.lines[0]
        differing = [name for name in SAME if header[name] != ours[name]]
        if differing:
            raise Fault(f"shards were played under different conditions ({', '.join(differing)}); queue the match anew")
        end = last
        for line in reports:
            match.ledger.append(line)
        think_s = np.load(run / "think.npz")["think_s"]
        # Starting up happens once in a single run: of the later shards only the time between packets counts.
        share = 1.0 if run is runs[0] else min(1.0, float(think_s.sum()) / max(last["wall_s"], 1e-9))
        used_s += share * last["wall_s"]
        cpu_s += share * last["cpu_s"]
        if match.folder:
            _join_outputs(match.folder, run, match.packets)
        match.packets += last["packets"]
        match.think_s.extend(think_s.tolist())
        notes += [note for note in last["notes"] if note not in notes]
        asked_on = len(think_s) == last["packets"]  # it asked for what follows the shard's last packet
        if last["verdict"] != "ok" or (run is not runs[-1] and not asked_on):
            break  # a single run would have ended here
    verdict, reason = end["verdict"], end["reason"]
    if verdict == "ok" and max(used_s, cpu_s) > match.budget_s:
        verdict, reason = "over_budget", f"took longer than its budget of {match.budget_s:.0f} s, all subjects together"
    return End(verdict, reason, tuple(notes), cpu_s, used_s, end["sandbox"])


def _join_outputs(folder: Path, run: Path, packets: int) -> None:
    """Append what the entry printed, up to the bound of a single run, with the packets counted over all shards."""
    most = Limits().output_kib * 1024
    sizes = {}
    for name in ("stdout", "stderr"):
        target, source = folder / f"{name}.txt", run / f"{name}.txt"
        sizes[name] = target.stat().st_size if target.exists() else 0
        if source.exists():
            with open(target, "ab") as file:
                file.write(source.read_bytes()[: max(0, most - sizes[name])])
    index = run / "output.jsonl"
    if index.exists():
        with open(folder / "output.jsonl", "a", encoding="utf-8") as file:
            for line in map(json.loads, index.read_text("utf-8").splitlines()):
                line["offset"] += sizes[line["stream"]]
                line["packet"] += packets
                if line["offset"] < most:
                    file.write(json.dumps(line) + "\n")
