"""Common spatial patterns and a linear discriminant on one window of 3.6 s: four classes, in a few lines.

It collects the packets that follow a trial's trigger, filters and classifies them, and reports.
``train.py`` wrote one classifier per subject into ``model/``, and one for people it does not know.
"""

from pathlib import Path

import joblib
import numpy as np
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject
from scipy.signal import sosfilt

from bciarena.decoders.filters import band_pass

WINDOW_N = 3600


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        models = {p.stem.split("_")[1]: joblib.load(p) for p in Path("model").glob("subject_*.joblib")}
        source = self._proxy.get_source("eeg_1")
        window, collecting = [], False
        while True:
            packet = await source.get_data()
            if packet.data is None:  # after the last packet
                return
            if collecting:
                window.append(packet.data[:-1])
                trial = np.concatenate(window, axis=1)
                if trial.shape[1] >= WINDOW_N:
                    filtered = sosfilt(band_pass(8, 30, 1000), trial[:, :WINDOW_N] - trial[:, :1], axis=1)
                    model = models.get(packet.subject_id, models["0"])  # of everyone, for a stranger
                    answer = model.predict(filtered[None, :, 400:])[0]
                    await self._proxy.report(AlgorithmResultObject(result=str(answer)))
                    collecting = False
            if 200 in packet.data[-1]:  # the trial's data begin with the next packet
                window, collecting = [], True
