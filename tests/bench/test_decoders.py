"""The decoder bench in its short form: rows, page, figure, and that nothing is measured twice."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from bciarena.bench import decoders
from bciarena.bench.decoder_page import draw, page
from bciarena.bench.kept import HOME, code_digest
from bciarena.bench.peers import bench_of
from bciarena.cli import main as arena
from bciarena.contests.speller.bench import SlidingFbcca
from bciarena.inprocess import play
from bciarena.simulator.make import Order, make
from bciarena.stream import Packet


def test_quick_bench_writes_page_and_figure_and_keeps_its_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    target = tmp_path / "docs" / "benchmarks.md"
    target.parent.mkdir()
    target.write_text("# Benchmarks\n\nbefore\n<!-- bench decoders -->\nold\n<!-- end decoders -->\nafter\n")
    assert arena(["bench", "decoders", "--quick", "--write", str(target)]) == 0
    written = target.read_text()
    assert "old" not in written
    assert written.startswith("# Benchmarks\n\nbefore")
    assert written.endswith("after\n")
    assert "(figures/decoders.svg)" in written
    for name in ("@imagery", "@imagery-baseline"):
        assert f"| {name} |" in written
    ElementTree.parse(target.parent / "figures" / "decoders.svg")
    monkeypatch.setattr(decoders, "_row", lambda *_: pytest.fail("measured again"))
    assert arena(["bench", "decoders", "--quick"]) == 0
    assert "| @imagery |" in capsys.readouterr().out


def test_a_folder_without_recordings_is_refused(tmp_path, capsys):
    assert arena(["bench", "decoders", "--data", str(tmp_path)]) == 2
    assert "is there" in capsys.readouterr().err


def test_the_judged_set_is_not_in_the_training_folder(tmp_path):
    for name in ("cali_train", "eval_train", "cali_A", "eval_A"):
        (tmp_path / "liveness" / name / "S01").mkdir(parents=True)
    sets = tmp_path / "liveness"
    ready = decoders.prepared(decoders.Track("x", "liveness", sets, sets / "eval_A"), tmp_path / "place")
    assert sorted(folder.name for folder in ready.train.iterdir()) == ["cali_A", "cali_train", "eval_train"]
    assert ready.test == sets / "eval_A"


def test_a_change_in_a_decoder_is_noticed_through_its_imports(tmp_path):
    entry = tmp_path / "entry.py"
    entry.write_text("from bciarena.decoders.motor_model import MotorModel\n")
    with_imports = code_digest([entry])
    entry.write_text("import bciarena.decoders.motor_model\n")
    assert code_digest([entry]) != with_imports
    assert code_digest([HOME / "decoders" / "motor_model.py"]) != code_digest([HOME / "decoders" / "motor.py"])


def test_a_change_in_a_file_kept_beside_the_code_is_noticed(tmp_path):
    code, fitted = tmp_path / "code.py", tmp_path / "fitted.json"
    code.write_text('FITTED = "fitted.json"\n')
    fitted.write_text("1")
    before = code_digest([code])
    fitted.write_text("2")
    assert code_digest([code]) != before


def test_sliding_fbcca_finds_a_clear_flicker_and_stays_quiet_without():
    rng = np.random.default_rng(0)
    for key, expected in ((None, set()), (12, {12})):
        data = np.zeros((65, 1000))
        data[:64] = rng.standard_normal((64, 1000))
        if key:
            angle = 2 * np.pi * (8 + 0.2 * (key - 1)) * np.arange(1000) / 250
            data[:64] += np.sin(angle) + 0.5 * np.sin(2 * angle)
        peer = SlidingFbcca()
        peer.start({})
        packets = (Packet(data[:, at : at + 10], 1, 1, at // 10 + 1, at, at, at == 990) for at in range(0, 1000, 10))
        assert {answer for packet in packets if (answer := peer.step(packet)) is not None} == expected


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    folder = tmp_path_factory.mktemp("patient")
    for split in ("train", "test"):
        make(Order("rehab", split, 1, seed=3), folder / split)
    return folder


@pytest.mark.parametrize("name", ["CSP + LDA (MNE)", "tangent space + LR (pyriemann)"])
def test_peers_learn_and_play_rehab(patient, name):
    from bciarena.recording import open_sets

    peer = bench_of("rehab").peers[name]()
    peer.fit(open_sets(patient / "train"))
    result = play(peer, "rehab", patient / "test")
    assert result["verdict"] == "ok"
    assert result["metrics"]["side_accuracy"] > 0.5


def test_page_and_figure_of_made_up_rows(tmp_path):
    rows = [
        {"track": "rehab, simulated", "name": name, "score": score, "low": 1.0, "high": 4.0, "drawn": "blocks",
         "unit": "points", "verdict": verdict, "accuracy": 0.5, "p50_ms": 0.5, "p99_ms": 2.0, "train_s": 3.0,
         "model_mb": 0.1, "memory_mb": None}
        for name, score, verdict in (("@rehab", 2.5, "ok"), ("peer", 0.0, "over_budget"))
    ]  # fmt: skip
    text = page(rows)
    assert "| @rehab | 2.5 [1.0, 4.0] | .500 | 0.50 | 2.00 | 3 | 0.10 |" in text
    assert "(over_budget)" in text
    draw(rows, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
