"""Joining the runs of a match's shards into the one run folder a single run would have made (see shards.py)."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bciarena.contests import rulebook as find_rulebook
from bciarena.errors import Fault
from bciarena.jobs.storage import Storage
from bciarena.match import LEAST_BUDGET_S, End
from bciarena.recording import open_recording
from bciarena.referee import Truth
from bciarena.runs import Result, RunFolder
from bciarena.runs.folder import Printed, new_run
from bciarena.runs.playing import end_line, header_of, keep
from bciarena.runs.schema import EndLine, Header
from bciarena.sandbox.limits import Limits

SAME = ("challenge", "rulebook", "entry", "versions", "seed", "clock", "sandbox", "calibration")
"""What the headers of all shards, and of the joined ledger, must agree on."""


@dataclass
class Joined:
    """The runs of the shards put together, as far as a single run would have got."""

    reports: list[dict[str, Any]] = field(default_factory=list)
    think_s: array[float] = field(default_factory=lambda: array("f"))
    printed: list[Printed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    packets: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def add(self, shard: RunFolder, header: Header) -> tuple[EndLine, bool]:
        """Add a shard; returns how it ended, and whether it asked for what follows its last packet."""
        theirs, reports, end = shard.ledger()
        if end is None:
            raise Fault(f"{shard.path.name}: the ledger of a shard has no end line")
        differing = [name for name in SAME if theirs.get(name) != header.get(name)]
        if differing:
            raise Fault(
                f"shards were played under different conditions ({', '.join(differing)}); queue the match again"
            )
        think_s = shard.think_s()
        # A single run starts up once: of later shards only the time between packets counts.
        share = min(1.0, float(think_s.sum()) / max(end["wall_s"], 1e-9)) if self.packets else 1.0
        self.wall_s += share * end["wall_s"]
        self.cpu_s += share * end["cpu_s"]
        self.reports += [dict(line) for line in reports]
        self.think_s.extend(think_s.tolist())
        self.printed += [piece._replace(packet=piece.packet + self.packets) for piece in shard.printed()]
        self.notes += [note for note in end["notes"] if note not in self.notes]
        self.packets += end["packets"]
        return end, len(think_s) == end["packets"]


def join_runs(payload: dict[str, Any], runs: list[Path], storage: Storage, out: Path) -> Result:
    """Make the run folder of the whole match from the run folders of its shards, in playing order."""
    book = find_rulebook(payload["challenge"])
    recording = open_recording(storage.fetch(payload["data"]))
    if len(runs) != len(recording.subjects):
        raise Fault(f"{len(runs)} shards for {len(recording.subjects)} subjects")
    header = header_of(
        book,
        recording.digest,
        clock=payload.get("clock", "think"),
        sandbox=payload.get("sandbox", "bwrap"),
        entry_digest=RunFolder(runs[0]).ledger().header["entry"],
        seed=payload.get("seed", 0),
    )
    loads = [load for run in runs if (load := RunFolder(run).header().get("reference_load"))]
    if loads:  # the shard with the busiest machine
        header["reference_load"] = max(loads, key=lambda load: load["took_s"] / load["best_s"])
    if told := RunFolder(runs[0]).header().get("calibration"):
        header["calibration"] = told
    joined = Joined()
    for run in runs:
        last, asked_on = joined.add(RunFolder(run), header)
        if last["verdict"] != "ok" or (run is not runs[-1] and not asked_on):
            break  # a single run would have ended here
    budget_s = payload.get("budget_s") or max(recording.seconds, LEAST_BUDGET_S)
    verdict, reason = last["verdict"], last["reason"]
    granted = Limits(**payload.get("limits", {})).cpu_s(budget_s)
    if verdict == "ok" and (joined.wall_s > budget_s or joined.cpu_s > granted):
        verdict, reason = "over_budget", f"took longer than its budget of {budget_s:.0f} s, all subjects together"
    end = End(verdict, reason, tuple(joined.notes), joined.cpu_s, joined.wall_s, last["sandbox"])
    about = {"data": "", "stored_data": payload["data"], "stored_entry": payload["entry"], "shards": len(runs)}
    with new_run(out) as folder:
        assert folder is not None
        with folder.open_ledger(header) as ledger:
            for line in (*joined.reports, dict(end_line(end, joined.packets))):
                ledger.append(line)
        folder.write_printed(joined.printed, Limits().output_kib * 1024)
        return keep(folder, book, recording, Truth.of(book, recording), ledger, joined.think_s, about)
