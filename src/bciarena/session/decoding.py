"""An entry that is fed while a session records: it stays alive from block to block, and its death stops nothing."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.clocks import reference_load
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.opened import Opened
from bciarena.live.notes import NOTE
from bciarena.live.running import FOREVER_S, LedgerFile
from bciarena.match import LEAST_BUDGET_S, End, Match
from bciarena.recording import open_recording
from bciarena.referee import Ledger, Truth
from bciarena.runs import Result, RunFolder
from bciarena.runs.folder import LEDGER
from bciarena.runs.playing import end_line, header_of, keep
from bciarena.stream import Packet

END_S = 60.0  # how long an entry may still take after its last packet


class Feed:
    """A packet source that is filled by whoever records; packets never cross a block."""

    more_follows = False
    total_packets = 0  # nobody knows when a block will end
    seconds = FOREVER_S  # people rest as long as they like: computing time is looked at in the end

    def __init__(self, book: Rulebook) -> None:
        self.book, self.newest_s = book, 0.0
        self._ready: queue.Queue[tuple[Packet | None, float]] = queue.Queue()
        self._held = np.zeros((len(book.channels) + 1, 0))
        self._block = self._start = self._total = 0
        self.begun: dict[int, int] = {}  # block to the sample it began with in this sitting

    def begin(self, block: int, start: int) -> None:
        """A block begins, or goes on at a sample of it; ``block`` counts those of the data folder."""
        self._block, self._start, self.begun[block] = block, start, start

    def add(self, eeg: NDArray[Any], codes: NDArray[np.int64], last_s: float) -> None:
        """Samples as they are recorded, and the time of the last."""
        self._held = np.concatenate([self._held, np.vstack([eeg, self.book.masked_trigger(codes)[None]])], axis=1)
        while self._held.shape[1] >= self.book.packet_n:
            left = self._held.shape[1] - self.book.packet_n
            self._hand_out(self.book.packet_n, last_s - left / self.book.rate, False)

    def end(self, last_s: float, finished: bool) -> None:
        """The block is over; with ``finished`` the last packet says that nothing follows."""
        if self._held.shape[1]:
            self._hand_out(self._held.shape[1], last_s, finished)
        if finished:
            self._ready.put((None, last_s))

    def _hand_out(self, n: int, last_s: float, finished: bool) -> None:
        data, self._held = self._held[:, :n].copy(), self._held[:, n:]
        number = self._start // self.book.packet_n + 1
        self._ready.put((Packet(data, 1, self._block, number, self._start, self._total, finished), last_s))
        self._start += n
        self._total += n

    def prepare(self) -> None:
        """Nothing can be laid out ahead: the next packet is not there yet."""

    def trials_shown(self, subject: int, block: int, position: int) -> int:
        """Trials are not counted here; the lab's page shows them."""
        return 0

    def next(self) -> Packet | None:
        packet, self.newest_s = self._ready.get()
        return packet


class Told(Match):
    """A match whose entry is told the subject's own number; the ledger counts subjects by their folders (R17).

    An entry that is started in the middle of a block, because the session was cut off, sees a block begin there.
    """

    told = 1
    begun: Mapping[int, int] = {}

    def next(self) -> Packet | None:
        packet = super().next()
        if packet is None:
            return None
        subject = self.told if packet.subject else 0
        return packet._replace(subject=subject, start=packet.start - self.begun[packet.block])


class Decoder:
    """An entry on a session's blocks, in a thread of its own; its ledger goes on where an earlier sitting ended.

    Parameters
    ----------
    told : callable
        Hears every answer, with the time of the newest sample behind it.
    say : callable
        Hears when the entry ends before its time.
    """

    def __init__(
        self, entry: Opened, out: Path, subject: int, told: Callable[[Any, float], None], say: Callable[[str], None]
    ) -> None:
        self.entry, self.out, self.say = entry, out, say
        self.feed, self.book = Feed(entry.rulebook), entry.rulebook
        self.delays_ms: list[float] = []
        self._end: End | None = None
        before = _reports(out / LEDGER)
        out.mkdir(parents=True, exist_ok=True)
        header = header_of(
            self.book, "", sandbox=entry.sandbox, entry_digest=entry.package.digest, reference=reference_load()
        )
        self._open = ExitStack()
        file = self._open.enter_context(LedgerFile(out / LEDGER, say))
        self.ledger = Ledger(dict(header), file)  # type: ignore[arg-type]  # it writes and flushes
        for line in before:
            self.ledger.append(line)

        def answered(line: dict[str, Any]) -> None:
            self.delays_ms.append(round((time.monotonic() - self.feed.newest_s) * 1e3, 2))
            told(line["value"], self.feed.newest_s)

        self.match = Told(self.book, self.feed, self.ledger, folder=RunFolder(out), on_report=answered)
        self.match.told, self.match.begun = subject, self.feed.begun
        self._thread = threading.Thread(target=self._play, daemon=True)

    def start(self, refresh_hz: float | None) -> None:
        """Bring the entry to life; its ``info`` holds the refresh rate that the page has measured."""
        self.match.info["refresh_hz"] = refresh_hz
        self._thread.start()

    def _play(self) -> None:
        self._end = self.entry.player()(self.match)
        if self._end.verdict != "ok":
            why = self._end.reason.split(";")[0].splitlines()[0] if self._end.reason else ""
            self.say(NOTE("entry_gone", verdict=self._end.verdict, why=why))

    def finish(self, data: Path, about: dict[str, Any]) -> Result:
        """Wait for the entry's end, then judge what it said by the recording."""
        self._thread.join(END_S)
        end = self._end or End("killed", f"did not end within {END_S:g} s of its last packet")
        recording = open_recording(data)
        if end.verdict == "ok" and end.cpu_s > max(recording.seconds, LEAST_BUDGET_S):
            end = end._replace(verdict="over_budget", reason=f"used {end.cpu_s:.0f} s of CPU time for {recording.seconds:.0f} s of data")  # fmt: skip # noqa: E501
        self.ledger.append(dict(end_line(end, self.match.packets)))
        self.ledger.lines[0]["data"] = recording.digest
        self._open.close()
        folder = RunFolder(self.out)
        folder.write_ledger(self.ledger.lines)
        told = {**about, "delays_ms": self.delays_ms}
        return keep(folder, self.book, recording, Truth.of(self.book, recording), self.ledger, self.match.think_s, told)

    def abandon(self) -> None:
        """The session is cut off: what was said is in the ledger, the entry is told that nothing follows."""
        self.feed.end(0.0, True)
        self._thread.join(END_S)
        self._open.close()


def _reports(path: Path) -> list[dict[str, Any]]:
    """What the entry said in an earlier sitting; a line that was cut off is left out."""
    if not path.is_file():
        return []
    lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
    return [line for line in map(json.loads, lines) if line["type"] == "report"]
