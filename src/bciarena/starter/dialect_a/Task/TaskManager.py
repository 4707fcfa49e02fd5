"""The task of this challenge: a face of the platform's engine, which cuts, counts and scores."""

from Algorithm.Interface.Model.DataModel import DataModel
from Task.Interface.TaskInterface import TaskInterface
from Task.Interface.TaskManagerInterface import TaskManagerInterface

from bciarena.entries.companion import Rehearsal


class TaskManager(TaskInterface, TaskManagerInterface):
    def __init__(self, challenge):
        self._challenge = challenge
        self._match = None

    def add_data(self, data):
        """A data folder with truth."""
        self._match = Rehearsal(self._challenge, data)

    def get_data(self):
        packet = self._match.next()
        return DataModel(packet.data, packet.start, packet.subject, packet.finished)

    def report(self, report_model):
        self._match.report(report_model.result)

    def get_score(self):
        return self._match.score()

    def clear_data(self):
        self._match = None

    def clear_report(self):
        self._match.restart()
