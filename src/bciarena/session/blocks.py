"""The recordings of a session on disk: sittings as they were recorded, blocks as they are joined of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bciarena.contests.codes import codes_of
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.lab.hub import CUT
from bciarena.live.recorder import RAW, rescue
from bciarena.recording import Block, Event, Marks, open_recording, write_contest
from bciarena.recording.bids import describe_bids, write_bids
from bciarena.recording.events import ENDING, Lost, events_text, lost_of
from bciarena.writing import whole_file

OVER = (241, 243)


class Place:
    """Where one block of a session lies.

    ``sittings/SET_BLOCK_1`` is what was recorded up to the first interruption, ``_2`` what came then, and so on.
    ``data/SET/S07/block_2.npz`` is there when the block is complete.
    """

    def __init__(self, out: Path, split: str, subject: int, block: int) -> None:
        self.out, self.split, self.subject, self.block = out, split, subject, block
        self.log = out / "log" / f"{split}_{block}.jsonl"
        self.data = out / "data" / split
        self.file = self.data / f"S{subject:02d}" / f"block_{block}.npz"

    @property
    def done(self) -> bool:
        return self.file.is_file()

    def sittings(self) -> list[Path]:
        """Folders of what was recorded so far, in order; one that never got a sample is no sitting."""
        found = [
            path for path in (self.out / "sittings").glob(f"{self.split}_{self.block}_*") if (path / RAW).is_file()
        ]
        return sorted(found, key=lambda path: int(path.name.rsplit("_", 1)[1]))

    def next_sitting(self) -> Path:
        number = max((int(path.name.rsplit("_", 1)[1]) for path in self.sittings()), default=0) + 1
        return self.out / "sittings" / f"{self.split}_{self.block}_{number}"

    def recorded(self, book: Rulebook) -> int:
        """Samples of earlier sittings, as they will stand in the block."""
        return sum(block.samples // book.packet_n * book.packet_n for block in self._read())

    def _read(self) -> list[Block]:
        blocks = []
        for path in self.sittings():
            if not (path / RAW).stat().st_size:
                continue
            if not (path / "data").is_dir():  # its process died
                rescue(path)
            (subject,) = open_recording(path / "data").subjects
            blocks.append(subject.blocks[0])
        return blocks

    def join(self, book: Rulebook) -> Path:
        """Write the block from its sittings; a trial in which one was cut off is invalid."""
        parts = self._read()
        if not parts:
            raise BadInput(f"{self.out}: block {self.block} of {self.split}: nothing was recorded")
        # Packets are cut as if there had been no interruption: less than a packet of the void trial's end is left out.
        lengths = [part.samples // book.packet_n * book.packet_n for part in parts[:-1]] + [parts[-1].samples]
        starts = np.cumsum([0, *lengths[:-1]])
        data = np.concatenate([part.data[:, :n] for part, n in zip(parts, lengths, strict=True)], axis=1)
        invalid: dict[int, str] = {}
        lost: list[Lost] = []
        for number, (part, start) in enumerate(zip(parts, starts, strict=True), 1):
            invalid |= {int(start) + sample: why for sample, why in part.invalid.items()}
            table = Path(part.source).with_name(Path(part.source).stem + ENDING)
            lost += [one._replace(onset_s=one.onset_s + start / book.rate) for one in lost_of(table)]
            opened = _left_open(book, part)
            if number < len(parts) and opened is not None:
                invalid.setdefault(int(start) + opened, CUT)
        codes = data[-1].astype(int)
        events = tuple(Event(int(at), int(codes[at])) for at in np.flatnonzero(codes))
        marks = Marks(book.opens, invalid, lost)
        who, bids = f"{self.subject:02d}", self.out / "bids" / self.split
        write_bids(
            bids, who, book.name, self.block, data[:-1], events, book.rate, book.channels,
            meanings=codes_of(book), marks=marks,
        )  # fmt: skip
        describe_bids(bids, f"{book.id}, {self.split}, recorded in a session", [who])
        with whole_file(self.file.with_name(self.file.stem + ENDING)) as beside:
            beside.write_text(events_text(events, book.rate, {}, marks), "utf-8")
        write_contest(self.file, data, book.rate, book.channels)  # last: it says that the block is done
        return self.data


def _left_open(book: Rulebook, part: Block) -> int | None:
    """Sample of the opening code of a trial that has no end."""
    last = next((event for event in reversed(part.events) if event.code in book.opens or event.code in OVER), None)
    return last.sample if last and last.code in book.opens else None
