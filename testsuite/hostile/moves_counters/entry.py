"""Moves counters of the whole machine, which a later box could read: pipes, sockets, shared pages, processes."""

import ctypes
import errno
import mmap
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)
MOST = 1 << 16


def refused(name, call):
    try:
        call()
        print("ESCAPED", name)
    except OSError as error:
        print("held", name, errno.errorcode[error.errno])


def statfs():
    if libc.statfs(b"/", ctypes.create_string_buffer(256)):
        raise OSError(ctypes.get_errno(), "statfs")


def with_pidfd():
    number, stack = {"x86_64": 56, "aarch64": 220}[os.uname().machine], ctypes.c_int(-1)
    child = libc.syscall(number, 0x1000 | 17, None, ctypes.byref(stack), None, None)
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError(ctypes.get_errno(), "clone")


class Entry:
    def start(self, info):
        a, b = socket.socketpair()
        refused("cookie", lambda: a.getsockopt(socket.SOL_SOCKET, 57, 8))
        refused("namespace's cookie", lambda: a.getsockopt(socket.SOL_SOCKET, 71, 8))
        refused("peer's process", lambda: a.getsockopt(socket.SOL_SOCKET, 77, 4))
        refused("sender's process", lambda: a.setsockopt(socket.SOL_SOCKET, 76, 1))
        refused("pidfd", lambda: os.pidfd_open(os.getpid()) if hasattr(os, "pidfd_open") else statfs())
        refused("pidfd of a child", with_pidfd)
        refused("room on the disk", statfs)
        refused("a process in /proc", lambda: os.stat("/proc/self/fd"))
        first, made = os.fstat(a.fileno()).st_ino, 0
        try:
            while made <= MOST:
                for end in os.pipe():
                    os.close(end)
                made += 1
            print("ESCAPED", made, "pipes after", first)
        except OSError as error:
            print("held pipes", made, errno.errorcode[error.errno])
        refused("socket", socket.socketpair)
        refused("shared page", lambda: mmap.mmap(-1, 4096))
        os.sched_setaffinity(0, range(1024))  # answered and not done

    def step(self, packet):
        return None
