"""Programs running side by side, and the resources each of them uses."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

PRIORITY = {True: " at real-time priority", False: ""}  # how a measurement's name says whether first_in_line worked


def wait_for(what: Callable[[], bool], wait_s: float, why: str) -> None:
    """Wait until a condition is true; RuntimeError with the reason if it never is."""
    until = time.monotonic() + wait_s
    while not what():
        if time.monotonic() > until:
            raise RuntimeError(f"{why}: not within {wait_s:g} s")
        time.sleep(0.05)


def free_port() -> int:
    """A port nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listening(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def size_of(path: Path) -> int:
    """Bytes of a file that may not be there yet."""
    return path.stat().st_size if path.exists() else 0


def _family(pid: int) -> Iterator[psutil.Process]:
    own = psutil.Process(pid)
    yield own
    yield from own.children(recursive=True)


def memory_mb(pid: int) -> float:
    """Memory of a process and all it started, without files and shared pages."""
    total = 0
    for process in _family(pid):
        try:
            used = process.memory_info()
        except psutil.NoSuchProcess:
            continue
        total += used.rss - used.shared
    return total / 1e6


def cpu_s(pid: int) -> float:
    """Processor time of a process and all it started, ended ones included."""
    total = 0.0
    for process in _family(pid):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += used.user + used.system + used.children_user + used.children_system
    return total


def first_in_line(pid: int, rank: int = 1) -> bool:
    """Real-time priority for a process and all it started, where allowed, to measure its own cost and not the load's.

    Within one rank a process may keep a core for 100 ms: one that works in short bursts needs a higher rank.
    """
    try:
        for process in _family(pid):
            for thread in process.threads():
                os.sched_setscheduler(thread.id, os.SCHED_RR, os.sched_param(rank))
    except PermissionError:
        return False
    return True
