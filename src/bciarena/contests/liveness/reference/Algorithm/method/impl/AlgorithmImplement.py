"""Compares each trial with the person's real EEG and with what generators make of it; answers once, from 3 s on.

The model in ``model/`` was fitted by ``train.py``. See ``bciarena.contests.liveness.decoder`` for the features.
"""

import numpy as np
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject

from bciarena.contests.liveness.decoder import LivenessModel, LivenessPlayer

TRIAL_START, TRIAL_END = 240, 241


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        source = self._proxy.get_source("eeg_1")
        player = LivenessPlayer(LivenessModel.load("model"))
        waiting = False
        while True:
            packet = await source.get_data()
            if packet.finish_flag:
                return
            eeg, codes = packet.data[:-1], packet.data[-1]
            # What a packet holds before the next trial's code belongs to the trial before it.
            if waiting:
                ends = np.flatnonzero(codes == TRIAL_END)
                said = player.push(eeg[:, : ends[0]] if len(ends) else eeg, last=len(ends) > 0)
                if said is not None:
                    real, subject = said
                    await self._proxy.report(AlgorithmResultObject(result=f"{int(real)}{subject:05b}"))
                    waiting = False
            starts = np.flatnonzero(codes == TRIAL_START)
            if len(starts):
                player.begin(eeg[:, starts[-1] + 1 :])
                waiting = True
