"""A growing recording on disk: samples go out as they come, so that a crash loses nothing that was received."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.codes import codes_of
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.importing.meanings import Blank, meanings_of
from bciarena.live.marks import marks_of
from bciarena.live.notes import NOTE
from bciarena.recording import Event, write_contest
from bciarena.recording.bids import describe_bids, write_bids
from bciarena.recording.events import ENDING, events_text
from bciarena.recording.model import CHUNK_N
from bciarena.recording.spool import spool
from bciarena.writing import whole_file

RAW = "raw.f32"
NOTED = "raw.jsonl"
SAFE_S = 1.0  # what is older than this is on the disk itself: a power cut loses no more


class Recorder:
    """Appends (channels + 1, n) to ``folder/raw.f32``, sample by sample; ``finish`` makes a data folder of it.

    Samples are written as they come, so that the death of this process loses none, and brought to the disk itself every
    ``safe_s``, so that a power cut loses that much at most; a thread of its own does it, because a disk may take long.
    What makes trials invalid goes to ``raw.jsonl``, line by line. With ``keep_all`` the data folder holds everything
    that was recorded, also what the contest's own recordings blank within trials; raw.f32 always does.
    """

    def __init__(
        self, folder: Path, book: Rulebook, subject: int = 1, block: int = 1, tell: Callable[[str], None] = print,
        keep_all: bool = False, safe_s: float = SAFE_S,
    ) -> None:  # fmt: skip
        self.tell = tell
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.book, self.subject, self.block = folder, book, subject, block
        about = {"challenge": book.id, "rate": book.rate, "channels": list(book.channels)}
        (folder / "raw.json").write_text(
            json.dumps(about | {"subject": subject, "block": block, "keep_all": keep_all}), "utf-8"
        )
        # Without a buffer: what was added is on disk or refused, nothing is left to fail when the file is closed.
        self._file = open(folder / RAW, "wb", buffering=0)  # noqa: SIM115 - open as long as the recording runs
        self._noted = open(folder / NOTED, "ab", buffering=0)  # noqa: SIM115
        self.samples = 0
        self.failed: str | None = None
        self._closing = threading.Event()
        self._keeper = threading.Thread(target=self._keep_safe, args=(safe_s,), daemon=True)
        self._keeper.start()

    def _keep_safe(self, every_s: float) -> None:
        safe = -1
        while not self._closing.wait(every_s):
            if self.samples == safe or self.failed:
                continue
            safe = self.samples
            try:
                os.fsync(self._file.fileno())
                os.fsync(self._noted.fileno())
            except OSError as error:  # a disk that breaks; the samples may still be written
                self.tell(NOTE("not_safe", why=error.strerror))
                return

    def mark(self, line: dict[str, Any]) -> None:
        """Something that makes trials invalid (see `LiveIn.mark`)."""
        try:
            self._noted.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            self.failed = self.failed or NOTE("marks_full", why=error.strerror)
            self.tell(self.failed)

    def add(self, eeg: NDArray[Any], codes: NDArray[np.int64]) -> None:
        """Append samples and their codes; a full disk is remembered, not raised: decoding goes on."""
        if self.failed:
            return
        try:
            left = memoryview(np.vstack([eeg, codes[None]]).T.astype("<f4").tobytes())
            while left:  # a disk that is almost full takes a part of it
                left = left[self._file.write(left) :]
            self.samples += eeg.shape[1]
        except OSError as error:
            self.failed = NOTE("disk_full", n=self.samples, why=error.strerror)
            self.tell(self.failed)

    def finish(self, side: dict[str, Any] | None = None) -> Path:
        """Close and write the block as contest layout and as BIDS; returns the data folder."""
        self._closing.set()
        self._keeper.join()
        self._file.close()
        self._noted.close()
        if not (self.folder / RAW).is_file():
            raise BadInput(f"{self.folder}: was removed while it was being recorded; nothing of it is left")
        return rescue(self.folder, side)


def rescue(folder: Path, side: dict[str, Any] | None = None) -> Path:
    """Make data folders of a raw recording, also of one whose process died; returns the one in contest layout."""
    try:
        about = json.loads((folder / "raw.json").read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{folder}: no raw.json in it ({error.strerror}); give a folder of arena live record") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{folder}: raw.json is damaged ({error})") from error
    numbers = [about.get(key) for key in ("subject", "block")] if isinstance(about, dict) else [None]
    if not all(isinstance(number, int) and 0 < number < 10_000 for number in numbers):
        raise BadInput(f"{folder}: raw.json is damaged (it names no subject and block)")
    try:
        return _write(folder, about, side)
    except OSError as error:
        kept = f"what was received is kept in {RAW}: make room, then arena live rescue {folder}"
        raise BadInput(f"{folder}: {error.strerror}; {kept}") from error


def _write(folder: Path, about: dict[str, Any], side: dict[str, Any] | None) -> Path:
    from bciarena.contests import registered

    book = registered(str(about.get("challenge")))
    rows = len(book.channels) + 1
    size = (folder / RAW).stat().st_size // (4 * rows)
    raw: NDArray[Any] = np.zeros((rows, 0), np.float32)
    if size:
        raw = np.memmap(folder / RAW, "<f4", "r", shape=(size, rows)).T
    codes = np.asarray(raw[-1]).astype(np.int64)
    events = tuple(Event(int(k), int(codes[k])) for k in np.flatnonzero(codes))
    marks = marks_of(book, events, size, _noted(folder))
    if size and meanings_of(book).blank_s and not about.get("keep_all"):
        raw = _blanked(book, raw, codes)
    data, bids = folder / "data", folder / "bids"
    path = data / f"S{about['subject']:02d}" / f"block_{about['block']}.npz"
    write_contest(path, np.asarray(raw), book.rate, book.channels)
    with whole_file(path.with_name(path.stem + ENDING)) as beside:
        beside.write_text(events_text(events, book.rate, {}, marks), "utf-8")
    who = f"{about['subject']:02d}"
    header = write_bids(
        bids, who, book.name, about["block"], raw[:-1], events, book.rate, book.channels,
        meanings=codes_of(book), marks=marks,
    )  # fmt: skip
    describe_bids(bids, f"{book.id}, recorded live", [who])
    sidecar = header.with_name(header.name.replace("_eeg.vhdr", "_eeg.json"))
    told = json.loads(sidecar.read_text("utf-8")) | (side or {}) | {"invalid_trials": len(marks.invalid)}
    sidecar.write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    return data


def _noted(folder: Path) -> list[dict[str, Any]]:
    """What was noted; a last line that was cut off is left out."""
    path = folder / NOTED
    whole = path.read_bytes().rpartition(b"\n")[0] if path.is_file() else b""
    return [json.loads(line) for line in whole.splitlines()]


def _blanked(book: Rulebook, raw: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
    """The recording in the form of the contest's own, piece by piece."""
    blank = Blank(book)

    def pieces() -> Iterator[bytes]:
        for start in range(0, raw.shape[1], CHUNK_N):
            piece = np.asarray(raw[:, start : start + CHUNK_N]).copy()
            piece[:-1] = blank(piece[:-1], codes[start : start + CHUNK_N])
            yield piece.T.astype("<f4").tobytes()

    return spool(pieces(), "<f4", (raw.shape[1], raw.shape[0])).T
