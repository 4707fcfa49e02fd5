"""The challenge as the framework sees it."""


class ChallengeInterface:
    def receive_message(self, receive_model):
        """Take what the framework asks for; gives the next packet."""
        raise NotImplementedError

    def report(self, reportModel):
        """Take what the algorithm reports."""
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError
