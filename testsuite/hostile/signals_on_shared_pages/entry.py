"""Two of them at the same time, in two boxes: one sleeps on pages of files that both may map, the other wakes it.

A futex on a page of a file belongs to the file, however read-only: whoever maps the same file can wake its sleepers.
"""

import ctypes
import json
import mmap
import os
import struct
import sys
import threading
import time

import numpy

WAIT, WAKE, FUTEX = 0, 1, {"x86_64": 202, "aarch64": 98}[os.uname().machine]
LASTS_S = 4.0
libc = ctypes.CDLL(None, use_errno=True)
maps, seen = [], []


def in_a_file(path):
    """An address in a page of a file, mapped read-only."""
    with open(path, "rb") as file:
        maps.append(numpy.frombuffer(mmap.mmap(file.fileno(), 1024, prot=mmap.PROT_READ), numpy.uint8))
    return maps[-1].ctypes.data


def compiled(folder):
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if ".so" in name:
                return os.path.join(where, name)
    raise LookupError(folder)


libc.getauxval.argtypes, libc.getauxval.restype = [ctypes.c_ulong], ctypes.c_ulong
kernel = libc.getauxval(33)  # AT_SYSINFO_EHDR
PAGES = {
    "the C library": ctypes.cast(libc.printf, ctypes.c_void_p).value & ~3,
    "the interpreter": in_a_file(sys.executable),
    "a module": in_a_file(os.__file__),
    "numpy": in_a_file(compiled(os.path.dirname(numpy.__file__))),
    "our client": in_a_file(sys.modules["arenabox.wire.page"].__file__),
    **({"the loader's cache": in_a_file("/etc/ld.so.cache")} if os.path.exists("/etc/ld.so.cache") else {}),
    **({"the kernel's own page": kernel} if kernel else {}),
}


def wait(name, address):
    value = ctypes.c_uint32.from_address(address).value
    limit = ctypes.create_string_buffer(struct.pack("qq", int(LASTS_S), 0))
    woken = libc.syscall(FUTEX, ctypes.c_void_p(address), WAIT, value, limit, None, 0) == 0
    seen.append("%s %s" % ("ESCAPED a message came through" if woken else "held", name))


def wake(name, address):
    end = time.monotonic() + LASTS_S
    while time.monotonic() < end:
        if libc.syscall(FUTEX, ctypes.c_void_p(address), WAKE, 1, None, None, 0) > 0:
            seen.append("ESCAPED somebody was woken through " + name)
            return
        time.sleep(0.01)
    seen.append("held " + name)


class Entry:
    def start(self, info):
        with open("where.json") as file:
            act = wait if json.load(file)["number"] == 0 else wake
        began = time.monotonic()
        threads = [threading.Thread(target=act, args=page) for page in PAGES.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("\n".join(seen))
        print("awake", began, time.monotonic())

    def step(self, packet):
        return None
