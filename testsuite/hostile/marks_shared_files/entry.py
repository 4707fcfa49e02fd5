"""Leaves marks on what all boxes see: times of device nodes, the page cache, write hints, locks in the kernel's tables."""

import ctypes
import fcntl
import os

libc = ctypes.CDLL(None, use_errno=True)
MARK_S = 1_234_567_890
F_SET_RW_HINT, F_SET_FILE_RW_HINT, RWF_NOWAIT = 1036, 1038, 8
MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ = 20, 21, 22


def attempt(name, call):
    try:
        call()
        print("ESCAPED", name)
    except OSError as error:
        print("held", name, error.strerror)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Entry:
    def start(self, info):
        for device in ("null", "zero", "full", "random", "urandom"):
            path = "/dev/" + device
            if int(os.stat(path).st_mtime) == MARK_S or int(os.stat(path).st_atime) == MARK_S:
                print("ESCAPED message in the times of", path)
            before = os.stat(path).st_mtime_ns
            for times in ((MARK_S, MARK_S), None):
                try:
                    os.utime(path, times)
                    with open(path, "rb") as opened:
                        os.utime(opened.fileno(), times)
                except OSError as error:
                    print("refused", error.strerror)
            print("held" if os.stat(path).st_mtime_ns == before else "ESCAPED", "times of", device)
            attempt("chmod " + device, lambda path=path: os.chmod(path, 0o600))
        fd = os.open(os.__file__, os.O_RDONLY)
        where = ctypes.create_string_buffer(4096)
        attempt("preadv2 nowait", lambda: os.preadv(fd, [bytearray(1)], 0, RWF_NOWAIT))
        for command in (F_SET_RW_HINT, F_SET_FILE_RW_HINT):
            attempt("hint %d" % command, lambda c=command: fcntl.fcntl(fd, c, (3).to_bytes(8, "little")))
        attempt("fadvise", lambda: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED))
        attempt("readahead", lambda: checked(libc.readahead(fd, ctypes.c_long(0), ctypes.c_size_t(4096))))
        start = ctypes.addressof(where) & ~0xFFF
        for advice in (MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ):
            size = ctypes.c_size_t(4096)
            attempt("madvise %d" % advice, lambda a=advice: checked(libc.madvise(ctypes.c_void_p(start), size, a)))

    def step(self, packet):
        return None
