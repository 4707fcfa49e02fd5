"""What an entry prints: kept up to a limit, with the packet at which it was printed."""

from __future__ import annotations

import os
from collections import deque
from typing import IO, Literal

from bciarena.plaintext import clean
from bciarena.runs.folder import RunFolder
from bciarena.runs.schema import Mark

TAIL_BYTES = 4096
CHUNK = 1 << 16
MOST_CHUNKS = 16  # read at a time, so that an entry that never stops printing cannot block us
MOST_MARKS = 20_000


def outputs(folder: RunFolder | None, most: int) -> tuple[Output, Output]:
    """Standard output and standard error of one entry, each kept up to ``most`` bytes."""
    return Output("stdout", folder, most), Output("stderr", folder, most)


class Output:
    """One stream of the entry: a pipe that is always emptied, a file that stops growing.

    ``marks`` says from which byte on the output was printed after which packet.
    """

    def __init__(self, name: Literal["stdout", "stderr"], folder: RunFolder | None, most: int) -> None:
        self.name: Literal["stdout", "stderr"] = name
        self.most = most
        self.read_fd, self.write_fd = os.pipe()
        os.set_blocking(self.read_fd, False)
        self.open = True
        self._ours: int | None = self.write_fd  # our copy of the box's end, until the box has it
        self.size = 0
        self.marks: list[Mark] = []
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._file: IO[bytes] | None = folder.open_printed(name) if folder else None

    def started(self) -> None:
        """The box has its end: close our copy, so that the pipe closes with its last process."""
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None

    def drain(self, packet: int) -> bytes:
        """Read and return what there is."""
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
            if (not self.marks or self.marks[-1]["packet"] != packet) and len(self.marks) < MOST_MARKS:
                self.marks.append({"stream": self.name, "offset": self.size, "packet": packet})
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
                note = f"\n[cut here: {self.cut} more bytes were printed; the last of them follow]\n"
                self._file.write(note.encode() + rest)
            self._file.close()
