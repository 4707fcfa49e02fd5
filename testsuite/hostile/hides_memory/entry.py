"""Tries to take memory that belongs to no process: memory files, System V segments, message queues."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


class Entry:
    def start(self, info):
        try:
            os.memfd_create("big")
            print("ESCAPED memfd")
        except OSError as error:
            print("held memfd", error.strerror)
        for name, call in (
            ("shmget", lambda: libc.shmget(0, 1 << 30, 0o1600)),
            ("msgget", lambda: libc.msgget(0, 0o1600)),
            ("semget", lambda: libc.semget(0, 250, 0o1600)),
            ("mq_open", lambda: libc.mq_open(b"/big", os.O_CREAT | os.O_RDWR, 0o600, None)),
        ):
            print("held" if call() < 0 else "ESCAPED", name, os.strerror(ctypes.get_errno()))

    def step(self, packet):
        return None
