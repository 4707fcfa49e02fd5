"""Dialects A (snake_case: turing, imagery) and B (camelCase: speller).

Their objects are one and the same here: every name of both dialects is on each of them.
"""


class DataModel:
    """One packet, as get_data() or getData() returns it."""

    def __init__(self, data=None, start_pos=None, subject_id=None, finish_flag=False):
        self.data = data  # (channels + 1, samples) float64, microvolts; the last row is the trigger
        self.start_pos = self.startPosition = start_pos  # int: first sample, counted from the start of its block
        self.subject_id = self.personID = subject_id  # int: number of the subject, from 1
        # bool: True with the very last packet; the contest texts call it by all these names
        self.finish_flag = self.finishedFlag = self.finished_flag = self.end_flag = self.Endflag = finish_flag


class ReportModel:
    """One answer, as report() takes it: in ``result`` (A) or ``resultType`` (B)."""

    def __init__(self, result=None):
        self.result = result
        self.resultType = None


class TaskInterface:
    """The task as an algorithm of dialect A sees it."""

    def get_data(self):
        """The next packet, a DataModel."""
        raise NotImplementedError

    def report(self, report_model):
        """Take an answer, a ReportModel."""
        raise NotImplementedError


class ProblemInterface:
    """The problem as an algorithm of dialect B sees it."""

    def getData(self):
        """The next packet, a DataModel."""
        raise NotImplementedError

    def report(self, reportModel):
        """Take an answer, a ReportModel."""
        raise NotImplementedError


class TaskManagerInterface:
    """The task as the framework sees it."""

    def add_data(self, data):
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError

    def clear_data(self):
        raise NotImplementedError

    def clear_report(self):
        raise NotImplementedError


class FrameworkInterface:
    """What joins a task, its data and an algorithm."""

    def add_task(self, task):
        raise NotImplementedError

    def add_data(self, data):
        raise NotImplementedError

    def add_algorithm(self, algorithm):
        raise NotImplementedError

    def run(self):
        raise NotImplementedError

    def get_score(self):
        raise NotImplementedError

    def clear_task(self):
        raise NotImplementedError

    def clear_data(self):
        raise NotImplementedError

    def clear_algorithm(self):
        raise NotImplementedError

    def clear_report(self):
        raise NotImplementedError


class AlgorithmInterface:
    """What an algorithm derives from: it is given its task, then run."""

    task = None
    _problemInterface = None
    comm_proxy = None
    algo_sys_mng = None
    PROBLEMNAME = ""

    def set_task(self, task):
        """Dialect A, before run: ``task`` has get_data() and report(report_model)."""
        self.task = task

    def setProblemInterface(self, problemInterface):
        """Dialect B, before run: it has getData() and report(reportModel)."""
        self._problemInterface = problemInterface

    def run(self):
        """The algorithm. Leave it when a packet's finish flag is True."""
        raise NotImplementedError("run() is the algorithm's own")
