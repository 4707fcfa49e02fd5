"""Whether boxes work on this machine, by starting one."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess

from bciarena.sandbox.box import MISSING
from bciarena.sandbox.seccomp import MACHINES

OLDEST = (0, 8)
LINKS_FIXED = (
    0,
    12,
)  # older versions follow symbolic links when making mount points; our command line has none to follow


def bubblewrap_version(program: str) -> tuple[int, ...]:
    """The version's numbers; empty if it is not known."""
    try:
        said = subprocess.run([program, "--version"], env={}, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(map(int, re.findall(r"\d+", said)))[:3]


def why_not() -> str | None:
    """None if boxes work here; otherwise one line that says what is missing."""
    program = shutil.which("bwrap")
    if program is None:
        return MISSING
    version = bubblewrap_version(program)
    if version < OLDEST:
        told = ".".join(map(str, version)) or "of unknown version"
        return f"{program} is {told}; boxes need bubblewrap {OLDEST[0]}.{OLDEST[1]} or newer"
    if platform.machine() not in MACHINES:
        return f"boxes work on {' and '.join(MACHINES)} only; this machine is {platform.machine()}"
    user = [] if os.geteuid() == 0 else ["--unshare-user", "--disable-userns"]
    command = [program, *user, "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--size", "4096"]
    command += ["--tmpfs", "/tmp", "--proc", "/proc", "/bin/true"]
    try:
        tried = subprocess.run(command, env={}, cwd="/", capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start: {error}"
    if tried.returncode:
        words = tried.stderr.strip().splitlines()[-1:] or [f"exit code {tried.returncode}"]
        return f"bubblewrap does not work here: {words[0]} (version 0.8 or newer and user namespaces are needed)"
    return None


def why_not_ranked() -> str | None:
    """None if uploaded entries can be ranked here: boxes work, and each can have a cgroup."""
    from bciarena.sandbox.cgroups import NO_GROUP, make_group
    from bciarena.sandbox.limits import Limits

    group = make_group(Limits())
    group.close()
    return why_not() if group.folders else f"ranked runs need a cgroup, and none can be made here: {NO_GROUP}"
