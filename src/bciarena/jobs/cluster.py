"""The Ray engine: jobs become Ray tasks on whichever machine of a cluster has room.

Ray schedules and executes, but keeps no state for us. Its own retries are off: a task that died is a fault of ours,
counted by the queue. CPUs and memory of a job are Ray resources.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from bciarena import scratch
from bciarena.errors import BadInput
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.storage import Storage

LOOK_EVERY_S = 5.0  # how often the size of the cluster is checked
REACH_S = 5.0
MIB = 1 << 20


def remote_job(lease: dict[str, Any], storage_url: str, store: str | None) -> Iterator[dict[str, Any]]:
    """The task: does a job and yields its progress, then its outcome. Runs in a Ray worker on any machine."""
    from bciarena.jobs.perform import perform

    said: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def work() -> None:
        storage = Storage(storage_url, store=store)
        outcome = perform(Lease(**lease), storage, lambda progress: said.put({"progress": progress}))
        said.put({"outcome": asdict(outcome)})

    threading.Thread(target=work, daemon=True).start()
    machine = socket.gethostname()
    while True:
        line = said.get()
        yield {**line, "machine": machine}
        if "outcome" in line:
            return


class RayEngine:
    """Runs jobs as tasks of a Ray cluster.

    Parameters
    ----------
    storage : Storage
        Its URL must mean the same place on every machine; each machine has its own cache.
    slots : int
        How many jobs at once; 0: as many as the cluster has CPUs, now and later.
    address : str
        ``auto`` (the cluster this machine belongs to) or HOST:PORT of its head.
    """

    name = "ray"
    nap_s = 0.05

    def __init__(self, storage: Storage, slots: int = 0, address: str = "auto") -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise BadInput("the Ray engine needs Ray; install it with: pip install 'bciarena[ray]'") from error
        self.ray = ray
        self.storage = storage
        _reach(address)
        try:
            with contextlib.chdir("/"):  # Ray's workers also import from the folder it is started in
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, namespace="bciarena")
        except Exception as error:  # Ray raises many kinds here
            said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise BadInput(f"Ray cluster {address} cannot be used: {said}") from error
        self._task = ray.remote(max_retries=0, num_returns="streaming")(remote_job)
        self._wanted = slots
        self._looked = 0.0
        self.slots = 0
        self._largest: list[dict[str, float]] = []
        self._running: dict[Any, tuple[Lease, dict[str, Any]]] = {}
        self._refused: list[tuple[Lease, Outcome]] = []
        self._look()

    def _look(self) -> None:
        """Machines come and go: check their number and size now and then."""
        if time.monotonic() - self._looked < LOOK_EVERY_S and self._looked:
            return
        self._looked = time.monotonic()
        self._largest = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        cpus = sum(node.get("CPU", 0.0) for node in self._largest)
        self.slots = self._wanted or max(1, int(cpus))

    def free(self) -> int:
        self._look()
        return self.slots - len(self._running) - len(self._refused)

    def start(self, lease: Lease) -> None:
        memory = lease.memory_mb * MIB
        if not any(node.get("CPU", 0) >= lease.cpus and node.get("memory", 0) >= memory for node in self._largest):
            words = f"needs {lease.cpus:g} CPUs and {lease.memory_mb} MiB; no machine of the Ray cluster has them"
            self._refused.append((lease, Outcome(error=words)))
            return
        options = {"num_cpus": lease.cpus, "memory": memory or None, "name": f"job {lease.job}"}
        stream = self._task.options(**options).remote(asdict(lease), self.storage.url, self.storage.store)
        self._running[stream] = (lease, {})

    def poll(self, wait_s: float) -> list[tuple[Lease, Outcome]]:
        ended, self._refused = self._refused, []
        if not self._running:
            time.sleep(0.0 if ended else wait_s)
            return ended
        ready, _ = self.ray.wait(list(self._running), num_returns=1, timeout=0.0 if ended else wait_s)
        for stream in ready:
            lease, news = self._running[stream]
            outcome = self._hear(stream, news)
            if outcome is not None:
                del self._running[stream]
                ended.append((lease, outcome))
        return ended

    def _hear(self, stream: Any, news: dict[str, Any]) -> Outcome | None:
        try:
            line = self.ray.get(next(stream))
        except StopIteration:
            return Outcome(error="the Ray task ended without an outcome")
        except self.ray.exceptions.RayError as error:
            said = str(error).strip().splitlines()
            return Outcome(error=f"Ray: {type(error).__name__}: {said[0] if said else ''}")
        news.update(line)
        return Outcome(**line["outcome"]) if "outcome" in line else None

    def news(self) -> dict[tuple[int, int], tuple[dict[str, Any] | None, str]]:
        running = list(self._running.values())
        return {lease.name: (news.get("progress"), news.get("machine", "")) for lease, news in running}

    def stop(self, lease: Lease) -> None:
        for stream, (held, _) in list(self._running.items()):
            if held == lease:
                self.ray.cancel(stream, force=True)
                del self._running[stream]

    def close(self) -> None:
        for stream in self._running:
            self.ray.cancel(stream, force=True)
        self._running.clear()
        self.ray.shutdown()
        scratch.clean()


def _reach(address: str) -> None:
    """Report quickly that an address is not reachable; Ray itself would take a minute."""
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if "://" in address or not colon or not port.isdigit():
        raise BadInput(
            f"{address!r} is not a Ray address; give auto or HOST:PORT of the head, and start the worker on a node"
        )
    try:
        socket.create_connection((host, int(port)), REACH_S).close()
    except OSError as error:
        raise BadInput(f"Ray cluster {address} cannot be reached: {error.strerror or error}") from error
