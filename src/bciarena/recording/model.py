"""Recording, Subject, Block, Event: plain values that everything else uses."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.recording.events import Event

CHUNK_N = 1 << 16  # samples checked at a time, so that a long block needs little memory


@dataclass(frozen=True)
class Block:
    """One uninterrupted stretch of recording.

    Attributes
    ----------
    eeg : ndarray, shape (channels, samples)
        Microvolts. Usually a memory map: slice it, do not copy it.
    trigger_row : ndarray, shape (samples,)
        The trigger *with truth*, as it is in the file.
    rate : int
        Samples per second.
    channels : tuple of str
        Names of the EEG rows.
    source : str
        The file the block came from, for messages.
    invalid : mapping of int to str
        Trials that must not be used, by the sample of their opening code, and why: samples were lost, the screen was
        not shown. They are played as they are; scores, reports and training leave them out.
    """

    eeg: NDArray[Any]
    trigger_row: NDArray[Any]
    rate: int
    channels: tuple[str, ...]
    source: str = "memory"
    invalid: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Block {self.source}: {len(self.channels)} channels, {self.rate} Hz, {self.seconds:.1f} s>"

    @property
    def samples(self) -> int:
        return int(self.eeg.shape[1])

    @property
    def seconds(self) -> float:
        return self.samples / self.rate

    @property
    def data(self) -> NDArray[Any]:
        """EEG and trigger together, shape (channels + 1, samples), as in the contest's files: a copy in memory."""
        kind = np.result_type(self.eeg.dtype, np.float32)
        whole = np.empty((len(self.channels) + 1, self.samples), kind)
        whole[:-1] = self.eeg
        whole[-1] = self.trigger
        return whole

    @cached_property
    def trigger(self) -> NDArray[np.int64]:
        """The trigger row as integers, shape (samples,)."""
        row = np.asarray(self.trigger_row, dtype=np.float64)
        if not np.isfinite(row).all():
            at = int(np.flatnonzero(~np.isfinite(row))[0])
            raise BadInput(f"{self.source}: field data: trigger row: {row[at]} at sample {at} is not a code")
        codes = row.astype(np.int64)
        if not np.array_equal(codes, row):
            at = int(np.flatnonzero(codes != row)[0])
            raise BadInput(f"{self.source}: field data: trigger row: {row[at]:g} at sample {at} is not an integer code")
        if codes.size and (codes.min() < 0 or codes.max() > 255):
            at = int(np.flatnonzero((codes < 0) | (codes > 255))[0])
            raise BadInput(f"{self.source}: field data: trigger row: code {codes[at]} at sample {at} is outside 0-255")
        return codes

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every non-zero code with its sample, in order."""
        codes = self.trigger
        return tuple(Event(int(at), int(codes[at])) for at in np.flatnonzero(codes))

    def without_invalid(self) -> Block:
        """The block with the opening codes of invalid trials taken out, as training sees it."""
        if not self.invalid:
            return self
        row = self.trigger.copy()
        row[list(self.invalid)] = 0
        return replace(self, trigger_row=row, invalid={})

    @cached_property
    def digest(self) -> str:
        """Read every sample once: refuse what is not finite, and return the digest of the content.

        The digest does not depend on the file format: the same numbers give the same digest from npz, pkl, mat
        or BrainVision.
        """
        shape = (len(self.channels), self.samples)
        digest = hashlib.sha256(f"{self.rate}|{','.join(self.channels)}|{shape}".encode())
        for start in range(0, self.samples, CHUNK_N):
            chunk = np.ascontiguousarray(self.eeg[:, start : start + CHUNK_N], dtype="<f8")
            if not np.isfinite(chunk).all():
                row, at = np.argwhere(~np.isfinite(chunk))[0]
                raise BadInput(
                    f"{self.source}: field data: {chunk[row, at]} in channel {self.channels[row]} at sample "
                    f"{start + at}; samples must be finite numbers"
                )
            digest.update(chunk.data)
        digest.update(np.ascontiguousarray(self.trigger, dtype="<i8").data)
        for sample, reason in sorted(self.invalid.items()):
            digest.update(f"|{sample} {reason}".encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Subject:
    """A person: the blocks in the order in which they are played."""

    name: str
    blocks: tuple[Block, ...]

    def __repr__(self) -> str:
        return f"<Subject {self.name}: {len(self.blocks)} blocks>"


@dataclass(frozen=True)
class Recording:
    """Subjects in the order in which they are played (sorted folder order), and where they came from.

    A part of a recording (see `part`) knows its place in the whole: the number of its first subject, how many samples
    come before it, and whether more follows. With a ``key`` the digest tells nothing to those who do not have it.
    """

    subjects: tuple[Subject, ...]
    folder: Path | None = None
    notes: tuple[str, ...] = field(default=())
    first: int = 1
    before_n: int = 0
    more_follows: bool = False
    key: bytes = b""

    def __repr__(self) -> str:
        blocks = [block for _, _, block in self]
        form = f", {len(blocks[0].channels)} channels, {blocks[0].rate} Hz" if blocks else ""
        counts = f"{len(self.subjects)} subjects, {len(blocks)} blocks, {self.seconds / 60:.1f} min"
        return f"<Recording {self.folder or 'in memory'}: {counts}{form}>"

    @property
    def seconds(self) -> float:
        return sum(block.seconds for _, _, block in self)

    def __iter__(self) -> Iterator[tuple[int, int, Block]]:
        """Every block as (subject number, block number, block), numbers from 1."""
        for number, subject in enumerate(self.subjects, self.first):
            for index, block in enumerate(subject.blocks, 1):
                yield number, index, block

    def part(self, subject: int) -> Recording:
        """One subject alone, handed out exactly as within the whole."""
        if not 1 <= subject <= len(self.subjects):
            raise BadInput(f"{self.folder or 'recording'}: has no subject {subject}, only 1 to {len(self.subjects)}")
        before_n = sum(block.samples for person in self.subjects[: subject - 1] for block in person.blocks)
        more = subject < len(self.subjects)
        return Recording(self.subjects[subject - 1 : subject], self.folder, self.notes, subject, before_n, more)

    @cached_property
    def digest(self) -> str:
        """Digest over all blocks and their order; also checks every sample (see Block.digest)."""
        total = hashlib.sha256()
        for subject, index, block in self:
            total.update(f"{subject}/{index}:{block.digest}\n".encode())
        return hmac.new(self.key, total.digest(), hashlib.sha256).hexdigest() if self.key else total.hexdigest()
