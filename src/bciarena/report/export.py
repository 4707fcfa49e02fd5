"""A run as a tidy table: one row per trial."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput
from bciarena.plaintext import table_cell
from bciarena.report.kept import KeptRun, open_run
from bciarena.writing import wanted_file

COLUMNS = {
    "challenge": "rulebook id",
    "entry": "digest of the entry",
    "data": "digest of the recordings",
    "verdict": "how the run ended",
    "subject": "from 1 in folder order",
    "block": "from 1 within the subject",
    "trial": "from 1 within the block",
    "truth": "what the subject did, in the vocabulary of the answers",
    "answer": "what was reported; empty if nothing",
    "correct": "whether it counts as right",
    "length_s": "length that entered the score, seconds; empty where none did",
    "status": "in_time, late, missing, false_positive, quiet or after_target",
    "onset_s": "first countable sample of the trial within its block, seconds; empty if the layout is missing",
}
"""Every column with its meaning."""


def rows(run: KeptRun) -> list[dict[str, Any]]:
    """One dictionary per trial, keys as in COLUMNS."""
    onsets = {
        (block["subject"], block["block"], number): start / block["rate"]
        for block in run.layout
        for number, (_, start, _) in enumerate(block["trials"], 1)
    }
    common = {"challenge": run.book.id, "entry": run.header.get("entry", ""), "data": run.header.get("data", "")}
    common["verdict"] = run.score["verdict"]
    return [
        common | {key: trial[key] for key in COLUMNS if key in trial}
        | {"onset_s": onsets.get((trial["subject"], trial["block"], trial["trial"]))}
        for trial in run.score["trials"]
    ]  # fmt: skip


def export(folder: Path, kind: str, out: Path | None) -> str | None:
    """Write the table of a run as csv, json or parquet; without ``out`` csv and json are returned as text."""
    table = rows(open_run(folder))
    if kind == "json":
        text = json.dumps(table, ensure_ascii=False, indent=1) + "\n"
    elif kind == "csv":
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: table_cell(value) for key, value in row.items()} for row in table)
        text = buffer.getvalue()
    elif kind == "parquet":
        _parquet(table, out)
        return None
    else:
        raise BadInput(f"unknown format {kind!r}: choose csv, json or parquet")
    if out is None:
        return text
    with wanted_file(out) as path:
        path.write_text(text, "utf-8")
    return None


def _parquet(table: list[dict[str, Any]], out: Path | None) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput("parquet needs pyarrow: pip install 'bciarena[report]'") from None
    if out is None:
        raise BadInput("a parquet file needs a name: give -o FILE")
    kinds = {"subject": pyarrow.int64(), "block": pyarrow.int64(), "trial": pyarrow.int64(), "correct": pyarrow.bool_()}
    kinds |= {"length_s": pyarrow.float64(), "onset_s": pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in COLUMNS])
    with wanted_file(out) as path:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table, schema), path)
