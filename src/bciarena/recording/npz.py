"""npz without pickles. An uncompressed member is mapped in place; a compressed one is spooled to disk first."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.recording.spool import spool

PIECE = 1 << 22
IN_MEMORY = 1 << 20


def read_npz(path: Path) -> dict[str, Any]:
    """The arrays of an npz file by key; large ones are memory maps."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                name[: -len(".npy")]: _member(path, archive, name)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"{path}: not a readable npz file ({error}); is it cut short?") from error


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    info = archive.getinfo(name)
    with archive.open(info) as stream:
        shape, fortran, dtype = _header(stream, path, name)
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        head = info.file_size - size
        if info.compress_type == zipfile.ZIP_STORED and size > IN_MEMORY:
            return _map(path, info, head, shape, fortran, dtype)
        if head != stream.tell():
            raise BadInput(f"{path}: field {name[:-4]}: its header announces {size} bytes, which are not there")
        if size > IN_MEMORY:
            return spool(_pieces(stream), dtype, shape, fortran)
        array = np.frombuffer(stream.read(), dtype)
        return array.reshape(shape, order="F" if fortran else "C")


def _header(stream: IO[bytes], path: Path, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise BadInput(f"{path}: field {name}: npy format {version} is not supported; save it with np.savez")
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise BadInput(f"{path}: field {name[:-4]}: contains Python objects, which are never loaded")
    return shape, fortran, dtype


def _map(
    path: Path, info: zipfile.ZipInfo, head: int, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]
) -> NDArray[Any]:
    with open(path, "rb") as file:  # the member's local header says how long its name and extras are
        file.seek(info.header_offset + 26)
        name_n = int.from_bytes(file.read(2), "little")
        extra_n = int.from_bytes(file.read(2), "little")
    offset = info.header_offset + 30 + name_n + extra_n + head
    array: NDArray[Any] = np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")
    return array


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece
