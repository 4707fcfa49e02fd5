"""Pickles as data. Reading one never runs code from outside: the few names it may call are replaced by our own.

The contests hand out ``dict(data, srate, ch_names)`` pickled with whatever numpy they had. A pickle is a small
program; this reader knows only a handful of names (an array, a dtype, a scalar, bytes from text), all implemented here,
and refuses every other one. Large byte strings are not read but remembered by their place in the file, so an array in a
2 GB pickle becomes a memory map.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np

from bciarena.errors import BadInput

LAZY = 1 << 20


class _Place(NamedTuple):
    """A long byte string of the file, by its place."""

    offset: int
    length: int


class _Dtype:
    """numpy.dtype as the pickle builds it: a short code, then its byte order."""

    def __init__(self, code: str, *_: Any) -> None:
        self.value = np.dtype(code)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] in ("<", ">"):
            self.value = self.value.newbyteorder(state[1])


class _Array:
    """numpy.ndarray as the pickle builds it: empty, then (version, shape, dtype, fortran, bytes)."""

    path: Path

    def __init__(self, path: Path) -> None:
        self.path = path
        self.value: Any = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        shape, dtype, fortran, raw = state[-4:]
        self.value = _build(self.path, raw, dtype.value, shape, "F" if fortran else "C")


def _build(path: Path, raw: Any, dtype: np.dtype[Any], shape: Any, order: Any) -> Any:
    if dtype.hasobject:
        if isinstance(raw, list):  # an object array of names comes as a plain list
            return np.array(raw, dtype=object).reshape(shape, order=order)
        raise pickle.UnpicklingError("an array of Python objects")
    if isinstance(raw, str):
        raw = raw.encode("latin1")
    if isinstance(raw, _Place):
        return np.memmap(path, dtype, "r", raw.offset, tuple(shape), order)
    return np.frombuffer(bytes(raw), dtype).reshape(shape, order=order)


class _Reader(pickle._Unpickler):
    """The standard library's pure-Python unpickler, restricted to the names above."""

    read: Callable[[int], bytes]  # set by load()
    append: Callable[[Any], None]
    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = dict(pickle._Unpickler.dispatch)

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__(file)
        self.file, self.size = file, path.stat().st_size

        def frombuffer(raw: Any, dtype: Any, shape: Any, order: Any) -> Any:
            return _build(path, raw, dtype.value, shape, order)

        def scalar(dtype: Any, raw: Any) -> Any:
            return _build(path, raw, dtype.value, (), "C")

        multiarray = {"_reconstruct": lambda *_: _Array(path), "scalar": scalar}
        numeric = {"_frombuffer": frombuffer}
        self.words: dict[str, dict[str, Any]] = {
            "numpy.core.multiarray": multiarray,
            "numpy._core.multiarray": multiarray,
            "numpy.core.numeric": numeric,
            "numpy._core.numeric": numeric,
            "numpy": {"ndarray": "ndarray", "dtype": _Dtype},
            "_codecs": {"encode": lambda text, codec: str(text).encode("latin1")},
        }

    def _bytes(self, width: int) -> None:
        length = int.from_bytes(self.read(width), "little")
        offset = self.file.tell()
        if length < LAZY:  # may be inside a frame that was read already
            self.append(self.read(length))
        elif offset + length > self.size:
            raise EOFError
        else:  # long byte strings are outside frames, so the file's position is the string's
            self.file.seek(length, 1)
            self.append(_Place(offset, length))

    dispatch[pickle.BINBYTES[0]] = lambda self: self._bytes(4)
    dispatch[pickle.BINBYTES8[0]] = lambda self: self._bytes(8)
    dispatch[pickle.BYTEARRAY8[0]] = lambda self: self._bytes(8)

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self.words[module][name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def read_pickle(path: Path) -> Any:
    """The content of a pickle made of numpy arrays and plain containers; arrays over 1 MiB are memory maps."""
    try:
        with open(path, "rb") as file:
            return _plain(_Reader(path, file).load())
    except pickle.UnpicklingError as error:
        raise BadInput(
            f"{path}: refused: {error}; only numpy arrays and plain containers are read from a pickle"
        ) from error
    except Exception as error:  # a cut or damaged pickle fails in as many ways as there are opcodes
        raise BadInput(f"{path}: not a readable pickle ({type(error).__name__}); is it cut short?") from error


def _plain(value: Any) -> Any:
    if isinstance(value, (_Array, _Dtype)):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item) for item in value)
    return value
