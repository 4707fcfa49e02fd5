"""What a process tree uses, read from /proc: for boxes without a cgroup."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    cpu_s: float = 0.0
    memory_bytes: int = 0  # resident; pages that processes share count once for each
    processes: int = 0


def tree_usage(root: int) -> Usage:
    """Sum over a process and all its descendants, ended children that were waited for included."""
    cpu, pages, count = 0, 0, 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            waiting += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        except OSError:  # it ended meanwhile
            continue
        cpu += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
        pages += int(fields[21])
        count += 1
    return Usage(cpu / TICKS, pages * PAGE, count)
