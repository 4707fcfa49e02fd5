"""An engine executes leased jobs and keeps no state of record: whatever it loses is leased again."""

from __future__ import annotations

from typing import Any, Protocol

from bciarena.jobs.lease import Lease, Outcome


class Engine(Protocol):
    """Executes jobs. Only the worker's main thread calls it."""

    name: str
    slots: int
    nap_s: float
    """How long the worker may wait in `poll` before it checks whether something was queued."""

    def free(self) -> int:
        """How many more jobs it can take now."""

    def start(self, lease: Lease) -> None:
        """Begin a job."""

    def poll(self, wait_s: float) -> list[tuple[Lease, Outcome]]:
        """Wait a little for jobs to end; returns those that did."""

    def news(self) -> dict[tuple[int, int], tuple[dict[str, Any] | None, str]]:
        """Progress and machine of every job that runs, by its lease's name."""

    def stop(self, lease: Lease) -> None:
        """End a job at once; it gives no outcome."""

    def close(self) -> None:
        """End all jobs and leave nothing behind."""
