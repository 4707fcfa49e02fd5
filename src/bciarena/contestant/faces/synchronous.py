"""Dialects A (snake_case: turing, imagery) and B (camelCase: speller).

Their objects are one and the same here: every name of both dialects is on each of them.
"""


class DataModel:
    """One packet: ``data`` (channels + 1, n) float64, last row the trigger."""

    def __init__(self, data=None, start_pos=None, subject_id=None, finish_flag=False):
        self.data = data
        self.start_pos = self.startPosition = start_pos
        self.subject_id = self.personID = subject_id
        self.finish_flag = self.finishedFlag = self.finished_flag = self.end_flag = self.Endflag = finish_flag


class ReportModel:
    """One answer, in ``result`` (A) or ``resultType`` (B)."""

    def __init__(self, result=None):
        self.result = result
        self.resultType = None


class TaskInterface:
    """What an algorithm of dialect A talks to."""

    def get_data(self):
        raise NotImplementedError

    def report(self, report_model):
        raise NotImplementedError


class ProblemInterface:
    """What an algorithm of dialect B talks to."""

    def getData(self):
        raise NotImplementedError

    def report(self, reportModel):
        raise NotImplementedError


class AlgorithmInterface:
    """Base class of an algorithm: it is given its task, then run."""

    task = None
    _problemInterface = None
    PROBLEMNAME = ""

    def set_task(self, task):
        self.task = task

    def setProblemInterface(self, problemInterface):
        self._problemInterface = problemInterface

    def run(self):
        raise NotImplementedError("run() is the algorithm's own")
