"""Stops itself: nothing in it will ever run again by itself."""

import os
import signal


class Entry:
    def step(self, packet):
        os.kill(os.getpid(), signal.SIGSTOP)
