"""A run as tidy tables: one row per trial, or one per metric with its intervals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput
from bciarena.plaintext import table_cell
from bciarena.report.kept import KeptRun, open_run
from bciarena.report.statistics import intervals
from bciarena.report.texts import WORDS
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
    "status": "in_time, late, missing, false_positive, quiet, after_target, invalid (left out: bad signal)",
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


METRICS = {
    "challenge": "rulebook id",
    "metric": "score, or the name of a metric",
    "value": "of this run",
    "low": "95 % interval for new blocks of the same people, lower end; empty where nothing can be said",
    "high": "its upper end",
    "new_people_low": "95 % interval for new people, lower end; empty with fewer than three people",
    "new_people_high": "its upper end",
    "drawn": "what the interval for the same people rests on: blocks within subjects, blocks, or trials",
    "meaning_en": "what the intervals hold for, and what they do not include",
    "meaning_zh": "the same in Chinese",
}
"""Every column of the table of metrics with its meaning."""


def metric_rows(run: KeptRun) -> list[dict[str, Any]]:
    """One dictionary per metric, keys as in METRICS."""
    table = []
    for name, found in intervals(run.score).items():
        ends = {
            "low": found.low,
            "high": found.high,
            "new_people_low": found.new_low,
            "new_people_high": found.new_high,
        }
        row = {"challenge": run.book.id, "metric": name, "value": found.value, **ends, "drawn": found.unit}
        keys = [
            f"means_{found.unit.replace(' ', '_')}",
            "means_people" if found.new_low is not None else "means_no_people",
        ]
        keys = ["nothing"] if found.low is None else keys
        for code, words in WORDS.items():
            row[f"meaning_{code}"] = " ".join(words[key] for key in keys)
        table.append(row)
    return table


TABLES = {"trials": (rows, COLUMNS), "metrics": (metric_rows, METRICS)}


def export(folder: Path, kind: str, out: Path | None, which: str = "trials") -> str | None:
    """Write a table of a run as csv, json or parquet; without ``out`` csv and json are returned as text."""
    if which not in TABLES:
        raise BadInput(f"unknown table {which!r}: choose one of {', '.join(TABLES)}")
    make, columns = TABLES[which]
    table = make(open_run(folder))
    if kind == "json":
        text = json.dumps(table, ensure_ascii=False, indent=1) + "\n"
    elif kind == "csv":
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: table_cell(value) for key, value in row.items()} for row in table)
        text = buffer.getvalue()
    elif kind == "parquet":
        _parquet(table, columns, out)
        return None
    else:
        raise BadInput(f"unknown format {kind!r}: choose csv, json or parquet")
    if out is None:
        return text
    with wanted_file(out) as path:
        path.write_text(text, "utf-8")
    return None


def _parquet(table: list[dict[str, Any]], columns: dict[str, str], out: Path | None) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput("parquet needs pyarrow: pip install 'bciarena[report]'") from None
    if out is None:
        raise BadInput("a parquet file needs a name: give -o FILE")
    kinds = {"subject": pyarrow.int64(), "block": pyarrow.int64(), "trial": pyarrow.int64(), "correct": pyarrow.bool_()}
    numbers = ("length_s", "onset_s", "value", "low", "high", "new_people_low", "new_people_high")
    kinds |= {name: pyarrow.float64() for name in numbers}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])
    with wanted_file(out) as path:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table, schema), path)
