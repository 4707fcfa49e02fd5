"""Burns CPU in processes that a thread, not the main one, has forked: a list of the main thread's children misses them."""

import os
import threading
import time


def burn():
    if os.fork() == 0:
        if os.fork() == 0:
            while True:
                pass
        os._exit(0)
    os.wait()
    time.sleep(3600)


class Entry:
    def start(self, info):
        for _ in range(2):
            threading.Thread(target=burn, daemon=True).start()
        time.sleep(3600)

    def step(self, packet):
        return None
