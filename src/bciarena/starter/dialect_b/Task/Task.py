"""The task of this challenge: the server's own engine, which cuts, counts and scores."""

from Framework.engine.contestant.dialect_sync import Task as Problem
from Framework.engine.rehearsal import Rehearsal
from Task.Interface.TaskInterface import TaskInterface


class Task(TaskInterface):
    def __init__(self, challenge):
        self._challenge = challenge
        self.match = self.problem = None

    def add_data(self, data):
        """A data folder with truth."""
        self.match = Rehearsal(self._challenge, data)
        self.problem = Problem(self.match)  # what the algorithm talks to

    def get_score(self):
        return self.match.score()

    def clear_data(self):
        self.match = self.problem = None

    def clear_report(self):
        """Forget all reports and start again with the first packet."""
        self.match.restart()
        self.problem = Problem(self.match)
