"""Whether boxes work on this machine, by starting one."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

from bciarena.sandbox.box import MISSING
from bciarena.sandbox.seccomp import MACHINES


def why_not() -> str | None:
    """None when boxes work here; else one line that says what is missing."""
    program = shutil.which("bwrap")
    if program is None:
        return MISSING
    if platform.machine() not in MACHINES:
        return f"the box is made for {' and '.join(MACHINES)}, this is {platform.machine()}"
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
    """None when strangers' entries can be ranked here: boxes work, and each can have a cgroup."""
    from bciarena.sandbox.cgroups import NO_GROUP, make_group
    from bciarena.sandbox.limits import Limits

    group = make_group(Limits())
    group.close()
    return why_not() if group.folders else f"ranked runs need a cgroup, and none can be made here: {NO_GROUP}"
