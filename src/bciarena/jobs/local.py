"""The local engine: as many child processes as slots, each doing one job after the other."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any

from bciarena import scratch
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.storage import Storage
from bciarena.processes import own_environment, own_python
from bciarena.sandbox import pinning

JOBS_PER_CHILD = 200  # then a new process takes its place, so that nothing can accumulate
SPARE_S = 2.0
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Child:
    """One process and the job it does."""

    def __init__(self, storage: Storage, slots: int = 0) -> None:
        # Not on the command line, which every user of the machine can read: a URL may contain a password.
        places = {"ARENA_STORAGE": storage.url, "ARENA_CACHE": str(storage.cache), "ARENA_STORE": storage.store or ""}
        places[pinning.PIN] = str(slots or "")
        self.process = subprocess.Popen(
            own_python("bciarena.jobs.child", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=own_environment({**ONE_THREAD, **places}),
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.output: IO[bytes] = self.process.stdout
        os.set_blocking(self.output.fileno(), False)
        self.lease: Lease | None = None
        self.progress: dict[str, Any] | None = None
        self.jobs = 0
        self._rest = b""

    def start(self, lease: Lease) -> None:
        assert self.process.stdin is not None
        self.lease, self.progress = lease, None
        self.jobs += 1
        with suppress(BrokenPipeError):  # it has died: its closed output shows that
            self.process.stdin.write(json.dumps(asdict(lease)).encode() + b"\n")
            self.process.stdin.flush()

    def read(self) -> Outcome | None:
        """Read its output; returns the outcome when there is one, a fault if it died."""
        while True:
            try:
                got = os.read(self.output.fileno(), 1 << 16)
            except BlockingIOError:
                return None
            if not got:
                code = self.process.wait()
                how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
                return Outcome(error=f"the process that ran it died ({how})")
            *lines, self._rest = (self._rest + got).split(b"\n")
            for line in lines:
                try:
                    said = json.loads(line)
                    if "outcome" in said:
                        return Outcome(**said["outcome"])
                    self.progress = said.get("progress", self.progress)
                except (ValueError, TypeError, AttributeError):  # not a line that our child writes
                    return Outcome(error=f"the process that ran it wrote something unreadable: {line[:100]!r}")

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


class LocalEngine:
    """Runs jobs in child processes of this one.

    Parameters
    ----------
    storage : Storage
        Where the children find and keep things.
    slots : int
        How many jobs at once.
    """

    name = "local"
    nap_s = 0.01

    def __init__(self, storage: Storage, slots: int) -> None:
        self.storage = storage
        self.slots = slots
        self.machine = socket.gethostname()
        self._selector = selectors.DefaultSelector()
        self._idle: list[Child] = []
        self._busy: dict[tuple[int, int], Child] = {}
        self._spare_at = 0.0
        scratch.clean()

    def free(self) -> int:
        return self.slots - len(self._busy)

    def start(self, lease: Lease) -> None:
        child = self._idle.pop() if self._idle else self._spawn()
        child.start(lease)
        self._busy[lease.name] = child

    def _keep_spare(self) -> None:
        """Have a process ready for the next job: starting one takes longer than a job should wait."""
        if not self._idle and self.free() > 0 and time.monotonic() >= self._spare_at:
            self._spare_at = time.monotonic() + SPARE_S  # one that dies at once is not restarted over and over
            self._idle.append(self._spawn())

    def _spawn(self) -> Child:
        child = Child(self.storage, self.slots)
        self._selector.register(child.output, selectors.EVENT_READ, child)
        return child

    def poll(self, wait_s: float) -> list[tuple[Lease, Outcome]]:
        self._keep_spare()
        ended = []
        for key, _ in self._selector.select(wait_s):
            child: Child = key.data
            lease, outcome = child.lease, child.read()
            if outcome is None:
                continue
            if lease is not None:
                ended.append((lease, outcome))
                del self._busy[lease.name]
                child.lease = None
            else:
                self._idle.remove(child)
            # After a fault the process may be in any state, or dead.
            if outcome.verdict and child.jobs < JOBS_PER_CHILD:
                self._idle.append(child)
            else:
                self._discard(child)
        return ended

    def news(self) -> dict[tuple[int, int], tuple[dict[str, Any] | None, str]]:
        return {name: (child.progress, self.machine) for name, child in list(self._busy.items())}

    def stop(self, lease: Lease) -> None:
        child = self._busy.pop(lease.name, None)
        if child is not None:
            self._discard(child)

    def _discard(self, child: Child) -> None:
        self._selector.unregister(child.output)
        child.kill()
        scratch.clean()

    def close(self) -> None:
        for child in [*self._busy.values(), *self._idle]:
            self._discard(child)
        self._busy.clear()
        self._idle.clear()
        self._selector.close()
        scratch.clean()
