"""A sample: imagining a movement weakens the 8-30 Hz rhythms over the part of the motor cortex that would make it.

The left hand's part lies under C4, the right hand's under C3, the feet's under Cz. After 2 s of imagery the place
whose power fell most, compared with its mean so far, gives the answer. Nothing is learnt beforehand.
"""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

RATE = 250
ANSWERS = (201, 202, 203)  # left hand, right hand, feet
# Each place against its neighbours (rows from 0): C4, C3, Cz.
PLACES = ((29, (20, 37, 27, 31)), (28, (19, 36, 26, 30)), (25, (16, 26, 27, 42)))
SKIP_N, WINDOW_N = 125, 500  # the first half second is the change itself
IMAGERY = 249  # what the released stream says at the onset of imagery


def log_power(eeg):
    """Log power in 8-30 Hz at the three places, shape (3,), of a window (rows, samples)."""
    local = np.array([eeg[row] - eeg[list(around)].mean(axis=0) for row, around in PLACES])
    local = (local - local.mean(axis=1, keepdims=True)) * np.hanning(local.shape[1])
    frequency = np.fft.rfftfreq(local.shape[1], 1 / RATE)
    power = np.abs(np.fft.rfft(local)) ** 2
    return np.log(power[:, (frequency >= 8) & (frequency <= 30)].mean(axis=1))


class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        window, collecting, seen, subject = [], False, [], None
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            if packet.subject_id != subject:
                seen, subject = [], packet.subject_id
            if packet.start_pos == 0:
                collecting = False
            if collecting:
                window.append(packet.data[:-1])
                eeg = np.concatenate(window, axis=1)
                if eeg.shape[1] >= SKIP_N + WINDOW_N:
                    seen.append(log_power(eeg[:, SKIP_N : SKIP_N + WINDOW_N]))
                    report = ReportModel()
                    report.result = ANSWERS[int(np.argmin(seen[-1] - np.mean(seen, axis=0)))]
                    self.task.report(report)
                    collecting = False
            if IMAGERY in packet.data[-1]:  # this packet still belongs to the trial before
                window, collecting = [], True
