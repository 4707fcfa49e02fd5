"""Leaves a process behind, in a session of its own, that would live on."""

import os
import time


class Entry:
    def run(self, packets):
        next(packets)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(1)
            os._exit(0)
        return
        yield
