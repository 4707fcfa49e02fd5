"""The ledger: what happened in a run, one JSON line each, append-only."""

from __future__ import annotations

import json
from typing import IO, Any


def line_text(line: dict[str, Any]) -> str:
    """One line, always the same bytes for the same content; what is not ASCII is written as its number."""
    return json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"


class Ledger:
    """Collects the lines of a run, and writes each at once to a file if there is one."""

    def __init__(self, header: dict[str, Any], file: IO[str] | None = None) -> None:
        self.lines: list[dict[str, Any]] = []
        self._file = file
        self.append({"type": "header", **header})

    def append(self, line: dict[str, Any]) -> None:
        """Add a line; it has been handed to the operating system when this returns."""
        self.lines.append(line)
        if self._file is not None:
            self._file.write(line_text(line))
            self._file.flush()

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == "report"]
