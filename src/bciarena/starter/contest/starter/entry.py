"""Your starting point: mu power over the two hands' areas, compared half a second after the cue.

Play it:  arena run entry.py:Entry --challenge CONTEST --data DIR
"""

import numpy as np

ROWS = (3, 5)  # C3, C4
WINDOW_N = 500


class Entry:
    def start(self, info):
        self.marks = info["marks"]
        self.held = None

    def step(self, packet):
        """Called with every packet: packet.data is (channels + 1, n), last row triggers; return an answer or None."""
        answer = None
        if self.held is not None:
            self.held.append(packet.data[ROWS, :])
            if sum(part.shape[1] for part in self.held) >= WINDOW_N:
                wave = np.concatenate(self.held, axis=1)
                power = np.abs(np.fft.rfft(wave * np.hanning(wave.shape[1]), axis=1)) ** 2
                hz = np.fft.rfftfreq(wave.shape[1], 1 / 250)
                left, right = power[:, (hz >= 8) & (hz <= 13)].sum(axis=1)
                answer = 2 if left < right else 1  # power falls on the side opposite to the hand
                self.held = None
        if np.isin(packet.data[-1], self.marks).any():
            self.held = []
        return answer
