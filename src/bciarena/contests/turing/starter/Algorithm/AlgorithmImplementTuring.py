"""A sample: the trigger tells what the robots did, which leaves two to four tasks; the EEG decides between them.

Flicker tasks show as power at 15.4-15.7 Hz over the visual cortex; imagery of a hand weakens the rhythms over the
opposite motor cortex (C3 for the right hand, C4 for the left); what shows neither is idling.
"""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

RATE = 250
# Bits 6-3 of the trigger -> the tasks that can lead to it: 1, 2 imagery of the left and right hand;
# 3-6 flicker for left, right, pass, shoot; 7 idle.
POSSIBLE = {
    1: (1, 3, 7),
    2: (1, 2, 3, 4),
    3: (1, 2, 3, 4),
    4: (2, 4, 7),
    5: (5, 7),
    6: (6, 3, 1, 7),
    7: (6, 4, 2, 7),
    8: (6, 3, 1, 7),
    9: (6, 4, 2, 7),
}
FLICKER_HZ = {3: 15.4, 4: 15.5, 5: 15.6, 6: 15.7}
VISUAL = list(range(49, 59))  # POz to O2
LEFT, RIGHT = (28, (19, 36, 26, 30)), (29, (20, 37, 27, 31))  # C3 and C4 with their neighbours
SKIP_N, WINDOW_N = 50, 1050
STANDS_OUT = 0.3  # a correlation above this is a flicker


def flicker(eeg):
    """How well the visual cortex follows each flicker task, a dict of correlations."""
    t = np.arange(eeg.shape[1]) / RATE
    spectrum = np.fft.rfft(eeg[VISUAL])
    frequency = np.fft.rfftfreq(eeg.shape[1], 1 / RATE)
    spectrum[:, (frequency < 13) | (frequency > 34)] = 0
    own = np.linalg.qr(np.fft.irfft(spectrum, eeg.shape[1]).T)[0]
    found = {}
    for task, hertz in FLICKER_HZ.items():
        waves = [f(2 * np.pi * h * hertz * t) for h in (1, 2) for f in (np.sin, np.cos)]
        basis = np.linalg.qr(np.array(waves).T)[0]
        found[task] = np.linalg.svd(own.T @ basis, compute_uv=False)[0]
    return found


def log_power(eeg):
    """Log power in 8-30 Hz at C3 and C4, shape (2,)."""
    local = np.array([eeg[row] - eeg[list(around)].mean(axis=0) for row, around in (LEFT, RIGHT)])
    power = np.abs(np.fft.rfft(local * np.hanning(local.shape[1]))) ** 2
    frequency = np.fft.rfftfreq(local.shape[1], 1 / RATE)
    return np.log(power[:, (frequency >= 8) & (frequency <= 30)].mean(axis=1))


class AlgorithmImplementTuring(AlgorithmInterface):
    def run(self):
        window, behaviour, seen, subject = [], None, [], None
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            if packet.subject_id != subject:
                seen, subject = [], packet.subject_id
            if packet.start_pos == 0:
                behaviour = None
            if behaviour is not None:
                window.append(packet.data[:-1])
                eeg = np.concatenate(window, axis=1)
                if eeg.shape[1] >= SKIP_N + WINDOW_N:
                    report = ReportModel()
                    report.result = self.decide(eeg[:, SKIP_N : SKIP_N + WINDOW_N], behaviour, seen)
                    self.task.report(report)
                    behaviour = None
            codes = packet.data[-1][(packet.data[-1] > 0) & (packet.data[-1] < 128)]
            if len(codes):  # this packet still belongs to the trial before
                window, behaviour = [], int(codes[0]) >> 3

    def decide(self, eeg, behaviour, seen):
        possible = POSSIBLE.get(behaviour, (7,))
        seen.append(log_power(eeg))
        c3, c4 = seen[-1] - np.mean(seen, axis=0)
        follows = {task: value for task, value in flicker(eeg).items() if task in possible}
        best = max(follows, key=follows.get)
        if follows[best] > STANDS_OUT:
            return best
        hands = [task for task in (1, 2) if task in possible]
        if hands and min(c3, c4) < 0:
            hand = 1 if c4 < c3 else 2
            if hand in hands:
                return hand
        return 7 if 7 in possible else (hands or [best])[0]
