"""Writing a block file of the contest layout. Nothing half-written is ever seen under its final name."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bciarena.writing import whole_file

EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed time stamp, so that the same content gives the same bytes


def write_contest(path: Path, data: NDArray[Any], rate: int, channels: tuple[str, ...], compress: bool = False) -> None:
    """Write one block as npz, pkl or mat, by the name's ending.

    Parameters
    ----------
    data : ndarray, shape (channels + 1, samples)
        Microvolts, the last row the trigger.
    compress : bool
        npz only. An uncompressed file can be memory-mapped.
    """
    write = WRITERS[path.suffix]
    with whole_file(path) as beside:
        write(beside, data, rate, channels, compress)


def _npz(path: Path, data: NDArray[Any], rate: int, channels: tuple[str, ...], compress: bool) -> None:
    how = zipfile.ZIP_LZMA if compress else zipfile.ZIP_STORED
    arrays = {"data": data, "srate": np.array(rate), "ch_names": np.array(channels)}
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", EPOCH)
            info.compress_type = how
            with archive.open(info, "w", force_zip64=True) as stream:
                npy.write_array(stream, np.asarray(array), allow_pickle=False)


def _pkl(path: Path, data: NDArray[Any], rate: int, channels: tuple[str, ...], compress: bool) -> None:
    with open(path, "wb") as file:
        pickle.dump({"data": np.asarray(data), "srate": rate, "ch_names": channels}, file, protocol=4)


def _mat(path: Path, data: NDArray[Any], rate: int, channels: tuple[str, ...], compress: bool) -> None:
    import scipy.io

    names = np.array(channels, dtype=object)
    with open(path, "wb") as file:
        scipy.io.savemat(file, {"data": data, "srate": rate, "ch_names": names}, do_compression=compress)


WRITERS: dict[str, Callable[..., None]] = {".npz": _npz, ".pkl": _pkl, ".mat": _mat}
