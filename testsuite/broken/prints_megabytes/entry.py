"""Prints far more than is kept, on both streams, and goes on unharmed."""

import sys


class Entry:
    def step(self, packet):
        print("x" * 50_000)
        print("y" * 50_000, file=sys.stderr)
