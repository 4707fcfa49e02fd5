"""Sliding filter-bank CCA against the person's own idle EEG, joined by a template learnt from the answers."""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.decoders.asynchronous import AsynchronousSpeller

RATE = 250
PACKET_N = 10
FREQS_HZ = [8 + 0.2 * i for i in range(40)]
# 0-based rows of Pz, POz, PO3, PO4, PO5, PO6, Oz, O1, O2; then of their neighbours, should too few of them be live.
OCCIPITAL = [42, 49, 50, 51, 52, 53, 56, 57, 58]
NEIGHBOURS = [54, 55, 43, 44, 45, 46, 47, 48]
LOOK_PACKETS = 10
BLOCK_BEGINS = 242


class AlgorithmImplement_SSVEP(AlgorithmInterface):
    """The 40-key asynchronous speller."""

    def run(self):
        person, speller, rows, waiting = None, None, None, []
        while True:
            model = self._problemInterface.getData()
            data = np.asarray(model.data, dtype=float)
            if model.personID != person:
                person, speller, waiting = model.personID, None, []
            elif model.startPosition == 0 and speller is not None:
                speller.new_block()
            if speller is None:
                # Which channels carry a signal is seen from the first 0.4 s.
                waiting.append(data)
                if len(waiting) == LOOK_PACKETS:
                    rows = live_rows(np.concatenate(waiting, axis=1))
                    speller = AsynchronousSpeller(FREQS_HZ, RATE, PACKET_N, len(rows))
                    for packet in waiting:
                        speller.push(packet[rows])
            elif data.shape[1] == PACKET_N:  # a block's last packet may be shorter: nothing follows it
                if BLOCK_BEGINS in data[-1]:
                    speller.begin()
                key = speller.push(data[rows])
                if key is not None:
                    report = ReportModel()
                    report.resultType = key + 1
                    self._problemInterface.report(report)
            if model.finishedFlag:
                return


def live_rows(data):
    """Rows of the occipital channels that are not flat; neighbours are added while there are fewer than four."""
    moves = np.nanmax(data[:-1], axis=1, initial=-np.inf) > np.nanmin(data[:-1], axis=1, initial=np.inf)
    rows = [row for row in OCCIPITAL if moves[row]]
    for row in NEIGHBOURS:
        if len(rows) < 4 and moves[row]:
            rows.append(row)
    return rows or OCCIPITAL
