"""Leaves the interpreter with an exit code."""

import os
import sys


class Entry:
    def step(self, packet):
        print("no more", file=sys.stderr, flush=True)
        os._exit(3)
