"""What an algorithm talks to while main.py plays it: the server's own proxy, in front of the challenge."""

from Challenge.model.BaseModel import ReportModel
from Framework.engine.contestant import dialect_async


class Client:
    """The challenge with the three methods that the proxy uses."""

    def __init__(self, challenge):
        self.info, self.next = challenge.info, challenge.next
        self._challenge = challenge

    def report(self, value):
        self._challenge.report(ReportModel(result=value))


class Proxy(dialect_async.Proxy):
    def __init__(self, challenge):
        super().__init__(Client(challenge))
