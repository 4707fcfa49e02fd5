"""The task of this challenge: faces of the platform's engine, which cuts, counts and scores."""

from Algorithm.Interface.Model.DataModel import DataModel
from Algorithm.Interface.ProblemInterface import ProblemInterface
from Task.Interface.TaskInterface import TaskInterface

from bciarena.entries.companion import Rehearsal


class Task(TaskInterface):
    def __init__(self, challenge):
        self._challenge = challenge
        self.match = None
        self.problem = Problem(self)

    def add_data(self, data):
        """A data folder with truth."""
        self.match = Rehearsal(self._challenge, data)

    def get_score(self):
        return self.match.score()

    def clear_data(self):
        self.match = None

    def clear_report(self):
        self.match.restart()


class Problem(ProblemInterface):
    def __init__(self, task):
        self._task = task

    def getData(self):
        packet = self._task.match.next()
        return DataModel(packet.data, packet.start, packet.subject, packet.finished)

    def report(self, reportModel):
        self._task.match.report(reportModel.resultType)
