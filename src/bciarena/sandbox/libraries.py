"""The system's shared libraries that an interpreter and its packages ask for, and no other file of the system.

They are read from the files themselves (ELF: the libraries they name, and their loader) and copied, once per
environment, into a small tree: a box that saw /usr/lib would see programs, setuid helpers and other software.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bciarena.errors import BadInput

TRIPLET = f"{platform.machine()}-linux-gnu"
PLACES = tuple(
    Path(place) for place in (f"/lib/{TRIPLET}", f"/usr/lib/{TRIPLET}", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
)
ALWAYS = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libgcc_s.so.1",
          "libstdc++.so.6", "libgomp.so.1", "libatomic.so.1")  # fmt: skip
"""Opened by name at run time, or needed by what an entry compiled and brought along."""
LOCALE = Path("/usr/lib/locale/C.utf8")  # the box's LANG
RECIPE = 1  # part of the key: a change in how trees are made gives new ones
PT_LOAD, PT_DYNAMIC, PT_INTERP, DT_NEEDED, DT_STRTAB = 1, 2, 3, 1, 5


def system_tree(folders: Iterable[Path], executable: Path, cache: Path) -> Path:
    """A folder with the system's libraries for these folders, each at its place below it; made on first use.

    The box shows ``tree/usr/lib/...`` as ``/usr/lib/...``.
    """
    folders = sorted(set(folders))
    name = "\n".join([str(RECIPE), str(executable), *(f"{path} {_changed(path)}" for path in folders)])
    tree = cache / f"libraries-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    if tree.is_dir():
        return tree
    try:
        cache.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{tree.name}.", dir=cache))
    except OSError as error:
        raise BadInput(f"{cache}: cannot be written ({error.strerror}); set XDG_CACHE_HOME") from error
    try:
        for source in closure([executable.resolve(), *_compiled(folders)]):
            target = beside / str(source.parent.resolve() / source.name).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755)
        if LOCALE.is_dir():
            shutil.copytree(LOCALE, beside / str(LOCALE).lstrip("/"))
        for where, _, _ in os.walk(beside):
            os.chmod(where, 0o755)
        try:
            beside.rename(tree)
        except OSError:
            if not tree.is_dir():  # otherwise another process has made it meanwhile
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return tree


def _changed(folder: Path) -> int:
    """When something was last installed into a folder, by the time of its packages' folder."""
    places = [folder, *folder.glob("python3*/site-packages"), *folder.glob("python3*/dist-packages")]
    return max((place.stat().st_mtime_ns for place in places if place.exists()), default=0)


def _compiled(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if folder.is_file():
            yield folder
        for where, _, files in os.walk(folder):
            for name in files:
                if name.endswith(".so") or ".so." in name:
                    yield Path(where, name)


def closure(files: Iterable[Path]) -> list[Path]:
    """Libraries in the system's folders that these files ask for, directly or through each other; loaders included."""
    waiting: list[str] = list(ALWAYS)
    found: dict[str, Path] = {}
    for file in files:
        loader, names = asked(file)
        waiting += names
        if loader:
            found[loader] = Path(loader)
    seen = set()
    while waiting:
        name = waiting.pop()
        if name in seen or "/" in name:
            continue
        seen.add(name)
        path = next((place / name for place in PLACES if (place / name).is_file()), None)
        if path:  # otherwise it is beside the file that needs it
            found[name] = path
            waiting += asked(path)[1]
    return sorted(set(found.values()))


def asked(path: Path) -> tuple[str, list[str]]:
    """An ELF file's loader (a program's; else empty) and the libraries it needs; nothing for other files."""
    try:
        raw = path.read_bytes() if path.stat().st_size < 1 << 20 else None
        with open(path, "rb") as file:

            def read(at: int, size: int) -> bytes:
                if raw is not None:
                    return raw[at : at + size]
                file.seek(at)
                return file.read(size)

            return _read_elf(read)
    except (OSError, struct.error, ValueError, OverflowError):
        return "", []


def _read_elf(read: Callable[[int, int], bytes]) -> tuple[str, list[str]]:
    if read(0, 6) != b"\x7fELF\x02\x01":  # 64 bits, little-endian
        return "", []
    (table,) = struct.unpack("<Q", read(0x20, 8))
    size, count = struct.unpack("<HH", read(0x36, 4))
    loads, dynamic, loader = [], b"", ""
    for number in range(count):
        kind, _, at, where, _, length = struct.unpack("<IIQQQQ", read(table + number * size, 40))
        if kind == PT_LOAD:
            loads.append((where, at, length))
        elif kind == PT_DYNAMIC:
            dynamic = read(at, length)
        elif kind == PT_INTERP:
            loader = read(at, length).rstrip(b"\0").decode("utf-8", "replace")
    pairs = [struct.unpack_from("<qQ", dynamic, at) for at in range(0, len(dynamic) - 15, 16)]
    strings = next((value for tag, value in pairs if tag == DT_STRTAB), 0)
    start = next((at + strings - where for where, at, length in loads if where <= strings < where + length), 0)
    names = [
        read(start + value, 256).partition(b"\0")[0].decode("utf-8", "replace")
        for tag, value in pairs
        if tag == DT_NEEDED
    ]
    return loader, names
