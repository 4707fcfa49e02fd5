"""One run of one entry: the only place where stream, referee and player meet.

A *player* brings the entry's code to life (in this process, or in a box) and passes on its three verbs: ``next``,
``report``, and how it ended. Position and time are counted here, never told by the entry.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bciarena.challenges.rulebook import Rulebook
from bciarena.recording.model import Recording
from bciarena.referee.desk import Clock, Referee
from bciarena.referee.ledger import Ledger
from bciarena.stream import Packet, Stream

LEAST_BUDGET_S = 60.0
PROGRESS_EVERY = 64  # packets


class End(NamedTuple):
    """How a run ended, as the player saw it."""

    verdict: str
    reason: str = ""
    notes: tuple[str, ...] = ()
    cpu_s: float = 0.0
    wall_s: float = 0.0
    sandbox: str = "none"


class Progress(NamedTuple):
    """Where a run is, for people who wait. ``trial`` is 0 where the stream hides them."""

    subject: int
    block: int
    trial: int
    packets: int
    total_packets: int
    reports: int


class Match:
    """A recording being played to an entry.

    Parameters
    ----------
    rulebook, recording
        What is played, by which rules.
    ledger : Ledger
        Receives one line per report.
    clock : "think" or "data"
        Whether computing time is measured.
    folder : Path or None
        Where a player may leave logs; becomes the run folder.
    on_progress : callable, optional
        Called now and then with a Progress.
    seed : int
        Told to the entry; its interpreter's random numbers start from it.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        recording: Recording,
        ledger: Ledger,
        clock: Clock = "think",
        folder: Path | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        budget_s: float | None = None,
        seed: int = 0,
    ) -> None:
        self.rulebook = rulebook
        self.ledger = ledger
        self.folder = folder
        self.seed = seed
        self.budget_s = budget_s or max(recording.seconds, LEAST_BUDGET_S)
        self.packets = 0
        self.total_packets = sum(-(-block.samples // rulebook.packet_n) for _, _, block in recording)
        shown = {code for code in rulebook.opens if rulebook.mask[code]}  # a count of hidden trials would tell onsets
        self._opened = {
            (subject, number): [event.sample for event in block.events if event.code in shown]
            for subject, number, block in recording
        }
        self.finish_seen = False  # the finish flag was handed out: from here only reports count (R18)
        self.part_over = False  # this part of a recording is played; what follows it is played elsewhere
        self.think_s = array("f")  # computing time after each packet, for the report
        self._stream = Stream(rulebook, recording)
        self.prepare = self._stream.prepare  # a player may call it once a packet is out
        self._referee = Referee(rulebook, clock)
        self._on_progress = on_progress
        self._out_at = time.perf_counter()

    @property
    def info(self) -> dict[str, Any]:
        """What an entry may know before the first packet; plain values for the wire."""
        book = self.rulebook
        return {
            "challenge": book.id,
            "channels": list(book.channels),
            "rate": book.rate,
            "packet_n": book.packet_n,
            "marks": sorted({book.mask[code] for code in book.opens} - {0}),
            "answers": list(book.vocabulary),
            "integer": book.answers == "integer",
            "limit_s": book.limit_s,
            "finish": book.finish,
            "names_subject": book.names_subject,
            "seed": self.seed,
        }

    def next(self) -> Packet | None:
        """Hand out the next packet; None when all was handed out (the closing object of dialect C)."""
        now = time.perf_counter()
        packet = self._stream.next()
        if self.packets and not self.finish_seen:
            self.think_s.append(now - self._out_at)
        if packet is None:
            self.finish_seen = True
            self.part_over = self._stream.more_follows
            return None
        self._referee.handed_out(packet.subject, packet.block, packet.number, packet.position, now - self._out_at)
        self.packets += 1
        if packet.finished and self.rulebook.finish == "flag":
            self.finish_seen = True
        if self._on_progress and self.packets % PROGRESS_EVERY == 0:
            self._on_progress(self.progress)
        if not self.rulebook.names_subject:
            packet = packet._replace(subject=0)
        self._out_at = time.perf_counter()
        return packet

    def report(self, value: Any) -> None:
        """Take a report at the present position."""
        if self.part_over:
            return  # in the whole recording the entry would be in the next subject by now
        line = self._referee.report(value, time.perf_counter() - self._out_at)
        self.ledger.append({"type": "report", **line})

    @property
    def progress(self) -> Progress:
        at = self._referee
        trial = bisect_left(self._opened.get((at.subject, at.block), []), at.position)
        return Progress(at.subject, at.block, trial, self.packets, self.total_packets, len(self.ledger.lines) - 1)


Player = Callable[[Match], End]
