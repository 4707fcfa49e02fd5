"""The referee's end of the wire. Everything that comes from the page is copied, bounded and checked."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Any

import numpy as np

from . import page
from .page import Malformed

_header = page.HEADER.pack_into
PATIENCE = 1000  # wake-up bytes without a request before it counts as flooding


class Host:
    """Shared page and wake-up pipes of one run.

    Attributes
    ----------
    box_fds : tuple of int
        Page, pipe to read from, pipe to write to: the descriptors the box inherits.
    wake_fd : int
        Becomes readable when the box has something while we sleep.
    """

    def __init__(self, rows: int, packet_n: int) -> None:
        size = page.page_bytes(rows, packet_n)
        fd = os.memfd_create("arena-packet", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(fd, size)
        # A page that could be cut short by the box would kill the referee with SIGBUS.
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        self._map = mmap.mmap(fd, size)
        self.words = memoryview(self._map)[: page.WORDS * 8].cast("q")
        self._shape = (rows, packet_n)
        self._full = np.frombuffer(self._map, np.float64, rows * packet_n, page.DATA_AT).reshape(rows, packet_n)
        self.wake_fd, out = os.pipe()
        box_in, self._wake_box = os.pipe()
        for end in (self.wake_fd, self._wake_box):
            os.set_blocking(end, False)
        self.box_fds = (fd, box_in, out)
        self._open = [fd, box_in, out, self.wake_fd, self._wake_box]
        self._spurious = 0
        self.greeted = False  # the box is ready, and nothing of the entry has run yet

    def started(self) -> None:
        """The box has its descriptors: close our copies."""
        for fd in self.box_fds:
            os.close(fd)
            self._open.remove(fd)

    def close(self) -> None:
        for fd in self._open:
            os.close(fd)
        self._open = []
        del self._full
        self.words.release()
        self._map.close()

    def asked(self, seq: int) -> int:
        """The kind of the open request, which must be number ``seq``."""
        words = self.words
        number = words[page.ASK]
        if number != seq:
            raise Malformed("request number %d where %d was due: one request at a time" % (number, seq))
        self._spurious = 0
        return words[page.KIND]

    def payload(self) -> bytes:
        """A copy of the request's payload."""
        length = self.words[page.LENGTH]
        if not 0 <= length <= page.LONGEST_ASK:
            raise Malformed("a request of %d bytes; at most %d are allowed" % (length, page.LONGEST_ASK))
        return bytes(self._map[page.ASKED_AT : page.ASKED_AT + length])

    def value(self) -> Any:
        """The answer in the open request."""
        return page.unpack_value(self.payload())

    def text(self) -> str:
        return self.payload().decode("utf-8", "replace")

    def hand_out(self, seq: int, packet: Any) -> None:
        """Reply with a packet, or with CLOSED for None."""
        if packet is None:
            self.reply(seq, page.CLOSED)
            return
        data = packet.data
        if data.shape == self._shape:
            self._full[...] = data
        else:
            raw = np.ascontiguousarray(data, np.float64).tobytes()
            self._map[page.DATA_AT : page.DATA_AT + len(raw)] = raw
        _, subject, block, number, start, total, finished = packet
        width = data.shape[1]
        _header(self._map, page.HEADER_AT, page.PACKET, subject, block, number, start, total, width, finished)
        self._answered(seq)

    def reply(self, seq: int, what: int = page.TAKEN) -> None:
        self.words[page.WHAT] = what
        self._answered(seq)

    def _answered(self, seq: int) -> None:
        words = self.words
        words[page.REPLY] = seq
        if words[page.BOX_ASLEEP]:
            self._wake()

    def _wake(self) -> None:
        try:
            os.write(self._wake_box, page.WAKE)
        except (BlockingIOError, BrokenPipeError):
            return  # full: it will wake up anyway; broken: it is gone, as the caller will notice

    def take_wakes(self) -> bool:
        """Empty the wake-up pipe; False when the box's end is closed."""
        try:
            raw = os.read(self.wake_fd, 4096)
        except BlockingIOError:
            return True
        if raw[:1] == page.HELLO and not self.greeted:
            self.greeted = True
            self._wake()
            raw = raw[1:] or page.WAKE
        if raw.strip(page.WAKE):
            raise Malformed("bytes written to the protocol's descriptor")
        self._spurious += len(raw)
        if self._spurious > PATIENCE:
            raise Malformed("a flood of wake-ups without a request")
        return bool(raw)
