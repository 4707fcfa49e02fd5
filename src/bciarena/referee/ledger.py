"""The ledger: what happened, one JSON line each, only ever appended to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

from bciarena.errors import BadInput


def line_text(line: dict[str, Any]) -> str:
    """One line, always the same bytes for the same content."""
    return json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


class Ledger:
    """Collects the lines of a run, and writes each at once to a file if there is one."""

    def __init__(self, header: dict[str, Any], file: IO[str] | None = None) -> None:
        self.lines: list[dict[str, Any]] = []
        self._file = file
        self.append({"type": "header", **header})

    def append(self, line: dict[str, Any]) -> None:
        """Add a line; it is on disk when this returns, as far as the process is concerned."""
        self.lines.append(line)
        if self._file is not None:
            self._file.write(line_text(line))
            self._file.flush()

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == "report"]


def read_ledger(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]:
    """Header, reports and end of a ledger file; the end is None when the run never got there."""
    header: dict[str, Any] | None = None
    reports: list[dict[str, Any]] = []
    end: dict[str, Any] | None = None
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); is this a run folder?") from error
    for number, row in enumerate(text.splitlines(), 1):
        try:
            line = json.loads(row)
            kind = line["type"]
        except (ValueError, KeyError, TypeError):
            raise BadInput(f"{path}: line {number} is not a ledger line; the file is damaged or cut") from None
        if kind == "header":
            header = line
        elif kind == "report":
            reports.append(line)
        elif kind == "end":
            end = line
    if header is None:
        raise BadInput(f"{path}: no header line; this is not a ledger")
    return header, reports, end
