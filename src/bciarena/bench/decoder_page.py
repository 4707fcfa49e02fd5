"""The decoder bench as a page: a table for every track, and a figure of scores with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLUMNS = {
    "accuracy": "accuracy",
    "accuracy_real": "real",
    "accuracy_subject": "whose",
    "side_accuracy": "side",
    "blocks_passed": "blocks passed",
    "mean_points": "points a trial",
    "mean_length_s": "mean length s",
    "fpr": "FPR",
    "alarms_a_minute": "alarms a minute",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "train_s": "training s",
    "model_mb": "model MB",
    "memory_mb": "memory MB",
}
"""Columns in their order, each shown where a row of the track has it."""
OURS, PLAIN, OTHERS = "#1f6f8b", "#8fb8c6", "#c9833e"


def by_track(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows grouped by recordings, in order."""
    tracks: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        tracks.setdefault(row["track"], []).append(row)
    return tracks


def page(rows: list[dict[str, Any]], figure: str = "") -> str:
    """Markdown: the figure, then one table per track."""
    parts = [f"![Scores of all entries and peers with 95 % intervals]({figure})\n"] if figure else []
    for track, mine in by_track(rows).items():
        columns = {k: v for k, v in COLUMNS.items() if any(row.get(k) is not None for row in mine)}
        drawn = {row["drawn"] for row in mine} - {"nothing"}
        unit = f"{mine[0]['unit']}, interval over {drawn.pop()}" if drawn else mine[0]["unit"]
        lines = [f"| {track} | score ({unit}) | " + " | ".join(columns.values()) + " |"]
        lines.append("|---|---|" + "---|" * len(columns))
        for row in mine:
            cells = [_cell(key, row.get(key)) for key in columns]
            mark = " \\*" if row.get("stale") else ""
            lines.append(f"| {row['name']}{mark} | {_score(row)} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines) + "\n")
    if any(row.get("stale") for row in rows):
        parts.append("\\* measured before the last change of its code or of what it imports.\n")
    return "\n".join(parts)


def _score(row: dict[str, Any]) -> str:
    text = f"{row['score']:.1f}"
    if row["low"] is not None:
        text += f" [{row['low']:.1f}, {row['high']:.1f}]"
    return text if row["verdict"] == "ok" else f"{text} ({row['verdict']})"


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key in ("train_s", "memory_mb", "blocks_passed"):
        return f"{value:.0f}"
    return f"{value:.3f}".removeprefix("0") if value < 1 and not key.endswith(("_ms", "_mb")) else f"{value:.2f}"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One panel per track: scores as points, intervals as lines, ours and others in different colours."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    tracks = by_track([row for row in rows if row["unit"]])
    tracks.pop("idle, real", None)  # nothing to score there: every report is a false alarm
    across = 2
    down = -(-len(tracks) // across)
    with matplotlib.rc_context(
        {"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "bench", "axes.axisbelow": True}
    ):
        most = max(map(len, tracks.values()))
        sheet = Figure(figsize=(10, down * (0.55 + 0.24 * most)), layout="constrained")
        for number, (track, mine) in enumerate(tracks.items(), 1):
            axes = sheet.add_subplot(down, across, number)
            for y, row in enumerate(mine):
                colour = OTHERS if not row["name"].startswith("@") else PLAIN if "baseline" in row["name"] else OURS
                if row["low"] is not None:
                    axes.plot(
                        [row["low"], row["high"]], [y, y], color=colour, lw=2.5, alpha=0.55, solid_capstyle="butt"
                    )
                axes.plot(row["score"], y, "o", color=colour, ms=6)
            axes.set_yticks(range(len(mine)), [row["name"] for row in mine])
            axes.set_ylim(len(mine) - 0.4, -0.6)
            axes.set_xlim(left=0)
            axes.set_title(f"{track} ({mine[0]['unit']})", loc="left", fontsize=9, fontweight="bold")
            axes.grid(axis="x", color="#e4e4e4")
            axes.tick_params(length=0)
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
        legend = {OURS: "reference entry", PLAIN: "baseline", OTHERS: "peer"}
        handles = [Line2D([], [], marker="o", ls="", color=colour, label=text) for colour, text in legend.items()]
        sheet.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)
