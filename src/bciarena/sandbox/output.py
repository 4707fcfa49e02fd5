"""What an entry prints: kept up to a bound, with the packet at which it was printed."""

from __future__ import annotations

import json
import os
from collections import deque
from pathlib import Path
from typing import IO

TAIL_BYTES = 4096
CHUNK = 1 << 16
MOST_CHUNKS = 16  # read in one go, so that an entry that never stops printing cannot hold us
MOST_MARKS = 20_000


def clean(text: str) -> str:
    """Text of an entry for people's eyes: without what would move a terminal's cursor or change its colours."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


class Output:
    """One stream of the entry: a pipe that is always emptied, a file that stops growing.

    ``marks`` holds [offset, packet]: what lies from this byte on was printed after this packet was handed out.
    """

    def __init__(self, name: str, folder: Path | None, most: int) -> None:
        self.name, self.most = name, most
        self.read_fd, self.write_fd = os.pipe()
        os.set_blocking(self.read_fd, False)
        self.open = True
        self._ours: int | None = self.write_fd  # our copy of the box's end, until the box has it
        self.size = 0
        self.marks: list[tuple[int, int]] = []
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._file: IO[bytes] | None = open(folder / f"{name}.txt", "wb") if folder else None  # noqa: SIM115

    def started(self) -> None:
        """The box has its end: close our copy, so that its last process closes the pipe."""
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None

    def drain(self, packet: int) -> bytes:
        """Read what there is; returns it."""
        got = []
        for _ in range(MOST_CHUNKS):
            try:
                raw = os.read(self.read_fd, CHUNK)
            except BlockingIOError:
                break
            if not raw:
                self.open = False
                break
            self._keep(raw, packet)
            got.append(raw)
        return b"".join(got)

    def _keep(self, raw: bytes, packet: int) -> None:
        if self.size < self.most:
            if (not self.marks or self.marks[-1][1] != packet) and len(self.marks) < MOST_MARKS:
                self.marks.append((self.size, packet))
            if self._file:
                self._file.write(raw[: self.most - self.size])
        self.size += len(raw)
        self._tail.append(raw[-TAIL_BYTES:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= TAIL_BYTES:
            self._tail_size -= len(self._tail.popleft())

    @property
    def cut(self) -> int:
        """Bytes that were not kept."""
        return max(0, self.size - self.most)

    def tail(self, lines: int) -> str:
        """The last lines, as text."""
        text = b"".join(self._tail)[-TAIL_BYTES:].decode("utf-8", "replace")
        return "\n".join(clean(text).rstrip().splitlines()[-lines:])

    def close(self) -> None:
        self.started()
        os.close(self.read_fd)
        if self._file:
            if self.cut:
                rest = b"".join(self._tail)[-min(TAIL_BYTES, self.cut) :]
                note = f"\n[cut here: {self.cut} bytes more were printed; the last of them follow]\n"
                self._file.write(note.encode() + rest)
            self._file.close()


def write_index(folder: Path, outputs: list[Output]) -> None:
    """RUN/output.jsonl: which part of stdout.txt and stderr.txt was printed after which packet."""
    with open(folder / "output.jsonl", "w", encoding="utf-8") as file:
        for output in outputs:
            for offset, packet in output.marks:
                file.write(json.dumps({"stream": output.name, "offset": offset, "packet": packet}) + "\n")
