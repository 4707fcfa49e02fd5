"""Common spatial patterns and a linear discriminant on one window of 1.48 s: the classic method, in a few lines.

It keeps the last samples of the filtered stream, waits until enough packets have come since the trial's
trigger, classifies them, and reports. ``train.py`` wrote one classifier per subject into ``model/``, and one for
people it does not know.
"""

from pathlib import Path

import joblib
import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.decoders.filters import FilterBank, band_pass

WINDOW_N = 370
CHANNELS = 59  # scalp rows; the others are heart, eyes and the trigger


class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        models = {int(p.stem.split("_")[1]): joblib.load(p) for p in Path("model").glob("subject_*.joblib")}
        filters = FilterBank([], [band_pass(8, 30, 250)], CHANNELS)
        window, collecting = [], False
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            if packet.start_pos == 0:
                filters.reset()
                collecting = False
            filtered = filters.push(packet.data[:CHANNELS])[0]
            if collecting:
                window.append(filtered)
                epoch = np.concatenate(window, axis=1)
                if epoch.shape[1] >= WINDOW_N:
                    model = models.get(packet.subject_id, models[0])  # 0: of everyone, for a stranger
                    report = ReportModel()
                    report.result = int(model.predict(epoch[None, :, :WINDOW_N])[0])
                    self.task.report(report)
                    collecting = False
            if 249 in packet.data[-1]:  # the trial's data begin with the next packet
                window, collecting = [], True
