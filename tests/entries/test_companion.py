"""The companion package and the server: one entry through both, in the contests' Pythons, every field compared."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bciarena.contests import RULEBOOKS, rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.entries import interpreter_for, open_entry
from bciarena.entries.companion import write_starter
from bciarena.recording import open_recording
from bciarena.runs import run_match
from bciarena.sandbox import boxed, why_not
from tests.making import write_folder

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")

CODES = {"turing": 12, "liveness": 130, "rehab": 1, "speller": 3, "imagery": 202}
SHOWN = """import hashlib
import json

import numpy as np


def plain(value):
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]
        return ["ndarray", str(value.dtype), list(value.shape), digest, bool(value.flags.writeable)]
    return [type(value).__name__, repr(value)]


def show(what, value):
    fields = {name: plain(item) for name, item in sorted(vars(value).items())}
    print("OBJECT", json.dumps([what, type(value).__module__, type(value).__name__, fields]))


def odd_values(answer):
    return [answer, np.int64(3), np.float32(2), np.array(2), 2.5, float("nan"), True, None, "x" * 99, [1], 10**60]
"""
SYNC = (
    SHOWN
    + """
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.DataModel import DataModel
from Algorithm.Interface.Model.ReportModel import ReportModel


class {name}(AlgorithmInterface):
    def run(self):
        given = ("task", "_problemInterface", "problemInterface", "ProblemInterface", "comm_proxy", "algo_sys_mng")
        print("OBJECT", json.dumps([name for name in given if getattr(self, name) is self.task]))
        values, finished = odd_values({answer}), False
        while not finished:
            packet = self.{get}()
            assert type(packet) is DataModel
            show("packet", packet)
            packet.data[:] = 0
            finished = packet.finish_flag
            if packet.{start} % 250 == 0 and values:
                report = ReportModel()
                report.{field} = values.pop(0)
                self.{task}.report(report)
        self.{task}.report(values[0] if values else 1)
        try:
            self.{get}()
        except Exception as error:
            print("OBJECT", json.dumps([type(error).__name__, str(error)]))
"""
)
ASYNC = (
    SHOWN
    + """
from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.interface.SourceInterface import SourceInterface  # noqa
from Algorithm.method.model.AlgorithmObject import AlgorithmDataObject, AlgorithmDeviceObject, AlgorithmResultObject


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        print("OBJECT", json.dumps(self._proxy.get_challenge_config(), sort_keys=True))
        try:
            self._proxy.get_source("emg_1")
        except Exception as error:
            print("OBJECT", json.dumps([type(error).__name__, str(error)]))
        source = self._proxy.get_source("eeg_1")
        print("OBJECT", json.dumps([source.get_source_label(), source is self._proxy.get_source()]))
        device = await source.get_device()
        assert isinstance(device, AlgorithmDeviceObject)
        show("device", device)
        values = odd_values({answer})
        while not self._end_flag:
            packet = await source.get_data()
            assert isinstance(packet, AlgorithmDataObject)
            show("packet", packet)
            self._end_flag = packet.finish_flag
            if packet.data is not None and packet.start_position % 200 == 0 and values:
                await self._proxy.report(AlgorithmResultObject(values.pop(0)))
        await self._proxy.report(AlgorithmResultObject({answer}))
        try:
            await source.get_data()
        except Exception as error:
            print("OBJECT", json.dumps([type(error).__name__, str(error)]))
"""
)
DRIVER = """import json, runpy, sys
sys.path.insert(0, sys.argv[1])
import Framework.engine.rehearsal as engine
inner = engine.Rehearsal.score
def score(self):
    found = inner(self)
    print("LEDGER", json.dumps(self.reports))
    print("SCORE", json.dumps(found))
    return found
engine.Rehearsal.score = score
main = sys.argv[1] + "/main.py"
sys.argv[:] = [main, sys.argv[2]]
runpy.run_path(main, run_name="__main__")
"""


def recorder(book: Rulebook, folder: Path) -> None:
    """Put an algorithm into the package that prints everything it is given."""
    answer = repr(book.truth[CODES[book.name]]) if book.answers != "integer" else book.truth[CODES[book.name]]
    if book.dialect == "C":
        text, file = ASYNC.replace("{answer}", answer), "Algorithm/method/impl/AlgorithmImplement.py"
    else:
        words = {
            "A": {"task": "task", "get": "task.get_data", "start": "start_pos", "field": "result"},
            "B": {
                "task": "_problemInterface",
                "get": "_problemInterface.getData",
                "start": "startPosition",
                "field": "resultType",
            },
        }[book.dialect]
        text, file = SYNC, f"Algorithm/{book.classes[0]}.py"
        for mark, word in {**words, "name": book.classes[0], "answer": answer}.items():
            text = text.replace("{" + mark + "}", word)
    (folder / file).write_text(text)


def lines(text: str, word: str) -> list[Any]:
    return [json.loads(line[len(word) :]) for line in text.splitlines() if line.startswith(word)]


@pytest.mark.parametrize("python", ["3.8", "3.10"])
@pytest.mark.parametrize("challenge", [book.name for book in RULEBOOKS.values()])
def test_the_same_entry_meets_the_same_objects(tmp_path: Path, challenge: str, python: str) -> None:
    book = rulebook(challenge)
    n, odd = book.rate, book.packet_n // 2 + 1
    events = {n + 3: 242, 2 * n + odd: CODES[challenge], 7 * n: 241, 8 * n: 243}
    data = write_folder(book, tmp_path / "data", [(9 * n + odd, events), (9 * n, events)])
    write_starter(book, tmp_path / "e")
    recorder(book, tmp_path / "e")
    with open_entry(str(tmp_path / "e"), book, python=python) as package:
        interpreter = interpreter_for(package)
        result = run_match(book, open_recording(data), boxed(package, interpreter), out=tmp_path / "run", clock="data")
    command = [interpreter.executable, "-I", "-B", "-c", DRIVER, tmp_path / "e", data]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    assert result["verdict"] == "ok", result["reason"]
    here, there = lines(done.stdout, "OBJECT"), lines((tmp_path / "run" / "stdout.txt").read_text(), "OBJECT")
    assert len(there) > 2 * 9 * n // book.packet_n
    for one, other in zip(here, there, strict=True):
        assert one == other
    ledger = [json.loads(line) for line in (tmp_path / "run" / "ledger.jsonl").read_text().splitlines()[1:-1]]
    (reports,) = lines(done.stdout, "LEDGER")
    assert len(reports) > 4
    for line in (*ledger, *reports):
        line.pop("think_s")
    assert reports == ledger
    (score,) = lines(done.stdout, "SCORE")
    assert {key: score[key] for key in ("score", "metrics", "trials")} == {
        key: result[key] for key in ("score", "metrics", "trials")
    }


def test_the_package_needs_nothing_of_ours(tmp_path: Path) -> None:
    """No file of it names our package, and it plays where our package is not installed."""
    for book in RULEBOOKS.values():
        write_starter(book, tmp_path / book.name)
        for path in (tmp_path / book.name).rglob("*.py"):
            text = path.read_text()
            assert "import bciarena" not in text, path
            assert "from bciarena" not in text, path
