"""Looks for anything to start but its interpreter, and for files that would give rights when started."""

import os
import stat
import sys


def program(path):
    """Whether a file can be started: ELF files that are no libraries by their name."""
    name = os.path.basename(path)
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF" and ".so" not in name and not name.endswith((".o", ".a"))


class Entry:
    def start(self, info):
        seen = 0
        mine = os.path.getsize(sys.executable)  # shown under each of its names
        for where, folders, files in os.walk("/"):
            folders[:] = [name for name in folders if (where, name) not in (("/", "proc"), ("/", "dev"))]
            for name in files:
                path = os.path.join(where, name)
                try:
                    state = os.lstat(path)
                except OSError:
                    continue
                seen += 1
                if not stat.S_ISREG(state.st_mode):
                    continue
                if state.st_mode & (stat.S_ISUID | stat.S_ISGID):
                    print("ESCAPED setuid", path)
                installed = "site-packages" in where or "dist-packages" in where  # brought by a library
                if state.st_size != mine and not installed and os.access(path, os.R_OK) and program(path):
                    print("ESCAPED program", path)
        print("held programs" if seen > 100 else "nothing seen", seen)

    def step(self, packet):
        return None
