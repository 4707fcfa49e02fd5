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
from published_sources import (
    COMM,
    FILTERS,
    IMPL,
    INTERFACE_A,
    INTERFACE_B,
    MI,
    ONLINE,
    OTHER,
    REPORT,
    SPELLER,
    STRAY,
    TWO_NAMES,
    a,
    asyncio_form,
    framework,
    mi,
    online,
    renamed,
)


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


SHAPES = {
    "2022_offline": Shape("imagery", {**mi(), **framework(), "config.json": '{"name": "mi"}'}, MI, "tar.gz"),
    "2022_offline_without_interface": Shape(
        "imagery", {name: text for name, text in mi().items() if "Interface" not in name}, MI
    ),
    "stray_copies": Shape(
        "imagery",
        {**mi(), "Algorithm/AlgorithmImplementMI_old.py": STRAY, "Algorithm/backup/AlgorithmImplementMI.py": STRAY},
        MI,
        warns="passed over: Algorithm/backup/AlgorithmImplementMI.py",
    ),
    "stray_package_below": Shape("imagery", {**mi(), **renamed(mi("old/"), str)}, MI, warns="left out"),
    "main_imports_another_file": Shape(
        "imagery",
        {
            **renamed(mi(), lambda name: name.replace("ImplementMI.py", "V2.py")),
            "Algorithm/AlgorithmImplementMI.py": STRAY,
            "main.py": "from Algorithm.AlgorithmV2 import AlgorithmImplementMI\n",
        },
        "Algorithm/AlgorithmV2.py:AlgorithmImplementMI",
        warns="passed over",
    ),
    "general_name": Shape(
        "imagery",
        {
            **mi(),
            "Algorithm/AlgorithmImplementMI.py": "",
            "Algorithm/AlgorithmImplement.py": a(name="AlgorithmImplement"),
        },
        "Algorithm/AlgorithmImplement.py:AlgorithmImplement",
    ),
    "nested_app": Shape("imagery", {**mi("app/Algorithm/"), **framework("app/Algorithm/")}, MI, "tar.gz"),
    "one_level_down": Shape(
        "imagery", {**mi("team/"), **framework("team/"), "notes.txt": "x", "pictures/a.txt": "x"}, MI
    ),
    "two_packages": Shape(
        "imagery",
        {**mi("v1/"), **mi("v2/")},
        MI,
        refused="holds 2 entries (v1, v2)",
        entry="v2/Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI",
    ),
    "two_copies": Shape(
        "imagery",
        {
            **renamed(mi(), lambda name: name.replace("AlgorithmImplementMI", "a/AlgorithmImplementMI")),
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
            **renamed(mi(), lambda name: name.replace("Algorithm/", "AlgorithmImplement/")),
            "AlgorithmImplement/AlgorithmImplementMI.py": TWO_NAMES,
            "config.toml": "",
        },
        "AlgorithmImplement/AlgorithmImplementMI.py:AlgorithmImplementMI",
    ),
    "2022_online": Shape(
        "speller",
        {
            **online("AlgorithmSystem/AlgorithmImplement/", "AlgorithmSystem.AlgorithmImplement"),
            "AlgorithmSystem/Framework/AlgorithmSystemManager.py": OTHER,
            "AlgorithmSystem/communication/ReceiveEEGData.py": OTHER,
            "main.py": OTHER,
        },
        f"AlgorithmSystem/{ONLINE}",
    ),
    "2022_online_part": Shape("speller", online("AlgorithmImplement/", "AlgorithmSystem.AlgorithmImplement"), ONLINE),
    "2022_online_part_by_its_name": Shape("speller", online("AlgorithmImplement/", "AlgorithmImplement"), ONLINE),
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
    "2024_asyncio": Shape("rehab", asyncio_form("rehab"), IMPL),
    "2024_windows_path_in_yml": Shape(
        "liveness", asyncio_form("liveness", "Algorithm\\method\\impl\\AlgorithmImplement.py"), IMPL
    ),
    "2024_impl_alone": Shape(
        "liveness",
        renamed(
            asyncio_form("liveness", own=False),
            lambda name: name.replace("Algorithm/method/", "").replace("Algorithm/config/", ""),
        ),
        IMPL,
    ),
    "windows_case": Shape(
        "imagery",
        renamed(
            mi(),
            lambda name: (
                name.replace("Algorithm/", "ALGORITHM/").replace("/Interface", "/INTERFACE").replace("/Model", "/model")
            ),
        ),
        MI,
        "windows",
    ),
    "windows_case_asyncio": Shape(
        "rehab",
        renamed(asyncio_form("rehab"), lambda name: name.replace("method", "Method").replace("/config/", "/Config/")),
        IMPL,
        "windows",
    ),
    "macos_zip": Shape(
        "imagery",
        {
            **mi("entry/"),
            **{f"__MACOSX/entry/Algorithm/._{n}": "x" for n in ("a.py", "filters.py")},
            "entry/.DS_Store": "x",
        },
        MI,
    ),
    "gbk_names": Shape(
        "imagery",
        {**mi("参赛算法/"), "参赛算法/Algorithm/说明.txt": "x", "参赛算法/使用说明.txt": "x"},
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
            **mi("提交/"),
            "提交/Algorithm/AlgorithmImplementMI - 副本.py": STRAY,
            "提交/tools/convert.py": "print 'hello'\n",
            "提交/venv/Lib/site-packages/x.py": STRAY,
        },
        MI,
        "gbk",
        warns="passed over: Algorithm/AlgorithmImplementMI - 副本.py",
    ),
    "nested_app_in_gbk": Shape(
        "imagery", {**mi("赛题一/app/Algorithm/"), "赛题一/app/Algorithm/Algorithm/模型参数.txt": "x"}, MI, "gbk"
    ),
    "2023_comm_proxy_in_gbk": Shape(
        "imagery",
        {
            "Algorithm/AlgorithmInterface.py": "class AlgorithmInterface:\n    comm_proxy = None\n",
            "Algorithm/impl/AlgorithmImplement.py": f"# -*- coding: gbk -*-\n# 运动想象分类\n{COMM}".encode("gbk"),
            "Algorithm/impl/filters.py": FILTERS,
            "Algorithm/impl/script.json": "",
            "Algorithm/.vs/solution.suo": "x",
            "Algorithm/Thumbs.db": "x",
        },
        "Algorithm/impl/AlgorithmImplement.py:AlgorithmImplement",
        "windows",
    ),
    "2024_from_an_image": Shape(
        "rehab",
        {
            **renamed(asyncio_form("rehab", "./Algorithm/method/impl/AlgorithmImplement.py"), "./app/{}".format),
            "./app/.git/HEAD": "x",
            "./app/Algorithm/method/impl/__pycache__/filters.cpython-39.pyc": "x",
        },
        IMPL,
        "tar.gz",
    ),
    "main_imports_the_module": Shape(
        "imagery",
        {
            **mi("MI_final/"),
            "MI_final/main.py": "import Algorithm.AlgorithmImplementMI as algo\nalgo.AlgorithmImplementMI().run()\n",
            "MI_final/Algorithm/old/AlgorithmImplementMI.py": STRAY,
        },
        MI,
        warns="passed over: Algorithm/old/AlgorithmImplementMI.py",
    ),
    "compiled_38": Shape("imagery", mi(), MI, compiled="3.8"),
    "compiled_38_in_pycache": Shape("imagery", mi(), MI, compiled="3.8 __pycache__"),
    "compiled_310_asyncio": Shape("rehab", asyncio_form("rehab"), IMPL, compiled="3.10"),
}


def score_of(shape: Shape) -> float:
    """What the honest entry gets that answers at the same moments."""
    return float(SCORES[shape.challenge]["perfect"])


def files_of(shape: Shape) -> dict:
    """Names and bytes, the script of answers filled in; empty sources are left out."""
    script = json.dumps(behaviours(shape.challenge)["perfect"][1])
    texts = {name: script if name.endswith("script.json") else text for name, text in shape.files.items()}
    raw = {name: text if isinstance(text, bytes) else text.encode() for name, text in texts.items()}
    kept = {name: text for name, text in raw.items() if text or not name.endswith(".py")}
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
