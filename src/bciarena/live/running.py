"""An entry of any dialect on a live stream: packets are cut as in the contest, the referee follows."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.importing.meanings import Blank
from bciarena.live.amplifier import Wiring
from bciarena.live.notes import NOTE
from bciarena.live.recorder import Recorder
from bciarena.live.streams import LiveIn
from bciarena.stream import Packet

FOREVER_S = 1e7
BLOCK_END = 243
GRACE_S = 30.0  # how long a slow entry may still catch up after the end was called


def form_of(book: Rulebook, wiring: Wiring) -> Callable[[NDArray[Any], NDArray[np.int64]], NDArray[Any]]:
    """What is done to samples before an entry sees them, so that they have the form of the contest's recordings."""
    return (lambda eeg, codes: eeg) if wiring.keep_all else Blank(book)


class LivePackets:
    """A packet source whose ``next`` waits for the headset instead of reading a file."""

    more_follows = False
    total_packets = 0  # nobody knows when the block will end
    seconds = FOREVER_S  # no budget: the run ends with the block

    def __init__(self, book: Rulebook, source: LiveIn, recorder: Recorder, ended: threading.Event) -> None:
        self.book, self.source, self.recorder, self.ended = book, source, recorder, ended
        self._held: deque[NDArray[np.float64]] = deque()
        self._held_n = self._start = self._number = 0
        self._done = False
        self._end_s: float | None = None
        self.newest_s = 0.0  # time of the newest sample handed out
        self._form = form_of(book, source.wiring)
        self.samples_seen: Callable[[NDArray[np.float64]], None] = lambda eeg: None

    def prepare(self) -> None:
        """Nothing can be laid out ahead: the next packet is not there yet."""

    def trials_shown(self, subject: int, block: int, position: int) -> int:
        """Trials are not counted here; the lab's page shows them."""
        return 0

    def next(self) -> Packet | None:
        if self._done:
            return None
        n = self.book.packet_n
        while self._held_n < n and not self._over():
            self._pull()
        whole = np.concatenate(list(self._held), axis=1) if self._held else np.zeros((len(self.book.channels) + 1, 0))
        data, rest = whole[:, :n].copy(), whole[:, n:]
        self._held = deque([rest])
        self._held_n = rest.shape[1]
        if not data.shape[1]:
            self._done = True
            return None
        self.newest_s = (self.source.last_s or 0.0) - self._held_n / self.book.rate
        self._done = self._held_n == 0 and self._over()
        self._number += 1
        start = self._start
        self._start += data.shape[1]
        return Packet(data, self.recorder.subject, self.recorder.block, self._number, start, start, self._done)

    def _over(self) -> bool:
        """Whether the end was called and everything up to that moment was read: an entry may be behind the stream."""
        if not self.ended.is_set():
            return False
        if self._end_s is None:
            self._end_s = time.monotonic()
        caught_up = self.source.last_s is not None and self.source.last_s >= self._end_s
        return caught_up or time.monotonic() > self._end_s + GRACE_S

    def _pull(self) -> None:
        eeg, codes = self.source.read()
        if not eeg.shape[1]:
            return
        self.recorder.add(eeg, codes)
        self.samples_seen(eeg)
        if BLOCK_END in codes and not self.ended.is_set():
            self._end_s = self.source.last_s
            self.ended.set()
        self._held.append(np.vstack([self._form(eeg, codes), self.book.masked_trigger(codes)[None]]))
        self._held_n += eeg.shape[1]


class LedgerFile:
    """A ledger on a disk that may become full: whole lines only, and the run goes on when no more fit."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - open as long as the run lasts
        self._tell, self._good, self._full = tell, 0, False

    def write(self, text: str) -> int:
        line = text.encode()
        if not self._full:
            try:
                self._full = self._file.write(line) < len(line)
            except OSError:
                self._full = True
            if self._full:
                self._file.truncate(self._good)
                self._tell(NOTE("ledger_full"))
            self._good += len(line)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def __enter__(self) -> LedgerFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
