"""Sends itself a signal that cannot be caught."""

import os
import signal


class Entry:
    def step(self, packet):
        os.kill(os.getpid(), signal.SIGKILL)
