"""A backup file: a tar archive that only grows. It has each stored file once, by name; each backup adds what is new.

    storage/file-<digest>, storage/tree-<digest>     what is stored
    backups/<moment>/database, .../secret.key        a snapshot of the database, the site's key
    backups/<moment>/index.json                      written last, completes the backup

An interrupted backup leaves a tail without an index, which the next one cuts off. Any tar program can read the file.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bciarena.errors import BadInput
from bciarena.jobs.storage import Damaged

PIECE = 1 << 20


class Archive:
    """A backup file that is open."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.members: dict[str, tarfile.TarInfo] = {}
        self.indexes: list[dict[str, Any]] = []  # oldest first
        self.end = 0  # behind the last whole backup
        self._scan()

    def _scan(self) -> None:
        """Read all headers; what follows the last index belongs to no backup."""
        if not os.fstat(self.file.fileno()).st_size:
            return
        waiting: dict[str, tarfile.TarInfo] = {}
        try:
            with tarfile.open(fileobj=self.file, mode="r:") as tar:
                for member in tar:
                    waiting[member.name] = member
                    if member.name.endswith("/index.json"):
                        self.indexes.append(json.loads(self._content(member)))
                        self.members |= waiting
                        self.end = member.offset_data + -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
                        waiting = {}
        except (tarfile.TarError, ValueError, Damaged) as error:
            if not self.indexes:
                raise BadInput(f"{self.path}: is not a backup of a site ({error})") from error
        if not self.indexes:
            raise BadInput(f"{self.path}: contains no complete backup")

    def index(self, moment: str = "") -> dict[str, Any]:
        """The newest backup, or that of a moment."""
        found = [one for one in self.indexes if not moment or one["moment"] == moment]
        if not found:
            known = ", ".join(one["moment"] for one in self.indexes) or "none"
            raise BadInput(f"{self.path}: has no backup {moment}; it has {known}")
        return found[-1]

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a member."""
        member = self.members.get(name)
        if member is None:
            raise Damaged(f"{self.path}: {name} is not in it")
        return self._pieces(member)

    def _pieces(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        at, left = member.offset_data, member.size
        while left:
            self.file.seek(at)
            piece = self.file.read(min(left, PIECE))
            if not piece:
                raise Damaged(f"{self.path}: ends within {member.name}")
            yield piece
            at, left = at + len(piece), left - len(piece)

    def _content(self, member: tarfile.TarInfo) -> bytes:
        return b"".join(self._pieces(member))

    def read(self, name: str) -> bytes:
        return b"".join(self.pieces(name))

    def extract(self, name: str, target: Path) -> str:
        """Write a member to a file and return its digest."""
        digest = hashlib.sha256()
        with open(target, "wb") as file:
            for piece in self.pieces(name):
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()

    # ------------------------------------------------------------------ adding

    def add(self, name: str, size: int, pieces: Iterable[bytes], digest: str = "") -> bool:
        """Append a member; returns False, and adds nothing, if its content does not match the digest."""
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        self.file.seek(self.end)
        self.file.write(member.tobuf(tarfile.PAX_FORMAT))
        start = self.file.tell()
        seen, written = hashlib.sha256(), 0
        for piece in pieces:
            seen.update(piece)
            written += self.file.write(piece)
        if written != size or (digest and seen.hexdigest() != digest):
            return False
        self.file.write(bytes(-size % tarfile.BLOCKSIZE))
        member.offset_data = start
        self.members[name] = member
        self.end = self.file.tell()
        return True

    def add_file(self, name: str, path: Path) -> None:
        with open(path, "rb") as file:
            self.add(name, path.stat().st_size, iter(lambda: file.read(PIECE), b""))

    def finish(self, index: dict[str, Any]) -> None:
        """Write the index, which completes the backup."""
        self.file.flush()
        os.fsync(self.file.fileno())
        text = json.dumps(index, indent=1).encode()
        self.add(f"backups/{index['moment']}/index.json", len(text), io.BytesIO(text))
        self.file.write(bytes(2 * tarfile.BLOCKSIZE))
        self.file.truncate()
        self.file.flush()
        os.fsync(self.file.fileno())
        self.indexes.append(index)


@contextmanager
def reading(path: Path) -> Iterator[Archive]:
    """A backup file, to be read."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    with file:
        archive = Archive(path, file)
        if not archive.indexes:
            raise BadInput(f"{path}: is empty")
        yield archive


@contextmanager
def writing(path: Path) -> Iterator[Archive]:
    """A backup file, to be added to; created if missing, readable by this user only, one writer at a time."""
    try:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(f"{path}: another backup is being written to it") from error
        yield Archive(path, file)
