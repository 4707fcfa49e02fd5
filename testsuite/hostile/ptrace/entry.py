"""Tries to trace and to read other processes."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def refused(name, number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(value) for value in arguments])
    error = ctypes.get_errno()
    print("held" if result < 0 and error in (1, 38, 97) else "ESCAPED", name, result, os.strerror(error))


class Entry:
    def start(self, info):
        refused("ptrace attach", 101, 16, os.getppid(), 0, 0)
        refused("ptrace traceme", 101, 0, 0, 0, 0)
        refused("process_vm_readv", 310, os.getppid(), 0, 0, 0, 0, 0)
        refused("process_vm_writev", 311, os.getppid(), 0, 0, 0, 0, 0)
        refused("pidfd_getfd", 438, 0, 0, 0)
        refused("kcmp", 312, os.getpid(), os.getpid(), 0, 0, 0)

    def step(self, packet):
        return None
