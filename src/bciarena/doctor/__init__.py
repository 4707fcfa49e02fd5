"""What this machine can do: each part is actually tried, with advice where it is missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from bciarena.contests import RULEBOOKS
from bciarena.entries.interpreters import all_pythons
from bciarena.errors import BadInput

State = Literal["ok", "missing", "limited"]
EXTRAS = {
    "decode": ("sklearn", "pyriemann"),
    "files": ("mne", "mne_bids", "pybv", "h5py"),
    "report": ("plotly", "jinja2", "pandas", "pyarrow"),
    "site": ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2"),
    "lab": ("mne_lsl", "websockets"),
    "boards": ("brainflow",),
    "deep": ("torch",),
    "ray": ("ray",),
    "moabb": ("moabb",),
}
"""Optional parts and a few of the modules that make them up."""


class Line(NamedTuple):
    """One thing examined. ``advice`` says what to do where something is missing."""

    part: str
    state: State
    found: str
    advice: str = ""


def examine() -> Iterator[Line]:
    """Every part, in the order in which a new user needs them, as soon as it has been tried."""
    for part in (_machine, _pythons, _box, _programs, _extras):
        yield from part()


def _machine() -> Iterator[Line]:
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    words = f"{cores} cores, {memory_gib:.1f} GiB, {platform.system()} {platform.release()} {platform.machine()}"
    if memory_gib < 4:
        yield Line("machine", "limited", words, "a run may use 4 GiB; this machine has less")
    else:
        yield Line("machine", "ok", words, "")


def _pythons() -> Iterator[Line]:
    try:
        found = {python.version: python for python in all_pythons()}
    except BadInput as error:
        yield Line("python", "missing", str(error), "correct the variable or unset it")
        return
    for python in found.values():
        yield Line(f"python {python.version}", "ok", f"{python.full} by {python.source}: {python.executable}")
    wanted = {book.python for book in RULEBOOKS.values() if book.python}  # a contest from outside may name none
    for version in sorted(wanted - set(found), key=lambda v: int(v[2:])):
        users = ", ".join(book.name for book in RULEBOOKS.values() if book.python == version)
        yield Line(
            f"python {version}",
            "missing",
            f"the contests' Python for {users}",
            f"pyenv install {version}, uv python install {version}, or ARENA_PYTHON_{version.replace('.', '_')}=...",
        )


def bubblewrap() -> Line:
    """Whether boxes can be made here, and with which version; a worker prints this when it starts."""
    from bciarena.sandbox import why_not
    from bciarena.sandbox.probe import LINKS_FIXED, bubblewrap_version

    program = shutil.which("bwrap")
    if program is None:
        return Line("bubblewrap", "missing", "not installed", "apt install bubblewrap: without it no upload can be run")
    version = _first_line([program, "--version"])
    if bubblewrap_version(program) < LINKS_FIXED:
        version += " (makes mount points through links, fixed in 0.12.0: our command line offers it none)"
    trouble = why_not()
    who = "root" if os.geteuid() == 0 else "this user"
    return Line("bubblewrap", "limited" if trouble else "ok", f"{version}, tried as {who}", trouble or "")


def _box() -> Iterator[Line]:
    yield bubblewrap()
    yield _user_namespaces()
    yield _cgroups()
    filters = Path("/proc/sys/kernel/seccomp/actions_avail")
    there = filters.exists() or "Seccomp:" in Path("/proc/self/status").read_text()
    yield _landlock()
    yield Line("seccomp", "ok" if there else "missing", "filters available" if there else "not in this kernel",
               "" if there else "use a kernel with CONFIG_SECCOMP_FILTER")  # fmt: skip


def _landlock() -> Line:
    import ctypes

    version = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)  # landlock_create_ruleset: which version?
    if version < 1:
        return Line("landlock", "limited", "not in this kernel", "boxes have one layer of file protection less")
    return Line("landlock", "ok", f"version {version}: a second layer of file protection")


def _user_namespaces() -> Line:
    try:
        done = subprocess.run(["unshare", "--user", "true"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Line("user namespaces", "limited", f"cannot be tried: {error}", "install util-linux")
    if done.returncode == 0:
        return Line("user namespaces", "ok", "available")
    advice = "needed to run boxes without being root: sysctl kernel.unprivileged_userns_clone=1, or AppArmor's setting"
    return Line("user namespaces", "limited", done.stderr.strip()[:120], advice)


def _cgroups() -> Line:
    from bciarena.sandbox.cgroups import NO_GROUP, make_group
    from bciarena.sandbox.limits import Limits

    group = make_group(Limits())
    kind = group.kind
    group.close()
    if kind == "no cgroup":
        advice = f"uploaded entries cannot be ranked, limits fall back to rlimits and a watcher; {NO_GROUP}"
        return Line("cgroup", "limited", "none can be made here", advice)
    return Line("cgroup", "ok", f"{kind}: limits on memory and processes")


def _programs() -> Iterator[Line]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium:
        yield Line("chromium", "ok", _first_line([chromium, "--version", "--no-sandbox"]))
    else:
        yield Line("chromium", "missing", "not installed", "apt install chromium: only tests of the pages need it")
    servers = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")) or [
        Path(found) for found in [shutil.which("postgres")] if found
    ]
    if servers:
        yield Line("postgresql", "ok", _first_line([str(servers[-1]), "--version"]))
    else:
        yield Line(
            "postgresql", "missing", "not installed", "SQLite serves one machine; apt install postgresql for more"
        )


def _extras() -> Iterator[Line]:
    for extra, modules in EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            yield Line(f"extra {extra}", "missing", f"without {', '.join(missing)}", f"pip install 'bciarena[{extra}]'")
        else:
            yield Line(f"extra {extra}", "ok", ", ".join(modules))


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} does not start: {error}"
    return (done.stdout.strip() or done.stderr.strip()).splitlines()[0] if done.stdout or done.stderr else command[0]
