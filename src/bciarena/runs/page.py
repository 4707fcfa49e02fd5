"""docs/runs.md and run.schema.json, made from schema.py and the list of verdicts so that they cannot drift apart.

``python -m bciarena.runs.page docs/runs.md`` writes both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bciarena.runs.folder import LEDGER
from bciarena.runs.schema import FILES, FORMAT, LINES, run_schema
from bciarena.runs.shape import json_schema
from bciarena.verdicts import verdict_table

SCHEMA = Path(__file__).with_name("run.schema.json")
HEAD = f"""# A run folder

`arena run --out RUN`, `arena live run --out RUN` and the workers of a site leave the same folder. `arena score`,
`report`, `compare`, `export`, `paper` and `bundle` read it, and so may you. This page is made from the types in
`src/bciarena/runs/schema.py`. The same as a JSON Schema: [run.schema.json](../src/bciarena/runs/run.schema.json)
(installed with the package), with each file, or line of a `.jsonl` file, under `$defs`. This is format {FORMAT}; within
a format fields may be added, never changed or removed.

| file | contains |
|---|---|
| `ledger.jsonl` | a header, one line per report, the end: with the data, enough to recompute the score |
| `score.json` | the score |
| `layout.json` | where the trials are, without truth |
| `think.npz` | `think_s`: computing time after each packet, seconds |
| `stdout.txt`, `stderr.txt` | what the entry printed, up to a limit |
| `output.jsonl` | which part of it was printed after which packet |
| `run.json` | where data and entry were; no part of the result |
| `data/`, `bids/` | live runs only: what was recorded |

From Python: `RunFolder(path)` in `bciarena.runs` has a method for each file. What is missing, damaged or in another
format raises a `BadInput` that says where; with `lenient=True` it is listed in `missing` instead and the rest is read.

## Verdicts
{verdict_table()}

A run that ends early keeps the reports it made; trials without one are missing.
"""


def runs_page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD]
    for name, kind in FILES.items():
        kinds = {f"{name}, type {key}": line for key, line in LINES.items()} if name == LEDGER else {name: kind}
        for title, one in kinds.items():
            schema = json_schema(one)
            parts.append(_section(title, schema.get("items", schema)))
    return "".join(parts)


def _section(name: str, schema: dict[str, Any]) -> str:
    rows = [_row(field, inner, field in schema["required"]) for field, inner in schema["properties"].items()]
    nested = [
        _section(f"{name}, an item of {field}", inner["items"])
        for field, inner in schema["properties"].items()
        if "properties" in inner.get("items", {})
    ]
    head = f"\n## {name}\n{schema['description']}\n\n| field | type | |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n" + "".join(nested)


def _row(field: str, schema: dict[str, Any], required: bool) -> str:
    words = schema.get("description", "") if "properties" not in schema else ""
    return f"| `{field}` | {_kind(schema)}{'' if required else ', optional'} | {words} |"


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"]) if len(schema["enum"]) < 8 else "one of those above"
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    if "additionalProperties" in schema:
        return f"object of {_kind(schema['additionalProperties'])}"
    return str(schema.get("type", "any"))


def schema_text() -> str:
    """The JSON Schema as it is shipped."""
    return json.dumps(run_schema(), indent=1) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(runs_page(), "utf-8")
    SCHEMA.write_text(schema_text(), "utf-8")
