"""The bubblewrap command line: one function defines everything a box can see."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bciarena.sandbox.limits import MIB, Limits

ROOT, LIB, DATA, OUT = Path("/entry"), Path("/arena/lib"), Path("/data"), Path("/out")
LINKS = ("/lib", "/lib64")
"""Where the loader is looked for; links into /usr on most systems."""
DEVICES = ("null", "zero", "full", "random", "urandom")
PROC_SHOWN = frozenset({"cpuinfo", "filesystems", "mounts", "self", "thread-self", "version"})
"""What numerical libraries read; everything else in /proc that is not a process is covered."""
PROCESSES_SHOWN = 400  # each takes 20 us at the start; bubblewrap takes 9000 words at most
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
    # one thread each: a match has its share of the machine, and sums are added in the same order every time
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def environment(limits: Limits) -> dict[str, str]:
    """The box's environment; libraries that start threads learn the number of its cores."""
    threads = {name: str(limits.cores or 1) for name in ENVIRONMENT if name.endswith("_NUM_THREADS")}
    return ENVIRONMENT | threads


@dataclass(frozen=True)
class View:
    """What one box sees of the machine.

    Attributes
    ----------
    package : Path
        Becomes /entry, the working directory, read-only.
    model : Path or None
        Becomes /entry/model, read-only.
    shown : sequence of (source, place)
        Interpreter, environment, libraries and our client: each read-only at its place.
    hidden : sequence of Path
        Places inside what is shown that stay covered.
    data, out : Path or None
        For training: /data read-only, /out writable.
    proc : sequence of (name, is folder)
        What the machine's /proc has besides processes.
    still : mapping of name to descriptor
        Files of /proc that are replaced by what can be read from there: the machine's own count what others do.
    playing : bool
        Whether recordings are played to it: then /proc holds nothing but still files, because every look at a process
        in a real one moves a counter of the machine, which a later box could read.
    as_root : bool
        Whether bubblewrap is started by root: then no user namespace is needed, and the first code in the box
        gives up root's identity with the three capabilities that takes, before anything of the entry runs.
    """

    package: Path
    shown: Sequence[tuple[Path, Path]]
    proc: Sequence[tuple[str, bool]]
    still: Mapping[str, int]
    as_root: bool
    limits: Limits = field(default_factory=Limits)
    model: Path | None = None
    data: Path | None = None
    out: Path | None = None
    hidden: Sequence[Path] = ()
    playing: bool = False


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
    for name, value in environment(limits).items():
        args += ["--setenv", name, value]
    args += ["--tmpfs", "/", *_tmpfs("/tmp", limits.tmp_mib)]  # first, since an interpreter may lie below /tmp
    inner = sorted({Path(*place.parts[:3]) for _, place in view.shown if place.parts[:2] == ("/", "tmp")})
    for top in inner:  # an installation below /tmp: the entry must not write around its parts
        args += ["--perms", "0755", "--size", str(MIB), "--tmpfs", str(top)]
    args += _folders(place for _, place in view.shown)
    for link in map(Path, LINKS):
        if link.is_symlink():
            args += ["--symlink", os.readlink(link), str(link)]
    for source, place in view.shown:
        args += ["--ro-bind-try", str(source), str(place)]
    for place in view.hidden:
        args += _cover(str(place), place.is_dir())
    for top in inner:
        args += ["--remount-ro", str(top)]
    args += _still(view.still) if view.playing else _proc(view.proc, view.still)
    args += ["--size", str(MIB), "--tmpfs", "/dev"]
    for device in DEVICES:  # writable, since a read-only bind could not be opened; the filter protects their times
        args += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    if not view.playing:
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            args += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
        args += ["--symlink", "/proc/self/fd", "/dev/fd"]
    args += ["--dir", "/dev/shm", "--remount-ro", "/dev"]
    args += _tmpfs("/dev/shm", limits.shm_mib)
    args += ["--size", str(MIB), "--tmpfs", str(ROOT)]
    args += _package(view.package, hidden={"model"} if view.model else set())
    if view.model:
        args += ["--ro-bind", str(view.model), str(ROOT / "model")]
    args += ["--remount-ro", str(ROOT)]
    if view.data:
        args += ["--ro-bind", str(view.data), str(DATA)]
        for told in sorted(view.data.rglob("generators.json")):  # how fakes were simulated: no contest reveals that
            args += ["--ro-bind", "/dev/null", str(DATA / told.relative_to(view.data))]
    if view.out:
        args += ["--bind", str(view.out), str(OUT)]
    return [*args, "--remount-ro", "/"]


def _folders(places: Iterable[Path]) -> list[str]:
    """The folders above some places: bubblewrap would make them accessible to itself alone."""
    above = {parent for place in places for parent in place.parents if parent not in (Path("/"), Path("/tmp"))}
    above = {parent for parent in above if parent.parent != Path("/tmp")}
    args: list[str] = []
    for parent in sorted(above):
        args += ["--perms", "0755", "--dir", str(parent)]
    return args


def _tmpfs(where: str, size_mib: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size_mib * MIB), "--tmpfs", where]


def _cover(place: str, folder: bool) -> list[str]:
    if folder:
        return ["--size", "4096", "--tmpfs", place, "--remount-ro", place]
    return ["--ro-bind", "/dev/null", place]


def still_proc(limits: Limits, playing: bool) -> dict[str, str]:
    """Contents of /proc that say what the box has, and never change; ``playing``: all that /proc holds."""
    kib = limits.memory_mib * 1024
    memory = {"MemTotal": kib, "MemFree": kib, "MemAvailable": kib, "SwapTotal": 0, "SwapFree": 0}
    memory |= dict.fromkeys(("Buffers", "Cached", "Active", "Inactive", "Shmem", "Slab", "SReclaimable"), 0)
    rows = ["cpu", *(f"cpu{core}" for core in sorted(os.sched_getaffinity(0)))]
    counts = ("intr", "ctxt", "btime", "processes", "procs_running", "procs_blocked")
    still = {
        "meminfo": "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in memory.items()),
        "stat": "".join(f"{row}{' 0' * 10}\n" for row in rows) + "".join(f"{name} 0\n" for name in counts),
        "uptime": "0.00 0.00\n",
    }
    if not playing:
        return still
    machine = re.sub(r"(?m)^(cpu MHz\s*): .*", r"\1: 0.000", Path("/proc/cpuinfo").read_text("utf-8", "replace"))
    pages = limits.memory_mib * MIB // os.sysconf("SC_PAGE_SIZE")
    return still | {
        "cpuinfo": machine,
        "filesystems": "nodev\ttmpfs\n",
        "loadavg": "0.00 0.00 0.00 1/1 2\n",
        "mounts": "tmpfs / tmpfs ro 0 0\n",
        "version": Path("/proc/version").read_text("utf-8", "replace"),
        # psutil, and joblib through it, look these up for processes of their own
        "self/stat": "2 (python) R 1 2 2" + " 0" * 46 + "\n",
        "self/statm": f"{pages} 0 0 0 0 0 0\n",
        "self/status": "Name:\tpython\nPid:\t2\nPPid:\t1\nThreads:\t1\n",
        "self/cmdline": "python\0",
    }


def _still(still: Mapping[str, int]) -> list[str]:
    """A /proc that is no real one: a few files, and every process looks the same."""
    args = ["--perms", "0755", "--size", str(MIB), "--tmpfs", "/proc", "--perms", "0755", "--dir", "/proc/self"]
    for name, fd in sorted(still.items()):
        args += ["--perms", "0444", "--ro-bind-data", str(fd), f"/proc/{name}"]
    for process in range(2, PROCESSES_SHOWN):
        args += ["--symlink", "self", f"/proc/{process}"]
    return [*args, "--remount-ro", "/proc"]


def _proc(names: Sequence[tuple[str, bool]], still: Mapping[str, int]) -> list[str]:
    args = ["--proc", "/proc"]
    # Process 1 is bubblewrap itself: as confined as the entry, but the entry must not see its memory.
    for name, folder in sorted([*names, ("1", True)]):
        if name in still:
            args += ["--perms", "0444", "--ro-bind-data", str(still[name]), f"/proc/{name}"]
        elif name not in PROC_SHOWN:
            args += _cover(f"/proc/{name}", folder)
    return args


def _package(root: Path, hidden: set[str]) -> list[str]:
    """The package's items one by one, so that model/ can be mounted beside them.

    A symbolic link is recreated inside the box: bound, it would open whatever it points to on the machine.
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
    """What this machine's /proc has besides processes; links point into processes and need no cover."""
    return [
        (item.name, item.is_dir())
        for item in sorted(Path("/proc").iterdir())
        if not item.name.isdigit() and not item.is_symlink()
    ]
