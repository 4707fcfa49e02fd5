"""The box's end of the wire: asks for packets, hands in reports."""

import mmap
import os
import select
import threading
from collections import namedtuple
from itertools import repeat

import numpy as np

from . import page
from .values import plain_value

_header, _new = page.HEADER.unpack_from, tuple.__new__  # bound once: a packet costs only a few microseconds in all
_Fields = namedtuple("_Fields", "data subject block number start total_start finished")


class Packet(_Fields):
    """What one read gives.

    ``data`` has shape (channels + 1, n), float64, last row the trigger, and is the receiver's own; ``start`` counts
    samples within the block, ``total_start`` over everything; ``finished`` is True on the very last packet.
    """

    __slots__ = ()

    @property
    def position(self):
        """Samples of this block handed out so far, this packet included."""
        return self.start + self.data.shape[1]


class Client:
    """``next()`` gives a Packet, or None when there are no more; ``report(value)`` answers; ``info`` is a dict.

    Any thread may call; requests go out one at a time.
    """

    def __init__(self, fds, rows, packet_n, info):
        page_fd, self._in, self._out = fds
        self.info = info
        self._map = mmap.mmap(page_fd, page.page_bytes(rows, packet_n))
        os.close(page_fd)
        self._words = memoryview(self._map)[: page.WORDS * 8].cast("q")
        self._full = np.frombuffer(self._map, np.float64, rows * packet_n, page.DATA_AT).reshape(rows, packet_n)
        self._rows, self._packet_n = rows, packet_n
        self._seq = 0
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._poll.register(self._in, select.POLLIN)

    def next(self):
        with self._lock:
            self._ask(page.NEXT)
            what, subject, block, number, start, total, count, finished = _header(self._map, page.HEADER_AT)
            if what != page.PACKET:
                return None
            if count == self._packet_n:
                data = self._full.copy()
            else:
                flat = np.frombuffer(self._map, np.float64, self._rows * count, page.DATA_AT)
                data = flat.reshape(self._rows, count).copy()
        return _new(Packet, (data, subject, block, number, start, total, finished == 1))

    def report(self, value):
        raw = page.pack_value(plain_value(value))
        with self._lock:
            self._ask(page.REPORT, raw)

    def tell(self, kind, text=""):
        """READY, DONE or FAILED, with a text for the last."""
        raw = (text or " ").encode("utf-8", "replace")[: page.LONGEST_ASK]
        with self._lock:
            self._ask(kind, raw)

    def printed(self):
        """Note that something was written to stdout or stderr, so that the referee reads it before the next packet."""
        self._words[page.PRINTED] = 1

    def _ask(self, kind, raw=b""):
        words = self._words
        if raw:
            self._map[page.ASKED_AT : page.ASKED_AT + len(raw)] = raw
            words[page.LENGTH] = len(raw)
        words[page.KIND] = kind
        self._seq = seq = self._seq + 1
        words[page.ASK] = seq  # last: from here on the referee may read
        if words[page.HOST_ASLEEP]:
            os.write(self._out, page.WAKE)
        reply = page.REPLY
        for _ in repeat(None, min(words[page.POLLS], page.SPIN)):
            if words[reply] == seq:
                return
        self._sleep(seq)

    def _sleep(self, seq):
        words = self._words
        words[page.BOX_ASLEEP] = 1
        while words[page.REPLY] != seq:
            if self._poll.poll(page.POLL_MS) and not os.read(self._in, 64):
                os._exit(0)  # the referee is gone
        words[page.BOX_ASLEEP] = 0
