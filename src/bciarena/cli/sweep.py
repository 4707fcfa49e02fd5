"""arena sweep: a benchmark, entries by data by seeds, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bciarena.cli._options import Rehearsal
from bciarena.cli._say import say

if TYPE_CHECKING:
    from bciarena.jobs.queue import Queue
    from bciarena.jobs.storage import Storage
    from bciarena.jobs.sweep import Cell

LOOK_S = 0.5


def main(
    entries: Annotated[list[str], typer.Argument(help="As for arena run: folders, archives, module.py:Class, @names.")],
    data: Annotated[list[Path], typer.Option(help="A data folder with truth; may be given several times.")],
    out: Annotated[Path, typer.Option(help="The table, .csv or .json.")],
    challenge: Annotated[
        str, typer.Option(help="A contest's name, name/version or folder; @names bring their own.")
    ] = "",
    seeds: Annotated[int, typer.Option(help="Play everything with seeds 0 to N-1.")] = 1,
    model: Annotated[list[str] | None, typer.Option(help="ENTRY=FOLDER, written by arena train.")] = None,
    clock: Annotated[str, typer.Option(help="think, or data to leave computing time out.")] = "think",
    sandbox: Annotated[str, typer.Option(help="bwrap, or none for your own entries.")] = "bwrap",
    shards: Annotated[bool, typer.Option("--shards", help="Cut runs by subject (not for entries that adapt).")] = False,
    by_subject: Annotated[bool, typer.Option("--by-subject", help="One row per run and subject.")] = False,
    workers: Annotated[int, typer.Option(help="Runs at once in this process; 0: leave it to others.", min=-1)] = -1,
    database: Annotated[str, typer.Option(help="A shared queue; default: a separate one beside the table.")] = "",
    storage: Annotated[str, typer.Option(help="Storage of the shared queue.")] = "",
    dry_run: Rehearsal = False,
) -> None:
    """Play every entry on every data folder with every seed; repeated, the command continues where it stopped."""
    import os

    from bciarena.cli._playing import checked
    from bciarena.contests import rulebook
    from bciarena.database import db
    from bciarena.errors import BadInput
    from bciarena.jobs.queue import Queue
    from bciarena.jobs.stores import open_storage
    from bciarena.jobs.sweep import Grid, enqueue_grid, is_done, jobs_of, table, would_play, write_table
    from bciarena.plaintext import clean
    from bciarena.summary import summary

    entries, data = _sorted_out(entries, data)
    if seeds < 1:
        raise BadInput(f"--seeds {seeds}: must be 1 or more")
    if out.suffix not in (".csv", ".json"):
        raise BadInput(f"{out}: the table's name must end in .csv or .json")
    options = {"clock": checked.clock(clock), "sandbox": checked.sandbox(sandbox)}
    book = rulebook(checked.challenge(entries[0], challenge))
    own = out.with_name(f"{out.name}.queue")
    url = database or f"sqlite:///{(own / 'arena.db').absolute()}"
    grid = Grid(book, entries, data, seeds, _models(model or [], entries), options, shards)
    if dry_run:
        kept = db.open_database(url, make=False) if database or (own / "arena.db").is_file() else None
        ahead = would_play(grid, kept)
        if kept is not None:
            kept.dispose()
        for entry, folder, seed in ahead:
            say(f"would play {clean(entry)} on {clean(folder)}, seed {seed}")
        whole = len(entries) * len(data) * seeds
        say(f"{out}: would play {len(ahead)} runs; {whole - len(ahead)} were played before")
        return
    engine = db.open_database(url)
    queue = Queue(engine)
    try:
        place = open_storage(engine, storage or (None if database else own / "storage"))
        with db.told_clearly(engine):
            cells = enqueue_grid(grid, queue, place)
        slots = workers if workers >= 0 else 0 if database else len(os.sched_getaffinity(0))
        try:
            _play(cells, queue, place, slots)
        finally:
            with db.told_clearly(engine):
                rows = jobs_of(cells, queue)
            write_table(out, table(cells, rows, by_subject))
        for cell in cells:
            ended = rows[cell.job].result or {}
            if ended.get("tally"):
                name = f"{cell.entry} on {Path(cell.data).name}, seed {cell.seed}"
                say(f"{clean(name)}: score {ended['score']:.4f}; {summary(ended['tally'])}")
        done = sum(row.state in ("finished", "failed") for row in rows.values())
        say(f"{out}: {done} of {len(cells)} runs" + ("" if is_done(rows.values()) else "; the same command continues"))
        faulted = [row for row in rows.values() if row.state == "faulted"]
        for row in faulted[:10]:
            say(f"faulted: job {row.id}: {row.error}")
        if faulted:
            raise RuntimeError(f"{len(faulted)} runs could not be played; the same command tries them again")
    finally:
        engine.dispose()


def _sorted_out(entries: list[str], data: list[Path]) -> tuple[list[str], list[Path]]:
    """Move data folders among the entries to the data: ``--data A B`` makes B an entry."""
    from bciarena.errors import BadInput
    from bciarena.recording import open_recording

    kept, folders = [], list(data)
    for entry in entries:
        try:
            open_recording(entry)
            folders.append(Path(entry))
        except BadInput:
            kept.append(entry)
    if not kept:
        raise BadInput("no entries given, only data folders; give at least one entry")
    for path in data:
        open_recording(path)  # says what is wrong with it before anything is queued
    return kept, folders


def _models(given: list[str], entries: list[str]) -> dict[str, Path]:
    from bciarena.errors import BadInput

    models = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or name not in entries or not Path(path).is_dir():
            raise BadInput(f"--model {text}: give ENTRY=FOLDER with an entry of this sweep and a folder of arena train")
        models[name] = Path(path)
    return models


def _play(cells: list[Cell], queue: Queue, place: Storage, slots: int) -> None:
    """Work on the queue (or watch others do so) until all is done, showing progress."""
    import signal
    import threading

    from bciarena.processes import set_by_signals

    stop = threading.Event()
    before = set_by_signals(stop)
    work = None
    if slots:
        from bciarena.jobs.local import LocalEngine
        from bciarena.jobs.work import Work

        work = Work(queue, place, LocalEngine(place, slots), say=_quietly)
        work.stopping = stop
    watch = threading.Thread(target=_watch, args=(cells, queue, stop), daemon=True)
    watch.start()
    try:
        if work:
            work.run()
        while not stop.is_set() and watch.is_alive():
            stop.wait(LOOK_S)
    finally:
        stop.set()
        watch.join()
        for number, handler in before.items():
            signal.signal(number, handler)


def _quietly(line: str) -> None:
    """Print only problems; the display shows the rest."""

    if ": ok" not in line:
        say(f"sweep: {line}", err=True)


def _watch(cells: list[Cell], queue: Queue, stop: Any) -> None:
    """The display: one bar for all, one line for each running match; ends the work when all is done."""
    from sqlalchemy.exc import SQLAlchemyError

    from bciarena.bars import progress_bar
    from bciarena.database.db import is_unreachable, why
    from bciarena.jobs.model import ENDED
    from bciarena.jobs.sweep import is_done, jobs_of

    names = {cell.job: f"{cell.entry} on {Path(cell.data).name}, seed {cell.seed}" for cell in cells}
    with progress_bar(stays=True) as bar:
        whole = bar.add_task("runs", total=len(cells))
        lines: dict[int, Any] = {}
        away = False
        while True:
            try:
                rows = jobs_of(cells, queue)
                away = False
            except SQLAlchemyError as error:
                if not is_unreachable(error):
                    raise
                if not away:
                    bar.console.print(f"sweep: the database is away, trying again: {why(error)}")
                rows, away = {}, True
            if rows:
                bar.update(whole, completed=sum(row.state in ENDED for row in rows.values()))
            for job, row in rows.items():
                if row.state == "leased" and job not in lines:
                    lines[job] = bar.add_task(names[job], total=None)
                if row.state != "leased" and job in lines:
                    bar.remove_task(lines.pop(job))
                if job in lines and row.progress and row.progress.get("total_packets"):
                    bar.update(lines[job], total=row.progress["total_packets"], completed=row.progress["packets"])
            if rows and is_done(rows.values()):
                stop.set()
            if stop.wait(LOOK_S):
                return
