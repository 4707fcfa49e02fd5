"""Database against storage: whether everything is stored, unchanged, and every score can be reproduced."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from bciarena.database.db import reading
from bciarena.errors import BadInput, Fault
from bciarena.jobs.model import Job
from bciarena.jobs.storage import Damaged, Missing, Storage, split
from bciarena.runs import RunFolder, rescore
from bciarena.service.models import Result
from bciarena.upkeep.names import needed

DAY_S = 86400.0
LEAST_DAYS = 1.0


class Finding(NamedTuple):
    """A problem. ``kind``: missing, damaged or score."""

    kind: str
    what: str
    who: tuple[str, ...] = ()


class Checker:
    """Checks stored files, each once."""

    def __init__(self, storage: Storage, digests: bool) -> None:
        self.storage, self.digests = storage, digests
        self.seen: dict[str, Finding | None] = {}

    def findings(self, name: str) -> Iterator[Finding]:
        """What is wrong with a name: itself, and for a folder every file of it."""
        yield from filter(None, [self._one(name)])
        if name.startswith("tree-") and self.seen[name] is None:
            for path, (digest, size) in self.storage.manifest(name).items():
                trouble = self._one(f"file-{digest}", size)
                if trouble:
                    yield trouble._replace(what=f"{trouble.what} ({path} of {name})")

    def _one(self, name: str, size: int | None = None) -> Finding | None:
        if name not in self.seen:
            self.seen[name] = self._look(name, size)
        return self.seen[name]

    def _look(self, name: str, size: int | None) -> Finding | None:
        if not self.storage.exists(name):
            return Finding("missing", name)
        wrong_size = size is not None and self.storage.size(name) != size
        # A folder's list is small, and needed to check its files.
        if wrong_size or ((self.digests or name.startswith("tree-")) and digest_of(self.storage, name) != name):
            return Finding("damaged", name)
        return None


def digest_of(storage: Storage, name: str) -> str:
    """The name that the stored bytes should have."""
    digest = hashlib.sha256()
    for piece in storage.pieces(name):
        digest.update(piece)
    return f"{split(name)[0]}-{digest.hexdigest()}"


def check(
    engine: sa.Engine,
    storage: Storage,
    *,
    digests: bool = False,
    scores: bool = False,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> list[Finding]:
    """All problems of a site: what its database names against what is stored, and on request every score."""
    storage.here()
    with reading(engine) as session:
        names = needed(session)
        again = _scored(session) if scores else []
    checker, found = Checker(storage, digests), []
    total = len(names) + len(again)
    for done, (name, who) in enumerate(sorted(names.items()), 1):
        found += [one._replace(who=tuple(who)) for one in checker.findings(name)]
        on_step(done, total)
    for done, (whose, run, data, book, score) in enumerate(again, len(names) + 1):
        found += _score_again(storage, whose, run, data, book, score)
        on_step(done, total)
    return found


def _scored(session: Any) -> list[tuple[str, str, str, str | None, float]]:
    """Every score in the database: whose, its run, its recordings, its rulebook (None: the run's own), its value."""
    rows: list[tuple[str, str, str, str | None, float]] = []
    done = sa.select(Job).where(Job.run.is_not(None), Job.state.in_(("finished", "failed")))
    for job in session.scalars(done):
        if not job.payload.get("subject"):  # a shard has no score of its own
            rows.append((f"job {job.id}", job.run, job.payload["data"], None, (job.result or {}).get("score", 0.0)))
    results = sa.select(Result, Job.payload).join(Job, Job.id == Result.job_id).where(Result.run.is_not(None))
    for result, payload in session.execute(results):
        if not result.reason.startswith("not scored under"):
            whose = f"result of run {result.submission_id}"
            rows.append((whose, result.run, payload["data"], result.rulebook, result.score))
    return rows


def _score_again(storage: Storage, who: str, run: str, data: str, book: str | None, score: float) -> Iterator[Finding]:
    try:
        folder = storage.fetch(run)
        new = float(rescore(folder, storage.fetch(data), book)["score"])
        kept = None if book else RunFolder(folder).score()["score"]
    except (Missing, Damaged):
        return  # said already
    except (BadInput, Fault) as error:
        yield Finding("score", f"cannot be recomputed: {error}", (who,))
        return
    if new != score or kept not in (None, new):
        yield Finding("score", f"{score!r} is kept, ledger and recordings give {new!r}", (who,))


def unused(engine: sa.Engine, storage: Storage) -> list[str]:
    """What is stored but not needed: left by repeated attempts and refused uploads."""
    with reading(engine) as session:
        names = set(needed(session))
    for name in list(names):
        if name.startswith("tree-") and storage.exists(name):
            names |= {f"file-{digest}" for digest, _ in storage.manifest(name).values()}
    return sorted(set(storage.all_names()) - names)


def remove_unused(engine: sa.Engine, storage: Storage, days: float, dry_run: bool = False) -> int:
    """Remove what has not been needed or stored again for some days; returns how many. Only in a storage folder.

    Each file is moved aside first and then checked: one that is stored again at this very moment is put back.
    """
    if days < LEAST_DAYS:
        raise BadInput(f"{days:g} days: at least {LEAST_DAYS:g}; recent uploads are not named anywhere yet")
    if not storage.is_local:
        raise BadInput(f"storage {storage.shown}: removing works in a folder; use the store's own rules there")
    aside: dict[str, tuple[Path, Path]] = {}
    for name in unused(engine, storage):
        place = Path(storage.where(*split(name)))
        if time.time() - place.stat().st_mtime < days * DAY_S:
            continue
        if dry_run:
            aside[name] = (place, place)
            continue
        away = Path(storage.root) / "part" / uuid.uuid4().hex
        os.replace(place, away)
        aside[name] = (place, away)
    if dry_run:
        return len(aside)
    with reading(engine) as session:
        now_needed = set(needed(session))
    return sum(_remove(*paths, keep=name in now_needed, days=days) for name, paths in aside.items())


def _remove(place: Path, away: Path, keep: bool, days: float) -> bool:
    if keep or time.time() - away.stat().st_mtime < days * DAY_S:
        os.replace(away, place)
        return False
    away.unlink()
    return True


def lines(findings: Iterable[Finding]) -> list[str]:
    """For people: what, whose, and how many more need the same."""
    said = []
    for one in findings:
        more = f" and {len(one.who) - 3} more" if len(one.who) > 3 else ""
        said.append(f"{one.kind}: {one.what}; needed by {', '.join(one.who[:3])}{more}")
    return said
