"""A sample: real EEG is more uneven than generated EEG.

Eyes and attention make real slow waves peaked and lopsided, and real fast rhythms wax and wane; most generators make
both too regular. Three such numbers of the first 3.4 s are weighed together. Whose EEG it is stays open: to tell people
apart you need their calibration sets, so the sample always says subject 1.
"""

import numpy as np
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject

RATE = 250
TRIAL = 240  # opens a trial in the scored stream; labelled sets have the subject's code instead
END = 241
WINDOW_N, PIECE_N = 850, 50
# Fitted beforehand by logistic regression: peakedness, lopsidedness, waxing and waning; then the constant.
WEIGHTS = np.array([1.7, 0.33, 5.1])
CONSTANT = 1.4


def band(eeg, low, high):
    """A window (rows, samples) between two frequencies in Hz, each row scaled to unit variance."""
    spectrum = np.fft.rfft(eeg)
    frequency = np.fft.rfftfreq(eeg.shape[1], 1 / RATE)
    spectrum[:, (frequency < low) | (frequency > high)] = 0
    wave = np.fft.irfft(spectrum, eeg.shape[1])
    return wave / (wave.std(axis=1, keepdims=True) + 1e-12)


def features(eeg):
    """How peaked and lopsided the slow waves are and how the fast rhythms change, shape (3,), as logarithms."""
    slow, fast = band(eeg, 1, 7), band(eeg, 14, 30)
    pieces = (fast.reshape(len(fast), -1, PIECE_N) ** 2).mean(axis=2)
    return np.log([(slow**4).mean(), np.abs((slow**3).mean(axis=1)).mean(), np.log(pieces).std(axis=1).mean()])


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        source = self._proxy.get_source("eeg_1")
        window, collecting = [], False
        while True:
            packet = await source.get_data()
            if packet.finish_flag:
                return
            codes = packet.data[-1]
            if collecting:
                window.append(packet.data[:-1])
                eeg = np.concatenate(window, axis=1)
                if eeg.shape[1] >= WINDOW_N or END in codes:
                    eeg = eeg[:, : min(WINDOW_N, eeg.shape[1]) // PIECE_N * PIECE_N]
                    real = WEIGHTS @ features(eeg) + CONSTANT > 0
                    result = AlgorithmResultObject()
                    result.result = ("1" if real else "0") + "00001"
                    await self._proxy.report(result)
                    collecting = False
            if TRIAL in codes:  # this packet still belongs to what was before
                window, collecting = [], True
