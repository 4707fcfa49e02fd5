"""How much of the machine a box may use."""

from __future__ import annotations

import os
from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Limits of one box; time is the match's budget and comes with it."""

    memory_mib: int = 4096  # all processes together, private tmp included
    cores: int = 1  # shared by all its processes; 0: all cores of the machine
    processes: int = 256  # and threads
    tmp_mib: int = 256
    shm_mib: int = 64
    open_files: int = 1024
    file_mib: int = 0  # one file; 0: as large as the private tmp
    output_kib: int = 1024  # kept of stdout and of stderr
    load_s: float = 300.0  # from its start to its first packet; part of the budget
    after_finish_s: float = 5.0  # to exit after the finish flag (R18)

    def cpu_s(self, wall_s: float) -> float:
        """The most CPU time its cores can give in ``wall_s``; more means that the limit on cores was not enforced."""
        return wall_s * (self.cores or os.cpu_count() or 1)

    def rlimits(self, cpu_s: float) -> dict[str, int]:
        """Limits of every process in the box: a second line of defence behind the cgroup, and the first without one."""
        return {
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": int(cpu_s) + 2,  # the watcher acts first and knows the sum over all processes
            "RLIMIT_DATA": self.memory_mib * MIB,
            "RLIMIT_FSIZE": (self.file_mib or max(self.tmp_mib, self.shm_mib)) * MIB,
            "RLIMIT_MEMLOCK": 16 * MIB,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_SIGPENDING": 1024,
        }
