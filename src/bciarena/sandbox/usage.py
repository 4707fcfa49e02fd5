"""What a process tree uses, read from /proc: for boxes without a cgroup."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    cpu_s: float = 0.0
    memory_bytes: int = 0
    """Resident, shared memory by its size, sockets by what they can hold; shared pages count once for each process."""
    processes: int = 0


def tree_usage(root: int) -> Usage:
    """Sum over a process and all its descendants, ended children that were waited for included."""
    cpu, pages, count = 0, 0, 0
    shared: dict[str, int] = {}
    sockets: dict[int, int] = {}
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            for task in os.listdir(f"/proc/{pid}/task"):  # every thread has children of its own
                waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
            shared |= _shared(pid)
            sockets |= _sockets(pid)
        except OSError:  # it ended meanwhile
            continue
        cpu += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
        pages += int(fields[21])
        count += 1
    held = sum(sockets.values()) * _socket_bytes() if any(sockets.values()) else 0
    return Usage(cpu / TICKS, pages * PAGE + sum(shared.values()) + held, count)


def _shared(pid: int) -> dict[str, int]:
    """Bytes of shared memory by inode: its pages may exist without being resident in any process."""
    found: dict[str, int] = {}
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            where, rights, _, device, inode, *name = line.split(maxsplit=5)
            if rights[3] == "s" and name and name[0].startswith("/dev/zero"):
                start, stop = (int(part, 16) for part in where.split("-"))
                found[f"{device} {inode}"] = found.get(f"{device} {inode}", 0) + stop - start
    return found


def _sockets(pid: int) -> dict[int, int]:
    """Number of sockets in the process's network, by network; nothing for our own, which others use, too.

    What waits in a socket belongs to no process: without counting it, sockets alone could fill the memory.
    """
    network = os.stat(f"/proc/{pid}/ns/net").st_ino
    if network == os.stat("/proc/self/ns/net").st_ino:
        return {}
    first = Path(f"/proc/{pid}/net/sockstat").read_text().partition("\n")[0]  # sockets: used 3
    return {network: int(first.split()[-1])}


def _socket_bytes() -> int:
    """The most that waits in a local socket: twice the largest buffer, and one message that went beyond."""
    return 2 * int(Path("/proc/sys/net/core/wmem_max").read_text()) + (128 << 10)
