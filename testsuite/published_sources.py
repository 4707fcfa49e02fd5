"""Sources of packages as they were written over the years, each by its form; published.py packs them."""

INTERFACE_A = """class AlgorithmInterface:
    def __init__(self):
        self.task = None

    def set_task(self, task):
        self.task = task

    def run(self):
        pass
"""
INTERFACE_B = """class AlgorithmInterface(object):
    PROBLEMNAME = ''

    def __init__(self):
        self._problemInterface = None

    def setProblemInterface(self, problemInterface):
        self._problemInterface = problemInterface

    def run(self):
        raise NotImplementedError
"""
INTERFACE_ONLINE = """from abc import ABCMeta, abstractmethod


class AlgorithmInterface(metaclass=ABCMeta):
    algo_sys_mng = None

    @abstractmethod
    def run(self):
        pass

    def set_algorithm_system_manager(self, manager):
        self.algo_sys_mng = manager
"""
DATA = "class DataModel:\n    data = None\n    start_pos = None\n    subject_id = None\n    finish_flag = False\n"
REPORT = "class ReportModel:\n    result = None\n"

SYNC = """import json
import os

import numpy as np
{imports}


class {name}({base}):
    def __init__(self):
        super().__init__()
        with open(os.path.join(os.path.dirname(__file__), "script.json")) as file:
            self.answers = json.load(file)["reports"]

    def run(self):
        seen, finished = 0, False
        while not finished:
            packet = {get}()
            while {again}:
                packet = {get}()
            packet.data = np.array(packet.data)
            seen += packet.data.shape[1]
            finished = packet.{flag}
            for answer in self.answers.get(str(seen), ()):
                {report}
"""
REPORTED = """model = ReportModel()
                model.{field} = answer
                self.{task}.report(model)"""


def sync(name, imports, task, get="get_data", flag="finish_flag", field="result", again="packet is None", bare=False):
    """An algorithm of dialect A or B in one of its spellings."""
    report = f"self.{task}.report(answer)" if bare else REPORTED.format(field=field, task=task)
    words = {"name": name, "imports": imports, "get": f"self.{task}.{get}", "flag": flag, "again": again}
    return SYNC.format(base="AlgorithmInterface", report=report, **words)


def a(root="Algorithm", name="AlgorithmImplementMI"):
    imports = (
        f"from {root}.Interface.AlgorithmInterface import AlgorithmInterface\n"
        f"from {root}.Interface.Model.ReportModel import ReportModel\nfrom {root}.filters import GAIN  # noqa"
    )
    return sync(name, imports, "task")


ASYNC = """import json
import os

from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmDataObject, AlgorithmResultObject
from filters import GAIN  # noqa


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "script.json")) as file:
            answers = json.load(file)["reports"]
        source = self._proxy.get_source("eeg_1")
        device = await source.get_device()
        seen = 0
        while not self._end_flag:
            packet = await source.get_data()
            assert isinstance(packet, AlgorithmDataObject)
            self._end_flag = packet.finish_flag
            if packet.data is not None:
                assert packet.data.shape[0] == device.channel_number + 1
                seen += packet.data.shape[1]
            for answer in answers.get(str(seen), ()) if packet.data is not None else ():
                result = AlgorithmResultObject()
                result.result = answer
                await self._proxy.report(result)
"""
OBJECTS_2024 = """from dataclasses import dataclass, field


@dataclass
class AlgorithmDataObject:
    start_position: int = None
    data: object = None
    subject_id: str = None
    other_information: dict = field(default_factory=dict)
    finish_flag: bool = None


@dataclass
class AlgorithmDeviceObject:
    data_type: str = None
    channel_number: int = None
    sample_rate: float = None
    channel_label: list = None
    other_information: dict = None


@dataclass
class AlgorithmResultObject:
    result: object = None
"""
INTERFACE_C = """class AlgorithmInterface:
    def __init__(self):
        self._proxy = None
        self._end_flag = False

    def set_proxy(self, proxy):
        self._proxy = proxy

    async def run(self):
        pass
"""
YML = """method:
  method_class_file: {file}
  method_class_name: AlgorithmImplement
sources:
  eeg_1:
    source_receiver:
      configuration:
        chunk_size: {chunk}
"""
MAIN_MI = (
    "from Algorithm.AlgorithmImplementMI import AlgorithmImplementMI\nfrom Framework.AlgorithmSystemManager import X\n"
)
OTHER = "raise RuntimeError('the framework of an upload must not run')\n"
STRAY = "class AlgorithmImplementMI:\n    def run(self):\n        raise RuntimeError('a stray copy was played')\n"
FILTERS = "GAIN = 1.0\n"


def mi(top=""):
    return {
        f"{top}Algorithm/AlgorithmImplementMI.py": a(),
        f"{top}Algorithm/filters.py": FILTERS,
        f"{top}Algorithm/script.json": "",
        f"{top}Algorithm/Interface/AlgorithmInterface.py": INTERFACE_A,
        f"{top}Algorithm/Interface/Model/DataModel.py": DATA,
        f"{top}Algorithm/Interface/Model/ReportModel.py": REPORT,
    }


def framework(top=""):
    return {
        f"{top}main.py": MAIN_MI,
        f"{top}Framework/AlgorithmSystemManager.py": OTHER,
        f"{top}Task/TaskManagerMI.py": OTHER,
    }


def asyncio_form(challenge, file="Algorithm/method/impl/AlgorithmImplement.py", own=True):
    files = {
        "Algorithm/config/AlgorithmConfig.yml": YML.format(file=file, chunk=50 if challenge == "liveness" else 40),
        "Algorithm/method/impl/AlgorithmImplement.py": ASYNC,
        "Algorithm/method/impl/filters.py": FILTERS,
        "Algorithm/method/impl/script.json": "",
    }
    if own:
        files["Algorithm/method/model/AlgorithmObject.py"] = OBJECTS_2024
        files["Algorithm/method/interface/AlgorithmInterface.py"] = INTERFACE_C
    return files


def renamed(files, change):
    return {change(name): text for name, text in files.items()}


ONLINE_IMPORTS = (
    "from {0}.Interface.AlgorithmInterface import AlgorithmInterface\n"
    "from {0}.Interface.Model.DataModel import DataModel\nfrom {0}.SSVEP.filters import GAIN  # noqa"
)


def online(top, root):
    code = sync(
        "AlgorithmImplementSSVEP",
        ONLINE_IMPORTS.format(root),
        "algo_sys_mng",
        again="not isinstance(packet, DataModel)",
        bare=True,
    )
    return {
        f"{top}SSVEP/AlgorithmImplementSSVEP.py": code,
        f"{top}SSVEP/filters.py": FILTERS,
        f"{top}SSVEP/script.json": "",
        f"{top}Interface/AlgorithmInterface.py": INTERFACE_ONLINE,
        f"{top}Interface/Model/DataModel.py": DATA,
    }


COMM = sync(
    "AlgorithmImplement",
    "from Algorithm.AlgorithmInterface import AlgorithmInterface\nfrom Algorithm.impl.filters import GAIN  # noqa",
    "comm_proxy",
    bare=True,
)
SPELLER = sync(
    "AlgorithmImplement_SSVEP",
    "from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface\n"
    "from Algorithm.Interface.Model.ReportModel import ReportModel\nfrom Algorithm.filters import GAIN  # noqa",
    "_problemInterface",
    get="getData",
    flag="finishedFlag",
    field="resultType",
)
TWO_NAMES = (
    a()
    .replace(
        "from Algorithm.filters",
        "from Algorithm.Interface.Model.DataModel import DataModel as One\n"
        "from AlgorithmImplement.Interface.Model.DataModel import DataModel as Two\nfrom Algorithm.filters",
    )
    .replace(
        "packet.data = np", "assert isinstance(packet, One) and isinstance(packet, Two)\n            packet.data = np"
    )
)
MI = "Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI"
ONLINE = "AlgorithmImplement/SSVEP/AlgorithmImplementSSVEP.py:AlgorithmImplementSSVEP"
IMPL = "Algorithm/method/impl/AlgorithmImplement.py:AlgorithmImplement"
