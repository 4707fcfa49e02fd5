"""Joins a task, its data and an algorithm, and runs them in this process."""

from Framework.engine.contestant.dialect_sync import inject
from Framework.Interface.FrameworkInterface import FrameworkInterface


class AlgorithmSystemManager(FrameworkInterface):
    def __init__(self):
        self._task = self._algorithm = None

    def add_task(self, task):
        self._task = task

    def add_data(self, data):
        self._task.add_data(data)

    def add_algorithm(self, algorithm):
        self._algorithm = algorithm

    def run(self):
        self._task.clear_report()
        inject(self._algorithm, self._task.problem)  # by set_task or setProblemInterface, and under every other name
        self._algorithm.run()

    def get_score(self):
        return self._task.get_score()

    def clear_task(self):
        self._task = None

    def clear_data(self):
        self._task.clear_data()

    def clear_algorithm(self):
        self._algorithm = None

    def clear_report(self):
        self._task.clear_report()
