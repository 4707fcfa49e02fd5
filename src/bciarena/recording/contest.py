"""One block of the contest layout: a file with the keys data, srate, ch_names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.recording.apart import read_apart
from bciarena.recording.events import ENDING, invalid_of
from bciarena.recording.model import Block
from bciarena.recording.npz import read_npz
from bciarena.recording.pickles import read_pickle


def read_mat(path: Path) -> Any:
    """The fields of a MATLAB file, version 5 by scipy or 7.3 by h5py (extra ``files``)."""
    return read_apart(mat_fields, path)


def mat_fields(path: Path) -> dict[str, Any]:
    """For the reader's own process."""
    import scipy.io

    try:
        content = dict(scipy.io.loadmat(path))
    except NotImplementedError:
        content = _read_hdf5(path)
    except Exception as error:
        raise BadInput(f"{path}: not a readable MATLAB file ({error})") from error
    if "data" in content:
        _matrix(path, content["data"])
    if "ch_names" in content:
        content["ch_names"] = _names(path, content["ch_names"])
    if "srate" in content:
        content["srate"] = _rate(path, content["srate"])
    return {key: content[key] for key in ("data", "srate", "ch_names") if key in content}


def _read_hdf5(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError:
        raise BadInput(f"{path}: MATLAB 7.3 files need h5py: pip install 'bciarena[files]'") from None
    content: dict[str, Any] = {}
    with h5py.File(path) as file:
        for key in ("data", "srate", "ch_names"):
            if key in file:
                item = file[key]
                if item.dtype == h5py.ref_dtype:  # a cell of strings
                    content[key] = ["".join(map(chr, file[ref][()].ravel())) for ref in item[()].ravel()]
                else:
                    content[key] = item[()].T  # MATLAB stores columns first
    return content


READERS: dict[str, Callable[[Path], Any]] = {".npz": read_npz, ".pkl": read_pickle, ".mat": read_mat}


def read_block(path: Path) -> Block:
    """Read a block file; an error names the file and the field that is missing or unusable."""
    content = READERS[path.suffix](path)
    if not isinstance(content, Mapping):
        raise BadInput(f"{path}: contains a {type(content).__name__}, not a dict with data, srate and ch_names")
    for key in ("data", "srate", "ch_names"):
        if key not in content:
            raise BadInput(f"{path}: field {key} is missing; a block has data, srate and ch_names")
    data = _matrix(path, content["data"])
    names = _names(path, content["ch_names"])
    rows = data.shape[0]
    if len(names) == rows:  # some files name the trigger row too
        names = names[:-1]
    if len(names) != rows - 1:
        raise BadInput(
            f"{path}: field ch_names: {len(names)} names for {rows} rows of data; expected one name for each row "
            "but the last, the trigger"
        )
    invalid = invalid_of(path.with_name(path.stem + ENDING), data.shape[1])
    return Block(data[:-1], data[-1], _rate(path, content["srate"]), names, str(path), invalid)


def _matrix(path: Path, value: Any) -> NDArray[Any]:
    data = value if isinstance(value, np.ndarray) else np.asarray(value)
    if data.ndim != 2 or data.dtype.kind not in "fiu":
        raise BadInput(
            f"{path}: field data: {data.dtype} of shape {data.shape}; expected numbers of shape (channels + 1, samples)"
        )
    if data.shape[0] < 2 or data.shape[1] < 1:
        raise BadInput(f"{path}: field data: shape {data.shape} holds no samples or no channels")
    return data


def _rate(path: Path, value: Any) -> int:
    rate = np.asarray(value).ravel()
    if rate.size != 1 or rate.dtype.kind not in "fiu" or not rate[0] > 0 or int(rate[0]) != rate[0]:
        raise BadInput(f"{path}: field srate: {value!r} is not a whole number of samples per second")
    return int(rate[0])


def _names(path: Path, value: Any) -> tuple[str, ...]:
    flat = np.asarray(value, dtype=object).ravel() if not isinstance(value, np.ndarray) else value.ravel()
    names = []
    for item in flat:
        while isinstance(item, np.ndarray) and item.size == 1:  # MATLAB cells nest
            item = item.ravel()[0]
        if isinstance(item, bytes):
            item = item.decode("utf-8", "replace")
        if not isinstance(item, str):
            raise BadInput(f"{path}: field ch_names: {item!r} is not a channel name")
        names.append(item.strip())
    return tuple(names)
