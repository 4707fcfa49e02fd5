"""Memory and process limits over all processes of a box, by cgroup v1 or v2, or none where we may not make one."""

from __future__ import annotations

import itertools
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from bciarena.errors import Fault
from bciarena.sandbox.limits import MIB, Limits

PREFIX = "arena-"
NO_GROUP = (
    "run the worker as root, or give it a delegated one (systemd-run --user --scope -p Delegate=yes arena worker)"
)
LIMIT_V1 = "memory.limit_in_bytes"
HUGE_PAGE = 2 * MIB  # the largest piece in which memory is taken
PERIOD_US = 100_000  # over which the cores' time is counted
_count = itertools.count(1)


class Group:
    """The box's group; this base class is the fallback without one: rlimits and a watcher do what they can."""

    kind = "no cgroup"
    folders: tuple[Path, ...] = ()

    def cpu_s(self) -> float | None:
        """CPU time of all processes that ever were in the group; None: not known here."""
        return None

    def out_of_memory(self) -> bool:
        """Whether a process was killed because the group reached its own limit."""
        return self._memory_kills() > 0 and self._limit_hits() > 0

    def host_out_of_memory(self) -> bool:
        """Whether a process was killed for lack of memory although the group never reached its limit: our fault."""
        return self._memory_kills() > 0 and self._limit_hits() == 0

    def _memory_kills(self) -> int:
        return 0

    def _limit_hits(self) -> int:
        return 0

    def close(self) -> None:
        """Kill what is left and remove the group."""
        deadline = time.monotonic() + 10
        while any(self._kill(folder) for folder in self.folders):
            if time.monotonic() > deadline:
                raise Fault(f"processes survive in {self.folders[0]}")
            time.sleep(0.005)
        for folder in self.folders:
            self._remove(folder, deadline)

    @staticmethod
    def _kill(folder: Path) -> bool:
        pids = (folder / "cgroup.procs").read_text().split()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        return bool(pids)

    @staticmethod
    def _remove(folder: Path, deadline: float) -> None:
        while True:
            try:
                folder.rmdir()
                return
            except OSError as error:  # busy for a moment after its last process died
                if time.monotonic() > deadline:
                    raise Fault(f"{folder} cannot be removed: {error.strerror}") from error
                time.sleep(0.005)


class GroupV1(Group):
    kind = "cgroup v1"

    def __init__(self, memory: Path, pids: Path, cpuacct: Path, limits: Limits, cpu: Path | None = None) -> None:
        self.memory, self.pids, self.cpuacct = memory, pids, cpuacct
        # In the cpu hierarchy a box has the weight of one process, however many it starts, so it cannot slow others.
        self.folders = tuple(dict.fromkeys((memory, pids, cpuacct, *([cpu] if cpu else []))))
        (memory / LIMIT_V1).write_text(str(limits.memory_mib * MIB))
        swap = memory / "memory.memsw.limit_in_bytes"
        if swap.exists():
            swap.write_text(str(limits.memory_mib * MIB))
        (pids / "pids.max").write_text(str(limits.processes))
        if cpu and limits.cores and (cpu / "cpu.cfs_quota_us").exists():
            (cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (cpu / "cpu.cfs_quota_us").write_text(str(limits.cores * PERIOD_US))

    def cpu_s(self) -> float | None:
        return int((self.cpuacct / "cpuacct.usage").read_text()) / 1e9

    def _memory_kills(self) -> int:
        return _counter(self.memory / "memory.oom_control", "oom_kill")

    def _limit_hits(self) -> int:
        if hits := int((self.memory / "memory.failcnt").read_text()):
            return hits
        # Where swap is limited as well, the failure counter stays 0: then the peak usage tells.
        most, limit = (int((self.memory / name).read_text()) for name in ("memory.max_usage_in_bytes", LIMIT_V1))
        return int(most > limit - HUGE_PAGE)


class GroupV2(Group):
    kind = "cgroup v2"

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self.folders = (folder,)
        (folder / "memory.max").write_text(str(limits.memory_mib * MIB))
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0")
        (folder / "pids.max").write_text(str(limits.processes))
        if limits.cores and (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{limits.cores * PERIOD_US} {PERIOD_US}")

    def cpu_s(self) -> float | None:
        return _counter(self.folder / "cpu.stat", "usage_usec") / 1e6

    def _memory_kills(self) -> int:
        return _counter(self.folder / "memory.events", "oom_kill")

    def _limit_hits(self) -> int:
        return _counter(self.folder / "memory.events", "oom")


def make_group(limits: Limits, mounts: Path = Path("/proc/mounts"), own: Path = Path("/proc/self/cgroup")) -> Group:
    """The best group this process may make."""
    name = f"{PREFIX}{os.getpid()}-{next(_count)}"
    first: dict[str, Path] = {}
    unified: Path | None = None
    for line in mounts.read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup":
            for controller in options.split(","):
                first.setdefault(controller, Path(where))
        elif kind == "cgroup2":
            unified = Path(where)
    ours = dict(_own_groups(own))
    if {"memory", "pids", "cpuacct"} <= set(first):
        parents = [_parent(first[c], ours.get(c, "")) for c in ("memory", "pids", "cpuacct")]
        folders = [folder for parent in parents if (folder := _make(parent, name, ()))]
        if len(folders) == len(parents):
            # The kernel does not admit a real-time process (arena bench) to a cpu group without real-time budget.
            real_time = os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)
            wanted = "cpu" in first and not real_time
            cpu = _make(_parent(first["cpu"], ours.get("cpu", "")), name, ()) if wanted else None
            return GroupV1(folders[0], folders[1], folders[2], limits, cpu)
        for folder in folders:
            folder.rmdir()
    if unified is not None:
        inside = unified / ours.get("", "").lstrip("/")
        for parent in [*inside.parents, inside]:  # a group that has processes cannot pass on controllers
            if parent == unified or unified in parent.parents:
                folder = _make(parent, name, ("memory.max", "pids.max"))
                if folder:
                    return GroupV2(folder, limits)
    return Group()


def _own_groups(path: Path) -> list[tuple[str, str]]:
    pairs = []
    for line in path.read_text().splitlines():
        _, controllers, where = line.split(":", 2)
        pairs += [(controller, where) for controller in controllers.split(",")]
    return pairs


def _parent(mount: Path, own: str) -> Path:
    """Our own group in a hierarchy; in a container its path may not exist, then it is the mount itself."""
    inside = mount / own.lstrip("/")
    return inside if inside.is_dir() else mount


def _make(parent: Path, name: str, needs: tuple[str, ...]) -> Path | None:
    folder = parent / name
    try:
        _sweep(parent)
        folder.mkdir(exist_ok=True)
        if not os.access(folder / "cgroup.procs", os.W_OK) or not os.access(parent / "cgroup.procs", os.W_OK):
            raise PermissionError
        if not all((folder / need).exists() for need in needs):
            raise FileNotFoundError
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return None
    return folder


def _sweep(parent: Path) -> None:
    """Remove groups whose maker died before it could."""
    for folder in parent.glob(PREFIX + "*-*"):
        pid = folder.name[len(PREFIX) :].split("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with suppress(OSError):  # another process sweeps as well, or processes are still dying
                folder.rmdir()


def _counter(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
