"""A model of every kind becomes an entry that passes the check and plays in a box."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.entries.checkup import check
from bciarena.entries.opened import opened
from bciarena.errors import BadInput, EntryFailed
from bciarena.recording import open_recording, write_contest
from bciarena.wrapping.making import Options, wrap
from bciarena.wrapping.models import as_probabilities, plain
from bciarena.wrapping.pipelines import pipeline_of
from bciarena.wrapping.playing import folds, times_of
from tests.making import make_data

BOOK = rulebook("imagery")
ROWS = ("C3", "Cz", "C4")
CLASSES = (201, 202, 203)
LENGTH_N = 125
SOON = Options(channels=ROWS, window_s=(LENGTH_N / BOOK.rate,))

MINE = """
import numpy as np


class Mine:
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == one].mean(axis=(0, 2)) for one in self.classes_])
        return self

    def predict_proba(self, X):
        far = ((X.mean(axis=2)[:, None] - self.means_) ** 2).sum(axis=2)
        like = np.exp(-far)
        return like / like.sum(axis=1, keepdims=True)

    def __sklearn_clone__(self):
        return Mine()
"""
"""The class with the nearest mean; far from all of them it divides nothing by nothing."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Training data in which each class lifts one of three channels, from half a second after the onset on."""
    folder = tmp_path_factory.mktemp("wrap")
    for block in (1, 2):
        codes = {500 + 1500 * n: CLASSES[(n + block) % 3] for n in range(6)}
        data = make_data(BOOK, 500 + 1500 * len(codes), codes, block)
        for at, code in codes.items():
            data[BOOK.channels.index(ROWS[code - 201]), at + 125 : at + 1000] += 3
        write_contest(folder / "data" / "S01" / f"block_{block}.npz", data, BOOK.rate, BOOK.channels)
    return folder


def windows(place):
    """Windows as the model will see them, the last half second of the first two, and their classes."""
    found, labels = [], []
    for _, _, block in open_recording(place / "data"):
        for at in np.flatnonzero(np.isin(block.trigger, CLASSES)):
            rows = [BOOK.channels.index(name) for name in ROWS]
            found.append(np.asarray(block.eeg)[rows, at + 300 : at + 300 + LENGTH_N])
            labels.append(int(block.trigger[at]))
    return np.stack(found).astype(float), np.array(labels)


def as_pickle(place):
    from sklearn.linear_model import LogisticRegression

    X, y = windows(place)
    path = place / "model.pkl"
    path.write_bytes(pickle.dumps(LogisticRegression().fit(X.reshape(len(X), -1), y)))
    return str(path), SOON


def as_onnx(place):
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    weight = np.kron(np.eye(3), np.ones((LENGTH_N, 1)) / LENGTH_N).astype(np.float32) * 10
    nodes = [helper.make_node("Flatten", ["x"], ["flat"]), helper.make_node("MatMul", ["flat", "w"], ["y"])]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, LENGTH_N])
    gives = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    fixed = helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.ravel())
    graph = helper.make_graph(nodes, "means", [given], [gives], [fixed])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(place / "model.onnx"))
    return str(place / "model.onnx"), Options(channels=ROWS)


def as_torch(place):
    torch = pytest.importorskip("torch")
    (place / "net.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.out = torch.nn.Linear(width, width)\n\n    def forward(self, x):\n"
        "        return self.out(x.mean(dim=2))\n"
    )
    torch.save({"out.weight": 10 * torch.eye(3), "out.bias": torch.zeros(3)}, place / "net.pt")
    options = Options(f"{place}/net.py:Net", {"width": 3}, channels=ROWS, window_s=SOON.window_s)
    return str(place / "net.pt"), options


def as_class(place):
    (place / "mine.py").write_text(MINE)
    return f"{place}/mine.py:Mine", SOON


def as_yaml(place):
    (place / "pipe.yml").write_text(
        "name: flat\nparadigms: [MotorImagery]\npipeline:\n"
        "  - {name: Vectorizer, from: mne.decoding}\n"
        "  - {name: GaussianNB, from: sklearn.naive_bayes, parameters: {var_smoothing: 1.0e-12}}\n"
    )
    return str(place / "pipe.yml"), SOON


KINDS = {"onnx": as_onnx, "pickle": as_pickle, "torch": as_torch, "class": as_class, "yaml": as_yaml}


@pytest.fixture(scope="module", params=KINDS)
def entry(request, place):
    model, options = KINDS[request.param](place)
    out = place / f"entry-{request.param}"
    return wrap(model, BOOK, place / "data", out, options), out


def test_it_plays_in_a_box(entry, place):
    told, out = entry
    assert told.accuracy == 1.0
    assert told.window_s == LENGTH_N / BOOK.rate
    with opened(str(out), BOOK) as ready:
        result = ready.run(open_recording(place / "data"), clock="data")
    assert result["verdict"] == "ok", result["reason"]
    assert result["metrics"]["accuracy"] == 1.0
    assert result["metrics"]["mean_length_s"] == pytest.approx(told.mean_length_s)


def test_what_is_fitted_for_one_kind_passes_the_check(place):
    model, options = as_class(place)
    wrap(model, BOOK, place / "data", place / "checked", options)
    found = check(str(place / "checked"), BOOK)
    assert not found.problems
    assert found.reports == found.trials


def test_a_pickle_is_opened_in_the_box_alone(place, tmp_path):
    """It would leave a file beside the model; in the box there is no such folder."""
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return open, (str(mark), "w")

    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(EntryFailed, match="No such file"):
        wrap(str(tmp_path / "evil.pkl"), BOOK, place / "data", tmp_path / "out", SOON)
    assert not mark.exists()
    assert not (tmp_path / "out").exists()


WRONG = {
    "no such model": ("nothing.onnx", Options(), "no such file"),
    "an unknown kind": (__file__, Options(), "of no known kind"),
    "a state_dict alone": ("weights.pt", Options(), "--module net.py:Net"),
    "an unknown channel": ("model.onnx", Options(channels=("X9",)), "X9"),
    "an unknown answer": ("model.onnx", Options(classes=("7",)), "no such channel or answer"),
    "refitting a network": ("model.onnx", Options(refit=True), "--refit"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_use_is_told(what, tmp_path):
    model, options, words = WRONG[what]
    for name in ("weights.pt", "model.onnx"):
        (tmp_path / name).write_bytes(b"")
    path = model if Path(model).is_absolute() else str(tmp_path / model)
    with pytest.raises(BadInput, match=words):
        wrap(path, BOOK, tmp_path, tmp_path / "out", options)


def test_a_stream_without_marks_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(BadInput, match="marks no trials"):
        wrap(str(tmp_path / "model.onnx"), rulebook("speller"), tmp_path, tmp_path / "out", Options())


def test_the_command(place, tmp_path, capsys):
    model, _ = as_class(place)
    arguments = ["wrap", model, "--challenge", "imagery", "--data", str(place / "data"), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--channels", "C3,Cz,C4", "--window", "0.5", "--band", "8"]) == 2
    assert "--band 8" in capsys.readouterr().err
    assert main([*arguments, "--channels", "C3,Cz,C4", "--window", "0.5"]) == 0
    assert "on trials left out" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "wrap.json").read_text())["policy"]["forced"]


def test_a_pipeline_runs_as_it_is(place, capsys):
    pipe, _ = as_yaml(place)
    arguments = ["run", pipe, "--challenge", "imagery", "--data", str(place / "data")]
    assert main(arguments) == 2
    assert "--train" in capsys.readouterr().err
    assert main([*arguments, "--train", str(place / "data"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["accuracy"] > 0.5


def test_probabilities_and_scores():
    assert as_probabilities([[0.2, 0.8]])[0, 1] == 0.8
    assert as_probabilities([[-4.0, 4.0]])[0, 1] > 0.99
    assert as_probabilities([3.0]).shape == (1, 2)
    assert as_probabilities([[np.nan, 1], [0.2, 0.8]]).tolist() == [[0.5, 0.5], [0.2, 0.8]]
    assert [plain(one) for one in (201, 201.0, np.int64(201), "201", "left")] == ["201"] * 4 + ["left"]


def test_looks_and_folds():
    assert times_of(125, 990, 10)[0] == 130
    assert times_of(125, 990, 10)[-1] <= 990
    assert times_of(1000, 990, 10) == []
    assert folds([1, 1, 2, 2]) == [[0, 1], [2, 3]]
    assert sorted(n for fold in folds([1] * 7) for n in fold) == list(range(7))


def test_a_broken_pipeline_says_what_is_missing():
    with pytest.raises(ValueError, match="pipeline"):
        pipeline_of("steps: []")
    with pytest.raises(ValueError, match="'from'"):
        pipeline_of("pipeline: [{name: X}]")
