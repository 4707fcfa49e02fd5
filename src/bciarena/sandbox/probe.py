"""Whether boxes work on this machine, by starting one."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

from bciarena.sandbox.box import MISSING


def why_not() -> str | None:
    """None when boxes work here; else one line that says what is missing."""
    program = shutil.which("bwrap")
    if program is None:
        return MISSING
    if platform.machine() != "x86_64":
        return f"the box is made for x86_64 machines, this is {platform.machine()}"
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
