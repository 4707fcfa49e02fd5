"""Sleeps."""

import time


class Entry:
    def step(self, packet):
        time.sleep(10_000)
