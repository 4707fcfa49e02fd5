"""This challenge: a face of the platform's engine, which cuts, counts and scores."""

from Challenge.interface.ChallengeInterface import ChallengeInterface

from bciarena.entries.companion import Rehearsal


class Challenge(ChallengeInterface):
    def __init__(self, challenge, data):
        self._match = Rehearsal(challenge, data)
        self.info = self._match.info

    def receive_message(self, receive_model=None):
        return self._match.next()

    def report(self, reportModel):
        self._match.report(reportModel.result)

    def get_score(self):
        return self._match.score()
