"""A package in the style of 2021: wait for 240, take 2 s of data, find the best canonical correlation, report."""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

ROWS = list(range(49, 58))  # POz to Oz
LAG_N, WINDOW_N = 35, 500
START = 240


class AlgorithmImplement(AlgorithmInterface):
    def run(self):
        time_s = np.arange(WINDOW_N) / 250
        bases = []
        for key in range(40):
            angle = 2 * np.pi * (8 + 0.2 * key) * np.outer(time_s, [1, 2, 3])
            bases.append(np.linalg.qr(np.concatenate([np.sin(angle), np.cos(angle)], axis=1))[0])
        held, finished = None, False
        while not finished:
            packet = self._problemInterface.getData()
            finished = packet.finishedFlag
            if held is not None:
                held.append(packet.data[ROWS])
                eeg = np.concatenate(held, axis=1)
                if eeg.shape[1] >= LAG_N + WINDOW_N:
                    window = eeg[:, LAG_N : LAG_N + WINDOW_N]
                    own = np.linalg.qr((window - window.mean(axis=1, keepdims=True)).T)[0]
                    report = ReportModel()
                    report.resultType = 1 + int(np.argmax([np.linalg.norm(own.T @ basis, 2) for basis in bases]))
                    self._problemInterface.report(report)
                    held = None
            if START in packet.data[-1]:
                held = []
