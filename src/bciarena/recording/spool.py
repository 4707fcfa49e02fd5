"""Arrays too large for memory: a mapped temporary file without a name."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def spool(pieces: Iterable[Any], dtype: DTypeLike, shape: tuple[int, ...], fortran: bool = False) -> NDArray[Any]:
    """Write consecutive pieces of an array's bytes to an unnamed temporary file and map it read-only.

    The file has no name, so nothing is left behind however the process ends.
    """
    with tempfile.TemporaryFile() as file:  # the map keeps it alive
        for piece in pieces:
            file.write(piece)
        file.flush()
        array: NDArray[Any] = np.memmap(file, dtype, "r", shape=shape, order="F" if fortran else "C")
    return array
