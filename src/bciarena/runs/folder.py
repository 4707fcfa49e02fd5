"""Every file of a run folder is written and read here, and nowhere else.

What is missing, damaged or not as schema.py says raises BadInput; with ``lenient`` it is listed in ``missing`` and the
rest is used, so that a report shows what there is.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.referee.ledger import Ledger, line_text
from bciarena.runs.result import Result
from bciarena.runs.schema import FILES, FORMAT, LINES, About, EndLine, Header, LayoutBlock, Mark, ReportLine
from bciarena.runs.shape import MOST_BYTES, parsed, problem, read_bytes, read_text
from bciarena.writing import whole_file, whole_folder

LEDGER, SCORE, LAYOUT, THINK, ABOUT, MARKS = (
    "ledger.jsonl",
    "score.json",
    "layout.json",
    "think.npz",
    "run.json",
    "output.jsonl",
)
STREAMS = ("stdout", "stderr")
HEADER_MOST = 1 << 20


class LedgerLines(NamedTuple):
    """A ledger that was read; ``end`` is None for a run that was cut off."""

    header: Header
    reports: list[ReportLine]
    end: EndLine | None


class Printed(NamedTuple):
    """A piece of what the entry printed, and how many packets it had been given by then, over all blocks."""

    stream: str
    packet: int
    raw: bytes

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "replace")


class RunFolder:
    """A run folder.

    Parameters
    ----------
    path : Path
        The folder.
    lenient : bool
        Whether problems are collected in ``missing`` instead of being raised.
    """

    def __init__(self, path: Path, lenient: bool = False) -> None:
        self.path = path
        self.lenient = lenient
        self.missing: list[str] = []

    # Reading

    def ledger(self) -> LedgerLines:
        """Header, reports and end; with ``lenient``, every line up to the first damaged one."""
        header: Any = {}
        reports: list[ReportLine] = []
        end: EndLine | None = None
        for line in self._lines(LEDGER, LINES):
            kind = line["type"]
            if kind == "header":
                header = line
                if line.get("format", FORMAT) > FORMAT:
                    raise BadInput(f"{self.path}: made by a later version (format {line['format']}); update bciarena")
            elif kind == "report":
                reports.append(cast(ReportLine, line))
            elif kind == "end":
                end = cast(EndLine, line)
        if not header:
            self._wrong(LEDGER, "has no header line")
        if end is None and self.lenient and (self.path / LEDGER).exists():
            self.missing.append(f"{LEDGER}: has no end line, the run was cut off")
        return LedgerLines(header, reports, end)

    def header(self) -> Header:
        """The first line of the ledger alone."""
        with open(self.path / LEDGER, "rb") as file:
            first = file.readline(HEADER_MOST)
        return cast(Header, self._checked(LEDGER, first.decode("utf-8", "replace"), LINES["header"]))

    def score(self) -> Result:
        """score.json."""
        return Result(self._json(SCORE) or {})

    @classmethod
    def score_from(cls, content: bytes, where: str) -> Result:
        """A score.json that was fetched from elsewhere, checked strictly."""
        return Result(cls(Path(where))._checked(SCORE, content.decode("utf-8", "replace"), FILES[SCORE]))

    def layout(self) -> list[LayoutBlock]:
        """Where the trials are."""
        blocks: list[LayoutBlock] = self._json(LAYOUT) or []
        for block in blocks:
            if block["rate"] < 1 or any(len(trial) != 3 for trial in block["trials"]):
                self._wrong(LAYOUT, "damaged (a rate below 1, or a trial without its three places)")
                return []
        return blocks

    def about(self) -> About:
        """run.json."""
        return cast(About, self._json(ABOUT) or {})

    def think_s(self) -> NDArray[np.float32]:
        """Computing time after each packet, shape (packets,)."""
        try:
            with zipfile.ZipFile(self.path / THINK) as archive:
                return _column(archive.getinfo("think_s.npy"), archive)
        except FileNotFoundError:
            self._wrong(THINK, "not in the run folder")
        except Exception:  # hostile bytes reach parsers of zip files and headers here, which may raise anything
            self._wrong(THINK, "damaged or cut")
        return np.zeros(0, np.float32)

    def printed_bytes(self) -> int:
        """How much of what the entry printed was kept."""
        paths = [self.path / f"{name}.txt" for name in STREAMS]
        return sum(path.stat().st_size for path in paths if path.is_file())

    def printed(self) -> list[Printed]:
        """What the entry printed, in pieces, in the order of the packets after which they came."""
        pieces = []
        marks = cast(list[Mark], list(self._lines(MARKS, None))) if (self.path / MARKS).is_file() else []
        for name in STREAMS:
            path = self.path / f"{name}.txt"
            raw = self._raw(path)
            own = [(mark["offset"], mark["packet"]) for mark in marks if mark["stream"] == name] or [(0, 0)]
            stops = [offset for offset, _ in own[1:]] + [len(raw)]
            pieces += [Printed(name, packet, raw[start:stop]) for (start, packet), stop in zip(own, stops, strict=True)]
        return sorted((piece for piece in pieces if piece.raw), key=lambda piece: piece.packet)

    def _raw(self, path: Path) -> bytes:
        try:
            return read_bytes(path)
        except FileNotFoundError:
            return b""
        except (OSError, ValueError) as error:
            self._wrong(path.name, f"cannot be read ({error})")
            return b""

    def _json(self, name: str) -> Any:
        try:
            text = read_text(self.path / name)
        except FileNotFoundError:
            return self._wrong(name, "not in the run folder")
        except (OSError, ValueError) as error:
            return self._wrong(name, f"damaged or cut ({error})")
        return self._checked(name, text, FILES[name])

    def _lines(self, name: str, kinds: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
        """The lines of a .jsonl file, of one type or of types by their field ``type``."""
        try:
            rows = read_text(self.path / name, "replace").splitlines()
        except FileNotFoundError:
            self._wrong(name, "not in the run folder")
            return
        except OSError as error:
            self._wrong(name, f"cannot be read ({error.strerror})")
            return
        except ValueError as error:
            self._wrong(name, f"cannot be read ({error})")
            return
        for number, row in enumerate(rows, 1):
            line, found = self._parsed(row)
            if not found and not isinstance(line, dict):
                found = "is not a JSON object"
            if not found:
                kind = kinds.get(line.get("type", ""), dict[str, Any]) if kinds else FILES[name]
                found = "has no type" if kinds and "type" not in line else problem(line, kind)
            if found:
                self._wrong(name, f"damaged or cut at line {number} ({found}); shown up to there")
                return
            yield line

    def _checked(self, name: str, text: str, kind: Any) -> Any:
        value, found = self._parsed(text)
        found = found or problem(value, kind)
        return self._wrong(name, f"damaged or cut ({found})") if found else value

    @staticmethod
    def _parsed(text: str) -> tuple[Any, str]:
        """A value, or what is wrong with its text."""
        try:
            return parsed(text), ""
        except json.JSONDecodeError:
            return None, "no JSON"
        except ValueError as error:
            return None, str(error)

    def _wrong(self, name: str, words: str) -> None:
        if not self.lenient:
            what = words.removesuffix("; shown up to there")
            raise BadInput(f"{self.path / name}: {what}; is this a whole run folder?")
        self.missing.append(f"{name}: {words}")

    # Writing

    @contextmanager
    def open_ledger(self, header: Header) -> Iterator[Ledger]:
        """A new ledger, written to disk line by line."""
        with open(self.path / LEDGER, "w", encoding="utf-8") as file:
            yield Ledger(dict(header), file)

    def write_ledger(self, lines: Sequence[dict[str, Any]]) -> None:
        """Write a whole ledger at once."""
        self._write(LEDGER, "".join(map(line_text, lines)))

    def write_score(self, score: Result) -> None:
        self._write_json(SCORE, score)

    def write_layout(self, layout: list[LayoutBlock]) -> None:
        self._write_json(LAYOUT, layout)

    def write_about(self, about: About) -> None:
        self._write_json(ABOUT, about)

    def write_think(self, think_s: Sequence[float] | NDArray[np.float32]) -> None:
        with whole_file(self.path / THINK) as beside, open(beside, "wb") as file:
            np.savez_compressed(file, think_s=np.asarray(think_s, np.float32))

    def open_printed(self, stream: str) -> IO[bytes]:
        """The file that takes what the entry prints."""
        return open(self.path / f"{stream}.txt", "wb")

    def write_printed(self, pieces: Iterable[Printed], most: int) -> None:
        """What an entry printed, at most ``most`` bytes of each stream, with its marks."""
        kept = dict.fromkeys(STREAMS, b"")
        marks: list[Mark] = []
        for piece in pieces:
            offset = len(kept[piece.stream])
            if offset < most:
                marks.append({"stream": cast(Any, piece.stream), "offset": offset, "packet": piece.packet})
                kept[piece.stream] += piece.raw[: most - offset]
        for name, raw in kept.items():
            with self.open_printed(name) as file:
                file.write(raw)
        self.write_marks(marks)

    def write_marks(self, marks: Iterable[Mark]) -> None:
        """Which part of stdout.txt and stderr.txt was printed after which packet."""
        self._write(MARKS, "".join(json.dumps(mark) + "\n" for mark in marks))

    def _write_json(self, name: str, value: Any) -> None:
        self._write(name, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n")

    def _write(self, name: str, text: str) -> None:
        with whole_file(self.path / name) as beside:
            beside.write_text(text, "utf-8")


@contextmanager
def new_run(out: Path | None, force: bool = False) -> Iterator[RunFolder | None]:
    """A run folder that gets its name only when everything in it is written; None without ``out``."""
    if out is None:
        yield None
        return
    with whole_folder(out, force) as beside:
        yield RunFolder(beside)


def _column(member: zipfile.ZipInfo, archive: zipfile.ZipFile) -> NDArray[np.float32]:
    """A column of numbers in an npz file; ValueError where its length is not what the file holds."""
    if member.file_size > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 20} MiB")
    with archive.open(member) as file:
        content = io.BytesIO(file.read(member.file_size))
    head = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(content)]
    shape, _, dtype = head(content)
    if len(shape) != 1 or dtype.kind not in "fiu" or shape[0] * dtype.itemsize != member.file_size - content.tell():
        raise ValueError("not the numbers that its header announces")
    return np.frombuffer(content.read(), dtype).astype(np.float32)
