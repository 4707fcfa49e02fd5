"""Right, after one second of every trial."""

import json
import time

from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.DataModel import DataModel
from Algorithm.Interface.Model.ReportModel import ReportModel


class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        with open("Algorithm/script.json") as file:  # the working directory is the package root
            script = json.load(file)
        seen, finished = 0, False
        while not finished:
            packet = self.task.get_data()
            assert type(packet) is DataModel
            assert packet.data[0, 0] == seen, "a sample was lost, doubled or moved"
            seen += packet.data.shape[1]
            finished = packet.finish_flag
            self.report(script["reports"].get(str(seen), script["always"]))
            if seen == script["leave_at"]:
                return
        self.report(script["after_finish"])
        while script["stay"]:
            time.sleep(1)

    def report(self, answers):
        for answer in answers:
            model = ReportModel()
            model.result = answer
            self.task.report(model)
