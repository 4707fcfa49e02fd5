"""arena worker: plays what is queued."""

from __future__ import annotations

from typing import Annotated

import typer

from bciarena.cli import _say


def main(
    database: Annotated[str, typer.Option(help="URL; default: ARENA_DATABASE or this user's SQLite file.")] = "",
    storage: Annotated[str, typer.Option(help="Folder or fsspec URL; default: ARENA_STORAGE.")] = "",
    engine: Annotated[str, typer.Option(help="local (processes of this machine) or ray.")] = "local",
    slots: Annotated[int, typer.Option(help="Jobs at once; default: as many as cores.")] = 0,
    address: Annotated[str, typer.Option(help="Ray cluster: auto, HOST:PORT or ray://HOST:PORT.")] = "auto",
    once: Annotated[bool, typer.Option("--once", help="End when nothing is queued or running any more.")] = False,
    lease_s: Annotated[float, typer.Option(help="Seconds of silence after which a worker counts as dead.")] = 15.0,
    cache_gb: Annotated[float, typer.Option(help="Largest size of the cache of fetched files.")] = 50.0,
    contest: Annotated[
        list[str] | None,
        typer.Option(help="A contest folder to host beside the known ones; may be given several times."),
    ] = None,
) -> None:
    """Play queued jobs until stopped (Ctrl-C returns unfinished ones to the queue)."""

    from bciarena.clocks import disturbed_factor
    from bciarena.contests import known
    from bciarena.database import db
    from bciarena.doctor import bubblewrap
    from bciarena.errors import BadInput
    from bciarena.jobs import engines
    from bciarena.jobs.queue import Queue
    from bciarena.jobs.stores import open_storage
    from bciarena.jobs.work import Work
    from bciarena.processes import set_by_signals
    from bciarena.sandbox import pinning

    known(*(contest or ()))
    disturbed_factor()  # a wrong ARENA_DISTURBED is told now, not after an entry has been trained
    if slots < 0 or lease_s < 1:
        raise BadInput("--slots must be 0 or more, --lease-s at least 1")

    def say(line: str) -> None:
        _say.say("worker: ", line, err=True)

    base = db.open_database(database or None, idle_limit_s=lease_s, make=False)
    try:
        with db.told_clearly(base):
            place = open_storage(base, storage or None)
        place.trim(int(cache_gb * 1e9))
        runner = engines.make(engine, place, slots, address)
        work = Work(Queue(base), place, runner, say=say, once=once, lease_s=lease_s)
        set_by_signals(work.stopping)
        places = f"database {db.shown(base)}, storage {place.shown}"
        say(f"{work.name}: {runner.slots} jobs at once ({runner.name}), {places}")
        if runner.name == "local":
            box = bubblewrap()
            say(f"{box.part}: {box.found}" + (f" -> {box.advice}" if box.advice else ""))
            say(pinning.told(runner.slots))
        work.run()
    finally:
        base.dispose()
