"""Slow potentials and band power, weighted over time; answers as soon as that pays in bits per minute.

The model in ``model/`` was fitted by ``train.py``, which also found out where the cue stands: samples before the onset
code cost no time, so a response to a cue before it is used. See ``bciarena.decoders.motor`` for the features.
"""

from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel

from bciarena.decoders.motor_model import MotorModel, MotorPlayer

ONSETS = (201, 202, 203, 249)  # imagery begins; 249 is what the released stream shows


class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        model = MotorModel.load("model")
        player = MotorPlayer(model)
        answered = True
        finished = False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            codes = packet.data[-1]
            if packet.start_pos == 0:
                player.start_block(packet.subject_id)
                answered = True
            said = player.push(packet.data)
            if said is not None and not answered:
                answer = model.policy_.decide(*said)
                if answer is not None:
                    report = ReportModel()
                    report.result = int(model.classes_[answer])
                    self.task.report(report)
                    answered = True
            if any(code in ONSETS for code in codes):
                player.start_trial()
                answered = False
