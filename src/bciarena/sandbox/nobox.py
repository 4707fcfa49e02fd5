"""Runs a command without a box, and leaves nothing of it behind: for ``--sandbox none``.

Started as a separate script. It adopts every process the command leaves behind (child subreaper), dies with its
parent, and kills the whole tree when the command ends.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split()]


def reap() -> None:
    """Kill all descendants: orphans become our children, one generation after another."""
    while True:
        for pid in children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def stop(*_: object) -> None:
    reap()
    os._exit(143)


def main(command: list[str]) -> int:
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, stop)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.execv(command[0], command)
    for fd in range(3, 256):  # the entry's descriptors: a copy here would hide that it has ended
        with suppress(OSError):
            os.close(fd)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            break
    reap()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
