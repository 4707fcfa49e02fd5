"""The whole site to a file and back, while it runs.

Files are stored before the database names them, and never change. So the database is copied first, and everything it
names can be found afterwards.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bciarena
from bciarena.database import db
from bciarena.errors import BadInput
from bciarena.jobs.storage import Damaged, Missing, Storage, split
from bciarena.upkeep import archive as archives
from bciarena.upkeep import dumps
from bciarena.upkeep.archive import Archive
from bciarena.upkeep.names import needed
from bciarena.upkeep.places import Places
from bciarena.writing import whole_file

FORMAT = 1
KEY = "secret.key"
DATA = "data"  # recordings that organisers choose from; those of contests are in the storage as well, once in the file
Step = Callable[[int, int], None]


def backup(places: Places, path: Path, keep: int = 0, on_step: Step = lambda done, total: None) -> dict[str, Any]:
    """Add a backup to a file; what the file has already is not copied again. Returns the index of what was written.

    ``keep``: how many backups the file keeps, the newest ones; 0: all.
    """
    with (
        places.opened() as (engine, storage),
        tempfile.TemporaryDirectory(prefix="arena-backup-") as work,
        archives.writing(path) as archive,
    ):
        _refuse_other_site(archive, storage)
        copy = Path(work) / "database"
        dumps.dump(engine, copy)
        with db.reading(engine) as session:
            names = sorted(needed(session))
        found, bad = _data_files(places.home / DATA)
        total = len(found) + len(names)
        for done, (name, (digest, size)) in enumerate(found.items(), 1):
            if not _add_data(archive, places.home / DATA / name, digest, size):
                bad.append(f"{DATA}/{name}")
            on_step(done, total)
        bad += _add_all(archive, storage, names, lambda done: on_step(len(found) + done, total))
        moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        archive.add_file(f"backups/{moment}/database", copy)
        key = places.home / KEY
        if key.is_file():
            archive.add_file(f"backups/{moment}/{KEY}", key)
        index = {
            "format": FORMAT,
            "moment": moment,
            "bciarena": bciarena.__version__,
            "revision": db.needed_revision(),
            "database": engine.dialect.name,
            "store": storage.store,
            "names": names,
            "data": found,
            "bad": bad,
        }
        archive.finish(index)
        if keep and len(archive.indexes) > keep:
            _keep(archive, keep)
    return index


def would_add(places: Places, path: Path) -> dict[str, int]:
    """How many files and bytes a backup would add to a file now, besides the database; nothing is written."""
    with places.opened() as (engine, storage):
        members: set[str] = set()
        if path.exists():
            with archives.reading(path) as archive:
                _refuse_other_site(archive, storage)
                members = set(archive.members)
        sizes = {f"file-{digest}": size for digest, size in _data_files(places.home / DATA)[0].values()}
        with db.reading(engine) as session:
            names = sorted(needed(session))
        for name in names:
            try:
                if name.startswith("tree-"):
                    sizes |= {f"file-{digest}": size for digest, size in storage.manifest(name).values()}
                sizes[name] = storage.size(name)
            except (Missing, Damaged):  # the backup itself names them
                continue
    new = [size for name, size in sizes.items() if f"storage/{name}" not in members]
    return {"files": len(new), "bytes": sum(new)}


def _refuse_other_site(archive: Archive, storage: Storage) -> None:
    if archive.indexes and archive.indexes[-1]["store"] != storage.store:
        raise BadInput(f"{archive.path}: is the backup of another site; give another file")


def _add_all(archive: Archive, storage: Storage, names: list[str], on_step: Callable[[int], None]) -> Iterator[str]:
    """Add what the archive does not have; yields the names that are missing or damaged in storage."""
    for done, name in enumerate(names, 1):
        parts = [name]
        if name.startswith("tree-"):
            try:
                parts = [*(f"file-{digest}" for digest, _ in storage.manifest(name).values()), name]
            except (Missing, Damaged):
                parts = [name]
        for part in dict.fromkeys(parts):
            if f"storage/{part}" in archive.members:
                continue
            try:
                whole = archive.add(f"storage/{part}", storage.size(part), storage.pieces(part), split(part)[1])
            except Missing:
                whole = False
            if not whole:
                yield part
        on_step(done)


def _data_files(root: Path) -> tuple[dict[str, tuple[str, int]], list[str]]:
    """Digest and size of every file in the folder of recordings; and what is neither a file nor a folder."""
    found: dict[str, tuple[str, int]] = {}
    others = []
    for folder, folders, files in os.walk(root):
        for path in (Path(folder) / name for name in sorted([*folders, *files])):
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                others.append(f"{DATA}/{name}")
            elif path.is_file():
                with open(path, "rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                found[name] = (digest, path.stat().st_size)
    return found, others


def _add_data(archive: Archive, path: Path, digest: str, size: int) -> bool:
    """Add a recording's file, unless the same bytes are there already; False where it was changed meanwhile."""
    if f"storage/file-{digest}" in archive.members:
        return True
    try:
        with open(path, "rb") as file:
            return archive.add(f"storage/file-{digest}", size, iter(lambda: file.read(archives.PIECE), b""), digest)
    except FileNotFoundError:
        return False


def _data(index: dict[str, Any]) -> dict[str, str]:
    """The files of recordings in a backup, each with the name it has in the archive."""
    bad = set(index["bad"])
    files: dict[str, tuple[str, int]] = index.get("data", {})
    return {name: f"file-{digest}" for name, (digest, _) in files.items() if f"{DATA}/{name}" not in bad}


def _parts(archive: Archive, index: dict[str, Any]) -> Iterator[str]:
    """Everything stored that one backup needs, files before the folders that list them; without what was bad."""
    bad = set(index["bad"])
    for name in index["names"]:
        if name.startswith("tree-") and name not in bad:
            for digest, _ in json.loads(archive.read(f"storage/{name}")).values():
                if f"file-{digest}" not in bad:
                    yield f"file-{digest}"
        if name not in bad:
            yield name


def _keep(archive: Archive, keep: int) -> None:
    """Write the newest backups to a new file, which then takes the place of this one."""
    beside = archive.path.with_name(f"{archive.path.name}.part")
    beside.unlink(missing_ok=True)
    with archives.writing(beside) as new:
        for index in archive.indexes[-keep:]:
            stem = f"backups/{index['moment']}/"
            members = [f"storage/{part}" for part in (*_parts(archive, index), *_data(index).values())]
            members += [name for name in archive.members if name.startswith(stem) and not name.endswith("index.json")]
            for name in members:
                if name not in new.members:
                    new.add(name, archive.members[name].size, archive.pieces(name))
            new.finish(index)
        os.replace(beside, archive.path)


def check_backup(path: Path, on_step: Step = lambda done, total: None) -> list[str]:
    """Read every byte that the newest backup of a file needs; returns what is damaged, now or when it was made."""
    with archives.reading(path) as archive, tempfile.TemporaryDirectory(prefix="arena-backup-") as work:
        index = archive.index()
        parts = list(dict.fromkeys((*_parts(archive, index), *_data(index).values())))
        bad = list(index["bad"])
        for done, part in enumerate(parts, 1):
            try:
                if archive.extract(f"storage/{part}", Path(work) / "part") != split(part)[1]:
                    bad.append(part)
            except Damaged:
                bad.append(part)
            on_step(done, len(parts))
    return bad


def restore(
    places: Places, path: Path, moment: str = "", on_step: Step = lambda done, total: None, dry_run: bool = False
) -> dict[str, Any]:
    """Make a site from a backup, where there is none yet; returns its index. A dry run only looks whether it could.

    The database comes last and completes the site. The same command continues an interrupted restore.
    """
    with archives.reading(path) as archive, tempfile.TemporaryDirectory(prefix="arena-restore-") as work:
        index = archive.index(moment)
        if index["format"] != FORMAT:
            raise BadInput(f"{path}: is of a newer bciarena ({index['bciarena']}); use that one")
        dumps.refuse_other_kind(index["database"], places.database)
        if not dumps.is_free(places.database):
            raise BadInput(f"database {db.shown(places.database)}: is there already; a site is restored to a new place")
        if dry_run:
            return index
        storage = Storage(places.storage, Path(work) / "cache")
        if storage.is_empty():
            storage.make(index["store"])
        storage.store = index["store"]
        storage.here()  # refuses another site's storage
        parts = list(dict.fromkeys(_parts(archive, index)))
        data = _data(index)
        for done, part in enumerate(parts, 1):
            copy = Path(work) / "part"
            if archive.extract(f"storage/{part}", copy) != split(part)[1]:
                raise Damaged(f"{path}: {part} in it is damaged")
            if part.startswith("tree-"):
                storage.put_manifest(copy.read_bytes())
            else:
                storage.put(copy)
            on_step(done, len(parts) + len(data))
        stem = f"backups/{index['moment']}"
        places.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        for done, (name, part) in enumerate(data.items(), len(parts) + 1):
            _restore_data(archive, places.home / DATA, name, part)
            on_step(done, len(parts) + len(data))
        key = places.home / KEY
        if f"{stem}/{KEY}" in archive.members and not key.exists():
            with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(archive.read(f"{stem}/{KEY}"))
        copy = Path(work) / "database"
        archive.extract(f"{stem}/database", copy)
        dumps.load(copy, index["database"], places.database)
    return index


def _restore_data(archive: Archive, root: Path, name: str, part: str) -> None:
    target = root / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise Damaged(f"{archive.path}: names a file outside of {DATA}/: {name!r}")
    root.mkdir(mode=0o700, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as beside:
        if archive.extract(f"storage/{part}", beside) != split(part)[1]:
            raise Damaged(f"{archive.path}: {DATA}/{name} in it is damaged")
