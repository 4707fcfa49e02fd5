"""arena queue: what runs, what waits, why, and where."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bciarena.cli._options import AsJson, Rehearsal
from bciarena.cli._say import give, tell

EVERY_S = 1.0
ENDED_ALREADY, NOT_STOPPED = "has ended already", "is neither faulted nor cancelled"


def main(
    watch: Annotated[bool, typer.Option("--watch", help="Show it again every second until Ctrl-C.")] = False,
    as_json: AsJson = False,
    cancel: Annotated[list[int] | None, typer.Option(help="Stop a job.")] = None,
    retry: Annotated[list[int] | None, typer.Option(help="Queue a faulted or cancelled job again.")] = None,
    most: Annotated[int, typer.Option(help="Rows shown of each kind.")] = 20,
    database: Annotated[str, typer.Option(help="URL; default: ARENA_DATABASE or this user's SQLite file.")] = "",
    dry_run: Rehearsal = False,
) -> None:
    """Show the queue: what runs, what waits and why, on which machine."""
    import time

    from rich.console import Console
    from rich.live import Live

    from bciarena.database import db
    from bciarena.errors import BadInput
    from bciarena.jobs.model import ENDED
    from bciarena.jobs.queue import Queue
    from bciarena.jobs.view import snapshot

    engine = db.open_database(database or None, make=False)
    queue = Queue(engine)

    def look() -> dict[str, Any]:
        with db.told_clearly(engine), db.reading(engine) as session:
            return snapshot(session, most)

    try:
        if dry_run:
            would = []
            for verb, jobs, words in (("cancel", cancel, ENDED_ALREADY), ("retry", retry, NOT_STOPPED)):
                for job in jobs or []:
                    state = queue.get(job).state
                    if state in ENDED if verb == "cancel" else state not in ("faulted", "cancelled"):
                        raise BadInput(f"job {job}: {words} (state {state})")
                    would.append({"job": job, "would": verb, "state": state})
            tell(as_json, would, *(f"would {one['would']} job {one['job']} (state {one['state']})" for one in would))
            return
        for jobs, change, words in ((cancel, queue.cancel, ENDED_ALREADY), (retry, queue.retry, NOT_STOPPED)):
            for job in jobs or []:
                if not change(job):
                    raise BadInput(f"job {job}: {words} (state {queue.get(job).state})")
        if as_json:
            give(look())
        elif watch:
            with Live(_page(look()), screen=False, auto_refresh=False) as live:
                while True:
                    time.sleep(EVERY_S)
                    try:
                        page = _page(look())
                    except BadInput as away:  # whoever watches wants to see it come back
                        page = str(away)
                    live.update(page, refresh=True)
        else:
            Console().print(_page(look()))
    finally:
        engine.dispose()


def _page(seen: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.table import Table

    parts: list[Any] = ["  ".join(f"{state} {count}" for state, count in seen["counts"].items())]
    columns: dict[str, tuple[str, ...]] = {
        "workers": ("name", "engine", "slots", "alive", "seen_s_ago", "trouble"),
        "running": ("job", "what", "team", "attempt", "machine", "running_s", "progress"),
        "waiting": ("job", "what", "team", "priority", "age_s", "why"),
        "ended": ("job", "what", "team", "state", "verdict", "score", "running_s", "error"),
    }
    for title, names in columns.items():
        if not seen[title]:
            continue
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in names:
            table.add_column(name.replace("_s_ago", " s ago").replace("_s", " s"), overflow="fold")
        for row in seen[title]:
            table.add_row(*(_cell(name, row) for name in names))
        parts += ["", table]
    return Group(*parts)


def _cell(name: str, row: dict[str, Any]) -> str:
    value = row[name]
    if value is None:
        return ""
    if name == "what":
        subject = f", subject {row['subject']}" if row["subject"] else ""
        return f"{value or row['kind']}{subject}"
    if name == "progress":
        if value.get("total_packets"):
            share = 100 * value["packets"] / value["total_packets"]
            where = f"subject {value['subject']} block {value['block']}"
            return f"{share:.0f} %, {where}, {value['packets_per_s']:.0f} packets/s"
        return str(value.get("stage") or "")
    return f"{value:.4g}" if isinstance(value, float) and name == "score" else str(value)
