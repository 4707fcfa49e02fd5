"""Long recordings: 77 channels at 1000 Hz over LSL into a recorder and a live run. Does memory or delay grow?

``arena bench soak --minutes 60`` takes an hour. The short form sends the same samples as fast as both take them.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from bciarena.bench import parts
from bciarena.contests import RULEBOOKS
from bciarena.live.recorder import RAW
from bciarena.live.streams import CodesOut, EegOut, need_lsl
from bciarena.processes import arena_beside

BOOK = max(RULEBOOKS.values(), key=lambda book: len(book.channels))  # the largest cap
CHUNK_N = 40
TRIAL_N = 1487  # not a multiple of a packet: answers come at every phase
AHEAD_N = 5 * BOOK.rate  # how far the fast source may run ahead of the slowest reader
TAIL_N = 10 * CHUNK_N  # sent after the block's end code
ROW_BYTES = 4 * (len(BOOK.channels) + 1)
ENTRY = """
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        source = self._proxy.get_source("eeg_1")
        while True:
            packet = await source.get_data()
            if packet.finish_flag:
                return
            if 200 in packet.data[-1]:
                await self._proxy.report(AlgorithmResultObject(result="1"))
"""
CONFIG = """
method:
  method_class_file: Algorithm/method/impl/AlgorithmImplement.py
  method_class_name: AlgorithmImplement
sources:
  eeg_1:
    source_receiver:
      configuration:
        chunk_size: 40
"""


def write_entry(folder: Path) -> Path:
    """An entry that answers every trial in the packet that holds its code."""
    for name, text in (("method/impl/AlgorithmImplement.py", ENTRY), ("config/AlgorithmConfig.yml", CONFIG)):
        path = folder / "Algorithm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


class Kept:
    """A growing raw recording, observed from outside."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RAW

    @property
    def next_n(self) -> int:
        """Number of the next sample, as counted by channel 0; 0 while there is none."""
        size_n = self.path.stat().st_size // ROW_BYTES if self.path.exists() else 0
        return size_n and int(np.fromfile(self.path, "<f4", 1)[0]) + size_n

    def holes(self) -> int:
        """How many samples are not followed by the next one."""
        raw = np.memmap(self.path, "<f4", "r").reshape(-1, ROW_BYTES // 4)
        return int(np.count_nonzero(np.diff(raw[:, 0]) != 1))


class Source:
    """A headset: channel 0 counts samples, the others are noise; from when all listen, a trial every 1.5 s."""

    def __init__(self, name: str, samples: int, fast: bool, kept: list[Kept]) -> None:
        self.lsl = need_lsl()
        self.samples, self.fast, self.kept = samples, fast, kept
        self.eeg, self.codes = EegOut(name, BOOK.channels, BOOK.rate), CodesOut(name)
        self.noise = np.random.default_rng(0).normal(0, 20, (len(BOOK.channels), 25 * CHUNK_N)).astype(np.float32)
        self.sent = 0
        self.codes_s: list[float] = []  # time of every trial's code
        # The fast source's time stamps are in the past, so that no reader waits for them.
        self.begin_s: float = self.lsl.local_clock() - (samples / BOOK.rate + 60 if fast else 0)

    def run(self) -> None:
        next_n = self.samples  # no trials yet
        while self.sent < self.samples:
            self._wait()
            end_n = self.sent + CHUNK_N
            if next_n == self.samples and all(kept.next_n for kept in self.kept):
                next_n = end_n + BOOK.rate
            if self.sent <= next_n < min(end_n, self.samples - TAIL_N - BOOK.rate):
                self.codes_s.append(self._at_s(next_n))
                self.codes.push(1, self.codes_s[-1])
                next_n += TRIAL_N
            if self.sent == self.samples - TAIL_N:
                self.codes.push(243, self._at_s(self.sent))
            start = self.sent % self.noise.shape[1]
            eeg = self.noise[:, start : start + CHUNK_N].copy()
            eeg[0] = np.arange(self.sent, end_n)
            self.eeg.push(eeg, self._at_s(end_n - 1))
            self.sent = end_n

    def _at_s(self, sample: int) -> float:
        return self.begin_s + sample / BOOK.rate

    def _wait(self) -> None:
        if not self.fast:
            time.sleep(max(0.0, self._at_s(self.sent + CHUNK_N - 1) - self.lsl.local_clock()))
            return
        read_n = min(kept.next_n for kept in self.kept)
        if not read_n:
            time.sleep(CHUNK_N / BOOK.rate)  # what is sent before anyone listens is lost: no hurry yet
        while read_n and self.sent > read_n + AHEAD_N:
            time.sleep(0.002)
            read_n = min(kept.next_n for kept in self.kept)

    def close(self) -> None:
        self.eeg.close()
        self.codes.close()


class Look(NamedTuple):
    """One observation: memory of each part, and how far the recordings were behind."""

    at_s: float
    memory_mb: dict[str, float]
    behind_ms: dict[str, float]


def soak(seconds: float, fast: bool, folder: Path) -> dict[str, Any]:
    """Run everything for ``seconds`` (of data, if fast) and compare the beginning with the end.

    Early is from 1/12 to 1/6 of the time, late the last 1/12: for an hour, minutes 5 to 10 and 55 to 60.
    """
    name, port = f"soak-{os.getpid()}", parts.free_port()
    hub = f"http://127.0.0.1:{port}"
    kept = {part: Kept(folder / part) for part in ("record", "run")}
    samples = round(seconds * BOOK.rate / CHUNK_N) * CHUNK_N + TAIL_N
    source = Source(name, samples, fast, list(kept.values()))
    entry = write_entry(folder / "entry")
    who = ("--challenge", BOOK.name, "--stream", name)
    with (
        open(folder / "log.txt", "w", encoding="utf-8") as log,
        arena_beside("lab", BOOK.name, "--port", port, "--log", folder / "lab.jsonl", out=log) as lab,
    ):
        parts.wait_for(lambda: parts.listening(port), 60, "the lab's server answers")
        with (
            arena_beside("live", "record", *who, "--out", folder / "record", out=log) as record,
            arena_beside("live", "run", entry, *who, "--hub", hub, "--out", folder / "run", out=log) as run,
        ):
            sender = threading.Thread(target=source.run, daemon=True)
            sender.start()
            processes = {"record": record.pid, "run": run.pid, "lab": lab.pid, "source": os.getpid()}
            parts.wait_for(lambda: all(k.next_n for k in kept.values()), 60, "both readers receive")
            begin_s, used_s = time.monotonic(), {part: parts.cpu_s(pid) for part, pid in processes.items()}
            looks = _look(sender, source, kept, processes)
            wall_s = time.monotonic() - begin_s
            share = {part: (parts.cpu_s(pid) - used_s[part]) / wall_s for part, pid in processes.items()}
            record.wait(300 + seconds / 10)
            run.wait(300 + seconds / 10)
    source.close()
    lines = [json.loads(line) for line in (folder / "lab.jsonl").read_text("utf-8").splitlines()]
    answers_s = [line["at_s"] for line in lines if line["type"] == "answer"]
    if len(answers_s) != len(source.codes_s):
        raise RuntimeError(f"{len(source.codes_s)} trials, {len(answers_s)} answers: see {folder}/log.txt")
    delays_ms = (np.array(answers_s) - np.array(source.codes_s)) * 1e3
    holes = {part: k.holes() for part, k in kept.items()}
    return {
        "seconds": seconds,
        "wall_s": wall_s,
        "looks": looks,
        "delays_ms": delays_ms,
        "cpu_share": share,
        "holes": holes,
    }


def _look(sender: threading.Thread, source: Source, kept: dict[str, Kept], processes: dict[str, int]) -> list[Look]:
    """Observe once a second (four times, if fast) until all is sent."""
    console, looks, told_s = Console(stderr=True), list[Look](), time.monotonic()
    while sender.is_alive():
        behind = {part: (source.lsl.local_clock() - source._at_s(k.next_n)) * 1e3 for part, k in kept.items()}
        memory = {part: parts.memory_mb(pid) for part, pid in processes.items()}
        looks.append(Look(source.sent / BOOK.rate, memory, {} if source.fast else behind))
        if time.monotonic() - told_s > 60:
            told_s = time.monotonic()
            used = ", ".join(f"{part} {mb:.1f} MB" for part, mb in memory.items())
            console.print(f"soak: {source.sent / BOOK.rate:.0f} s sent; {used}")
        sender.join(0.25 if source.fast else 1.0)
    return looks


def _early(seen: Sequence[Any]) -> Sequence[Any]:
    return seen[len(seen) // 12 : len(seen) // 6 + 1]


def _late(seen: Sequence[Any]) -> Sequence[Any]:
    return seen[len(seen) * 11 // 12 :]


def rows(found: dict[str, Any], fast: bool) -> list[dict[str, Any]]:
    """The comparison of early and late, as rows."""
    seconds, spans = found["seconds"], {"early": _early, "late": _late}
    looks = {name: span(found["looks"]) for name, span in spans.items()}
    pace = f"in {found['wall_s']:.0f} s" if fast else "in real time"
    what = f"soak, {len(BOOK.channels)} channels at {BOOK.rate} Hz, {seconds / 60:.0f} min of data {pace}"
    told: list[dict[str, Any]] = []
    for part, share in found["cpu_share"].items():
        used = {name: float(np.median([look.memory_mb[part] for look in some])) for name, some in looks.items()}
        row = {f"{name}_MB": mb for name, mb in used.items()} | {"ratio": used["late"] / used["early"]}
        told.append({"measure": f"{what}: memory of {part}", **row, "cpu_share": share})
    if not fast:
        waits: dict[str, dict[str, Sequence[Any]]] = {}
        waits["code to answer at the lab"] = {name: span(found["delays_ms"]) for name, span in spans.items()}
        for part in found["holes"]:
            waits[f"file of {part} behind the headset"] = {
                name: [look.behind_ms[part] for look in some] for name, some in looks.items()
            }
        for wait, both in waits.items():
            row = {f"{name}_p{q}_ms": float(np.percentile(ms, q)) for name, ms in both.items() for q in (50, 99)}
            told.append({"measure": f"{what}: {wait}", **row})
    told.append({"measure": f"{what}: samples lost or doubled", **found["holes"]})
    return told


def main(minutes: float = 10.0, fast: bool = False) -> list[dict[str, Any]]:
    """All measurements, as rows."""
    with tempfile.TemporaryDirectory(prefix="arena-soak-") as place:
        return rows(soak(minutes * 60, fast, Path(place)), fast)
