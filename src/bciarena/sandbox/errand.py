"""A box that does one job and ends: no packets, no clock, only an order, what it prints and what it writes."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bciarena.errors import Fault
from bciarena.sandbox.box import Box
from bciarena.sandbox.limits import MIB
from bciarena.sandbox.output import outputs
from bciarena.verdicts import Verdict
from bciarena.wire.host import Host

WATCH_S = 0.2
TAIL_LINES = 12
MOST_ITEMS = 4_000
MOST_DEPTH = 32


class Errand(NamedTuple):
    """How it ended: exit code, the limit it broke, the last lines of its stderr."""

    code: int | None
    over: tuple[Verdict, str] | None
    tail: str


def run_errand(
    box: Box,
    order: dict[str, Any],
    budget_s: float,
    *,
    what: str,
    fds: Sequence[int] = (),
    on_output: Callable[[bytes], None] = lambda raw: None,
    measure: Callable[[], str] = lambda: "",
) -> Errand:
    """Start a box with an order and wait for its end, within its limits and those that ``measure`` checks."""
    host = Host(1, 1)
    stdout, stderr = printed = outputs(None, box.limits.output_kib * 1024)
    try:
        order = {**order, "fds": host.box_fds}
        box.start(order, box.limits.cpu_s(budget_s), [*host.box_fds, *fds], stdout.write_fd, stderr.write_fd)
        host.started()
        for output in printed:
            output.started()
        began_s = time.monotonic()
        over = None
        while (code := box.ended()) is None and not over:
            _wait(box, 0.02 if time.monotonic() - began_s < 2 else WATCH_S)
            for output in printed:
                on_output(output.drain(0))
            if not host.greeted:
                host.take_wakes()
            over = _over(box, budget_s, began_s, what, measure)
        box.kill()
        for output in printed:
            on_output(output.drain(0))
        if not host.greeted:
            raise Fault(f"the box did not start (exit code {code}): {stderr.tail(3)}")
        over = over or _wrote(what, measure)
        if box.group.out_of_memory():
            over = "out_of_memory", f"{what} used more than {box.limits.memory_mib} MiB of memory"
        return Errand(code, over, stderr.tail(TAIL_LINES))
    finally:
        box.kill()
        host.close()
        for output in printed:
            output.close()


def _wait(box: Box, seconds: float) -> None:
    """Let time pass, and answer a box that asks for pipes, sockets or shared pages."""
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0:
        if box.counted is None or box.counted.fd < 0:
            time.sleep(left_s)
            return
        waiting = select.poll()
        waiting.register(box.counted.fd, select.POLLIN)
        for _, event in waiting.poll(left_s * 1e3):
            if not event & select.POLLIN:  # nobody can ask any more
                time.sleep(max(0.0, until_s - time.monotonic()))
                return
            box.counted.answer()


def _over(
    box: Box, budget_s: float, began_s: float, what: str, measure: Callable[[], str]
) -> tuple[Verdict, str] | None:
    used = box.usage()
    if time.monotonic() - began_s > budget_s or used.cpu_s > box.limits.cpu_s(budget_s):
        return "over_budget", f"{what} took longer than its budget of {budget_s:.0f} s"
    if words := box.over(used):
        return "out_of_memory", f"{what} {words}"
    return _wrote(what, measure)


def _wrote(what: str, measure: Callable[[], str]) -> tuple[Verdict, str] | None:
    words = measure()
    return ("killed", f"{what} {words}") if words else None


def too_much(folder: Path, most_mib: int, most_items: int = MOST_ITEMS, most_depth: int = MOST_DEPTH) -> str:
    """Why a folder that a box wrote exceeds the limits; empty if it does not. Stops reading at the limits."""
    waiting, items, size = [(str(folder), 1)], 0, 0
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as found:
                for item in found:
                    items += 1
                    if items > most_items:
                        return f"wrote more than {most_items} files and folders"
                    if item.is_dir(follow_symlinks=False):
                        if depth >= most_depth:
                            return f"wrote folders more than {most_depth} deep"
                        waiting.append((item.path, depth + 1))
                    else:
                        size += item.stat(follow_symlinks=False).st_size
                        if size > most_mib * MIB:
                            return f"wrote more than {most_mib} MiB"
        except FileNotFoundError:  # the box is still writing there
            continue
        except OSError as error:
            return f"wrote something that cannot be read ({error.strerror})"
    return ""


@contextmanager
def workplace(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """A temporary folder that is removed however deeply a box has nested it."""
    place = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    try:
        yield place
    finally:
        remove(place)


def remove(folder: Path) -> None:
    """Remove a folder of any depth: Python's own function recurses and gives up at a thousand levels."""
    try:
        shutil.rmtree(folder)
    except (RecursionError, OSError):
        subprocess.run(["rm", "-rf", "--", folder], check=False, capture_output=True)
