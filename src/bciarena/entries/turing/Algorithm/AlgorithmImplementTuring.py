"""Phase-locked flicker evidence and imagery band power, weighed by what the robots' behaviour allows.

The imagery model in ``model/`` was fitted by ``train.py``; the flicker response is learnt while it plays.
"""

import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.decoders.motor_model import MotorModel, MotorPlayer
from bciarena.decoders.phase_locked import PhaseLockedFlicker
from bciarena.decoders.stopping import StoppingPolicy

RATE = 250
OCCIPITAL = [42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58]  # Pz, POz, PO3-PO8, Oz, O1, O2
FLICKER_HZ = [15.4, 15.5, 15.6, 15.7]  # tasks 3-6: left, right, pass, shoot
FIRST_FLICKER = 3
IDLE = 7
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
# A block counts only with 80 % right, so doubt is worth waiting for; at 4.92 s an answer is due.
POLICY = StoppingPolicy(first_s=0.48, last_s=4.92, start=0.97, end=0.85, forced=True)
SURE = 0.95


class AlgorithmImplementTuring(AlgorithmInterface):
    def run(self):
        model = MotorModel.load("model")
        imagery = MotorPlayer(model, recentre=False)
        classes = [int(c) for c in model.classes_]
        flicker = PhaseLockedFlicker(FLICKER_HZ, RATE, len(OCCIPITAL))
        person = None
        possible, motor, answered, data_start = (), {}, True, 0
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
                possible, answered = (), True
            end = packet.start_pos + data.shape[1]
            said = imagery.push(data)
            flicker.push(data[OCCIPITAL])
            if possible:
                if said is not None:
                    motor = dict(zip(classes, said[0] * len(classes), strict=True))
                posterior = weigh(possible, motor, flicker.evidence())
                if not answered:
                    choice = POLICY.decide(posterior, (end - data_start) / RATE)
                    if choice is not None:
                        report = ReportModel()
                        report.result = possible[choice]
                        self.task.report(report)
                        answered = True
                if end - data_start >= TASK_N:
                    best = int(np.argmax(posterior))
                    if FIRST_FLICKER <= possible[best] < IDLE and posterior[best] > SURE:
                        flicker.learn(possible[best] - FIRST_FLICKER)
                    flicker.stop()
                    possible = ()
            for at in np.flatnonzero((data[-1] > 0) & (data[-1] < 128)):
                possible = POSSIBLE.get(int(data[-1, at]) >> 3, tuple(range(1, 8)))
                motor = dict.fromkeys(classes, 1.0)
                answered = False
                data_start = end
                flicker.start(packet.start_pos + int(at))
                imagery.start_trial()


def weigh(possible, motor, evidence):
    """Posterior of the possible tasks: imagery and idle by band power, flicker tasks by their likelihood ratio."""
    flickers = [task for task in possible if FIRST_FLICKER <= task < IDLE]
    best = max(evidence[task - FIRST_FLICKER] for task in flickers)
    logs = []
    for task in possible:
        if task in flickers:
            # That there is a flicker is soon sure; which of two 0.1 Hz apart is believed with half the weight, since
            # the model's phases are not exact.
            logs.append(best + 0.5 * (evidence[task - FIRST_FLICKER] - best))
        else:
            logs.append(np.log(max(motor.get(task, 1.0), 1e-6)))
    odds = np.exp(np.asarray(logs) - max(logs))
    return odds / odds.sum()
