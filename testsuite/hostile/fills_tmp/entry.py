"""Writes to every place it can until it is full."""

import errno
import os

CHUNK = b"x" * (1 << 20)


def fill(path, most):
    """How many MiB fit."""
    count = 0
    try:
        with open(path, "wb") as file:
            while count < most:
                file.write(CHUNK)
                file.flush()
                count += 1
    except OSError as error:
        assert error.errno in (errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT), error
    return count


class Entry:
    def start(self, info):
        for place, most in (("/tmp", 16), ("/dev/shm", 8), ("/", 0), ("/dev", 0), ("/entry", 0), ("/proc", 0)):
            held = fill(os.path.join(place, "big"), 64)
            print(place, held, "held" if held <= most else "ESCAPED")

    def step(self, packet):
        return None
