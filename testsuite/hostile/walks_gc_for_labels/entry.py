"""Looks through every object of its process for arrays and mappings with the truth or the future in them."""

import gc
import sys

import numpy as np


class Entry:
    seen = 0

    def step(self, packet):
        self.seen += packet.data.shape[1]
        if self.seen != 500:
            return None
        for item in gc.get_objects():
            if isinstance(item, np.ndarray) and item.ndim == 2 and item.shape[0] == 65:
                if np.isin(item[-1], (201, 202, 203)).any() or item[0].max() >= self.seen:
                    print("ESCAPED", item.shape, item[-1])
            if isinstance(item, (bytes, bytearray)) and b"block_1" in item:
                print("ESCAPED", item[:100])
        loaded = [name for name in sys.modules if name.startswith("bciarena") or "referee" in name]
        print("ESCAPED" if loaded else "held", loaded)
