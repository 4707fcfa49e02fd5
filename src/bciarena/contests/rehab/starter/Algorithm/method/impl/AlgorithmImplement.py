"""A sample: the side from the order of the session, the movement from the rhythms over the motor cortex.

Blocks alternate between the left and the right hand, as the contest text says, and 242 opens each. Bending the elbow
weakens the 8-30 Hz rhythms nearer to the midline than closing the fist does: C2 against C4 (left hand), C1 against C3
(right hand), compared with their mean so far.
"""

import numpy as np
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject

IMAGERY, BLOCK = 200, 242  # codes in the released stream
SKIP_S, WINDOW_S = 0.5, 2.5
ANSWERS = {("left", "flexion"): "1", ("right", "flexion"): "2", ("left", "fist"): "3", ("right", "fist"): "4"}
PLACES = {"left": ("C2", "C4"), "right": ("C1", "C3")}  # where the arm and the hand lie, on the other side


def log_power(eeg, rate):
    """Log power in 8-30 Hz of each row, shape (rows,)."""
    eeg = (eeg - eeg.mean(axis=1, keepdims=True)) * np.hanning(eeg.shape[1])
    frequency = np.fft.rfftfreq(eeg.shape[1], 1 / rate)
    power = np.abs(np.fft.rfft(eeg)) ** 2
    return np.log(power[:, (frequency >= 8) & (frequency <= 30)].mean(axis=1) + 1e-12)


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        source = self._proxy.get_source("eeg_1")
        device = await source.get_device()
        rate, names = int(device.sample_rate), list(device.channel_label)
        window, collecting, blocks, seen, subject = [], False, 0, [], None
        while True:
            packet = await source.get_data()
            if packet.finish_flag:
                return
            if packet.subject_id != subject:
                subject, blocks = packet.subject_id, 0
            codes = packet.data[-1]
            if BLOCK in codes:
                blocks, seen, collecting = blocks + 1, [], False
            if collecting:
                window.append(packet.data[:-1])
                eeg = np.concatenate(window, axis=1)
                if eeg.shape[1] >= int((SKIP_S + WINDOW_S) * rate):
                    side = "right" if blocks and blocks % 2 == 0 else "left"
                    rows = [names.index(name) for name in PLACES[side]]
                    arm, hand = log_power(eeg[rows, int(SKIP_S * rate) :], rate)
                    seen.append(arm - hand)
                    movement = "flexion" if seen[-1] < np.mean(seen) else "fist"
                    result = AlgorithmResultObject()
                    result.result = ANSWERS[side, movement]
                    await self._proxy.report(result)
                    collecting = False
            if IMAGERY in codes:  # this packet still belongs to the trial before
                window, collecting = [], True
