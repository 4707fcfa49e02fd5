"""Packages in the shapes in which they were published over the years, as archives; none is a copy of anybody's.

Each one answers rightly after one second of every trial, so its score is that of the honest entry ``perfect``. What
differs is where the class lies, what it is called, how it is imported, and how the archive was made.

    python testsuite/published.py DIR      writes all of them into a folder, to be looked at
"""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from make import SCORES, behaviours

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


@dataclass(frozen=True)
class Shape:
    """One package as published, and what must come of it."""

    challenge: str
    files: dict
    target: str
    kind: str = "zip"  # how it was packed: zip, tar.gz, windows (backslashes), gbk
    refused: str = ""  # words of the refusal where two readings remain; it then plays with ``entry``
    entry: str = ""
    warns: str = ""
    compiled: str = ""  # sources are compiled by this Python and left out


def _mi(top=""):
    return {
        f"{top}Algorithm/AlgorithmImplementMI.py": a(),
        f"{top}Algorithm/filters.py": FILTERS,
        f"{top}Algorithm/script.json": "",
        f"{top}Algorithm/Interface/AlgorithmInterface.py": INTERFACE_A,
        f"{top}Algorithm/Interface/Model/DataModel.py": DATA,
        f"{top}Algorithm/Interface/Model/ReportModel.py": REPORT,
    }


def _framework(top=""):
    return {
        f"{top}main.py": MAIN_MI,
        f"{top}Framework/AlgorithmSystemManager.py": OTHER,
        f"{top}Task/TaskManagerMI.py": OTHER,
    }


def _c(challenge, file="Algorithm/method/impl/AlgorithmImplement.py", own=True):
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


def _renamed(files, change):
    return {change(name): text for name, text in files.items()}


ONLINE_IMPORTS = (
    "from {0}.Interface.AlgorithmInterface import AlgorithmInterface\n"
    "from {0}.Interface.Model.DataModel import DataModel\nfrom {0}.SSVEP.filters import GAIN  # noqa"
)


def _online(top, root):
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

SHAPES = {
    "2022_offline": Shape("imagery", {**_mi(), **_framework(), "config.json": '{"name": "mi"}'}, MI, "tar.gz"),
    "2022_offline_without_interface": Shape(
        "imagery", {name: text for name, text in _mi().items() if "Interface" not in name}, MI
    ),
    "stray_copies": Shape(
        "imagery",
        {**_mi(), "Algorithm/AlgorithmImplementMI_old.py": STRAY, "Algorithm/backup/AlgorithmImplementMI.py": STRAY},
        MI,
        warns="passed over: Algorithm/backup/AlgorithmImplementMI.py",
    ),
    "stray_package_below": Shape("imagery", {**_mi(), **_renamed(_mi("old/"), str)}, MI, warns="not taken"),
    "main_imports_another_file": Shape(
        "imagery",
        {
            **_renamed(_mi(), lambda name: name.replace("ImplementMI.py", "V2.py")),
            "Algorithm/AlgorithmImplementMI.py": STRAY,
            "main.py": "from Algorithm.AlgorithmV2 import AlgorithmImplementMI\n",
        },
        "Algorithm/AlgorithmV2.py:AlgorithmImplementMI",
        warns="passed over",
    ),
    "general_name": Shape(
        "imagery",
        {
            **_mi(),
            "Algorithm/AlgorithmImplementMI.py": "",
            "Algorithm/AlgorithmImplement.py": a(name="AlgorithmImplement"),
        },
        "Algorithm/AlgorithmImplement.py:AlgorithmImplement",
    ),
    "nested_app": Shape("imagery", {**_mi("app/Algorithm/"), **_framework("app/Algorithm/")}, MI, "tar.gz"),
    "one_level_down": Shape(
        "imagery", {**_mi("team/"), **_framework("team/"), "notes.txt": "x", "pictures/a.txt": "x"}, MI
    ),
    "two_packages": Shape(
        "imagery",
        {**_mi("v1/"), **_mi("v2/")},
        MI,
        refused="holds 2 entries (v1, v2)",
        entry="v2/Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI",
    ),
    "two_copies": Shape(
        "imagery",
        {
            **_renamed(_mi(), lambda name: name.replace("AlgorithmImplementMI", "a/AlgorithmImplementMI")),
            "Algorithm/a/script.json": "",
            "Algorithm/b/AlgorithmImplementMI.py": STRAY,
        },
        "Algorithm/a/AlgorithmImplementMI.py:AlgorithmImplementMI",
        refused="--entry",
        entry="Algorithm.a.AlgorithmImplementMI:AlgorithmImplementMI",
    ),
    "texts_packing": Shape(
        "imagery",
        {
            **_renamed(_mi(), lambda name: name.replace("Algorithm/", "AlgorithmImplement/")),
            "AlgorithmImplement/AlgorithmImplementMI.py": TWO_NAMES,
            "config.toml": "",
        },
        "AlgorithmImplement/AlgorithmImplementMI.py:AlgorithmImplementMI",
    ),
    "2022_online": Shape(
        "speller",
        {
            **_online("AlgorithmSystem/AlgorithmImplement/", "AlgorithmSystem.AlgorithmImplement"),
            "AlgorithmSystem/Framework/AlgorithmSystemManager.py": OTHER,
            "AlgorithmSystem/communication/ReceiveEEGData.py": OTHER,
            "main.py": OTHER,
        },
        f"AlgorithmSystem/{ONLINE}",
    ),
    "2022_online_part": Shape("speller", _online("AlgorithmImplement/", "AlgorithmSystem.AlgorithmImplement"), ONLINE),
    "2022_online_part_by_its_name": Shape("speller", _online("AlgorithmImplement/", "AlgorithmImplement"), ONLINE),
    "2023_comm_proxy": Shape(
        "imagery",
        {
            "Algorithm/AlgorithmInterface.py": "class AlgorithmInterface:\n    comm_proxy = None\n",
            "Algorithm/impl/AlgorithmImplement.py": COMM,
            "Algorithm/impl/filters.py": FILTERS,
            "Algorithm/impl/script.json": "",
        },
        "Algorithm/impl/AlgorithmImplement.py:AlgorithmImplement",
    ),
    "2021_camel_case": Shape(
        "speller",
        {
            "Algorithm/AlgorithmImplement_SSVEP.py": SPELLER,
            "Algorithm/filters.py": FILTERS,
            "Algorithm/script.json": "",
            "Algorithm/Interface/AlgorithmInterface.py": INTERFACE_B,
            "Algorithm/Interface/Model/ReportModel.py": "class ReportModel:\n    resultType = None\n",
        },
        "Algorithm/AlgorithmImplement_SSVEP.py:AlgorithmImplement_SSVEP",
    ),
    "2024_asyncio": Shape("rehab", _c("rehab"), IMPL),
    "2024_windows_path_in_yml": Shape(
        "liveness", _c("liveness", "Algorithm\\method\\impl\\AlgorithmImplement.py"), IMPL
    ),
    "2024_impl_alone": Shape(
        "liveness",
        _renamed(
            _c("liveness", own=False),
            lambda name: name.replace("Algorithm/method/", "").replace("Algorithm/config/", ""),
        ),
        IMPL,
    ),
    "windows_case": Shape(
        "imagery",
        _renamed(
            _mi(),
            lambda name: (
                name.replace("Algorithm/", "ALGORITHM/").replace("/Interface", "/INTERFACE").replace("/Model", "/model")
            ),
        ),
        MI,
        "windows",
    ),
    "windows_case_asyncio": Shape(
        "rehab",
        _renamed(_c("rehab"), lambda name: name.replace("method", "Method").replace("/config/", "/Config/")),
        IMPL,
        "windows",
    ),
    "macos_zip": Shape(
        "imagery",
        {
            **_mi("entry/"),
            **{f"__MACOSX/entry/Algorithm/._{n}": "x" for n in ("a.py", "filters.py")},
            "entry/.DS_Store": "x",
        },
        MI,
    ),
    "gbk_names": Shape(
        "imagery",
        {**_mi("参赛算法/"), "参赛算法/Algorithm/说明.txt": "x", "参赛算法/使用说明.txt": "x"},
        MI,
        "gbk",
        warns="使用说明.txt",
    ),
    "class_at_the_top": Shape(
        "imagery",
        {
            "AlgorithmImplementMI.py": a().replace("from Algorithm.", "from "),
            "filters.py": FILTERS,
            "script.json": "",
            "Interface/AlgorithmInterface.py": INTERFACE_A,
            "Interface/Model/ReportModel.py": REPORT,
            "main.py": "from AlgorithmImplementMI import AlgorithmImplementMI\n",
        },
        "AlgorithmImplementMI.py:AlgorithmImplementMI",
    ),
    "stray_copies_beside_python2_and_a_venv": Shape(
        "imagery",
        {
            **_mi("提交/"),
            "提交/Algorithm/AlgorithmImplementMI - 副本.py": STRAY,
            "提交/tools/convert.py": "print 'hello'\n",
            "提交/venv/Lib/site-packages/x.py": STRAY,
        },
        MI,
        "gbk",
        warns="passed over: Algorithm/AlgorithmImplementMI - 副本.py",
    ),
    "compiled_38": Shape("imagery", _mi(), MI, compiled="3.8"),
    "compiled_38_in_pycache": Shape("imagery", _mi(), MI, compiled="3.8 __pycache__"),
    "compiled_310_asyncio": Shape("rehab", _c("rehab"), IMPL, compiled="3.10"),
}


def score_of(shape: Shape) -> float:
    """What the honest entry gets that answers at the same moments."""
    return float(SCORES[shape.challenge]["perfect"])


def files_of(shape: Shape) -> dict:
    """Names and bytes, the script of answers filled in; empty sources are left out."""
    script = json.dumps(behaviours(shape.challenge)["perfect"][1])
    texts = {name: script if name.endswith("script.json") else text for name, text in shape.files.items()}
    kept = {name: text.encode() for name, text in texts.items() if text or not name.endswith(".py")}
    return _compiled(kept, *shape.compiled.split()) if shape.compiled else kept


def _compiled(files, python, cache=""):
    from bciarena.entries.interpreters import find_python

    executable, made = find_python(python).executable, {}
    program = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
    with tempfile.TemporaryDirectory() as place:
        for name, raw in files.items():
            if not name.endswith(".py") or "/" not in name:
                made[name] = raw
                continue
            source, target = Path(place, "x.py"), Path(place, "x.pyc")
            source.write_bytes(raw)
            subprocess.run([executable, "-c", program, source, target], check=True)
            path = Path(name)
            tag = f"__pycache__/{path.stem}.cpython-{python.replace('.', '')}.pyc" if cache else f"{path.stem}.pyc"
            made[str(path.parent / tag)] = target.read_bytes()
    return made


class InGbk(zipfile.ZipInfo):
    """A name as Chinese Windows writes it: bytes of its code page, without the flag that says UTF-8."""

    def _encodeFilenameFlags(self):
        return self.filename.encode("gbk"), self.flag_bits & ~0x800


def write(folder: Path, name: str) -> Path:
    """Write a package as it was published; gives the archive."""
    shape, files = SHAPES[name], files_of(SHAPES[name])
    if shape.kind == "tar.gz":
        path = folder / f"{name}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for inside, raw in files.items():
                info = tarfile.TarInfo(inside)
                info.size = len(raw)
                archive.addfile(info, io.BytesIO(raw))
        return path
    path = folder / f"{name}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, raw in files.items():
            info = (InGbk if shape.kind == "gbk" else zipfile.ZipInfo)(inside)
            if shape.kind == "windows":
                info.filename = inside.replace("/", "\\")
            archive.writestr(info, raw)
    return path


if __name__ == "__main__":
    for each in SHAPES:
        write(Path(sys.argv[1]), each)
