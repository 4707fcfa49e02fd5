"""Ignores every signal that can be ignored."""

import signal
import time


class Entry:
    def step(self, packet):
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)
