"""A benchmark as jobs: every entry on every data folder with every seed, through the same queue as everything else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from bciarena.contests.rulebook import Rulebook
from bciarena.database.db import reading, writing
from bciarena.entries.package import open_entry
from bciarena.errors import BadInput
from bciarena.jobs.model import ENDED, Job
from bciarena.jobs.queue import Queue
from bciarena.jobs.shards import enqueue_match
from bciarena.jobs.storage import Storage, name_of
from bciarena.plaintext import table_cell
from bciarena.recording import open_recording
from bciarena.summary import summary
from bciarena.writing import whole_file

Put = Callable[[Path], str]


@dataclass(frozen=True)
class Cell:
    """One run of the grid: what it is called in the table, and its job."""

    entry: str
    data: str
    seed: int
    job: int


@dataclass
class Grid:
    """What a sweep plays.

    Attributes
    ----------
    models : dict
        Entry -> folder written by ``arena train``.
    options : dict
        What goes into every match's payload: clock, sandbox, python.
    shards : bool
        Cut by subject.
    """

    book: Rulebook
    entries: list[str]
    data: list[Path]
    seeds: int = 1
    models: dict[str, Path] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    shards: bool = False


def store_entry(spec: str, book: Rulebook, put: Put, has_model: bool = False) -> tuple[dict[str, str], str]:
    """Store an entry where workers find it; returns its part of a match's payload, and its digest."""
    with open_entry(spec, book) as package:
        if package.needs_model and not has_model:
            raise BadInput(f"{spec} needs a model: run arena train and give its folder with --model {spec}=FOLDER")
        if spec.startswith("@"):
            return {"entry": spec, "name": spec}, package.digest
        if Path(spec).exists():
            return {"entry": put(Path(spec)), "name": package.name}, package.digest
        return {"entry": put(package.root), "file": package.target, "name": package.name}, package.digest


class _Wanted(NamedTuple):
    """A run of the grid before it is queued."""

    entry: str
    data: Path
    seed: int
    payload: dict[str, Any]
    subjects: int
    key: str


def _wanted(grid: Grid, put: Put) -> Iterator[_Wanted]:
    """Every run of a grid; ``put`` stores a file or folder (or does not) and says its name."""
    stored = {spec: store_entry(spec, grid.book, put, spec in grid.models) for spec in grid.entries}
    models = {spec: put(folder) for spec, folder in grid.models.items()}
    for path, spec, seed in product(grid.data, grid.entries, range(grid.seeds)):
        recording = open_recording(path)
        subjects = len(recording.subjects) if grid.shards else 1
        about, digest = stored[spec]
        payload = {**about, **grid.options, "challenge": grid.book.id, "data": put(path), "seed": seed}
        payload["data_digest"] = recording.digest
        if spec in models:
            payload["model"] = models[spec]
        parts = [grid.book.digest, digest, payload["data"], payload.get("model"), seed, sorted(grid.options.items())]
        yield _Wanted(spec, path, seed, payload, subjects, f"sweep {json.dumps([*parts, subjects > 1])}")


def enqueue_grid(grid: Grid, queue: Queue, storage: Storage) -> list[Cell]:
    """Queue what is not queued yet; finished runs stay, those that faulted or were cancelled are tried again."""
    cells = []
    for one in _wanted(grid, storage.put):
        with writing(queue.engine) as session:
            job = enqueue_match(session, one.payload, subjects=one.subjects, key=one.key)
            number, state = job.id, job.state
        if state in ("faulted", "cancelled"):
            queue.retry(number)
        cells.append(Cell(one.entry, str(one.data), one.seed, number))
    return cells


def would_play(grid: Grid, engine: sa.Engine | None) -> list[tuple[str, str, int]]:
    """Entry, data folder and seed of every run that has not been played; nothing is stored or queued.

    ``engine``: the queue's database; None where there is none yet.
    """
    played: set[str | None] = set()
    if engine is not None:
        with reading(engine) as session:
            played = set(session.scalars(sa.select(Job.key).where(Job.state.in_(("finished", "failed")))))
    return [(one.entry, str(one.data), one.seed) for one in _wanted(grid, name_of) if one.key not in played]


def jobs_of(cells: Iterable[Cell], queue: Queue) -> dict[int, Job]:
    """The rows of a grid's jobs as they are now, by id, detached."""
    with reading(queue.engine) as session:
        rows = session.scalars(sa.select(Job).where(Job.id.in_([cell.job for cell in cells]))).all()
        session.expunge_all()
    return {row.id: row for row in rows}


def is_done(rows: Iterable[Job]) -> bool:
    return all(row.state in ENDED for row in rows)


def table(cells: list[Cell], rows: dict[int, Job], by_subject: bool = False) -> list[dict[str, Any]]:
    """A tidy table with one row per run, or per run and subject."""
    lines = []
    for cell in cells:
        job = rows[cell.job]
        result = job.result or {}
        line: dict[str, Any] = {
            "challenge": job.payload["challenge"],
            "entry": cell.entry,
            "data": cell.data,
            "seed": cell.seed,
            "state": job.state,
            "verdict": job.verdict,
        }
        rest = {"cpu_s": result.get("cpu_s"), "wall_s": result.get("wall_s"), "run": job.run, "error": job.error}
        if by_subject:
            for subject in result.get("subjects") or [{"subject": None, "score": None}]:
                lines.append({**line, "subject": subject["subject"], "score": subject["score"], **rest})
        else:
            rest["summary"] = summary(result["tally"]) if result.get("tally") else ""
            lines.append({**line, "score": result.get("score"), **(result.get("metrics") or {}), **rest})
    return lines


def write_table(path: Path, lines: list[dict[str, Any]]) -> None:
    """CSV, or JSON if the name ends in .json; never half-written."""
    if path.suffix == ".json":
        text = json.dumps(lines, ensure_ascii=False, indent=1) + "\n"
    else:
        names = list(dict.fromkeys(name for line in lines for name in line))
        names.sort(
            key=lambda name: name in ("cpu_s", "wall_s", "run", "error", "summary")
        )  # metrics before these, as found
        out = io.StringIO()
        writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: table_cell(value) for key, value in line.items()} for line in lines)
        text = out.getvalue()
    with whole_file(path) as beside:
        beside.write_text(text, "utf-8")
