"""An audit as text a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.plaintext import one_line
from bciarena.words import Tables, read_words


@cache
def _words() -> dict[str, Tables]:
    return read_words(Path(__file__).parent)


def markdown(found: Mapping[str, Any], language: str = "en") -> str:
    """The findings of `audit` or `verdict`."""
    say, probes = _words()[language]["audit"], _words()[language]["probes"]
    own = contest(found["challenge"])
    aspects = own.words.get(language, {}).get("audit", {})
    lines = [
        f"# {say['title'].format(title=own.title(language), challenge=found['challenge'])}",
        "",
        say["passed" if found["passed"] else "failed"],
        say["how"].format(percent=100 * found["alpha"], tests=found["tests"]),
    ]
    if found.get("waiver"):
        lines += ["", f"**{say['waiver']}** {one_line(found['waiver'], 2000)}"]
    lines += ["", f"| {' | '.join(say['columns'].split('|'))} |", "|" + "---|" * len(say["columns"].split("|"))]
    for row in found["probes"]:
        lines.append(f"| {' | '.join(_cells(row, say, probes, aspects))} |")
    leaks = dict.fromkeys(row["probe"] for row in found["probes"] if row["leak"])
    if leaks:
        lines += ["", f"## {say['what']}", *(f"- **{probes[name]}**: {say[name]}" for name in leaks)]
    return "\n".join(lines) + "\n"


def _cells(
    row: Mapping[str, Any], say: Mapping[str, str], probes: Mapping[str, str], aspects: Mapping[str, Any]
) -> list[str]:
    name = probes[row["probe"]] + (f" ({row['set']})" if row["set"] else "")
    if row["probe"] == "duplicates":
        told = say["shared"].format(seconds=row["seconds"], other=row["aspect"])
        return [name, row["aspect"], "", told, "", "", say["leak" if row["leak"] else "clean"]]
    aspect = str(aspects.get(row["aspect"], say.get(f"aspect_{row['aspect']}", row["aspect"])))
    if "accuracy" not in row:
        return [name, aspect, str(row["trials"]), say[row["note"]], "", "", say["clean"]]
    value = f"{row['accuracy']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
    end = say["leak"] if row["leak"] else say["clean"] + (f" ({say['few']})" if row["note"] else "")
    return [name, aspect, str(row["trials"]), value, f"{row['chance']:.3f}", f"{row['p']:.4f}", end]
