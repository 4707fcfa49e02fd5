"""The table of events: every code with its place, and which trials must not be used.

``events.tsv`` of BIDS, with two columns more: ``valid`` (``true`` or ``false`` on the code that opens a trial, ``n/a``
elsewhere) and ``reason``. In the contest layout the same table may lie beside a block's file as
``block_1_events.tsv``; there the trigger row holds the codes, and only ``sample``, ``valid`` and ``reason`` are read.
A code that no sample was recorded for has ``n/a`` as its sample and is not valid.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bciarena.errors import BadInput

ENDING = "_events.tsv"


class Event(NamedTuple):
    """A trigger code at one sample of a block."""

    sample: int
    code: int


class Lost(NamedTuple):
    """A code that was sent when no samples were received."""

    onset_s: float  # of the first sample after the gap
    code: int
    reason: str


@dataclass(frozen=True)
class Marks:
    """What is known of a block's trials beside their codes.

    Attributes
    ----------
    opens : frozenset of int
        Codes that open a trial.
    invalid : mapping of int to str
        Sample of the opening code of each trial that must not be used, and why.
    lost : sequence of Lost
        Codes without a sample.
    """

    opens: frozenset[int]
    invalid: Mapping[int, str] = field(default_factory=dict)
    lost: Sequence[Lost] = ()


def events_text(events: Sequence[Event], rate: int, meanings: Mapping[int, str], marks: Marks | None = None) -> str:
    """The table; the columns ``valid`` and ``reason`` are there where marks are given."""
    known = marks or Marks(frozenset())
    rows = [(lost.onset_s, lost.code, "n/a", lost.reason) for lost in known.lost]  # before the sample after their gap
    rows += [(e.sample / rate, e.code, str(e.sample), known.invalid.get(e.sample, "")) for e in events]
    lines = ["onset\tduration\ttrial_type\tvalue\tsample" + ("\tvalid\treason" if marks else "")]
    for onset_s, code, sample, why in sorted(rows, key=lambda row: row[0]):
        line = f"{onset_s:.6f}\t0\t{meanings.get(code, 'code')}\t{code}\t{sample}"
        valid = "false" if why else "true" if code in known.opens else "n/a"
        lines.append(line + (f"\t{valid}\t{' '.join(why.split()) or 'n/a'}" if marks else ""))
    return "\n".join(lines) + "\n"


def read_rows(table: Path) -> list[dict[str, Any]]:
    """The rows of a table of events."""
    try:
        return list(csv.DictReader(table.read_text("utf-8").splitlines(), delimiter="\t"))
    except (ValueError, csv.Error) as error:
        raise BadInput(f"{table}: is not a table of events ({error})") from error


def is_invalid(row: Mapping[str, Any]) -> bool:
    """Whether a row says that it must not be used."""
    return str(row.get("valid") or "").strip().casefold() in ("false", "0", "no")


def is_lost(row: Mapping[str, Any]) -> bool:
    """Whether a row's code has no sample."""
    return is_invalid(row) and row.get("sample") == "n/a"


def lost_of(table: Path) -> list[Lost]:
    """Codes without a sample; none where there is no table."""
    rows = read_rows(table) if table.is_file() else []
    return [Lost(float(row["onset"]), int(float(row["value"])), str(row["reason"])) for row in rows if is_lost(row)]


def invalid_of(table: Path, samples: int) -> dict[int, str]:
    """Samples of codes that open a trial which must not be used, and why; empty where there is no table."""
    if not table.is_file():
        return {}
    found = {}
    for line, row in enumerate(read_rows(table), 2):
        if is_invalid(row) and not is_lost(row):
            try:
                at = int(row["sample"])
            except (KeyError, ValueError, TypeError):
                raise BadInput(f"{table}: line {line}: an event that is not valid needs its sample") from None
            if not 0 <= at < samples:
                raise BadInput(f"{table}: line {line}: sample {at} is outside the recording of {samples} samples")
            found[at] = str(row.get("reason") or "n/a")
    return found
