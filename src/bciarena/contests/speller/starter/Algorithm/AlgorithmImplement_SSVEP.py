"""A sample: looking at a flickering key makes the visual cortex oscillate at the key's frequency.

Nothing in the stream tells when a key flickers, so a window slides. Canonical correlation compares it with sines of all
40 frequencies in four bands; a key is reported when it stands out twice in a row, and then nothing until it has faded.
"""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

RATE = 250
ROWS = list(range(49, 59))  # POz to O2
FREQUENCIES = [8 + 0.2 * key for key in range(40)]
HARMONICS = 4
BANDS_HZ = (7, 15, 23, 31)  # from here up; the first weighs most
WINDOW_N, STEP_N = 500, 50
STANDS_OUT = 6.0  # standard deviations above the other keys


def sines():
    """Orthonormal sines and cosines of each frequency, side by side, shape (WINDOW_N, 40 * 2 * HARMONICS)."""
    t = np.arange(WINDOW_N) / RATE
    bases = []
    for frequency in FREQUENCIES:
        waves = [f(2 * np.pi * h * frequency * t) for h in range(1, HARMONICS + 1) for f in (np.sin, np.cos)]
        bases.append(np.linalg.qr(np.array(waves).T)[0])
    return np.concatenate(bases, axis=1)


def evidence(eeg, bases):
    """Squared canonical correlation of a window (rows, WINDOW_N) with each key, all bands together, shape (40,)."""
    spectrum = np.fft.rfft(eeg - eeg.mean(axis=1, keepdims=True))
    frequency = np.fft.rfftfreq(WINDOW_N, 1 / RATE)
    total = np.zeros(len(FREQUENCIES))
    for number, low in enumerate(BANDS_HZ, 1):
        keep = (frequency >= low) & (frequency < 90) & (np.abs(frequency - 50) > 1.5)
        own = np.linalg.qr(np.fft.irfft(spectrum * keep, WINDOW_N).T)[0]
        shared = (own.T @ bases).reshape(len(ROWS), len(FREQUENCIES), -1).transpose(1, 2, 0)
        total += (number**-1.25 + 0.25) * np.linalg.eigvalsh(shared @ shared.transpose(0, 2, 1))[:, -1]
    return total


class AlgorithmImplement_SSVEP(AlgorithmInterface):
    def run(self):
        bases = sines()
        eeg, fresh_n, before, quiet = np.zeros((len(ROWS), 0)), 0, None, True
        finished = False
        while not finished:
            packet = self._problemInterface.getData()
            finished = packet.finishedFlag
            if packet.startPosition == 0:
                eeg, before, quiet = eeg[:, :0], None, True
            eeg = np.concatenate([eeg, packet.data[ROWS]], axis=1)[:, -WINDOW_N:]
            fresh_n += packet.data.shape[1]
            if eeg.shape[1] < WINDOW_N or fresh_n < STEP_N:
                continue
            fresh_n = 0
            found = evidence(eeg, bases)
            best = int(np.argmax(found))
            others = np.delete(found, best)
            out = found[best] > others.mean() + STANDS_OUT * others.std()
            if out and best == before and quiet:
                report = ReportModel()
                report.resultType = best + 1
                self._problemInterface.report(report)
                quiet = False
            quiet = quiet or not out
            before = best if out else None
