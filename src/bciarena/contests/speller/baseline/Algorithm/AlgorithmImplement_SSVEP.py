"""Filter-bank CCA in a sliding window of 2 s; answers when the best key leads the second by enough."""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.decoders.cca import FBCCA
from bciarena.decoders.filters import FilterBank, high_pass, low_pass, notch

RATE = 250
FREQS_HZ = 8 + 0.2 * np.arange(40)
OCCIPITAL = [42, 49, 50, 51, 52, 53, 56, 57, 58]  # 0-based rows of Pz, POz, PO3, PO4, PO5, PO6, Oz, O1, O2
WINDOW_N = 2 * RATE
EVERY_N = RATE // 5
LEAD = 0.5  # of the weighted squared correlations; seldom reached by people at rest
PAUSE_N = 4 * RATE  # after an answer: the rest of the flicker, and the window must be new


class AlgorithmImplement_SSVEP(AlgorithmInterface):
    def run(self):
        shared = [low_pass(90, RATE), notch(50, 6, RATE)]  # a narrower notch rings, and its ringing looks like key 11
        bands = [high_pass(low, RATE) for low in (6.5, 14, 22, 30, 38)]
        bank = FilterBank(shared, bands, len(OCCIPITAL))
        decoder = FBCCA(FREQS_HZ, RATE, skip_hz=[(50, 1.3)]).fit(np.zeros((1, 5, len(OCCIPITAL), WINDOW_N)))
        finished = False
        while not finished:
            packet = self._problemInterface.getData()
            finished = packet.finishedFlag
            if packet.startPosition == 0:
                bank.reset()
                window = np.zeros((5, len(OCCIPITAL), 0))
                quiet = WINDOW_N
            new = bank.push(packet.data[OCCIPITAL])
            window = np.concatenate([window, new], axis=2)[:, :, -WINDOW_N:]
            quiet -= new.shape[2]
            if quiet > 0 or window.shape[2] < WINDOW_N or (packet.startPosition // 10) % (EVERY_N // 10):
                continue
            scores = decoder.decision_function(window[None])[0]
            second, best = np.argsort(scores)[-2:]
            if scores[best] - scores[second] > LEAD:
                report = ReportModel()
                report.resultType = int(best) + 1
                self._problemInterface.report(report)
                quiet = PAUSE_N
