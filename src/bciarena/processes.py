"""Our own child processes: modules of this package in this Python, which import from nowhere else and end with us."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

PR_SET_PDEATHSIG = 1
LINUX = sys.platform == "linux"
"""Only here are entries run in processes of their own, boxed or not (docs/systems.md)."""


def own_python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this package; to be started with `own_environment`.

    Without -P, Python first looks for modules in the folder it is started in: whoever can write there could have their
    own file imported. (-I would also leave out the user's site packages, where we may be installed.)
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def own_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment for a child, without PYTHONPATH entries that mean the current folder."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1", **(extra or {})}
    named = environment.pop("PYTHONPATH", "").split(os.pathsep)
    fixed = [path for path in named if os.path.isabs(path)]
    if fixed:
        environment["PYTHONPATH"] = os.pathsep.join(fixed)
    return environment


def dies_with(parent: int, number: signal.Signals = signal.SIGTERM) -> Callable[[], None]:
    """A function to call in a child of ``parent``: from then on the kernel ends it when the parent dies."""
    kernel = ctypes.CDLL(None)  # loaded before the fork: between fork and exec as little as possible

    def arrange() -> None:
        kernel.prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return arrange


@contextmanager
def arena_beside(*words: Any, out: IO[str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """An ``arena`` command beside this process, ended by Ctrl-C as a person would, also when this process dies."""
    sink = out or subprocess.DEVNULL
    process = subprocess.Popen(
        own_python("bciarena", *map(str, words)), stdout=sink, stderr=sink, text=True, env=own_environment(),
        preexec_fn=dies_with(os.getpid(), signal.SIGINT),
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def set_by_signals(event: threading.Event) -> dict[signal.Signals, Any]:
    """Let Ctrl-C and SIGTERM set an event; gives the handlers that were there before.

    A thread of its own sets it. A signal comes in the middle of anything: where the main thread waits for the event and
    holds the event's lock at that moment, setting it there would wait for ever.
    """
    read, write = os.pipe()

    def wait() -> None:
        os.read(read, 1)
        event.set()

    threading.Thread(target=wait, daemon=True).start()
    return {
        number: signal.signal(number, lambda *_: os.write(write, b".")) for number in (signal.SIGINT, signal.SIGTERM)
    }
