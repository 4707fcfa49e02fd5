"""A submission in the form of streamed competitions: power over both hands' areas against the stream's own mean."""

import numpy as np
from benchmark_utils.base_solver import CompetSolver
from benchmark_utils.data import to_numpy


class Model:
    """Compares each window with the stream's windows so far, so it must be reset for every stream."""

    def __init__(self, left, right, margin):
        self.left, self.right, self.margin = left, right, margin
        self.reset_state()

    def reset_state(self):
        self.seen = []

    def predict(self, X):
        window = to_numpy(X)[0]
        spectrum = np.abs(np.fft.rfft(window * np.hanning(window.shape[1]), axis=1)) ** 2
        power = np.log(spectrum[:, 16:28].sum(axis=1) + 1e-9)  # 8 to 14 Hz in windows of 2 s
        self.seen.append(power)
        change = power - np.mean(self.seen, axis=0)
        left_hand, right_hand = change[self.right] - change[self.left], change[self.left] - change[self.right]
        if max(left_hand, right_hand) < self.margin:
            return np.array([2])
        # Power falls over the area opposite to the hand.
        return np.array([0 if left_hand < right_hand else 1])


class Solver(CompetSolver):
    name = "Two-hands"

    def load_model(self, meta):
        margin = float(np.load(meta["submission_dir"] / "weights.npy"))
        return Model(meta["ch_names"].index("C3"), meta["ch_names"].index("C4"), margin)
