"""Storage: files and folders under the digest of their content; a local folder, or any fsspec URL.

A file is stored once under ``file/ab/abcd...``. A folder is a list of its files and their digests, itself stored under
the digest of that list (``tree/...``). A name that exists is complete: files are written to ``part/`` and renamed,
and object stores show an upload only when it is whole. The digest is checked again whenever something is fetched, or
used after it was fetched earlier.

A place is a store only if it has a mark, ``store.json``, with its identity. Where the mark is missing the store is
away (not mounted, say), and no new one is made in its stead.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bciarena.database import home
from bciarena.errors import BadInput, Fault

NAME = re.compile(r"(file|tree)-([0-9a-f]{64})\Z")
WHOLE_UPLOADS = {"s3", "s3a", "gs", "gcs", "az", "abfs", "adl", "oci", "memory"}
PIECE = 1 << 20
MARK = "store.json"
ROOMS = {"file", "tree", "part"}
LEFT_S = 3600.0  # a part not written to for this long belongs to a process that was killed


class Unwell(Fault):
    """The machine or its storage has a problem, not the job: disk full, storage away."""


class Damaged(Fault):
    """What is stored under a digest does not match it."""


class Missing(Fault):
    """Nothing is stored under this name."""


class Storage:
    """Files and folders by name; the name is made of the content's digest.

    Parameters
    ----------
    url : str or Path, optional
        A folder, or an fsspec URL (``s3://bucket/arena``, ``sftp://...``). Default: this user's folder.
    cache : Path, optional
        Where `fetch` keeps what it brought here.
    store : str, optional
        The identity it must have; by default any store will do.
    """

    def __init__(self, url: str | Path | None = None, cache: Path | None = None, store: str | None = None) -> None:
        import fsspec

        self.url = str(url or home.storage_url())
        self.cache = cache or home.cache_folder()
        self.store = store
        self._seen = False
        try:
            self.fs, root = fsspec.core.url_to_fs(self.url)
        except (ValueError, ImportError) as error:
            raise BadInput(f"storage {self.shown}: {error}") from error
        except Exception as error:
            raise Unwell(f"storage {self.shown}: cannot be reached: {error or type(error).__name__}") from error
        self.root = str(root).rstrip("/")
        protocol = self.fs.protocol if isinstance(self.fs.protocol, str) else self.fs.protocol[0]
        self.is_local = protocol in ("file", "local")
        self._whole_uploads = protocol in WHOLE_UPLOADS
        if self.is_local:
            self.url = self.root  # absolute: other processes may run in other folders

    @property
    def shown(self) -> str:
        """The URL as messages name it: without user and password."""
        return re.sub(r"(?<=://)[^/@]*@", "", self.url)

    # ------------------------------------------------------------------ the store itself

    def make(self, store: str | None = None) -> Storage:
        """Make this place a store, unless it is one; it must be empty or already contain stored files."""
        mark = f"{self.root}/{MARK}"
        with self._trouble_told("making a store"):
            if not self.fs.exists(mark):
                self.fs.makedirs(self.root, exist_ok=True)
                names = {name.rstrip("/").rsplit("/", 1)[-1] for name in self.fs.ls(self.root, detail=False)}
                others = {name for name in names - ROOMS if not name.startswith(MARK)}
                if others:
                    raise BadInput(f"storage {self.shown}: holds other things ({min(others)}); name an empty folder")
                text = json.dumps({"store": store or uuid.uuid4().hex}).encode()
                if self.is_local:
                    _write_once(Path(mark), text)
                else:
                    self.fs.pipe_file(mark, text)
        self.here()
        return self

    def is_empty(self) -> bool:
        """Whether there is nothing here: no mark, nothing stored."""
        with self._trouble_told("reading"):
            return not any(self.fs.exists(f"{self.root}/{name}") for name in (MARK, *ROOMS))

    def here(self) -> None:
        """Raise Unwell if the store is away, or another one is in its place."""
        if self._seen and not self.is_local:
            return  # a bucket cannot be unmounted under us
        mark = f"{self.root}/{MARK}"
        with self._trouble_told("reading"):
            if not self.fs.exists(mark):
                raise Unwell(f"storage {self.shown} is away: {MARK} is not there; mount it, and the work goes on")
            try:
                store = str(json.loads(self.fs.cat_file(mark))["store"])
            except (ValueError, KeyError, TypeError):
                raise Unwell(f"storage {self.shown}: {MARK} is damaged; put it back from a backup") from None
        if self.store not in (None, store):
            raise Unwell(
                f"storage {self.shown} is another store than the one of this database ({store}, not {self.store}); "
                "mount the right one, or name it with --storage"
            )
        self.store, self._seen = store, True

    # ------------------------------------------------------------------ putting

    def put(self, path: str | Path, beside: Mapping[str, bytes] = MappingProxyType({})) -> str:
        """Store a file or a folder (regular files only); returns its name. The same content is stored only once.

        ``beside`` are small files that a folder gets in the storage alone.
        """
        path = Path(path)
        if path.is_dir():
            files = _digests(path)
            for name, content in beside.items():
                files[name] = [split(self.put_bytes(content))[1], len(content)]
            for name, (digest, _) in files.items():
                if name not in beside:
                    self._place("file", digest, path / name)
            return self._put_bytes("tree", _manifest_text(files))
        if not path.is_file():
            raise BadInput(f"{path}: no such file or folder")
        digest = _digest(path)
        self._place("file", digest, path)
        return f"file-{digest}"

    def put_bytes(self, content: bytes) -> str:
        """Store a small file from memory; returns its name."""
        return self._put_bytes("file", content)

    def put_manifest(self, content: bytes) -> str:
        """Store the list of a folder whose files are stored already; returns its name."""
        return self._put_bytes("tree", content)

    def pieces(self, name: str) -> Iterator[bytes]:
        """The stored bytes of a file, or of a folder's list, piece by piece; unchecked."""
        place = self._there(*split(name))
        with self._trouble_told("reading"), self.fs.open(place, "rb") as file:
            while piece := file.read(PIECE):
                yield bytes(piece)

    def size(self, name: str) -> int:
        """The stored size of a file, or of a folder's list, in bytes."""
        place = self._there(*split(name))
        with self._trouble_told("reading"):
            return int(self.fs.size(place))

    def all_names(self) -> list[str]:
        """Every file and folder list that is stored, whoever needs it."""
        self.here()
        with self._trouble_told("reading"):
            found = [path.rsplit("/", 3) for room in ("file", "tree") for path in self.fs.find(f"{self.root}/{room}")]
        names = [f"{kind}-{digest}" for _, kind, _, digest in found]
        return [name for name in names if NAME.match(name)]

    def _put_bytes(self, kind: str, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        self._place(kind, digest, content)
        return f"{kind}-{digest}"

    def _place(self, kind: str, digest: str, content: bytes | Path) -> None:
        final = self.where(kind, digest)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        self.here()
        with self._trouble_told("writing"):
            if self._is_stored(final, digest, size):
                if self.is_local:
                    with suppress(PermissionError):  # another user's; its age then counts from when it was first stored
                        os.utime(final)
                return
            beside = final if self._whole_uploads else f"{self.root}/part/{uuid.uuid4().hex}"
            self._make_folders(f"{kind}/{digest[:2]}", "part")
            try:
                if isinstance(content, bytes):
                    self.fs.pipe_file(beside, content)
                else:
                    self.fs.put_file(str(content), beside)
                if self.is_local:
                    os.chmod(beside, 0o444)  # shared by all who fetch it
                    _to_disk(beside)
                    os.replace(beside, final)
                    self.here()  # if the store was unmounted meanwhile, it went to the folder below the mount point
                elif beside != final:
                    self.fs.mv(beside, final)
            except BaseException:
                if beside != final and self.fs.exists(beside):
                    self.fs.rm_file(beside)
                raise

    def _is_stored(self, place: str, digest: str, size: int) -> bool:
        """Whether it is there already, whole: damage of the same size must not outlive good content."""
        if not self.fs.exists(place) or self.fs.size(place) != size:
            return False
        found = hashlib.sha256()
        with self.fs.open(place, "rb") as file:
            while piece := file.read(PIECE):
                found.update(piece)
        return found.hexdigest() == digest

    def _make_folders(self, *paths: str) -> None:
        """Folders inside the store; never the store itself."""
        for path in paths:
            if not self.is_local:
                self.fs.makedirs(f"{self.root}/{path}", exist_ok=True)
                continue
            place = Path(self.root)
            for part in path.split("/"):
                place = place / part
                place.mkdir(exist_ok=True)

    # ------------------------------------------------------------------ reading

    def exists(self, name: str) -> bool:
        kind, digest = split(name)
        with self._trouble_told("reading"):
            return bool(self.fs.exists(self.where(kind, digest)))

    def files(self, name: str) -> dict[str, int]:
        """Path and size of every file in a stored folder."""
        return {path: size for path, (_, size) in self.manifest(name).items()}

    def read(self, name: str, path: str | None = None) -> bytes:
        """The content of a stored file, or of one file of a stored folder; its digest is checked."""
        kind, digest = split(name)
        if path is not None:
            entry = self.manifest(name).get(path)
            if entry is None:
                raise Missing(f"storage {self.shown}: {name} has no file {path!r}")
            kind, digest = "file", entry[0]
        return self._bytes(kind, digest)

    def _bytes(self, kind: str, digest: str) -> bytes:
        with self._trouble_told("reading"):
            content = bytes(self.fs.cat_file(self._there(kind, digest)))
        if hashlib.sha256(content).hexdigest() != digest:
            raise Damaged(f"storage {self.shown}: {kind}-{digest} is damaged: its digest does not match")
        return content

    def manifest(self, name: str) -> dict[str, tuple[str, int]]:
        """Digest and size of every file of a stored folder, by its path there."""
        kind, digest = split(name)
        if kind != "tree":
            raise BadInput(f"{name}: is a stored file, not a folder")
        return {path: (entry[0], entry[1]) for path, entry in json.loads(self._bytes(kind, digest)).items()}

    def fetch(self, name: str) -> Path:
        """A local, read-only copy of a stored file or folder, kept in the cache; digests are checked at every use.

        The path is valid until the cache is trimmed; do not write to it.
        """
        kind, digest = split(name)
        place = self.cache / kind / digest[:2] / digest
        with self._trouble_told("reading", self.cache):
            if place.exists() and not self.is_whole(name, place):
                self._drop(place)
        if not place.exists():
            with self._trouble_told("fetching", self.cache):
                place.parent.mkdir(parents=True, exist_ok=True)
                beside = self._cache_part()
                try:
                    if kind == "file":
                        self._bring(digest, beside)
                    else:
                        self._bring_tree(name, beside)
                    os.replace(beside, place)
                except OSError:
                    if not place.exists():  # a folder cannot replace one that another process brought meanwhile
                        raise
                finally:
                    _remove(beside)
        os.utime(place)  # for `trim`: used now
        return place

    def is_whole(self, name: str, place: Path) -> bool:
        """Whether a fetched file or folder still matches its name; reads every byte."""
        kind, digest = split(name)
        try:
            found = _digest(place) if kind == "file" else hashlib.sha256(_manifest_text(_digests(place))).hexdigest()
        except (OSError, BadInput):  # one of its files is gone, or no longer a file
            return False
        return found == digest

    def _cache_part(self) -> Path:
        """A place in the cache for what is incomplete."""
        part = self.cache / "part" / uuid.uuid4().hex
        part.parent.mkdir(parents=True, exist_ok=True)
        return part

    def _drop(self, place: Path) -> None:
        """Remove from the cache; it is renamed first, so that its name never means an incomplete folder."""
        beside = self._cache_part()
        with suppress(FileNotFoundError):  # another process was first
            os.replace(place, beside)
        _remove(beside)

    def _bring_tree(self, name: str, folder: Path) -> None:
        folder.mkdir()
        for path, (digest, _) in self.manifest(name).items():
            target = folder / path
            if target.is_absolute() != folder.is_absolute() or ".." in Path(path).parts:
                raise Damaged(f"storage {self.shown}: {name} names a file outside of itself: {path!r}")
            target.parent.mkdir(parents=True, exist_ok=True)
            self._bring(digest, target)

    def _bring(self, digest: str, target: Path) -> None:
        source = self._there("file", digest)
        if self.is_local:
            _link_or_copy(source, target)
        else:
            self.fs.get_file(source, str(target))
        if _digest(target) != digest:
            raise Damaged(f"storage {self.shown}: file-{digest} is damaged: its digest does not match")

    def trim(self, keep_bytes: int, idle_s: float = 3600.0) -> int:
        """Remove from the cache what was used longest ago, until it is small enough; never what was used just now."""
        import time

        places = [path for room in ("file", "tree") for path in self.cache.glob(f"{room}/??/*")]
        used = sorted((path.stat().st_mtime, path) for path in places)
        sizes = {path: _size(path) for _, path in used}
        total, removed = sum(sizes.values()), 0
        for moment, path in used:
            if total <= keep_bytes or moment > time.time() - idle_s:
                break
            self._drop(path)
            total -= sizes[path]
            removed += 1
        return removed

    def clean(self, left_s: float = LEFT_S) -> int:
        """Remove what killed processes left half-written, in a storage folder and in the cache; returns how many."""
        import time

        folders = [self.cache / "part"] + ([Path(self.root) / "part"] if self.is_local else [])
        removed = 0
        for path in (path for folder in folders for path in folder.glob("*")):
            with suppress(FileNotFoundError):  # another process has cleaned it up, or completed it
                if path.stat().st_mtime < time.time() - left_s:
                    _remove(path)
                    removed += 1
        return removed

    def probe(self) -> None:
        """Check that storage can be reached and written; raises Unwell with one clear line."""
        self._seen = False
        self.here()
        with self._trouble_told("reaching"):
            if self.is_local:
                self._make_folders("part")
                trial = Path(self.root) / "part" / uuid.uuid4().hex
                try:
                    trial.write_bytes(bytes(65536))
                finally:
                    trial.unlink(missing_ok=True)
            else:
                self.fs.ls(self.root, detail=False)

    def where(self, kind: str, digest: str) -> str:
        """Where something is stored, or would be."""
        return f"{self.root}/{kind}/{digest[:2]}/{digest}"

    def _there(self, kind: str, digest: str) -> str:
        """Where something is stored; checked first, since each kind of store reports a missing file in its own way."""
        self.here()
        where = self.where(kind, digest)
        if not self.fs.exists(where):
            raise Missing(f"storage {self.shown}: {kind}-{digest} is not there")
        return where

    @contextmanager
    def _trouble_told(self, doing: str, where: Path | None = None) -> Iterator[None]:
        place = f"storage {self.shown}" if where is None else f"cache {where}"
        try:
            yield
        except (Fault, BadInput):
            raise
        except OSError as error:
            said = error.strerror or str(error) or type(error).__name__
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                said = "the disk is full; make room and the work goes on"
            raise Unwell(f"{place}: {doing} failed: {said}") from error
        except Exception as error:
            if self.is_local:
                raise
            # FTP, S3 and others raise their own kinds of errors.
            raise Unwell(f"{place}: {doing} failed: {error or type(error).__name__}") from error


def name_of(path: Path) -> str:
    """The name that a file or folder has once it is stored; nothing is stored."""
    if path.is_dir():
        return f"tree-{hashlib.sha256(_manifest_text(_digests(path))).hexdigest()}"
    return f"file-{_digest(path)}"


def split(name: str) -> tuple[str, str]:
    """Kind (file or tree) and digest of a name."""
    match = NAME.match(name)
    if match is None:
        raise BadInput(f"{name!r} is not the name of a stored file or folder")
    return match[1], match[2]


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digests(folder: Path) -> dict[str, list[Any]]:
    """Digest and size of every file in a folder, by its path there."""
    files = {}
    for item in sorted(folder.rglob("*")):
        if item.is_symlink() or not (item.is_file() or item.is_dir()):
            raise BadInput(f"{item}: is neither a file nor a folder; links and devices are not stored")
        if item.is_file():
            files[item.relative_to(folder).as_posix()] = [_digest(item), item.stat().st_size]
    return files


def _write_once(path: Path, content: bytes) -> None:
    """Write a file that appears complete; if several write it at once, the first one's stays."""
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        beside.write_bytes(content)
        _to_disk(str(beside))
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _manifest_text(files: dict[str, list[Any]]) -> bytes:
    return json.dumps(files, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _link_or_copy(source: str, target: Path) -> None:
    """Stored files never change, so on the same file system a hard link is enough."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES, errno.ENOTSUP):
            raise
        shutil.copyfile(source, target)


def _to_disk(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(item.stat().st_size for item in path.rglob("*") if item.is_file())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
