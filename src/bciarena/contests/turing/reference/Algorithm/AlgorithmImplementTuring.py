"""Phase-locked flicker evidence and imagery band power, restricted to what the robots' behaviour allows.

The imagery model in ``model/`` was fitted by ``train.py``, and so were the weights of the two kinds of evidence and the
moment to answer; the flicker response is learnt while it plays.
"""

import json
from pathlib import Path

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.contests.turing.tasks import TASKS, TaskWeights
from bciarena.decoders.motor_model import MotorModel, MotorPlayer
from bciarena.decoders.phase_locked import PhaseLockedFlicker
from bciarena.decoders.stopping import StoppingPolicy

RATE, PACKET_N = 250, 10
OCCIPITAL = [42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58]  # Pz, POz, PO3-PO8, Oz, O1, O2
FLICKER_HZ = [15.4, 15.5, 15.6, 15.7]  # tasks 3-6: left, right, pass, shoot
FLICKERS = (3, 4, 5, 6)
EQUAL = np.full(3, 1 / 3)  # left, right, idle
# Table 2: the robots' behaviour (bits 6-3 of the code) -> what the subject may have been asked to do.
POSSIBLE = {
    1: (1, 3, 7),
    2: (1, 2, 3, 4),
    3: (1, 2, 3, 4),
    4: (2, 4, 7),
    5: (5, 7),
    6: (6, 3, 1, 7),
    7: (6, 4, 2, 7),
    8: (6, 3, 1, 7),
    9: (6, 4, 2, 7),
}
TASK_N = 5 * RATE
SURE = 0.95


class AlgorithmImplementTuring(AlgorithmInterface):
    def run(self):
        model = MotorModel.load("model")
        imagery = MotorPlayer(model, recentre=False)
        fitted = json.loads(Path("model", "turing.json").read_text("utf-8"))
        weights, policy = TaskWeights(**fitted["weights"]), StoppingPolicy.from_dict(fitted["policy"])
        # Answer only at the moments that were rehearsed: more decisions would mean more hasty ones.
        looks_n = {packets * PACKET_N for packets in fitted["packets"]}
        flicker = PhaseLockedFlicker(FLICKER_HZ, RATE, len(OCCIPITAL))
        person = None
        possible, motor, answered, data_start = None, EQUAL, True, 0
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            data = np.asarray(packet.data, dtype=float)
            if packet.start_pos == 0:
                if packet.subject_id != person:
                    person = packet.subject_id
                    flicker.new_person()
                flicker.new_block()
                imagery.start_block(person)
                possible, answered = None, True
            end = packet.start_pos + data.shape[1]
            said = imagery.push(data)
            flicker.push(data[OCCIPITAL])
            if possible is not None:
                if said is not None:
                    motor = said[0]
                used_n = end - data_start
                over = used_n >= TASK_N
                if over or (used_n in looks_n and not answered):
                    used_s = used_n / RATE
                    posterior = weights.posterior(motor, flicker.evidence(), possible, used_s)
                    choice = None if answered else policy.decide(posterior, used_s)
                    if choice is not None:
                        report = ReportModel()
                        report.result = choice + 1
                        self.task.report(report)
                        answered = True
                if over:
                    best = int(np.argmax(posterior)) + 1
                    if best in FLICKERS and posterior[best - 1] > SURE:
                        flicker.learn(best - FLICKERS[0])
                    flicker.stop()
                    possible = None
            for at in np.flatnonzero((data[-1] > 0) & (data[-1] < 128)):
                tasks = POSSIBLE.get(int(data[-1, at]) >> 3, range(1, TASKS + 1))
                possible = np.isin(np.arange(1, TASKS + 1), list(tasks))
                motor = EQUAL
                answered = False
                data_start = end
                flicker.start(packet.start_pos + int(at))
                imagery.start_trial()
