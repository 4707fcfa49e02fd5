"""Shared by arena submit and arena status: waiting for a run on a site, and describing it."""

from __future__ import annotations

import time
from typing import Any

from bciarena.bars import progress_bar
from bciarena.errors import EntryFailed
from bciarena.service.client import Client

PAUSE_S = 0.7


def line_of(run: dict[str, Any]) -> str:
    """A run in one line."""
    words = f"run {run['id']}  {run['contest']}/{run['phase']}  {run['entry']} v{run['version']}  {run['state']}"
    if run["verdict"] not in (None, "ok"):
        words += f" ({run['verdict']})"
    if run["score"] is not None:
        words += f"  score {run['score']:.4f}"
        if run["low"] is not None:
            words += f" (95 %: {run['low']:.2f} to {run['high']:.2f})"
    if run["disqualified"]:
        words += f"  disqualified: {run['disqualified']}"
    return words


def told(run: dict[str, Any]) -> list[str]:
    """A run in one line, and the line that explains its score."""
    return list(filter(None, (line_of(run), run["summary"])))


def follow_run(client: Client, run_id: int) -> dict[str, Any]:
    """Wait until a run has ended, showing where it is."""
    said = ""
    with progress_bar() as shown:
        task = shown.add_task("queued", total=1.0)
        while True:
            run: dict[str, Any] = client.call("GET", f"/submissions/{run_id}")
            words = _words(run)
            shown.update(task, description=words, completed=run["progress"].get("share", 0.0))
            if run["state"] != said and not shown.console.is_terminal:
                shown.console.print(words, highlight=False)
            said = run["state"]
            # The interval is computed just after the run has ended.
            if run["final"] and (run["ranked"] is not None or run["state"] not in ("scored", "failed")):
                return run
            time.sleep(PAUSE_S)


def _words(run: dict[str, Any]) -> str:
    at = run["progress"]
    if run["state"] == "running" and at:
        speed = at.get("packets_per_s") or 0
        return f"running: subject {at.get('subject')}, block {at.get('block')}, {speed:,.0f} packets/s"
    if run["state"] == "queued" and run["before"] is not None:
        return f"queued: {run['before']} before it"
    return str(run["state"])


def result_of(run: dict[str, Any]) -> None:
    """End the command as `arena run` would for a run whose entry failed."""
    if run["state"] == "failed":
        raise EntryFailed(run["verdict"], run["reason"])
