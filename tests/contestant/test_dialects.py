"""The contests' objects as an entry meets them, with a client of prepared packets."""

import asyncio
import sys

import numpy as np
import pytest

from bciarena.contestant import names
from bciarena.contestant.dialect_async import Proxy, play_async
from bciarena.contestant.dialect_sync import play_sync
from bciarena.contestant.faces import asynchronous, synchronous
from bciarena.contestant.loading import load_class
from bciarena.wire.client import Packet

FLAGS = ("finish_flag", "finishedFlag", "finished_flag", "end_flag", "Endflag")


class Prepared:
    """A client with packets of two blocks: 3 and 2 samples."""

    def __init__(self, finish="flag", names_subject=True):
        self.info = {
            "challenge": "test/1",
            "channels": ["A", "B"],
            "rate": 250,
            "packet_n": 2,
            "answers": ["1", "2"],
            "finish": finish,
            "names_subject": names_subject,
        }
        subject = 4 if names_subject else 0
        self.packets = [
            Packet(np.zeros((3, 2)), subject, 1, 1, 0, 0, False),
            Packet(np.zeros((3, 1)), subject, 1, 2, 2, 2, False),
            Packet(np.zeros((3, 2)), subject, 2, 1, 0, 3, True),
        ]
        self.reports = []

    def next(self):
        return self.packets.pop(0) if self.packets else None

    def report(self, value):
        self.reports.append(value)


@pytest.fixture(autouse=True)
def clean_imports():
    path, finders, modules = list(sys.path), list(sys.meta_path), set(sys.modules)
    yield
    sys.path[:], sys.meta_path[:] = path, finders
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_a():
    class Entry(synchronous.AlgorithmInterface):
        def run(self):
            seen = []
            while True:
                model = self.task.get_data()
                assert type(model) is synchronous.DataModel
                assert all(getattr(model, flag) is model.finish_flag for flag in FLAGS)
                seen.append((model.start_pos, model.subject_id, model.data.shape, model.finish_flag))
                if model.finish_flag:
                    break
            report = synchronous.ReportModel()
            report.result = np.int64(2)
            self.task.report(report)
            self.task.report(synchronous.ReportModel(1))
            self.task.report(synchronous.ReportModel())
            self.seen = seen
            self.task.get_data()

    client, entry = Prepared(), Entry()
    with pytest.raises(EOFError, match="finish flag"):
        play_sync(entry, client)
    assert entry.seen == [(0, 4, (3, 2), False), (2, 4, (3, 1), False), (0, 4, (3, 2), True)]
    assert client.reports == [2, 1, None]


@pytest.mark.parametrize("name", ["_problemInterface", "problemInterface", "ProblemInterface"])
def test_b(name):
    class Entry(synchronous.AlgorithmInterface):
        def run(self):
            problem = getattr(self, name)
            model = problem.getData()
            assert (model.startPosition, model.personID, model.finishedFlag) == (0, 4, False)
            report = synchronous.ReportModel()
            report.resultType = 7
            problem.report(report)

    client = Prepared()
    play_sync(Entry(), client)
    assert client.reports == [7]


def test_b_of_2023_without_a_base_class():
    class Entry:
        def run(self):
            model = self.comm_proxy.get_data()
            assert np.asarray(model.data).shape == (3, 2)
            self.comm_proxy.report(5)
            self.comm_proxy.report(None)

    client = Prepared()
    play_sync(Entry(), client)
    assert client.reports == [5, None]


def test_setters_of_the_entrys_own_are_called():
    class Entry:
        def set_task(self, task):
            self.mine = task

        def setProblemInterface(self, problem):
            self.theirs = problem

        @property
        def task(self):
            return self.mine

        def run(self):
            assert self.task is self.mine is self.theirs

    play_sync(Entry(), Prepared())


def test_c():
    class Entry(asynchronous.AlgorithmInterface):
        async def run(self):
            source = self._proxy.get_source("eeg_1")
            assert source is self._proxy.get_source()
            assert source.get_source_label() == "eeg_1"
            device = await source.get_device()
            assert (device.data_type, device.channel_number, device.sample_rate) == ("EEG", 2, 250.0)
            assert isinstance(device.sample_rate, float)
            assert device.channel_label == ["A", "B"]
            assert device.other_config_map == device.other_information
            positions = []
            while not self._end_flag:
                data = await source.get_data()
                assert isinstance(data, asynchronous.AlgorithmDataObject)
                assert type(data) is asynchronous.AlgorithmContinuousDataObject
                assert all(getattr(data, flag) is data.finish_flag for flag in FLAGS)
                self._end_flag = data.finish_flag
                positions.append(data.start_position)
                assert (data.data is None) == data.finish_flag
                if data.data is not None:
                    assert data.subject_id == "4"
            assert positions == [0, 2, 3, 5]
            result = asynchronous.AlgorithmResultObject()
            result.result = "1"
            await self._proxy.report(result)
            await self._proxy.report(asynchronous.AlgorithmResultObject(result="2"))
            await source.get_data()

    client = Prepared("object")
    with pytest.raises(EOFError):
        play_async(Entry(), client)
    assert client.reports == ["1", "2"]


def test_c_liveness_tells_nothing_of_the_person():
    source = Proxy(Prepared("object", names_subject=False)).get_source()
    data = asyncio.run(source.get_data())
    assert (data.subject_id, data.personID, data.blockID, data.srate, data.nchan) == ("0", 0, 1, 250, 2)
    assert data.ch_names == ["A", "B"]
    assert data.dimensions == (3, 2)


def test_c_unknown_source_and_config():
    proxy = Proxy(Prepared("object"))
    with pytest.raises(KeyError, match="eeg_1"):
        proxy.get_source("emg")
    assert proxy.get_challenge_config()["challenge"] == "test/1"


ENTRY = """
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.DataModel import DataModel
from Algorithm.Interface.Model.ReportModel import ReportModel
class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        self.same = type(self.task.get_data()) is DataModel
"""


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"Algorithm/__init__.py": ""},
        {"Algorithm/Interface/Model/DataModel.py": "class DataModel:\n    mark = 'own'\n"},
        {
            "Algorithm/Interface/Model/DataModel.py": (
                "class DataModel:\n    __slots__ = ('data', 'finish_flag')\n    mark = 1\n"
            ),
            "Algorithm/Interface/Model/__init__.py": "",
            "Algorithm/Interface/__init__.py": "",
            "Algorithm/__init__.py": "",
        },
        {
            "Algorithm/Interface/AlgorithmInterface.py": "from Task.Interface.TaskInterface import TaskInterface\n"
            "class AlgorithmInterface:\n    def set_task(self, task: TaskInterface): self.task = task\n"
        },
    ],
    ids=["none of its own", "a regular package", "own DataModel", "own DataModel with slots", "own AlgorithmInterface"],
)
def test_interface_files_resolve_and_class_identity_holds(tmp_path, own):
    root = write(tmp_path, {"Algorithm/AlgorithmImplementMI.py": ENTRY, **own})
    entry = load_class(root, "Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI", "A")()
    play_sync(entry, Prepared())
    assert entry.same
    if "Algorithm/Interface/Model/DataModel.py" in own:
        assert sys.modules["Algorithm.Interface.Model.DataModel"].DataModel.mark
    else:
        assert sys.modules["Algorithm.Interface.Model.DataModel"].DataModel is synchronous.DataModel


def test_flat_names_of_the_speller(tmp_path):
    text = "from Algorithm.AlgorithmInterface import AlgorithmInterface\nclass E(AlgorithmInterface): pass\n"
    root = write(tmp_path, {"Algorithm/AlgorithmImplementSSVEP.py": text})
    assert issubclass(load_class(root, "Algorithm/AlgorithmImplementSSVEP.py:E", "B"), synchronous.AlgorithmInterface)


def test_c_is_imported_by_its_bare_name(tmp_path):
    text = (
        "from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface\n"
        "from Algorithm.method.interface.ProxyInterface import ProxyInterface\n"
        "from Algorithm.method.interface.SourceReceiverReaderInterface import SourceReceiverReaderInterface\n"
        "from Algorithm.method.model.AlgorithmObject import AlgorithmResultObject, AlgorithmDeviceObject\n"
        "from neighbour import X\n"
        "class AlgorithmImplement(AlgorithmInterface): x = X\n"
    )
    folder = "Algorithm/method/impl"
    root = write(tmp_path, {f"{folder}/AlgorithmImplement.py": text, f"{folder}/neighbour.py": "X = 5\n"})
    found = load_class(root, f"{folder}/AlgorithmImplement.py:AlgorithmImplement", "C")
    assert found.x == 5
    assert found.__module__ == "AlgorithmImplement"


def test_packed_folder_is_found_under_both_names(tmp_path):
    text = "from Algorithm.part import X\nclass E: x = X\n"
    root = write(tmp_path, {"AlgorithmImplement/E.py": text, "AlgorithmImplement/part.py": "X = 3\n"})
    assert load_class(root, "AlgorithmImplement/E.py:E", "A").x == 3


def test_missing_class_and_unknown_names(tmp_path):
    root = write(tmp_path, {"Algorithm/E.py": ""})
    with pytest.raises(ImportError, match="no class Nobody"):
        load_class(root, "Algorithm/E.py:Nobody", "A")
    with pytest.raises(ImportError):
        __import__("Algorithm.Nothing")
    assert names.FrameworkFinder(root, "A").find_spec("numpy.Interface") is None
