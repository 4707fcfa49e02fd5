"""Storage: files and folders under the digest of their content; a local folder, or any fsspec URL.

A file is stored once under ``file/ab/abcd...``. A folder is a list of its files and their digests, itself stored under
the digest of that list (``tree/...``). A name that is there is complete: things are written beside it and renamed, and
object stores show an upload only when it is whole. Whoever fetches checks the digest again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput, Fault
from bciarena.jobs import home

NAME = re.compile(r"(file|tree)-([0-9a-f]{64})\Z")
WHOLE_UPLOADS = {"s3", "s3a", "gs", "gcs", "az", "abfs", "adl", "oci", "memory"}
PIECE = 1 << 20


class Unwell(Fault):
    """The machine or its storage is in trouble, not the job: disk full, storage away."""


class Damaged(Fault):
    """What is stored under a digest does not have it."""


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
    """

    def __init__(self, url: str | Path | None = None, cache: Path | None = None) -> None:
        import fsspec

        self.url = str(url or home.storage_url())
        self.cache = cache or home.cache_folder()
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
            self.url = self.root  # absolute: other processes may stand elsewhere

    @property
    def shown(self) -> str:
        """The URL as messages name it: without user and password."""
        return re.sub(r"(?<=://)[^/@]*@", "", self.url)

    # ------------------------------------------------------------------ putting

    def put(self, path: str | Path) -> str:
        """Store a file or a folder (regular files only); returns its name. Twice the same is stored once."""
        path = Path(path)
        if path.is_dir():
            files = {}
            for item in sorted(path.rglob("*")):
                if item.is_symlink() or not (item.is_file() or item.is_dir()):
                    raise BadInput(f"{item}: is neither a file nor a folder; links and devices are not stored")
                if item.is_file():
                    files[item.relative_to(path).as_posix()] = [self._put_file(item), item.stat().st_size]
            return self._put_bytes("tree", _manifest_text(files))
        if not path.is_file():
            raise BadInput(f"{path}: no such file or folder")
        return f"file-{self._put_file(path)}"

    def put_bytes(self, content: bytes) -> str:
        """Store a small file from memory; returns its name."""
        return self._put_bytes("file", content)

    def _put_file(self, path: Path) -> str:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._place("file", digest, path)
        return digest

    def _put_bytes(self, kind: str, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        self._place(kind, digest, content)
        return f"{kind}-{digest}"

    def _place(self, kind: str, digest: str, content: bytes | Path) -> None:
        final = self._where(kind, digest)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        with self._trouble_told("writing"):
            if self.fs.exists(final) and self.fs.size(final) == size:
                return
            beside = final if self._whole_uploads else f"{final}.{uuid.uuid4().hex}.part"
            self.fs.makedirs(final.rsplit("/", 1)[0], exist_ok=True)
            try:
                if isinstance(content, bytes):
                    self.fs.pipe_file(beside, content)
                else:
                    self.fs.put_file(str(content), beside)
                if self.is_local:
                    os.chmod(beside, 0o444)  # shared by all who fetch it
                    _to_disk(beside)
                    os.replace(beside, final)
                elif beside != final:
                    self.fs.mv(beside, final)
            except BaseException:
                if beside != final and self.fs.exists(beside):
                    self.fs.rm_file(beside)
                raise

    # ------------------------------------------------------------------ reading

    def exists(self, name: str) -> bool:
        kind, digest = _split(name)
        with self._trouble_told("reading"):
            return bool(self.fs.exists(self._where(kind, digest)))

    def files(self, name: str) -> dict[str, int]:
        """Path and size of every file in a stored folder."""
        return {path: size for path, (_, size) in self._manifest(name).items()}

    def read(self, name: str, path: str | None = None) -> bytes:
        """The content of a stored file, or of one file of a stored folder; its digest is checked."""
        kind, digest = _split(name)
        if path is not None:
            entry = self._manifest(name).get(path)
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

    def _manifest(self, name: str) -> dict[str, tuple[str, int]]:
        kind, digest = _split(name)
        if kind != "tree":
            raise BadInput(f"{name}: is a stored file, not a folder")
        return {path: (entry[0], entry[1]) for path, entry in json.loads(self._bytes(kind, digest)).items()}

    def fetch(self, name: str) -> Path:
        """A local, read-only copy of a stored file or folder, kept in the cache; digests are checked on the way in.

        The path ends when the cache is trimmed; do not write to it.
        """
        kind, digest = _split(name)
        place = self.cache / kind / digest[:2] / digest
        if not place.exists():
            with self._trouble_told("fetching", self.cache):
                place.parent.mkdir(parents=True, exist_ok=True)
                beside = place.with_name(f".{digest}.{uuid.uuid4().hex}.part")
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

    def _bring_tree(self, name: str, folder: Path) -> None:
        folder.mkdir()
        for path, (digest, _) in self._manifest(name).items():
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
        with open(target, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise Damaged(f"storage {self.shown}: file-{digest} is damaged: its digest does not match")

    def trim(self, keep_bytes: int, idle_s: float = 3600.0) -> int:
        """Remove from the cache what was used longest ago, until it is small enough; never what was used just now."""
        import time

        places = [path for path in self.cache.glob("*/??/*") if not path.name.startswith(".")]
        used = sorted((path.stat().st_mtime, path) for path in places)
        sizes = {path: _size(path) for _, path in used}
        total, removed = sum(sizes.values()), 0
        for moment, path in used:
            if total <= keep_bytes or moment > time.time() - idle_s:
                break
            beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
            os.replace(path, beside)  # gone under its name before it is incomplete
            _remove(beside)
            total -= sizes[path]
            removed += 1
        return removed

    def probe(self) -> None:
        """Try whether storage can be reached and written; raises Unwell with one clear line."""
        with self._trouble_told("reaching"):
            self.fs.makedirs(self.root, exist_ok=True)
            if self.is_local:
                mark = f"{self.root}/.probe.{uuid.uuid4().hex}"
                try:
                    Path(mark).write_bytes(bytes(65536))
                finally:
                    Path(mark).unlink(missing_ok=True)
            else:
                self.fs.ls(self.root, detail=False)

    def _where(self, kind: str, digest: str) -> str:
        return f"{self.root}/{kind}/{digest[:2]}/{digest}"

    def _there(self, kind: str, digest: str) -> str:
        """Where something is stored; asked first: each kind of store says "not there" its own way."""
        where = self._where(kind, digest)
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
            # FTP, S3 and the others have errors of their own kinds.
            raise Unwell(f"{place}: {doing} failed: {error or type(error).__name__}") from error


def _split(name: str) -> tuple[str, str]:
    match = NAME.match(name)
    if match is None:
        raise BadInput(f"{name!r} is no name of a stored file or folder")
    return match[1], match[2]


def _manifest_text(files: dict[str, list[Any]]) -> bytes:
    return json.dumps(files, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _link_or_copy(source: str, target: Path) -> None:
    """Stored files never change, so on one file system a second name for them is enough."""
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
