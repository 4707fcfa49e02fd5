"""Processes of our own: programs of this package in this Python, which import from nowhere else and die with us."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping

PR_SET_PDEATHSIG = 1


def own_python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this package; to be started with `own_environment`.

    Without -P, Python looks for modules in the folder it is started in first: whoever can write there could have a
    file of theirs imported. (-I would also leave out packages of this user's own, where we may be installed.)
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def own_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment for a child: no entry of PYTHONPATH means the folder it is started in."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1", **(extra or {})}
    named = environment.pop("PYTHONPATH", "").split(os.pathsep)
    fixed = [path for path in named if os.path.isabs(path)]
    if fixed:
        environment["PYTHONPATH"] = os.pathsep.join(fixed)
    return environment


def dies_with(parent: int, number: signal.Signals = signal.SIGTERM) -> Callable[[], None]:
    """Something to be called in a child of ``parent``: from then on the kernel ends it when the parent dies."""
    kernel = ctypes.CDLL(None)  # loaded before the fork: between fork and exec as little as possible

    def arrange() -> None:
        kernel.prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return arrange
