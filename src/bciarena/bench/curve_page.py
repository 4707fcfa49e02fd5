"""Learning curves as a page: a table for every track, and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bciarena.bench.curves import OWN, SHOWN, STRANGERS, WHILE
from bciarena.bench.decoder_page import OTHERS, OURS, PLAIN, by_track

WORDS = {
    OWN: "training trials of one's own",
    SHOWN: "people in the training set",
    STRANGERS: "a person without training data: people in the training set",
    WHILE: "trials since the run began",
}


def page(rows: list[dict[str, Any]], figure: str = "") -> str:
    """Markdown: the figure, then a table for every track and every thing that is counted."""
    parts = [f"![Scores against training trials and people, with 95 % intervals]({figure})\n"] if figure else []
    for track, mine in by_track(rows).items():
        for kind in (kind for kind in WORDS if any(row["kind"] == kind for row in mine)):
            of_kind = [row for row in mine if row["kind"] == kind]
            sizes = sorted({row["size"] for row in of_kind})
            count = max(row["count"] for row in of_kind)
            head = f"{track} ({of_kind[0]['unit']}; {count} trials a cell); {WORDS[kind]}"
            lines = [f"| {head} | " + " | ".join(f"{size:.3g}" for size in sizes) + " |", "|---|" + "---|" * len(sizes)]
            for name in dict.fromkeys(row["name"] for row in of_kind):
                found = {row["size"]: row for row in of_kind if row["name"] == name}
                cells = [_cell(found[size]) if size in found else "" for size in sizes]
                mark = " \\*" if any(row["stale"] for row in found.values()) else ""
                lines.append(f"| {name}{mark} | " + " | ".join(cells) + " |")
            parts.append("\n".join(lines) + "\n")
    if any(row["stale"] for row in rows):
        parts.append("\\* measured before the last change of its code or of what it imports.\n")
    return "\n".join(parts)


def _cell(row: dict[str, Any]) -> str:
    if row["low"] is None:
        return f"{row['score']:.1f}"
    return f"{row['score']:.1f} [{row['low']:.0f}, {row['high']:.0f}]"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """A row of panels per track: left by one's own trials, right by people, dashed for strangers."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    found = by_track(rows)
    style: Any = {"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "bench", "axes.axisbelow": True}
    with matplotlib.rc_context(style):
        sheet = Figure(figsize=(10, 2.5 * len(found) + 0.4), layout="constrained")
        for number, (track, mine) in enumerate(found.items()):
            left = sheet.add_subplot(len(found), 2, 2 * number + 1)
            _lines(left, mine, {OWN: "-", WHILE: "-"})
            alone = any(row["kind"] == WHILE for row in mine)
            left.set_xlabel(WORDS[WHILE] if alone else f"{WORDS[OWN]} (0: none)")
            left.set_ylabel(mine[0]["unit"])
            left.set_title(track, loc="left", fontweight="bold", fontsize=10)
            right = left if alone else sheet.add_subplot(len(found), 2, 2 * number + 2, sharey=left)
            if not alone:
                _lines(right, mine, {SHOWN: "-", STRANGERS: "--"})
                right.set_xlabel(WORDS[SHOWN])
            left.set_ylim(bottom=0)
            names = list(dict.fromkeys(row["name"] for row in mine))
            handles = [Line2D([], [], color=_colour(name, names), marker="o", ms=4, label=name) for name in names]
            if any(row["kind"] == STRANGERS for row in mine):
                handles.append(Line2D([], [], color="#555555", ls="--", label="played by people who are not in it"))
            right.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


def _lines(axes: Any, mine: list[dict[str, Any]], kinds: dict[str, str]) -> None:
    names = list(dict.fromkeys(row["name"] for row in mine))
    sizes = sorted({row["size"] for row in mine if row["kind"] in kinds})
    most = max(sizes)
    for place, name in enumerate(names):
        colour = _colour(name, names)
        for kind, dashes in kinds.items():
            points = sorted((row for row in mine if row["name"] == name and row["kind"] == kind), key=_size)
            if kind == OWN:  # who has no trials is played with what most others taught
                strangers = sorted((r for r in mine if r["name"] == name and r["kind"] == STRANGERS), key=_size)
                points = [row | {"size": 0.0} for row in strangers[-1:]] + points
            beside = (place - (len(names) - 1) / 2) * 0.008 * most  # intervals must not hide each other
            x = [row["size"] + beside for row in points]
            axes.plot(x, [row["score"] for row in points], dashes, marker="o", ms=4, color=colour)
            for at, row in zip(x, points, strict=True):
                if row["low"] is not None:
                    axes.plot([at, at], [row["low"], row["high"]], color=colour, lw=1.5, alpha=0.4)
    axes.set_xticks([*([0.0] if OWN in kinds else []), *sizes])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
    axes.grid(axis="y", color="#e4e4e4")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _size(row: dict[str, Any]) -> float:
    return float(row["size"])


def _colour(name: str, names: list[str]) -> str:
    if name.startswith("@"):
        return PLAIN if "baseline" in name else OURS
    shades = (OTHERS, "#8a5220", "#d9b28c")
    return shades[[other for other in names if not other.startswith("@")].index(name) % len(shades)]
