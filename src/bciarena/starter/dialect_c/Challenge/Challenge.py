"""This challenge: the server's own engine, which cuts, counts and scores."""

from Challenge.interface.ChallengeInterface import ChallengeInterface
from Challenge.model.BaseModel import BaseModel, DataModel, ResultModel
from Framework.engine.rehearsal import Rehearsal


class Challenge(ChallengeInterface):
    def __init__(self, challenge, data):
        self.match = Rehearsal(challenge, data)
        self.info = self.match.info

    def receive_message(self, receive_model):
        packet = receive_model.packet
        return DataModel(
            data=self.clean_data(packet.data),
            personID=packet.subject,
            blockID=packet.block,
            srate=self.info["rate"],
            ch_names=list(self.info["channels"]),
            nchan=len(self.info["channels"]),
            dimensions=packet.data.shape,
        )

    def clean_data(self, data):
        """The packet with the truth removed from its trigger row; harmless where the engine has done so already."""
        data[-1] = self.match.rulebook.masked_trigger(data[-1].astype(int))
        return data

    def report(self, reportModel):
        self.match.report(reportModel.result)
        return ResultModel(accepted=True)

    def get_score(self):
        return self.match.score()

    def next(self):
        """For the framework: the next packet, through receive_message; None after the last one."""
        packet = self.match.next()
        if packet is None:
            return None
        return packet._replace(data=self.receive_message(BaseModel(packet=packet)).data)
