"""Plain CCA after 4 s: a flicker if one stands out, else a guess among what the robots' behaviour leaves."""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.decoders.cca import CCA
from bciarena.decoders.filters import FilterBank, high_pass, low_pass, notch

RATE = 250
OCCIPITAL = [42, 49, 50, 51, 52, 53, 56, 57, 58]
FLICKER = {3: 15.4, 4: 15.5, 5: 15.6, 6: 15.7}
POSSIBLE = {  # Table 2: behaviour -> tasks, the likelier guess first where there is no flicker
    1: (7, 1, 3),
    2: (1, 2, 3, 4),
    3: (1, 2, 3, 4),
    4: (7, 2, 4),
    5: (7, 5),
    6: (7, 1, 3, 6),
    7: (7, 2, 4, 6),
    8: (7, 1, 3, 6),
    9: (7, 2, 4, 6),
}
WINDOW_N = 4 * RATE
PRESENT = 0.35  # correlation above which there is a flicker


class AlgorithmImplementTuring(AlgorithmInterface):
    def run(self):
        bank = FilterBank([low_pass(90, RATE), notch(50, 6, RATE)], [high_pass(12, RATE)], len(OCCIPITAL))
        decoder = CCA(list(FLICKER.values()), RATE, 2).fit(np.zeros((1, len(OCCIPITAL), WINDOW_N)))
        possible, window = None, None
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            if packet.start_pos == 0:
                bank.reset()
                possible = None
            new = bank.push(packet.data[OCCIPITAL])[0]
            if possible is not None:
                window = np.concatenate([window, new], axis=1)
                if window.shape[1] >= WINDOW_N:
                    found = dict(zip(FLICKER, decoder.decision_function(window[None, :, :WINDOW_N])[0], strict=True))
                    best = max((task for task in possible if task in FLICKER), key=found.get)
                    report = ReportModel()
                    report.result = best if found[best] > PRESENT else possible[0]
                    self.task.report(report)
                    possible = None
            for code in packet.data[-1]:
                if 0 < code < 128:
                    possible = POSSIBLE.get(int(code) >> 3, tuple(range(1, 8)))
                    window = np.zeros((len(OCCIPITAL), 0))
