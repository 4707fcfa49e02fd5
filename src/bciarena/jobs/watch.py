"""Dead workers: leases that were not renewed for as long as they last, by the clock of the process that watches.

A database's clock may be set back or forward; a heartbeat is therefore only compared with the one before, and the time
between two checks is measured here. A process that was not watching (the database was away, the process was stopped)
cannot tell, and starts again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple


class Sight(NamedTuple):
    """A lease as it was last seen."""

    beat: float
    first_s: float
    last_s: float


class Watch:
    """What one process has seen of all leases."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], Sight] = {}

    def dead(self, leases: Iterable[tuple[int, int, float, float]]) -> list[tuple[int, int, float]]:
        """Those of the current leases (job, attempt, last heartbeat, duration) whose workers are dead."""
        now_s = time.monotonic()
        before, self._seen = self._seen, {}
        dead = []
        for job, attempt, beat, lasts_s in leases:
            sight = before.get((job, attempt))
            if sight is None or sight.beat != beat or now_s - sight.last_s > lasts_s / 2:
                sight = Sight(beat, now_s, now_s)
            self._seen[job, attempt] = sight._replace(last_s=now_s)
            if now_s - sight.first_s > lasts_s:
                dead.append((job, attempt, beat))
        return dead
