"""Plays an entry of dialect A or B: one task object with the verbs of both."""

import sys

from .faces import synchronous
from .names import shared_class


class Task(synchronous.TaskInterface, synchronous.ProblemInterface):
    """``task`` of dialect A, ``problemInterface`` of B, ``comm_proxy`` of 2023, ``algo_sys_mng`` of 2022 online."""

    def __init__(self, client):
        self._client = client
        self._model, self._modules = synchronous.DataModel, 0
        self._finished = False

    def get_data(self):
        if self._finished:
            raise EOFError("the data had ended: the finish flag was True on the packet before")
        packet = self._client.next()
        if packet is None:
            raise EOFError("there is no more data")
        self._finished = flag = packet.finished
        if len(sys.modules) != self._modules:  # an entry may import its DataModel as late as it likes
            self._model = shared_class("DataModel", "DataModel", synchronous.DataModel)
            self._modules = len(sys.modules)
        data_model = self._model.__new__(self._model)
        start, person = packet.start, packet.subject
        fields = {
            "data": packet.data,
            "start_pos": start,
            "startPosition": start,
            "subject_id": person,
            "personID": person,
            "finish_flag": flag,
            "finishedFlag": flag,
            "finished_flag": flag,
            "end_flag": flag,
            "Endflag": flag,
        }
        try:
            data_model.__dict__.update(fields)
        except AttributeError:  # an entry's own class with __slots__
            for name in fields:
                if hasattr(self._model, name):
                    setattr(data_model, name, fields[name])
        return data_model

    getData = get_data

    def report(self, report_model=None):
        self._client.report(answer_of(report_model))


def answer_of(report_model):
    """The answer in a ReportModel, whichever of its two fields was filled; a bare value is an answer itself."""
    result = getattr(report_model, "result", None)
    if result is None:
        result = getattr(report_model, "resultType", None)
    if result is None and not (hasattr(report_model, "result") or hasattr(report_model, "resultType")):
        return report_model
    return result


def inject(entry, task):
    """Give the entry its task under every name the contests used."""
    for setter in ("set_task", "setProblemInterface", "set_algorithm_system_manager", "set_comm_proxy"):
        if callable(getattr(entry, setter, None)):
            getattr(entry, setter)(task)
    for name in ("task", "_problemInterface", "problemInterface", "ProblemInterface", "comm_proxy", "algo_sys_mng"):
        try:
            setattr(entry, name, task)
        except AttributeError:  # a read-only property of the entry's own: its setter above has done it
            continue


def play_sync(entry, client):
    """Run an entry of dialect A or B to its end."""
    inject(entry, Task(client))
    entry.run()
