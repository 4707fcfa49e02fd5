"""Running benches and keeping their rows in docs/benchmarks.md."""

from __future__ import annotations

import importlib
import os
import platform
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status

from bciarena.bench.kept import KeptRows
from bciarena.errors import BadInput

BENCHES = ("engine", "box", "decisions", "jobs", "site", "live")
LONG = ("soak", "decoders", "curves", "statistics")  # only when asked for by name


def run_benches(
    what: str,
    write: Path | None,
    data: Path | None,
    quick: bool,
    minutes: float = 60.0,
    fresh: bool = False,
    stale: bool = False,
) -> None:
    """Run one bench or all, print rows, and write them where asked."""
    names = [what] if what else list(BENCHES)
    unknown = set(names) - {*BENCHES, *LONG}
    if unknown:
        raise BadInput(f"no bench {unknown.pop()!r}: choose one of {', '.join((*BENCHES, *LONG))}")
    for name in names:
        with Console(stderr=True).status(f"measuring {name}") as status:
            if name in ("decoders", "curves"):
                text = _decoders(name, write, data, quick, KeptRows(fresh, stale), status)
            elif name == "statistics":
                from bciarena.bench import statistics

                text = statistics.main(status.update, KeptRows(fresh, stale), minutes)
            else:
                module = importlib.import_module(f"bciarena.bench.{name}")
                text = markdown(module.main(minutes) if name == "soak" else module.main())
        print(f"## {name}\n{text}")
        if write:
            keep(write, name, text)


def _decoders(name: str, write: Path | None, data: Path | None, quick: bool, kept: KeptRows, status: Status) -> str:
    from bciarena.bench import curve_page, curves, decoder_page, decoders

    def tell(text: str) -> None:
        if text.startswith("[done]"):
            status.console.print(text.removeprefix("[done] "), highlight=False, markup=False)
        else:
            status.update(text)

    curved = name == "curves"
    rows = curves.main(data, kept, tell) if curved else decoders.main(data, quick, kept, tell)
    page, draw = (curve_page.page, curve_page.draw) if curved else (decoder_page.page, decoder_page.draw)
    if write is None:
        return page(rows)
    draw(rows, write.parent / "figures" / f"{name}.svg")
    return page(rows, f"figures/{name}.svg")


def machine() -> str:
    """The machine measured on, in one line."""
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
    """Replace the text between the marks of a bench, or append it."""
    begin, end = f"<!-- bench {name} -->", f"<!-- end {name} -->"
    page = path.read_text("utf-8") if path.exists() else "# Benchmarks\n"
    part = f"{begin}\nMeasured on {machine()}.\n\n{text}{end}"
    if begin in page:
        head, rest = page.split(begin, 1)
        page = head + part + rest.split(end, 1)[1]
    else:
        page += f"\n## {name}\n{part}\n"
    path.write_text(page, "utf-8")
