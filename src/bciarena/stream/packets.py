"""Packets in playing order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.challenges.rulebook import Rulebook
from bciarena.recording.model import Block, Recording

AHEAD = 256  # packets laid out in one vectorised step, on the referee's side only


class Packet(NamedTuple):
    """What one read hands out.

    ``data`` has shape (channels + 1, n), float64, last row the masked trigger, and belongs to the receiver.
    ``position`` is the number of samples of this block handed out so far, this packet included.
    """

    data: NDArray[np.float64]
    subject: int
    block: int
    number: int  # within the block, from 1
    start: int  # first sample, within the block
    total_start: int  # first sample, counted over all blocks and subjects
    finished: bool  # the last packet of the last block

    @property
    def position(self) -> int:
        return self.start + int(self.data.shape[1])


class Stream:
    """Iterates over a recording's packets; ``next`` gives None after the last one."""

    def __init__(self, rulebook: Rulebook, recording: Recording) -> None:
        self.rulebook = rulebook
        self.blocks = list(recording)
        self.before_n = recording.before_n
        self.more_follows = recording.more_follows
        self._packets = self._cut()
        self._ahead: list[Packet | None] = []

    def next(self) -> Packet | None:
        """The next packet, or None when there is nothing left."""
        return self._ahead.pop() if self._ahead else next(self._packets, None)

    def prepare(self) -> None:
        """Lay out the next packet in our own memory, while the entry is busy with the one before."""
        if not self._ahead:
            self._ahead.append(next(self._packets, None))

    def _cut(self) -> Iterator[Packet]:
        total = self.before_n
        for index, (subject, number, block) in enumerate(self.blocks):
            last_block = index + 1 == len(self.blocks) and not self.more_follows
            start = 0
            for count, data in enumerate(self._block(block), 1):
                stop = start + data.shape[1]
                finished = last_block and stop == block.samples
                yield Packet(data, subject, number, count, start, total + start, finished)
                start = stop
            total += block.samples

    def _block(self, block: Block) -> Iterator[NDArray[np.float64]]:
        """Packets of one block, each its own array, laid out many at a time because small copies are dear."""
        n = self.rulebook.packet_n
        trigger = self.rulebook.masked_trigger(block.trigger)
        rows = len(block.channels) + 1
        for start in range(0, block.samples, AHEAD * n):
            stop = min(start + AHEAD * n, block.samples)
            full = (stop - start) // n
            chunk = np.empty((rows, stop - start))
            chunk[:-1] = block.eeg[:, start:stop]
            chunk[-1] = trigger[start:stop]
            laid = chunk[:, : full * n].reshape(rows, full, n).transpose(1, 0, 2)
            for index in range(full):
                yield laid[index].copy()
            if start + full * n < stop:
                yield chunk[:, full * n :].copy()
