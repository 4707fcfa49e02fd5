"""One run of one entry: the only place where packet source, referee and player meet.

A *player* brings the entry's code to life (in this process, or in a box) and passes on its three verbs: ``next``,
``report``, and how it ended. Position and time are counted here, never taken from the entry.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from bciarena.contests.rulebook import Rulebook
from bciarena.referee.desk import Clock, Desk
from bciarena.referee.ledger import Ledger
from bciarena.stream import Packet, PacketSource
from bciarena.verdicts import Verdict

if TYPE_CHECKING:
    from bciarena.runs.folder import RunFolder

LEAST_BUDGET_S = 60.0
PROGRESS_EVERY = 64  # packets


class End(NamedTuple):
    """How a run ended, as the player saw it. ``outside``: possibly killed from outside, not by the entry's doing."""

    verdict: Verdict
    reason: str = ""
    notes: tuple[str, ...] = ()
    cpu_s: float = 0.0
    wall_s: float = 0.0
    sandbox: str = "none"
    outside: bool = False


class Progress(NamedTuple):
    """Where a run is, for people who wait. ``trial`` is 0 where the stream hides them."""

    subject: int
    block: int
    trial: int
    packets: int
    total_packets: int
    reports: int


def entry_info(book: Rulebook, seed: int = 0) -> dict[str, Any]:
    """What an entry may know before the first packet; plain values for the wire."""
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
        "seed": seed,
    }


class Match:
    """Packets being played to an entry.

    Parameters
    ----------
    rulebook : Rulebook
        By which rules.
    source : PacketSource
        What is played.
    ledger : Ledger
        Receives one line per report.
    clock : "think" or "data"
        Whether computing time is measured.
    folder : RunFolder or None
        Where a player may keep what the entry prints.
    on_progress : callable, optional
        Called now and then with a Progress.
    budget_s : float, optional
        Wall and CPU seconds for the whole run; otherwise as long as the data lasts.
    seed : int
        Told to the entry; its interpreter's random numbers start from it.
    on_report : callable, optional
        Called with the ledger line of every report, at once.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        source: PacketSource,
        ledger: Ledger,
        clock: Clock = "think",
        folder: RunFolder | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        budget_s: float | None = None,
        seed: int = 0,
        on_report: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.rulebook = rulebook
        self.ledger = ledger
        self.folder = folder
        self.info = entry_info(rulebook, seed)
        self.budget_s = budget_s or max(source.seconds, LEAST_BUDGET_S)
        self.packets = 0
        self.finish_seen = False  # the finish flag was handed out: from here only reports count (R18)
        self.part_over = False  # this part of a recording is played; what follows it is played elsewhere
        self.think_s = array("f")  # computing time after each packet, for the report
        self._source = source
        self.prepare = source.prepare  # a player may call it once a packet is out
        self._desk = Desk(rulebook, clock)
        self._on_progress = on_progress
        self._on_report = on_report
        self._out_at = time.perf_counter()

    def next(self) -> Packet | None:
        """Hand out the next packet; None when all was handed out (the closing object of dialect C)."""
        now = time.perf_counter()
        packet = self._source.next()
        if self.packets and not self.finish_seen:
            self.think_s.append(now - self._out_at)
        if packet is None:
            self.finish_seen = True
            self.part_over = self._source.more_follows
            return None
        self._desk.handed_out(packet.subject, packet.block, packet.number, packet.position, now - self._out_at)
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
        """Take a report at the current position."""
        if self.part_over:
            return  # in the whole recording the entry would be in the next subject by now
        line = self._desk.report(value, time.perf_counter() - self._out_at)
        self.ledger.append({"type": "report", **line})
        if self._on_report:
            self._on_report(line)

    @property
    def progress(self) -> Progress:
        at = self._desk
        trial = self._source.trials_shown(at.subject, at.block, at.position)
        reports = len(self.ledger.lines) - 1
        return Progress(at.subject, at.block, trial, self.packets, self._source.total_packets, reports)


Player = Callable[[Match], End]
