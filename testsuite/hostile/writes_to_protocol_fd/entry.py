"""Writes text to every descriptor it has, as a stray print to a wrong file would."""

import os


class Entry:
    def step(self, packet):
        for fd in range(3, 64):
            try:
                os.write(fd, b"hello?")
            except OSError:
                continue
