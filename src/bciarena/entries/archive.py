"""Unpacks an upload that may be hostile.

An archive is read as a stream under bounds (files, bytes, ratio, names), every member is a plain file or a folder, and
every name stays below the target. For anything else the whole archive is refused in one line.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple, cast

from bciarena.entries.telling import tell
from bciarena.errors import BadInput
from bciarena.plaintext import is_plain, one_line

MAX_ARCHIVE_BYTES = 1 << 30
MAX_BYTES = 2 << 30
MAX_FILES = 4_000
MAX_RATIO = 200
RATIO_FROM_BYTES = 64 << 20  # below this size any ratio is fine
MAX_NAME_BYTES = 1024
MAX_PART_BYTES = 200
MAX_DEPTH = 32
MAX_READ_BYTES = 8 << 20  # no header or directory of an honest archive within the bounds above is larger
CHUNK_BYTES = 1 << 18


class _Member(NamedTuple):
    name: str
    kind: str  # "file", "folder", or what makes it unusable: "link", "special", "password"
    open: Callable[[], IO[bytes] | None]


def is_archive(path: Path) -> bool:
    """Whether the first bytes are those of a zip or gzip file, whatever its name says."""
    with open(path, "rb") as file:
        start = file.read(4)
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b"))


def unpack(path: Path, target: Path) -> int:
    """Unpack a .zip or .tar.gz into the empty folder ``target``; raises BadInput for anything unsafe or broken.

    Returns the size of its content in bytes.
    """
    size = path.stat().st_size
    if size > MAX_ARCHIVE_BYTES:
        raise BadInput(tell("archive.large", name=path.name, size=size >> 20, most=MAX_ARCHIVE_BYTES >> 20))
    if not is_archive(path):
        raise BadInput(tell("archive.kind", name=path.name))
    try:
        _look_over(path.name, _members(path))
        return _write_all(path.name, _members(path), size, target)
    except BadInput:
        raise
    except NotImplementedError as error:
        raise BadInput(tell("archive.compression", name=path.name, why=one_line(str(error), 200))) from error
    except Exception as error:
        # Hostile bytes reach the parsers of the standard library here, which may raise anything.
        why = f"{type(error).__name__}: {one_line(str(error), 200)}"
        raise BadInput(tell("archive.damaged", name=path.name, why=why)) from error


def _members(path: Path) -> Iterator[_Member]:
    with open(path, "rb") as file:
        zipped = file.read(2) == b"PK"
    return _zip_members(path) if zipped else _tar_members(path)


def _zip_members(path: Path) -> Iterator[_Member]:
    with _CarefulFile(path) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name = _zip_name(info)
            mode = stat.S_IFMT(info.external_attr >> 16)
            if info.flag_bits & 1:
                kind = "password"
            elif info.is_dir() or name.endswith("\\"):
                kind = "folder"
            elif mode not in (0, stat.S_IFREG):
                kind = "link" if mode == stat.S_IFLNK else "special"
            else:
                kind = "file"
            yield _Member(name, kind, partial(archive.open, info))


def _tar_members(path: Path) -> Iterator[_Member]:
    with gzip.open(path, "rb") as plain:
        most = min(MAX_BYTES + MAX_FILES * 2048, max(RATIO_FROM_BYTES, MAX_RATIO * path.stat().st_size))
        careful = cast("IO[bytes]", _CarefulStream(plain, most))
        with tarfile.open(fileobj=careful, mode="r:") as archive:
            for info in archive:
                name = _decoded(info.name.encode("utf-8", "surrogateescape"))
                if info.isdir():
                    kind = "folder"
                elif info.issym() or info.islnk():
                    kind = "link"
                else:
                    kind = "file" if info.isreg() and not info.issparse() else "special"
                yield _Member(name, kind, partial(archive.extractfile, info))


def _zip_name(info: zipfile.ZipInfo) -> str:
    """A zip without the UTF-8 flag holds the bytes of the packer's code page: on Chinese Windows GBK."""
    if info.flag_bits & 0x800:
        return info.filename
    return _decoded(info.filename.encode("cp437", "replace"))


def _decoded(raw: bytes) -> str:
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


def _look_over(archive: str, members: Iterator[_Member]) -> None:
    """Refuse an archive before anything of it is written."""
    seen: set[str] = set()
    for count, member in enumerate(members):
        if count == MAX_FILES:
            raise BadInput(tell("archive.files", name=archive, most=MAX_FILES))
        shown = "/".join(_safe_parts(archive, member.name))
        if member.kind not in ("file", "folder"):
            raise BadInput(tell(f"archive.{member.kind}", name=archive, inside=repr(shown)))
        if shown in seen and member.kind == "file":
            raise BadInput(tell("archive.twice", name=archive, inside=repr(shown)))
        seen.add(shown)


def _write_all(archive: str, members: Iterator[_Member], size: int, target: Path) -> int:
    total = 0
    for member in members:
        where = target.joinpath(*_safe_parts(archive, member.name))
        if member.kind == "folder":
            where.mkdir(parents=True, exist_ok=True)
            continue
        where.parent.mkdir(parents=True, exist_ok=True)
        content = member.open()
        assert content is not None
        with content, open(where, "xb") as out:
            while chunk := content.read(CHUNK_BYTES):
                total += len(chunk)
                if total > MAX_BYTES:
                    raise BadInput(tell("archive.unpacked", name=archive, most=MAX_BYTES >> 20))
                if total > RATIO_FROM_BYTES and total > MAX_RATIO * size:
                    raise BadInput(tell("archive.bomb", name=archive, most=MAX_RATIO))
                out.write(chunk)
    return total


def _safe_parts(archive: str, name: str) -> list[str]:
    """The parts of a member's name, none of which leads out of the target."""
    shown = ascii(name[:80])
    slashed = name.replace("\\", "/")  # zips made on Windows
    if slashed.startswith("/") or slashed[1:2] == ":":
        raise BadInput(tell("archive.absolute", name=archive, inside=shown))
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise BadInput(tell("archive.outside", name=archive, inside=shown))
    if not all(map(is_plain, name)):
        raise BadInput(tell("archive.characters", name=archive, inside=shown))
    if (
        len(name.encode()) > MAX_NAME_BYTES
        or len(parts) > MAX_DEPTH
        or any(len(part.encode()) > MAX_PART_BYTES for part in parts)
    ):
        raise BadInput(tell("archive.name", name=archive, inside=shown))
    return parts


class _CarefulFile(io.FileIO):
    """A file that refuses reads no honest archive needs: zipfile reads a whole directory at once, however large."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_READ_BYTES:
            raise BadInput(tell("archive.list", name=Path(str(self.name)).name, most=MAX_FILES))
        return super().read(-1 if size is None else size) or b""


class _CarefulStream:
    """What tarfile reads from: bounds how far it goes, and single headers, which tarfile reads at once."""

    def __init__(self, plain: gzip.GzipFile, most: int) -> None:
        self._plain = plain
        self._most = most
        self.tell = plain.tell

    def read(self, size: int) -> bytes:
        if size > MAX_READ_BYTES:
            raise BadInput("the archive has a header longer than any file name needs")
        return self._plain.read(size)

    def seek(self, offset: int) -> int:
        if offset > self._most:
            raise BadInput(f"the archive unpacks to more than {self._most >> 20} MiB: a bomb")
        return self._plain.seek(offset)
