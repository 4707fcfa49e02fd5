"""Packets in playing order, and the interface of a packet source."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.recording.model import Block, Recording
from bciarena.stream.labels import with_labels

AHEAD = 1024  # packets laid out in one vectorised step, on the referee's side only: one in so many waits for it


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


class PacketSource(Protocol):
    """Where the packets of a match come from: a recording (`Stream`), or a headset."""

    @property
    def seconds(self) -> float:
        """How long the data lasts, for the run's budget."""

    @property
    def total_packets(self) -> int:
        """How many packets there will be; 0 where nobody can know."""

    @property
    def more_follows(self) -> bool:
        """Whether this is a part of a recording, and what follows it is played elsewhere."""

    def next(self) -> Packet | None:
        """The next packet, masked; None when there is nothing left."""

    def prepare(self) -> None:
        """Called when a packet is out: the next one may be made ready."""

    def trials_shown(self, subject: int, block: int, position: int) -> int:
        """How many trials the entry was shown to begin in the block so far; 0 where the stream hides them."""


class Stream:
    """The packets of a recording; ``next`` gives None after the last one.

    ``labels``: whether each trial's truth is shown when the trial is over (see `with_labels`).
    """

    def __init__(self, rulebook: Rulebook, recording: Recording, labels: bool = False) -> None:
        self.rulebook, self.labels = rulebook, labels
        self.blocks = list(recording)
        self.before_n = recording.before_n
        self.more_follows = recording.more_follows
        self.seconds = recording.seconds
        self.total_packets = sum(-(-block.samples // rulebook.packet_n) for _, _, block in self.blocks)
        shown = {
            code for code in rulebook.opens if rulebook.mask[code]
        }  # a count of hidden trials would reveal their onsets
        self._opened = {
            (subject, number): [event.sample for event in block.events if event.code in shown]
            for subject, number, block in self.blocks
        }
        self._packets = self._cut()
        self._ahead: list[Packet | None] = []

    def next(self) -> Packet | None:
        """The next packet, or None when there is nothing left."""
        return self._ahead.pop() if self._ahead else next(self._packets, None)

    def prepare(self) -> None:
        """Lay out the next packet in our own memory, while the entry is busy with the one before."""
        if not self._ahead:
            self._ahead.append(next(self._packets, None))

    def trials_shown(self, subject: int, block: int, position: int) -> int:
        """How many trials opened visibly in the block before a position."""
        return bisect_left(self._opened.get((subject, block), []), position)

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
        """Packets of one block, each its own array, laid out many at a time because small copies are expensive."""
        n = self.rulebook.packet_n
        trigger = with_labels(self.rulebook, block) if self.labels else self.rulebook.masked_trigger(block.trigger)
        rows = len(block.channels) + 1
        room = np.empty((rows, AHEAD * n))  # one for all: new memory would cost a page fault every 4 KiB
        for start in range(0, block.samples, AHEAD * n):
            stop = min(start + AHEAD * n, block.samples)
            full = (stop - start) // n
            chunk = room[:, : stop - start]
            chunk[:-1] = block.eeg[:, start:stop]
            chunk[-1] = trigger[start:stop]
            laid = room.reshape(rows, AHEAD, n).transpose(1, 0, 2)
            for index in range(full):
                yield laid[index].copy()
            if start + full * n < stop:
                yield chunk[:, full * n :].copy()
