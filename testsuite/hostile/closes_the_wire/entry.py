"""Closes every descriptor of the wire and stays alive: who hung up, the box or the entry?"""

import os
import time


class Entry:
    count = 0

    def step(self, packet):
        self.count += 1
        if self.count == 5:
            os.closerange(3, 256)
            time.sleep(60)
