"""Weighs the response to each flash by a linear rule learnt in training; answers when one light stands out.

The rule is a shrunk linear discriminant between flashes that were waited for and those that were not.
"""

import json
import os

import numpy as np

LIGHTS = 6
FIRST_N, LAST_N, STEP = 25, 175, 10  # 0.1 to 0.7 s after a flash, every 40 ms
MARGIN = 3.5


def feature(eeg):
    """The EEG after a flash, shape (channels, LAST_N), as one vector."""
    piece = eeg - eeg[:, :FIRST_N].mean(axis=1, keepdims=True)
    return piece[:, FIRST_N:LAST_N].reshape(len(piece), -1, STEP).mean(axis=2).ravel()


class Entry:
    def fit(self, recordings):
        wanted, others = [], []
        for block in recordings:
            data, light = block.data, None
            for at in np.flatnonzero(data[-1]):
                code = int(data[-1, at])
                if 101 <= code <= 106:
                    light = code - 100
                elif 1 <= code <= LIGHTS and light and at + LAST_N <= data.shape[1]:
                    (wanted if code == light else others).append(feature(data[:-1, at : at + LAST_N]))
        wanted, others = np.array(wanted), np.array(others)
        spread = np.cov(others.T)
        spread = 0.9 * spread + 0.1 * np.trace(spread) / len(spread) * np.eye(len(spread))
        self.weights = np.linalg.solve(spread, wanted.mean(axis=0) - others.mean(axis=0))
        away, near = others @ self.weights, wanted @ self.weights
        self.middle, self.noise = (away.mean() + near.mean()) / 2, away.std()
        self.gap = (near.mean() - away.mean()) / self.noise
        return self

    def save(self, folder):
        with open(os.path.join(folder, "rule.json"), "w") as file:
            kept = {"weights": self.weights.tolist(), "middle": self.middle, "noise": self.noise, "gap": self.gap}
            json.dump(kept, file)

    def load(self, folder):
        with open(os.path.join(folder, "rule.json")) as file:
            kept = json.load(file)
        self.weights, self.middle = np.array(kept["weights"]), kept["middle"]
        self.noise, self.gap = kept["noise"], kept["gap"]

    def start(self, info):
        self.open = False

    def step(self, packet):
        if packet.start == 0:
            self.held, self.begin, self.flashes, self.open = packet.data[:-1][:, :0], 0, [], False
        self.held = np.concatenate([self.held, packet.data[:-1]], axis=1)[:, -3 * LAST_N :]
        end = packet.start + packet.data.shape[1]
        answer = None
        if self.open:
            first = end - self.held.shape[1]
            while self.flashes and self.flashes[0][0] + LAST_N <= end:
                at, light = self.flashes.pop(0)
                value = feature(self.held[:, at - first : at - first + LAST_N]) @ self.weights
                # log odds that this flash was waited for, both kinds normal with one spread
                self.odds[light - 1] += self.gap * (value - self.middle) / self.noise
            best = np.sort(self.odds)
            if best[-1] - best[-2] > MARGIN:
                answer, self.open = int(np.argmax(self.odds)) + 1, False
        for offset in np.flatnonzero(packet.data[-1]):
            code = int(packet.data[-1, offset])
            if code == 200:
                self.open, self.odds, self.flashes = True, np.zeros(LIGHTS), []
            elif 1 <= code <= LIGHTS and self.open:
                self.flashes.append((packet.start + int(offset), code))
        return answer
