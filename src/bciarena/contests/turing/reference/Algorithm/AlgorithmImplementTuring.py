"""Phase-locked flicker evidence and imagery band power, weighed by what the robots' behaviour makes likely.

The imagery model in ``model/`` was fitted by ``train.py``, and so were the weights of the two kinds of evidence and how
long looking on pays at which price of a right answer. The price comes from where the block stands
(``bciarena.contests.turing.blocks``); flicker response and rest are learnt while it plays.
"""

import json
from pathlib import Path

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.contests.turing.blocks import BlockBook, Patience, worth
from bciarena.contests.turing.hands import HandsModel, HandsPlayer
from bciarena.contests.turing.tasks import TaskWeights, prior
from bciarena.decoders.phase_locked import PhaseLockedFlicker

RATE, PACKET_N = 250, 10
OCCIPITAL = [42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58]  # Pz, POz, PO3-PO8, Oz, O1, O2
FLICKER_HZ = [15.4, 15.5, 15.6, 15.7]  # tasks 3-6: left, right, pass, shoot
FLICKERS = (3, 4, 5, 6)
EQUAL = np.full(3, 1 / 3)  # left, right, idle
TASK_N = 5 * RATE
SURE = 0.95


class AlgorithmImplementTuring(AlgorithmInterface):
    def run(self):
        hands = HandsPlayer(HandsModel.load("model"))
        fitted = json.loads(Path("model", "turing.json").read_text("utf-8"))
        weights, patience = TaskWeights(**fitted["weights"]), Patience.from_dict(fitted["patience"])
        # Answer only at the moments that were rehearsed.
        looks_n = {packets * PACKET_N: moment for moment, packets in enumerate(fitted["packets"])}
        flicker = PhaseLockedFlicker(FLICKER_HZ, RATE, len(OCCIPITAL))
        person, book, before = None, None, None
        motor, answer, answered_s, price_s, data_start = EQUAL, None, 0.0, 0.0, 0  # of the trial that is on
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            data = np.asarray(packet.data, dtype=float)
            if packet.start_pos == 0:
                if packet.subject_id != person:
                    person = packet.subject_id
                    flicker.new_person()
                    way = fitted["ways"].get(str(person), fitted["ways"]["0"])
                    book = BlockBook(worth(way["accuracy"], way["length_s"]))
                book.restart()
                flicker.new_block()
                hands.start_block(person)
                before = None
            end = packet.start_pos + data.shape[1]
            said = hands.push(data)
            flicker.push(data[OCCIPITAL])
            if before is not None:
                if said is not None:
                    motor = said
                used_n = end - data_start
                over = used_n >= TASK_N
                if over or (used_n in looks_n and answer is None):
                    posterior = weights.posterior(motor, flicker.evidence(), before, used_n / RATE)
                    if not over:
                        answer = patience.decide(posterior, looks_n[used_n], price_s)
                        if answer is not None:
                            report = ReportModel()
                            report.result = answer + 1
                            self.task.report(report)
                            answered_s = used_n / RATE
                if over:
                    # All of the trial's data tell better than what was known at the answer whether it was right.
                    book.enter(0.0 if answer is None else float(posterior[answer]), answered_s)
                    best = int(np.argmax(posterior)) + 1
                    if best in FLICKERS and posterior[best - 1] > SURE:
                        flicker.learn(best - FLICKERS[0])
                    flicker.stop()
                    hands.stop_trial()
                    before = None
            for at in np.flatnonzero((data[-1] > 0) & (data[-1] < 128)):
                before = prior(int(data[-1, at]) >> 3)
                motor, answer, answered_s = EQUAL, None, TASK_N / RATE
                data_start = end
                price_s = book.price_s()
                flicker.start(packet.start_pos + int(at))
                hands.start_trial()
