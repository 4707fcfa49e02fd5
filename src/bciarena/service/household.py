"""The processes of a site on one machine: this one serves, its children keep and play."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from bciarena.errors import BadInput
from bciarena.service.settings import Settings

PR_SET_PDEATHSIG = 1
RESTART_S = 2.0
STOP_S = 10.0


class Household:
    """Child processes that are started again when they die, and end with this one."""

    def __init__(self, commands: dict[str, list[str]], say: Callable[[str], None]) -> None:
        self.commands, self.say = commands, say
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._leaving = threading.Event()

    def __enter__(self) -> Household:
        for name in self.commands:
            self._start(name)
        threading.Thread(target=self._watch, name="household", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        for child in self._children.values():
            with suppress(ProcessLookupError):
                child.terminate()
        until = time.monotonic() + STOP_S
        for child in self._children.values():
            try:
                child.wait(max(until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def _start(self, name: str) -> None:
        # A terminal's Ctrl-C is for us: children of a session of their own are told by us, in order.
        self._children[name] = subprocess.Popen(
            self.commands[name], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with(os.getpid())
        )

    def _watch(self) -> None:
        while not self._leaving.wait(RESTART_S):
            for name, child in self._children.items():
                if child.poll() is not None and not self._leaving.is_set():
                    self.say(f"{name} ended with code {child.returncode}; started again")
                    self._start(name)


def _die_with(parent: int) -> Callable[[], None]:
    """Run in a child before its program: the kernel ends it when we die, however we die."""
    kernel = ctypes.CDLL(None)

    def arrange() -> None:
        kernel.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def commands(settings: Settings, workers: int) -> dict[str, list[str]]:
    """What a site needs besides its server: a keeper, and workers unless they run elsewhere."""
    places = ["--database", settings.database, "--storage", settings.storage]
    found = {"keeper": [sys.executable, "-m", "bciarena.service.keeper", str(settings.home), *places]}
    if workers:
        program = "from bciarena.cli import run; run()"
        found["worker"] = [sys.executable, "-c", program, "worker", *places, "--slots", str(workers)]
    return found


def refuse_busy_port(host: str, port: int) -> None:
    """Say at once that the address cannot be used, not after minutes of building a demo."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise BadInput(f"{host}:{port}: cannot listen there ({error.strerror}); choose another --port") from error
