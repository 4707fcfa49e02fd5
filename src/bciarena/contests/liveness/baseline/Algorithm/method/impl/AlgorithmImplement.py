"""Linear discriminant on spectra for the person, logistic regression on band envelopes for real or generated."""

from pathlib import Path

import joblib
import numpy as np
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject
from features import WINDOW_N, spectra, swell


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        person, reality = joblib.load(Path("model") / "baseline.joblib")
        source = self._proxy.get_source("eeg_1")
        trial = None  # the samples of the running trial, once it has begun and until it is answered
        while True:
            packet = await source.get_data()
            if packet.finish_flag:
                return
            eeg, codes = packet.data[:-1], packet.data[-1]
            if trial is not None:
                trial = np.concatenate([trial, eeg], axis=1)
                if trial.shape[1] >= WINDOW_N:
                    window = trial[:, :WINDOW_N]
                    subject = int(person.predict([spectra(window)])[0])
                    real = int(reality.predict([swell(window)])[0])
                    await self._proxy.report(AlgorithmResultObject(result=f"{real}{subject:05b}"))
                    trial = None
            if 240 in codes:
                # The packet with the code still belongs to the trial before; counting starts with the next one.
                trial = eeg[:, :0]
