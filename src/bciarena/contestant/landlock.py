"""A second layer of file protection, where the kernel has Landlock: nothing can be written outside private folders.

The mounts enforce the same; this protects against mistakes in them or in the kernel's mount code.
"""

import ctypes
import os

CREATE, ADD, RESTRICT = 444, 445, 446  # the same numbers on every architecture
PATH_BENEATH, VERSION = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15  # known from version 2, 3 and 5 on
FIRST = (1 << 13) - 1  # everything version 1 knows
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def wall(writable):
    """Allow reading everywhere, writing below ``writable`` and to devices; returns Landlock's version, 0: none here."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE, None, ctypes.c_size_t(0), VERSION)
    if version < 1:
        return 0
    handled = FIRST
    for least, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version >= least:
            handled |= right
    ruleset = libc.syscall(CREATE, ctypes.byref(ctypes.c_uint64(handled)), ctypes.c_size_t(8), 0)
    check(ruleset)
    allow(libc, ruleset, "/", EXECUTE | READ_FILE | READ_DIR)
    for place in writable:
        allow(libc, ruleset, place, handled & ~IOCTL_DEV)
    for device in DEVICES:
        allow(libc, ruleset, device, (WRITE_FILE | READ_FILE | TRUNCATE) & handled)
    check(libc.prctl(38, 1, 0, 0, 0))  # no_new_privs, which bubblewrap has set already
    check(libc.syscall(RESTRICT, ruleset, 0))
    os.close(ruleset)
    return version


def allow(libc, ruleset, place, rights):
    fd = os.open(place, os.O_PATH | os.O_CLOEXEC)
    rule = (ctypes.c_char * 12).from_buffer_copy(rights.to_bytes(8, "little") + fd.to_bytes(4, "little"))
    check(libc.syscall(ADD, ruleset, PATH_BENEATH, rule, 0))
    os.close(fd)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "Landlock: %s" % os.strerror(ctypes.get_errno()))
