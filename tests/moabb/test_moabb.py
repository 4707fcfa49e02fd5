"""MOABB's pipelines and data sets are played, and our decoders are its pipelines; its fake data sets, offline."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of MOABB's own making, while it is imported
    moabb = pytest.importorskip("moabb")
    from moabb.datasets.fake import FakeDataset
    from moabb.paradigms import MotorImagery
    from moabb.pipelines.utils import parse_pipelines_from_directory

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.decoders import CCA, CSP, FBCCA, FBCSP, STE, TDCA, TRCA, ExtendedCCA, TangentSpace
from bciarena.errors import BadInput
from bciarena.moabb import PIPELINES, ArenaEvaluation, benchmark
from bciarena.moabb.folder import write_folder
from bciarena.moabb.rules import REST
from bciarena.moabb.streams import Windowed, block_of, rules_of
from bciarena.recording import open_recording
from tests.moabb.nearest import Nearest

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # MOABB and MNE warn of their own later versions
    pytest.mark.usefixtures("forgetful"),
]
BAND = {"fmin": 4, "fmax": 30}


class Loud(FakeDataset):
    """A fake data set in which each class is a rhythm on a channel of its own; the rest has none."""

    def __init__(self, n_runs=2):
        super().__init__(
            event_list=("left_hand", "right_hand"),
            n_sessions=1,
            n_runs=n_runs,
            n_subjects=1,
            duration=64,
            n_events=8,
            channels=("C3", "C4"),
            seed=1,
            sfreq=100,
        )

    def _generate_raw(self, n_events, duration):
        raw = super()._generate_raw(n_events, duration)
        t = np.arange(300) / 100
        for at, _, code in self._generate_events(n_events, duration):
            raw._data[code - 1, at : at + 300] += 2e-4 * np.sin(2 * np.pi * 12 * t)
        return raw


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    """What the evaluation returns for a pipeline that can do it and for one that always says the same."""
    place = tmp_path_factory.mktemp("results")
    paradigm = MotorImagery(n_classes=2, **BAND)
    made = ArenaEvaluation(paradigm=paradigm, datasets=[Loud()], overwrite=True, hdf5_path=str(place), suffix="t")
    return made.process({"nearest": Nearest(), "deaf": Nearest(deaf=True)})


def test_the_frame_is_moabbs_with_our_columns(frame):
    assert {"score", "time", "subject", "session", "pipeline", "samples", "channels", "dataset"} <= set(frame)
    assert {"accuracy", "fpr", "mean_length_s", "n_rests"} <= set(frame)
    assert len(frame) == 2


def test_a_pipeline_that_knows_rest_scores_and_a_deaf_one_does_not(frame):
    good, deaf = (frame[frame.pipeline == name].iloc[0] for name in ("nearest", "deaf"))
    assert good.score == pytest.approx((good.accuracy + 1 - good.fpr) / 2)
    assert good.accuracy > 0.8
    assert good.fpr < 0.2
    assert 0.2 <= good.mean_length_s < 3.0
    assert deaf.accuracy == 0
    assert good.n_rests >= 14


def test_a_single_run_is_split_in_time(tmp_path):
    paradigm = MotorImagery(n_classes=2, **BAND)
    made = ArenaEvaluation(paradigm=paradigm, datasets=[Loud(1)], overwrite=True, hdf5_path=str(tmp_path), window_s=1.0)
    (row,) = made.process({"nearest": Nearest()}).itertuples()
    assert row.samples_test == 4
    assert row.accuracy > 0.7


def test_the_pages_example_runs_as_it_is_printed(tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2] / "docs" / "moabb.md"
    monkeypatch.chdir(tmp_path)
    exec(compile(page.read_text("utf-8").split("```python\n")[1].split("```")[0], str(page), "exec"), {})
    head, row = capsys.readouterr().out.strip().splitlines()[-2:]
    assert head.split() == ["subject", "session", "score", "accuracy", "fpr", "mean_length_s"]
    assert len(row.split()) == 7


def test_it_works_in_moabbs_benchmark(tmp_path):
    pipelines = [{"name": "nearest", "paradigms": ["MotorImagery"], "pipeline": Nearest()}]
    (tmp_path / "context.yml").write_text("MotorImagery: {n_classes: 2, fmin: 4, fmax: 30}\n")
    found = benchmark(
        pipelines=pipelines,
        paradigms=["MotorImagery"],
        include_datasets=[Loud()],
        contexts=str(tmp_path / "context.yml"),
        results=str(tmp_path / "results"),
        output=str(tmp_path / "out"),
        overwrite=True,
        n_jobs=1,
    )
    assert set(found.evaluation) == {"Arena"}
    assert found.accuracy.iloc[0] > 0.8


def test_codes_are_where_trials_begin_and_end():
    dataset, paradigm = Loud(), MotorImagery(n_classes=2, **BAND)
    raw = dataset.get_data(subjects=[1])[1]["0"]["0"]
    book = rules_of(dataset, paradigm, raw, "loud/1")
    block = block_of(raw, dataset, paradigm, book, "test")
    kinds = [event.code for event in block.events]
    assert kinds[0] == REST
    assert set(kinds) == {1, 2, REST}
    first, after = block.events[1:3]
    assert after.sample - first.sample == round(book.limit_s * book.rate)
    assert not book.masked_trigger(block.trigger).any()


def test_windows_are_filtered_and_resampled_one_by_one():
    rng = np.random.default_rng(0)
    entry = Windowed(None, [(8, 12), (16, 24)], 100, 50, 150)
    X = rng.standard_normal((1, 2, 150))
    assert entry.prepared(X).shape == (1, 2, 75, 2)


def test_data_sets_that_cannot_be_played_are_named(tmp_path):
    with pytest.raises(BadInput, match="p300"):
        write_folder(FakeDataset(paradigm="p300", event_list=("Target", "NonTarget")), tmp_path / "c", None)


def test_a_data_set_becomes_a_contest(tmp_path, capsys):
    folder, data = tmp_path / "loud", tmp_path / "data"
    book = write_folder(Loud(), folder, data)
    assert main(["rulebook", "check", str(folder)]) == 0, capsys.readouterr()
    assert rulebook(str(folder)).digest == book.digest
    recording = open_recording(data)
    assert [len(subject.blocks) for subject in recording.subjects] == [2]
    (tmp_path / "quiet.py").write_text("class Quiet:\n    def step(self, packet):\n        return None\n")
    arguments = ["run", f"{tmp_path}/quiet.py:Quiet", "--challenge", str(folder), "--data", str(data)]
    assert main([*arguments, "--sandbox", "none"]) == 0
    assert "score 0.5000 share" in capsys.readouterr().out  # every rest quiet, no trial answered


def test_a_data_set_that_breaks_off_leaves_nothing(tmp_path):
    class Cut(Loud):
        def get_data(self, subjects):
            if subjects != [1]:
                raise ConnectionError("the line is dead")
            return super().get_data(subjects)

    with pytest.raises(BadInput, match="the line is dead"):
        write_folder(Cut(), tmp_path / "loud", tmp_path / "data", (1, 2))
    assert list(tmp_path.iterdir()) == []


def test_the_command_names_what_is_wrong(tmp_path, capsys):
    assert main(["rulebook", "new", str(tmp_path / "x"), "--moabb", "NoSuchThing"]) == 2
    assert "NoSuchThing" in capsys.readouterr().err
    assert main(["rulebook", "new", str(tmp_path / "x"), "--data", str(tmp_path / "d")]) == 2


# Our decoders as its pipelines

FREQS = (8.0, 11.0)
SSVEP = {"freqs_hz": FREQS, "rate": 100}


def epochs(bands=0):
    rng = np.random.default_rng(3)
    t = np.arange(200) / 100
    y = np.array([0, 1] * 12)
    X = rng.standard_normal((24, 4, 200))
    X[:, 0] += 2 * np.sin(2 * np.pi * np.array(FREQS)[y][:, None] * t)
    X[y == 1, 1] *= 3
    return (np.stack([X] * bands, axis=1) if bands else X), y


DECODERS = [
    (CCA(**SSVEP), 0),
    (ExtendedCCA(**SSVEP), 0),
    (STE(**SSVEP), 0),
    (TRCA(), 3),
    (FBCCA(**SSVEP), 3),
    (TDCA(**SSVEP), 3),
    (CSP(), 0),
    (FBCSP(), 3),
    (TangentSpace(), -1),
]


@pytest.mark.parametrize(("decoder", "bands"), DECODERS, ids=lambda one: type(one).__name__)
def test_a_decoder_is_an_estimator(decoder, bands):
    """What scikit-learn's own check demands of an estimator, as far as it goes for windows of channels."""
    X, y = epochs(max(bands, 0))
    if bands < 0:
        X = X @ X.transpose(0, 2, 1) / X.shape[2]
    names = np.array(["left", "right"])[y]
    call = "predict" if hasattr(decoder, "predict") else "transform"
    fresh = clone(decoder)
    assert fresh.get_params().keys() == decoder.get_params().keys()
    before = {key: repr(value) for key, value in fresh.get_params().items()}
    with pytest.raises((NotFittedError, AttributeError)):
        getattr(fresh, call)(X)
    copy = X.copy()
    assert fresh.fit(X, names) is fresh
    assert np.array_equal(X, copy)
    assert {key: repr(value) for key, value in fresh.get_params().items()} == before
    first = getattr(fresh, call)(X)
    assert len(first) == len(X)
    assert np.array_equal(getattr(clone(decoder).fit(X, names), call)(X), first)  # the same every time
    assert np.array_equal(getattr(pickle.loads(pickle.dumps(fresh)), call)(X), first)
    half = getattr(fresh, call)(X[::2])
    assert np.array_equal(half, first[::2]) if call == "predict" else np.allclose(half, first[::2])
    if call == "predict":
        assert set(first) <= {"left", "right"}
        assert np.mean(first == names) > 0.8


def test_the_pipelines_we_ship_are_moabbs():
    found = {one["name"]: one["pipeline"] for one in parse_pipelines_from_directory(PIPELINES)}
    assert len(found) == 2
    X, y = epochs()
    for pipeline in found.values():
        assert pipeline.fit(X, y).score(X, y) > 0.8
