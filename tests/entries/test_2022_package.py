"""A package as contestants sent them in 2022: a trained scikit-learn model beside code compiled by Python 3.8."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.entries import interpreter_for, open_entry
from bciarena.entries.tiny import tiny_recording
from bciarena.recording import write_contest
from bciarena.sandbox import why_not
from tests.entries.test_package import write

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")

FEATURES = """import numpy as np


def features(eeg):
    power = np.abs(np.fft.rfft(eeg[[25, 28, 29], 125:625] * np.hanning(500))) ** 2
    return np.log(power[:, 20:25].mean(axis=1))  # 10 to 12 Hz at Cz, C3, C4
"""
ALGORITHM = """import pickle

import numpy as np
from Algorithm.features import features
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel


class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        with open("Algorithm/model.pkl", "rb") as file:
            model = pickle.load(file)
        held, finished = None, False
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            if held is not None:
                held.append(packet.data[:-1])
                eeg = np.concatenate(held, axis=1)
                if eeg.shape[1] >= 625:
                    report = ReportModel()
                    report.result = model.predict([features(eeg)])[0]
                    self.task.report(report)
                    held = None
            if 249 in packet.data[-1]:
                held = []
"""
TRAIN = """import pickle, sys
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
sys.path.insert(0, "entry")
from Algorithm.features import features
X, y = [], []
for block in (1, 2):
    data = np.load("data/S01/block_%d.npz" % block)["data"]
    for at in np.flatnonzero(np.isin(data[-1], (201, 202, 203))):
        X.append(features(data[:-1, at : at + 700].astype(float)))
        y.append(int(data[-1, at]))
model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X, y)
with open("entry/Algorithm/model.pkl", "wb") as file:
    pickle.dump(model, file)
"""


def test_a_trained_model_compiled_for_3_8(tmp_path: Path) -> None:
    book = rulebook("imagery")
    for _, number, block in tiny_recording(book):
        write_contest(tmp_path / "data" / "S01" / f"block_{number}.npz", block.data, book.rate, book.channels)
    files = {"Algorithm/AlgorithmImplementMI.py": ALGORITHM, "Algorithm/features.py": FEATURES}
    entry = write(
        tmp_path / "entry", {**files, "config.json": '{"python": "3.8"}', "requirements.txt": "scikit-learn\n"}
    )
    with open_entry(str(entry), book) as package:
        executable = interpreter_for(package).executable
    subprocess.run([executable, "-c", TRAIN], cwd=tmp_path, check=True)
    packed, run = tmp_path / "up.tar.gz", tmp_path / "run"
    assert main(["pack", str(entry), "--challenge", "imagery", "-o", str(packed)]) == 0
    options = ["--challenge", "imagery", "--data", str(tmp_path / "data"), "--out", str(run)]
    assert main(["run", str(packed), *options]) == 0
    score = json.loads((run / "score.json").read_text())
    assert score["verdict"] == "ok"
    assert score["metrics"]["accuracy"] == 1
