"""Running benches and keeping their rows in docs/benchmarks.md."""

from __future__ import annotations

import importlib
import os
import platform
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from bciarena.errors import BadInput

BENCHES = ("engine", "box", "decisions", "jobs", "site")


def run_benches(what: str, write: Path | None, data: Path | None, quick: bool) -> None:
    """Run one bench or all, print rows, and write them where asked."""
    names = [what] if what else list(BENCHES)
    unknown = set(names) - {*BENCHES, "decoders"}
    if unknown:
        raise BadInput(f"no bench {unknown.pop()!r}: choose {', '.join(BENCHES)} or decoders")
    console = Console(stderr=True)
    for name in names:
        with console.status(f"measuring {name}"):
            module = importlib.import_module(f"bciarena.bench.{name}")
            rows = module.main(data, quick) if name == "decoders" else module.main()
        text = markdown(rows)
        print(f"## {name}\n{text}")
        if write:
            keep(write, name, text)


def machine() -> str:
    """What was measured on, in one line."""
    model = "unknown processor"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or model
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"


def markdown(rows: list[dict[str, Any]]) -> str:
    """Rows as a list: every measure with its numbers."""
    return "".join(
        f"- **{row['measure']}**: " + ", ".join(f"{k} {_short(v)}" for k, v in row.items() if k != "measure") + "\n"
        for row in rows
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def keep(path: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of a bench, or append it."""
    begin, end = f"<!-- bench {name} -->", f"<!-- end {name} -->"
    page = path.read_text("utf-8") if path.exists() else "# Benchmarks\n"
    part = f"{begin}\nMeasured on {machine()}.\n\n{text}{end}"
    if begin in page:
        head, rest = page.split(begin, 1)
        page = head + part + rest.split(end, 1)[1]
    else:
        page += f"\n## {name}\n{part}\n"
    path.write_text(page, "utf-8")
