"""A match cut by subject gives the ledger of a single run, whatever the entry does at the ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bciarena import rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.database.db import open_database, writing
from bciarena.errors import BadInput, Fault
from bciarena.inprocess import InProcess
from bciarena.jobs.joining import join_runs
from bciarena.jobs.shards import enqueue_match
from bciarena.jobs.storage import Storage
from bciarena.recording import open_recording
from bciarena.runs import RunFolder, run_match
from tests.jobs.playing import timeless
from tests.making import write_folder

SUBJECTS = 3


class Talker:
    """Reports at nearly every packet: the first, the last, those at the ends of blocks."""

    def step(self, packet: Any) -> Any:
        return self.answer(packet) if packet.number % 7 == 0 or packet.data.shape[1] < self.packet_n else None

    def start(self, info: dict[str, Any]) -> None:
        self.packet_n, self.answers = info["packet_n"], info["answers"]
        self.integer = info["integer"]

    def answer(self, packet: Any) -> Any:
        at = (packet.total_start + packet.subject) % len(self.answers)
        return int(self.answers[at]) if self.integer else self.answers[at]


class Finisher(Talker):
    """Says something more when the finish flag comes: in a shard it must not come early."""

    def run(self, packets: Any) -> Any:
        last = None
        for packet in packets:
            last = packet
            yield self.answer(packet) if packet.finished else None
        if last is not None:
            yield self.answer(last)

    step = None  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name == "step":
            raise AttributeError(name)
        return super().__getattribute__(name)


class Leaver(Talker):
    """Leaves in the middle of subject 2."""

    def run(self, packets: Any) -> Any:
        for packet in packets:
            if packet.subject == 2 and packet.number > 40:
                return
            yield self.answer(packet)

    __getattribute__ = Finisher.__getattribute__


class LeaverAtTheEnd(Talker):
    """Leaves with the last packet of subject 1 in its hands."""

    def run(self, packets: Any) -> Any:
        for packet in packets:
            yield self.answer(packet)
            if packet.subject == 1 and packet.block == 2 and packet.data.shape[1] < self.packet_n:
                return

    __getattribute__ = Finisher.__getattribute__


class Crasher(Talker):
    """Fails in subject 2."""

    def step(self, packet: Any) -> Any:
        if packet.subject == 2 and packet.number > 40:
            raise ValueError("no idea")
        return super().step(packet)


def recording_folder(book: Rulebook, where: Path) -> Path:
    opening = sorted(book.opens - book.forbidden)
    n = 60 * book.packet_n

    def block(shift: int) -> tuple[int, dict[int, int]]:
        codes = {}
        for trial in range(5):
            codes[trial * n + 3] = opening[(trial + shift) % len(opening)]
            codes[trial * n + n - 5] = 241
        return 5 * n + 7, codes  # not a multiple of the packet

    return write_folder(book, where, *[[block(k), block(2 * k + 1)] for k in range(SUBJECTS)])


@pytest.mark.parametrize("entry", [Talker, Finisher, Leaver, LeaverAtTheEnd, Crasher])
@pytest.mark.parametrize("challenge", ["turing", "imagery", "speller", "rehab"])
def test_joined_shards_are_the_single_run(challenge: str, entry: type, tmp_path: Path, storage: Storage) -> None:
    book = rulebook(challenge)
    data = storage.put(recording_folder(book, tmp_path / "data"))
    recording = open_recording(storage.fetch(data))
    payload = {"challenge": book.id, "data": data, "entry": "x", "clock": "data", "sandbox": "in-process"}

    def play(part: Any, name: str) -> Path:
        run_match(book, part, InProcess(entry()), out=tmp_path / name, clock="data", entry_digest="e")
        return tmp_path / name

    whole = play(recording, "whole")
    shards = [play(recording.part(k), f"shard{k}") for k in range(1, SUBJECTS + 1)]
    join_runs(payload, shards, storage, tmp_path / "joined")
    for name in ("score.json", "layout.json"):
        assert (tmp_path / "joined" / name).read_bytes() == (whole / name).read_bytes()
    assert timeless((tmp_path / "joined" / "ledger.jsonl").read_bytes()) == timeless(
        (whole / "ledger.jsonl").read_bytes()
    )
    joined, single = (np.load(run / "think.npz")["think_s"].size for run in (tmp_path / "joined", whole))
    assert joined == single


def test_a_part_is_handed_out_as_within_the_whole(tmp_path: Path) -> None:
    from bciarena.stream import Stream

    book = rulebook("speller")
    recording = open_recording(recording_folder(book, tmp_path / "data"))

    def packets(some: Any) -> list[Any]:
        stream = Stream(book, some)
        return [(p.data.tobytes(), *p[1:]) for p in iter(stream.next, None)]

    parts = [packet for k in range(1, SUBJECTS + 1) for packet in packets(recording.part(k))]
    assert parts == packets(recording)
    with pytest.raises(BadInput, match="no subject 4"):
        recording.part(4)


def test_shards_over_the_whole_budget_are_over_budget(tmp_path: Path, storage: Storage) -> None:
    book = rulebook("imagery")
    data = storage.put(recording_folder(book, tmp_path / "data"))
    recording = open_recording(storage.fetch(data))
    for k in range(1, SUBJECTS + 1):
        run_match(book, recording.part(k), InProcess(Talker()), out=tmp_path / f"s{k}", clock="data")
    payload = {"challenge": book.id, "data": data, "entry": "x", "clock": "data", "sandbox": "in-process"}
    runs = [tmp_path / f"s{k}" for k in range(1, SUBJECTS + 1)]
    result = join_runs({**payload, "budget_s": 1e-6}, runs, storage, tmp_path / "joined")
    assert (result["verdict"], result["score"]) == ("over_budget", 0.0)
    with pytest.raises(Fault, match=r"different conditions \(seed\)"):
        join_runs({**payload, "seed": 5}, runs, storage, tmp_path / "other")


@pytest.mark.parametrize(
    ("budget_s", "cores", "verdict"),
    [
        (27.0, 2, "ok"),  # 16 s of the first shard, start included; of the others 5 s each between packets
        (25.0, 2, "over_budget"),
        (27.0, 1, "over_budget"),  # 39 s of CPU time: more than one core has in 27 s
    ],
)
def test_shards_together_take_the_wall_time_of_a_single_run(
    tmp_path: Path, storage: Storage, budget_s: float, cores: int, verdict: str
) -> None:
    """A single run starts up once, and its budget is compared with the sum over the shards, not with any one."""
    book = rulebook("imagery")
    data = storage.put(recording_folder(book, tmp_path / "data"))
    recording = open_recording(storage.fetch(data))
    runs = [tmp_path / f"s{k}" for k in range(1, SUBJECTS + 1)]
    for k, run in enumerate(runs, 1):
        run_match(book, recording.part(k), InProcess(Talker()), out=run, clock="data", entry_digest="e")
        folder = RunFolder(run)
        header, reports, end = folder.ledger()
        assert end is not None
        folder.write_ledger([header, *reports, {**end, "wall_s": 16.0, "cpu_s": 24.0}])
        folder.write_think([5.0 / end["packets"]] * end["packets"])
    payload = {"challenge": book.id, "data": data, "entry": "x", "clock": "data", "sandbox": "in-process"}
    whole = {**payload, "budget_s": budget_s, "limits": {"cores": cores}}
    result = join_runs(whole, runs, storage, tmp_path / "joined")
    assert result["verdict"] == verdict
    _, _, end = RunFolder(tmp_path / "joined").ledger()
    assert end is not None
    assert end["wall_s"] == pytest.approx(16 + 5 + 5)
    assert result.tally["wall_s"] == pytest.approx(26)


def test_liveness_cannot_be_cut(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    with writing(engine) as session, pytest.raises(BadInput, match="cannot be cut"):
        enqueue_match(session, {"challenge": "liveness/1"}, subjects=3)
    engine.dispose()
