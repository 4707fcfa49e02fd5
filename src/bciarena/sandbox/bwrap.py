"""The bubblewrap command line: one function says all that a box can see."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bciarena.sandbox.limits import MIB, Limits

ROOT, LIB, DATA, OUT = Path("/entry"), Path("/arena/lib"), Path("/data"), Path("/out")
SYSTEM = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/libexec")
"""Shared libraries, read-only. No programs: /bin and /usr/bin stay outside."""
LOADER_CACHE = "/etc/ld.so.cache"
DEVICES = ("null", "zero", "full", "random", "urandom")
PROC_SHOWN = frozenset(
    {"cpuinfo", "filesystems", "meminfo", "mounts", "self", "stat", "thread-self", "uptime", "version"}
)
"""What numerical libraries look at; everything else in /proc that is no process is covered."""
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LOGNAME": "entry",
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    "TMPDIR": "/tmp",
    "USER": "entry",
    # one thread each: a match has its share of the machine, and a sum has the same order every time
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class View:
    """What one box sees of the machine.

    Attributes
    ----------
    package : Path
        Becomes /entry, the working directory, read-only.
    model : Path or None
        Becomes /entry/model, read-only.
    library : Path
        Our package; only its wire/ and contestant/ are shown.
    readable : sequence of Path
        Interpreter and environment, shown read-only where they are.
    data, out : Path or None
        For training: /data read-only, /out writable.
    proc : sequence of (name, is folder)
        What lies in the machine's /proc beside processes.
    as_root : bool
        Whether bubblewrap is started by root: then no user namespace is needed, and the first code in the box
        gives up root's identity with the three capabilities that takes, before anything of the entry runs.
    """

    package: Path
    library: Path
    readable: Sequence[Path]
    proc: Sequence[tuple[str, bool]]
    as_root: bool
    limits: Limits = field(default_factory=Limits)
    model: Path | None = None
    data: Path | None = None
    out: Path | None = None


def arguments(view: View) -> list[str]:
    """bubblewrap's arguments for a view, without the command to run."""
    limits = view.limits
    args = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if view.as_root:
        args += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    else:
        args += ["--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    args += ["--die-with-parent", "--new-session", "--hostname", "arena", "--chdir", "/"]
    args += ["--clearenv"]
    for name, value in ENVIRONMENT.items():
        args += ["--setenv", name, value]
    args += ["--tmpfs", "/", *_tmpfs("/tmp", limits.tmp_mib)]  # before an interpreter that lies in /tmp
    shown = [(path, path) for path in _outermost(view.readable)]
    shown += [(view.library / room, LIB / "arenabox" / room) for room in ("wire", "contestant")]
    args += _folders([where for _, where in shown] + [Path(path) for path in (*SYSTEM, LOADER_CACHE)])
    for system in SYSTEM:
        args += _system(Path(system))
    args += ["--ro-bind-try", LOADER_CACHE, LOADER_CACHE]
    for path, where in shown:
        args += ["--ro-bind-try", str(path), str(where)]
    args += _proc(view.proc)
    args += ["--size", str(MIB), "--tmpfs", "/dev"]
    for device in DEVICES:
        args += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        args += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    args += ["--symlink", "/proc/self/fd", "/dev/fd", "--dir", "/dev/shm", "--remount-ro", "/dev"]
    args += _tmpfs("/dev/shm", limits.shm_mib)
    args += ["--size", str(MIB), "--tmpfs", str(ROOT)]
    args += _package(view.package, hidden={"model"} if view.model else set())
    if view.model:
        args += ["--ro-bind", str(view.model), str(ROOT / "model")]
    args += ["--remount-ro", str(ROOT)]
    if view.data:
        args += ["--ro-bind", str(view.data), str(DATA)]
        for told in sorted(view.data.rglob("generators.json")):  # how simulated fakes were made: no contest tells that
            args += ["--ro-bind", "/dev/null", str(DATA / told.relative_to(view.data))]
    if view.out:
        args += ["--bind", str(view.out), str(OUT)]
    return [*args, "--remount-ro", "/"]


def _folders(places: Iterable[Path]) -> list[str]:
    """The folders above some places: bubblewrap would make them for itself alone."""
    above = {parent for place in places for parent in place.parents if parent not in (Path("/"), Path("/tmp"))}
    inside = {parent for parent in above if any(_within(parent, Path(system)) for system in SYSTEM)}
    args: list[str] = []
    for parent in sorted(above - inside):
        args += ["--perms", "0755", "--dir", str(parent)]
    return args


def _within(path: Path, other: Path) -> bool:
    return path == other or other in path.parents


def _tmpfs(where: str, size_mib: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size_mib * MIB), "--tmpfs", where]


def _system(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """Without those that lie inside another or inside a system folder: they are shown already."""
    kept: list[Path] = []
    if Path("/usr") in paths:  # the system's own Python: its modules, not all the programs beside it
        paths = [path for path in paths if path != Path("/usr")] + [Path("/usr/local/lib")]
    shown = [Path(system) for system in SYSTEM if not Path(system).is_symlink()]
    for path in sorted(set(paths), key=lambda path: len(path.parts)):
        if not any(_within(path, other) for other in [*kept, *shown]):
            kept.append(path)
    return sorted(kept)


def _proc(names: Sequence[tuple[str, bool]]) -> list[str]:
    args = ["--proc", "/proc"]
    # Process 1 is bubblewrap itself. It is as confined as the entry, but its memory is no business of the entry's.
    for name, folder in sorted([*names, ("1", True)]):
        if name in PROC_SHOWN:
            continue
        if folder:
            args += ["--size", "4096", "--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
        else:
            args += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    return args


def _package(root: Path, hidden: set[str]) -> list[str]:
    """The package's items one by one, so that model/ can stand beside them.

    A symbolic link is made anew inside the box: bound, it would open whatever it points to on the machine.
    """
    args: list[str] = []
    for item in sorted(root.iterdir()):
        if item.name in hidden:
            continue
        if item.is_symlink():
            args += ["--symlink", os.readlink(item), str(ROOT / item.name)]
        elif stat.S_ISREG(item.stat().st_mode) or item.is_dir():
            args += ["--ro-bind", str(item), str(ROOT / item.name)]
    return args


def proc_names() -> list[tuple[str, bool]]:
    """What lies in this machine's /proc beside processes; links point into processes and need no cover."""
    return [
        (item.name, item.is_dir())
        for item in sorted(Path("/proc").iterdir())
        if not item.name.isdigit() and not item.is_symlink()
    ]
