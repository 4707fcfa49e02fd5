"""Counters of the machine that a box would move: new pipes, sockets and shared pages are numbered for everybody.

Whoever makes a pipe can read its number, so a box could leave a message for a later one by how many it makes. Boxes to
which recordings are played, and those in which an upload is trained, therefore ask the referee for each (a second
seccomp filter, whose answers come from here): it counts them, up to a limit. After a ranked run or training it makes
the total the same for everybody and adds a random number that is much larger.
"""

from __future__ import annotations

import array
import base64
import errno
import fcntl
import os
import platform
import secrets
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from bciarena.sandbox.seccomp import MACHINES, SECCOMP, asking_bytes
from bciarena.sandbox.syscalls import ARGUED

USUAL, MOST = 1 << 12, 1 << 16
"""Things made in one run: few make more than the first number, none can make more than the second."""
NOISE = 16  # times these
BATCH = 1024  # numbers that the kernel gives to a core at a time
RECEIVE, SEND, GO_ON = 0xC0502100, 0xC0182101, 1
NOTICE, ANSWER = struct.Struct("<QIIi60x"), struct.Struct("<QqiI")


class Counted:
    """The referee's side: gets the listener from the box's first code, then answers whoever asks."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._listener = -1
        self._pair = ARGUED["socketpair"][MACHINES[platform.machine()].column]  # two sockets, each with its number
        self.made = 0

    def order(self) -> dict[str, Any]:
        """For contestant.boot: where to send the listener, and the filter."""
        column = MACHINES[platform.machine()].column
        filter_ = base64.b64encode(asking_bytes()).decode()
        return {"fd": self.theirs.fileno(), "call": SECCOMP[column], "filter": filter_}

    @property
    def fd(self) -> int:
        """What becomes readable when there is something to answer; -1 when nobody can ask any more."""
        return self._listener if self._listener >= 0 else self._ours.fileno()  # -1 when closed

    def answer(self) -> bool:
        """Take the listener, or answer one request; True when ``fd`` is another one now."""
        if self._listener < 0:
            return self._take()
        notice = bytearray(NOTICE.size)
        try:
            fcntl.ioctl(self._listener, RECEIVE, notice, True)
            number, _, _, call = NOTICE.unpack(notice)
            self.made += 2 if call == self._pair else 1
            refused = self.made > MOST
            reply = ANSWER.pack(number, 0, -errno.EMFILE if refused else 0, 0 if refused else GO_ON)
            fcntl.ioctl(self._listener, SEND, bytearray(reply), True)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINTR, errno.ENOTCONN):  # it was killed while it asked
                raise
        return False

    def _take(self) -> bool:
        room = array.array("i", [-1])
        try:
            _, found, _, _ = self._ours.recvmsg(1, socket.CMSG_SPACE(room.itemsize))
        except BlockingIOError:
            return False
        for level, kind, raw in found:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                room.frombytes(raw[: room.itemsize])
                self._listener = room[-1]
                os.set_inheritable(self._listener, False)
        self._ours.close()
        return True

    def started(self) -> None:
        """The box has its end."""
        self.theirs.close()

    def close(self) -> None:
        self._ours.close()
        self.theirs.close()
        if self._listener >= 0:
            os.close(self._listener)
            self._listener = -1


def blur(made: int, cores: set[int]) -> None:
    """Move the counters to where a later box learns nothing from them; ``cores``: on which the box ran."""
    most = USUAL if made <= USUAL else MOST

    def move() -> None:
        for core in sorted(cores):  # each has a part of the numbers, up to a batch
            with suppress(OSError):
                os.sched_setaffinity(0, {core})
            for make in (_pipe, _page):
                _repeat(make, BATCH + secrets.randbelow(BATCH))
        for make in (_pipe, _page):
            _repeat(make, max(most - made, 0) + secrets.randbelow(NOISE * most))

    thread = threading.Thread(target=move)  # of its own: the cores are a thread's
    thread.start()
    thread.join()


def _repeat(make: Callable[[], None], times: int) -> None:
    for _ in range(times):
        make()


def _pipe() -> None:
    for end in os.pipe():
        os.close(end)


def _page() -> None:
    os.close(os.memfd_create("arena"))
