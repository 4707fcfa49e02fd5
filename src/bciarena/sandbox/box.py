"""Starting a box, watching what it uses, and ending it with everything in it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import bciarena
from bciarena.errors import BadInput, Fault
from bciarena.package import Interpreter, Package
from bciarena.places import cache_folder
from bciarena.sandbox import bwrap, nobox, readable
from bciarena.sandbox.cgroups import NO_GROUP, Group, make_group
from bciarena.sandbox.copies import own_place
from bciarena.sandbox.counters import Counted, blur
from bciarena.sandbox.limits import MIB, Limits
from bciarena.sandbox.pinning import own_cores, starting_on
from bciarena.sandbox.places import interpreter_places, without_the_site
from bciarena.sandbox.seccomp import UNIX, filter_bytes
from bciarena.sandbox.usage import Usage, tree_usage

Sandbox = Literal["bwrap", "none"]
LIBRARY = Path(bciarena.__file__).parent
CLIENT = ("wire", "contestant")
"""All of this platform that a box sees."""
START = "import sys; sys.path[:0] = [{lib!r}]; from arenabox.contestant.boot import main; main(*sys.argv[1:])"
JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"'
"""Joins the groups given before ``--``, then becomes the command: nothing of the box is ever outside them."""
MISSING = "bubblewrap is not installed: apt install bubblewrap (or run with --sandbox none to debug your own entry)"
FIRST_UID, UIDS = 30_000, 30_000


@dataclass
class Box:
    """One process tree: the entry and all it starts."""

    package: Package
    interpreter: Interpreter
    sandbox: Sandbox = "bwrap"
    limits: Limits = field(default_factory=Limits)
    model: Path | None = None
    data: Path | None = None
    out: Path | None = None
    families: tuple[int, ...] = (UNIX,)
    platform: bool = False  # whether it sees this platform's code: only where the code it runs is ours
    playing: bool = False  # recordings are played to it: it moves no counter of the machine that others can read
    ranked: bool = False  # an uploaded entry: it shares nothing with other boxes and must have a cgroup

    def __post_init__(self) -> None:
        self.group: Group = Group()
        self.cores: set[int] = set()
        self.process: subprocess.Popen[bytes] | None = None
        self._stack = ExitStack()
        self.counted: Counted | None = None
        self._asks = self.playing or self.ranked  # for what the machine numbers, see counters

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._stack.close()

    @property
    def record(self) -> str:
        """How the run was confined, for its record."""
        own = f", core {' '.join(map(str, sorted(self.cores)))} of its own" if self.cores else ""
        return f"bwrap, {self.group.kind}{own}" if self.sandbox == "bwrap" else "unsandboxed"

    def start(self, order: dict[str, Any], cpu_s: float, fds: Sequence[int], stdout: int, stderr: int) -> None:
        """Start the entry's interpreter with an order for contestant.boot."""
        uid = FIRST_UID + os.getpid() % UIDS if self.sandbox == "bwrap" and os.geteuid() == 0 else 0
        order = {
            "target": self.package.target,
            "dialect": self.package.dialect,
            "model": self.model is not None,
            "rlimits": self.limits.rlimits(cpu_s),
            "uid": uid,
            "writable": self._writable(),
            **order,
        }
        begin = self._boxed if self.sandbox == "bwrap" else self._bare
        command, environment, given, order["root"] = begin(uid)
        lib = str(bwrap.LIB) if self.sandbox == "bwrap" else self._library()
        order["start"] = START.format(lib=lib)
        if self.ranked:
            self.cores = self._stack.enter_context(own_cores(self.limits.cores))
        asked: list[int] = []
        if self._asks and self.sandbox == "bwrap":
            self.counted = counted = Counted()
            self._stack.callback(counted.close)
            order["asking"] = counted.order()
            asked.append(counted.theirs.fileno())
            if self.ranked:
                ran_on = self.cores or os.sched_getaffinity(0)
                self._stack.callback(lambda: blur(counted.made, ran_on))
        python = [str(self.interpreter.executable), "-S", "-s", "-c", order["start"], json.dumps(order)]
        try:
            with starting_on(self.cores):
                self.process = subprocess.Popen(
                    [*command, *python],
                    env=environment,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    pass_fds=[*fds, *given, *asked],
                    start_new_session=True,
                )
        except OSError as error:
            raise Fault(f"{command[0]} cannot be started: {error.strerror}") from error
        finally:
            for fd in given:
                os.close(fd)
            if self.counted:
                self.counted.started()

    def _boxed(self, uid: int) -> tuple[list[str], dict[str, str], list[int], str]:
        program = shutil.which("bwrap")
        if program is None:
            raise BadInput(MISSING)
        show = self._stack.enter_context(readable.for_everyone(uid != 0))
        shown, hidden = interpreter_places(self.interpreter)
        if self.ranked:
            place = self._stack.enter_context(own_place(cache_folder() / "copies"))
            shown, hidden = place.copies(shown, [*hidden, *without_the_site(self.interpreter)]), []
        library = show(LIBRARY, CLIENT, own=self.ranked)
        shown += [(library / room, bwrap.LIB / "arenabox" / room) for room in CLIENT]
        if self.platform:
            shown.append((show(LIBRARY), bwrap.LIB / "bciarena"))
        still = {
            name: _memory_file(f"arena-{Path(name).name}", text.encode())
            for name, text in bwrap.still_proc(self.limits, self.playing).items()
        }
        view = bwrap.View(
            package=show(self.package.root),
            shown=shown,
            hidden=hidden,
            proc=bwrap.proc_names(),
            still=still,
            playing=self.playing,
            as_root=os.geteuid() == 0,
            limits=self.limits,
            model=show(self.model, own=self.ranked) if self.model else None,
            data=show(self.data) if self.data else None,
            out=self.out,
        )
        if self.out and uid:
            os.chown(self.out, uid, uid)
        args = _memory_file("arena-args", "\0".join(bwrap.arguments(view)).encode() + b"\0")
        rules = _memory_file("arena-seccomp", filter_bytes(self.families, self._asks))
        self.group = make_group(self.limits)
        self._stack.callback(self.group.close)
        if self.ranked and not self.group.folders:
            raise Fault(f"a ranked run needs a cgroup: {NO_GROUP}")
        command = ["/bin/sh", "-c", JOIN, "sh", *map(str, self.group.folders), "--"]
        # Options stay out of the command line and our environment out of the process: the box can read both.
        command += [program, "--args", str(args), "--seccomp", str(rules), "--"]
        return command, {}, [args, rules, *still.values()], str(bwrap.ROOT)

    def _writable(self) -> list[str] | None:
        """Places an entry may write to; None: anywhere, as there is no box."""
        if self.sandbox == "none":
            return None
        return ["/tmp", "/dev/shm", *([str(bwrap.OUT)] if self.out else [])]

    def _bare(self, uid: int) -> tuple[list[str], dict[str, str], list[int], str]:
        root = self.package.root.resolve()
        if self.model:  # model/ below the working directory, without writing into the package
            beside = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-entry-")))
            for item in root.iterdir():
                if item.name != "model":
                    (beside / item.name).symlink_to(item)
            (beside / "model").symlink_to(self.model.resolve())
            root = beside
        tmp = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-tmp-"))
        environment = bwrap.environment(self.limits) | {
            "HOME": tmp,
            "TMPDIR": tmp,
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        }
        return [sys.executable, "-I", "-S", nobox.__file__], environment, [], str(root)

    def _library(self) -> str:
        """wire/ and contestant/ under the name they have in the box."""
        lib = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-lib-")))
        (lib / "arenabox").mkdir()
        for room in CLIENT:
            (lib / "arenabox" / room).symlink_to(LIBRARY / room)
        return str(lib)

    def usage(self) -> Usage:
        """What the whole tree uses now, and its CPU time so far."""
        cpu_s = self.group.cpu_s()
        if cpu_s is not None:
            return Usage(cpu_s)  # there the kernel itself limits memory and processes
        return tree_usage(self.process.pid) if self.process else Usage()

    def over(self, used: Usage) -> str:
        """The limit that was exceeded, where no cgroup enforces it; empty if none was, or without a box."""
        if self.sandbox == "none":
            return ""
        if used.memory_bytes > self.limits.memory_mib * MIB:
            return f"used more than {self.limits.memory_mib} MiB of memory"
        return ""

    def ended(self) -> int | None:
        """Exit code of the entry, 128 + signal when it died of one; None while it runs."""
        assert self.process is not None
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code

    def killed_by(self) -> int:
        """The signal that ended the box's own process (bubblewrap's, not the entry's); 0: none did."""
        code = self.process.poll() if self.process else None
        return -code if code is not None and code < 0 else 0

    def kill(self) -> None:
        """End the entry and every process it started."""
        if self.process is None or self.process.poll() is not None:
            return
        if self.sandbox == "none":
            self.process.send_signal(signal.SIGTERM)  # nobox.py ends the whole tree
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _memory_file(name: str, content: bytes) -> int:
    fd = os.memfd_create(name)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
