"""The processes of a site on one machine: this one is the server, its children are the keeper and the worker."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from bciarena.processes import dies_with, own_environment, own_python
from bciarena.service.settings import Settings

RESTART_S = 2.0
STOP_S = 10.0


class Children:
    """Child processes that are started again when they die, and end with this one."""

    def __init__(
        self, commands: dict[str, list[str]], environment: Mapping[str, str], say: Callable[[str], None]
    ) -> None:
        self.commands, self.say = commands, say
        self._environment = own_environment(environment)
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._leaving = threading.Event()

    def __enter__(self) -> Children:
        for name in self.commands:
            self._start(name)
        threading.Thread(target=self._watch, name="children", daemon=True).start()
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
        # Ctrl-C in a terminal must reach only us: children in their own session are stopped by us, in order.
        self._children[name] = subprocess.Popen(
            self.commands[name],
            stdin=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,
            preexec_fn=dies_with(os.getpid()),
        )

    def _watch(self) -> None:
        while not self._leaving.wait(RESTART_S):
            for name, child in self._children.items():
                if child.poll() is not None and not self._leaving.is_set():
                    self.say(f"{name} ended with code {child.returncode}; started again")
                    self._start(name)


def commands(settings: Settings, workers: int) -> dict[str, list[str]]:
    """What a site needs besides its server: a keeper, and workers unless they run elsewhere."""
    found = {"keeper": own_python("bciarena.service.keeper", str(settings.home))}
    if workers:
        found["worker"] = own_python("bciarena", "worker", "--slots", str(workers))
    return found


def places(settings: Settings) -> dict[str, str]:
    """The environment that tells children where things are; command lines, which everybody can read, might expose a
    password in a URL."""
    return {"ARENA_DATABASE": settings.database, "ARENA_STORAGE": settings.storage, "ARENA_URL": settings.url}


def told_password(home: Path, password: str) -> str:
    """Words that tell whoever started the site its first password: itself on a terminal, else a file (not in logs)."""
    if sys.stderr.isatty():
        return f"password {password} (shown only once)"
    path = home / "operator-password.txt"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
    return f"password in {path} (remove it when you have read it)"
