"""Fills an environment: pip runs in a box that can reach nothing but our index of wheels."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import socket
import stat
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from bciarena.contestant.installing import REASON, REFUSED, UNMET
from bciarena.entries.index import File, Index, Server, pips_settings, prune
from bciarena.entries.interpreters import PYTHONS, Found
from bciarena.errors import EntryFailed, Fault
from bciarena.package import Interpreter, Package
from bciarena.plaintext import one_line

if TYPE_CHECKING:
    from bciarena.sandbox.errand import Errand

INSTALL_LIMIT_S = 3600.0
MOST_MIB = 24 << 10  # wheels, what is unpacked of them, and pip's own copies
MOST_FILES = 300_000
NO_INDEX = "not among the wheels of this machine, which asks no index; arena env import adds some"
LOW_MIB = 64  # less room than this after a failure: the disk was full


@dataclass(frozen=True)
class Attempt:
    """Lines to install, and caps on whatever comes along with them; ``ours``: names that no list asks for."""

    lines: tuple[str, ...]
    caps: tuple[str, ...] = ()
    ours: frozenset[str] = frozenset()


def install(
    base: Found,
    attempts: list[Attempt],
    place: Path,
    on_progress: Callable[[str], None],
    boxed: bool = True,
    spare: frozenset[str] = frozenset(),
) -> tuple[dict[str, str], list[str]]:
    """Install the first attempt that can be met into ``place``/site; returns the wheels used, with their digests.

    Packages named in ``spare`` that cannot be had are left out where the rest cannot be installed with them; the
    second list returned says why. ``boxed`` is False only to debug one's own entry on a machine without bubblewrap.
    """
    index = Index(pips_settings(base.executable), on_progress)
    done, left = _tried(base, index, attempts, place, boxed), dict[str, str]()
    if done.code == UNMET and index.settings.indexes and not index.trouble:
        unusable = (
            (line, why_not(index, line, base.version)) for line in attempts[-1].lines if canonical(line) in spare
        )
        left = {line: words for line, words in unusable if words}
    if left:
        attempts = [replace(one, lines=tuple(line for line in one.lines if line not in left)) for one in attempts]
        for item in place.iterdir():
            shutil.rmtree(item)
        done = _tried(base, index, attempts, place, boxed)
    if done.code or done.over:
        _explain(base, index, attempts[-1], place, done.code, done.over[1] if done.over else "", done.tail)
    wheels = {path.name: _digest(path) for path in sorted((place / "wheels").iterdir())}
    adopt(place)
    prune()
    return wheels, list(left.values())


def _tried(base: Found, index: Index, attempts: list[Attempt], place: Path, boxed: bool) -> Errand:
    """Run pip in its box."""
    from bciarena.sandbox.box import Box
    from bciarena.sandbox.errand import run_errand, too_much
    from bciarena.sandbox.limits import Limits
    from bciarena.sandbox.seccomp import INET, UNIX

    with ExitStack() as stack:
        lists = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-lists-")))
        os.chmod(lists, 0o755)
        for number, attempt in enumerate(attempts):
            for name, lines in (("requirements", attempt.lines), ("constraints", attempt.caps)):
                path = lists / f"{name}-{number}.txt"
                path.write_text("".join(f"{line}\n" for line in lines), "ascii")
                path.chmod(0o644)
        ours, theirs = socket.socketpair()
        stack.enter_context(ours)
        stack.enter_context(theirs)
        box = stack.enter_context(
            Box(
                Package("install", lists, "D", "", None, None, ""),
                Interpreter(base.executable, base.full, base.prefixes),
                "bwrap" if boxed else "none",
                limits=Limits(memory_mib=8192, file_mib=8192),
                out=place,
                families=(UNIX, INET),
            )
        )
        threading.Thread(target=_answer, args=(ours, index, stack), daemon=True).start()
        return run_errand(
            box,
            {
                "install": {
                    "out": "/out" if boxed else str(place),
                    "channel": theirs.fileno(),
                    "attempts": len(attempts),
                }
            },
            INSTALL_LIMIT_S,
            what="installing",
            fds=[theirs.fileno()],
            measure=lambda: index.trouble or too_much(place, MOST_MIB, MOST_FILES, 64),
        )


def _answer(channel: socket.socket, index: Index, stack: ExitStack) -> None:
    """Wait for the socket that the box made in its own network, and serve the index on it."""
    try:
        _, fds, _, _ = socket.recv_fds(channel, 1, 1)
    except OSError:
        return  # the box did not get that far: its end says why
    if fds:
        server = Server(socket.socket(fileno=fds[0]), index)
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        server.serve_forever(0.05)


def _explain(base: Found, index: Index, attempt: Attempt, place: Path, code: int | None, over: str, tail: str) -> None:
    """Whose failure it is, and what to do."""
    if index.trouble:
        raise Fault(f"libraries cannot be installed: {one_line(index.trouble, 300)}")
    # pip removes what it had written before it ends, so that there may be room again.
    if shutil.disk_usage(place).free < LOW_MIB << 20 or f"[Errno {errno.ENOSPC}]" in tail:
        raise Fault(f"libraries cannot be installed: no room left on the disk of {place.parent}")
    if over:
        raise EntryFailed("import_error", f"its requirements cannot be installed: {one_line(over, 200)}")
    if code == REFUSED and (place / REASON).is_file():
        words = one_line((place / REASON).read_text("utf-8", "replace"), 200)
        raise EntryFailed(
            "import_error", f"its requirements cannot be installed: {words}; only packages of the index are installed"
        )
    if not index.settings.indexes:
        absent = [name for name in attempt.ours if not index.files(name)]
        if absent:
            raise Fault(f"libraries cannot be installed: {', '.join(sorted(absent))}: {NO_INDEX}")
    found = [words for line in attempt.lines if (words := why_not(index, line, base.version))]
    if not found:
        said = [line.removeprefix("ERROR:").strip() for line in tail.splitlines() if line.startswith("ERROR:")]
        found = [one_line(" ".join(said) or tail, 400)]
    raise EntryFailed(
        "import_error", f"its requirements cannot be installed for Python {base.version}: {'; '.join(found)}"
    )


def why_not(index: Index, line: str, python: str) -> str:
    """Why one line by itself cannot be installed; empty if it can."""
    one = Requirement(line)
    files = index.files(one.name)
    if not files:
        return f"{one.name}: {'the index has no package of this name' if index.settings.indexes else NO_INDEX}"
    versions = {file: version for file in files if (version := _version(file))}
    fitting = [file for file, version in versions.items() if one.specifier.contains(version, prereleases=True)]
    if not fitting:
        listed = sorted(set(versions.values()))
        seen = ", ".join(map(str, listed[-3:]))
        return f"{line}: no such version; the newest are {seen}"
    wheels = [file for file in fitting if file.name.endswith(".whl")]
    if any(runs_on(file, python) for file in wheels):
        return ""
    others = [other for other in PYTHONS if any(runs_on(file, other) for file in wheels)]
    if others:
        return f"{line}: no such version for Python {python}; it exists for {', '.join(others)}"
    if wheels:
        return f"{line}: no wheel for {platform.system()} on {platform.machine()}"
    return f"{line}: exists only as source, and nothing is built here; choose a version that has wheels"


def runs_on(file: File, python: str) -> bool:
    """Whether a wheel fits a Python version on this machine."""
    minor = int(python.split(".")[1])
    try:
        if file.requires and not SpecifierSet(file.requires).contains(f"{python}.99"):
            return False
        tags = parse_wheel_filename(file.name)[3]
    except (InvalidSpecifier, InvalidWheelFilename, InvalidVersion):
        return False
    for tag in tags:
        here = tag.platform == "any" or ("linux" in tag.platform and tag.platform.endswith(platform.machine()))
        stable = tag.abi == "abi3" and tag.interpreter[:3] == "cp3" and int(tag.interpreter[3:] or 0) <= minor
        if here and (stable or tag.interpreter in (f"cp3{minor}", "py3", f"py3{minor}")):
            return True
    return False


def _version(file: File) -> Version | None:
    try:
        if file.name.endswith(".whl"):
            return parse_wheel_filename(file.name)[1]
        stem = file.name.removesuffix(".tar.gz").removesuffix(".zip").removesuffix(".tar.bz2")
        return Version(stem.rpartition("-")[2])
    except (InvalidWheelFilename, InvalidVersion):
        return None


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def adopt(place: Path) -> None:
    """Take ownership of what a box wrote: plain files and folders that nobody else may change; the rest is removed."""
    us = (os.geteuid(), os.getegid())
    for where, folders, files in os.walk(place, topdown=True, followlinks=False):
        os.chown(where, *us)
        os.chmod(where, 0o755)
        for name in folders + files:
            path = os.path.join(where, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                os.chown(path, *us)
                os.chmod(path, 0o644)
            elif not stat.S_ISDIR(mode):
                os.unlink(path)


def canonical(line: str) -> str:
    """The name in a line, in pip's spelling."""
    return canonicalize_name(Requirement(line).name)
