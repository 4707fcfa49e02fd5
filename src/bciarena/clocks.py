"""Whether this machine is quiet enough to time runs: a fixed piece of work, compared with its best time here.

An entry's measured computing time also depends on what else the machine is doing. The reference load shows by how much,
independently of the entry.
"""

from __future__ import annotations

import os
import platform
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bciarena.errors import BadInput
from bciarena.places import cache_folder
from bciarena.writing import whole_file

PIECES, STEPS = 10, 30_000  # together some tens of milliseconds: several turns of the kernel's scheduler
BEST_KEPT_S = 7 * 86400.0  # a virtual machine may be moved to a slower host, which makes older bests meaningless
FACTOR = 2.0
VARIABLE = "ARENA_DISTURBED"


class Reference(NamedTuple):
    """How long the reference load took now, and at best on this machine with this Python within a week.

    The best is that of single pieces, some of which are undisturbed even on a busy machine.
    """

    took_s: float
    best_s: float

    @property
    def times(self) -> float:
        return self.took_s / self.best_s


def reference_load(folder: Path | None = None) -> Reference:
    """Do the work and time it; ``folder`` keeps the best of each machine, by default the cache."""
    pieces_s = [piece_s() for _ in range(PIECES)]
    took_s, quickest_s = sum(pieces_s), min(pieces_s) * PIECES
    name = f"reference-load-{PIECES}x{STEPS}-{socket.gethostname()}-{platform.python_version()}"
    path = (folder or cache_folder()) / name
    try:
        best_s = float(path.read_text()) if time.time() - path.stat().st_mtime < BEST_KEPT_S else quickest_s
    except (OSError, ValueError):
        best_s = quickest_s
    if not 0 < best_s < quickest_s:
        best_s = quickest_s
        # Where the cache cannot be written, the quickest piece of this measurement has to do.
        with suppress(OSError), whole_file(path) as beside:
            beside.write_text(f"{best_s!r}\n")
    return Reference(took_s, best_s)


def piece_s(steps: int = STEPS) -> float:
    """One piece of the work: integers, no library, hardly any memory. Returns the seconds it took."""
    began_s = time.perf_counter()
    state = 1
    for _ in range(steps):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return time.perf_counter() - began_s


def disturbed_factor() -> float:
    """A machine slower than its best by more than this factor counts as disturbed; ``inf``: never."""
    text = os.environ.get(VARIABLE) or str(FACTOR)
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not factor > 1:
        raise BadInput(f"{VARIABLE}={text}: must be a number above 1, or inf to play on a disturbed machine as well")
    return factor
