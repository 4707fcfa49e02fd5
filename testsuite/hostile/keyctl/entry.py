"""Tries to leave a key in a keyring that outlives the run."""

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
        refused("keyctl", 250, 0, -4, 1)
        refused("add_key", 248, 0, 0, 0, 0, -4)
        refused("request_key", 249, 0, 0, 0, 0)

    def step(self, packet):
        return None
