"""Both spellers through the command line: on a made-up good subject, on spoilt data, and on real recordings."""

import json

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from bciarena.recording import write_contest
from tests.realdata import real_data

BOOK = rulebook("speller")
OCCIPITAL = [42, 49, 50, 51, 52, 53, 56, 57, 58]


def block(seed, trials=14, amplitude=2.5, rows=OCCIPITAL):
    """Flicker and still trials of a clear responder, at times no one is told."""
    rng = np.random.default_rng(seed)
    plan, position = [], 750
    for i in range(trials):
        plan.append((position, int(rng.integers(1, 41)) if i % 3 else 101 + i))
        position += 1500 + int(rng.integers(0, 500))
    data = np.zeros((65, position + 7), np.float32)  # a last packet of another length
    n = data.shape[1]
    slow = rng.standard_normal((len(rows), n)).cumsum(axis=1)
    slow -= np.linspace(0, 1, n) * slow[:, -1:]
    data[rows] = 4 * rng.standard_normal((len(rows), n)) + 0.2 * slow + 500
    pattern = np.random.default_rng(1).uniform(0.5, 1, (3, len(rows)))
    for onset, code in plan:
        data[-1, onset] = code
        data[-1, onset + 1250] = 241
        if code <= 40:
            t = np.arange(1000) / 250
            for h, weight in enumerate((1.0, 0.7, 0.4), start=1):
                angle = h * (2 * np.pi * (8 + 0.2 * (code - 1)) * t + 0.5 * np.pi * (code - 1))
                data[rows, onset + 35 : onset + 1035] += (
                    amplitude * weight * np.outer(pattern[h - 1], np.sin(angle))
                ).astype(np.float32)
    data[-1, 0], data[-1, -1] = 242, 243
    return data


def play(folder, name, capsys):
    capsys.readouterr()
    assert arena(["run", name, "--data", str(folder), "--sandbox", "none", "--clock", "data", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("name", "least"), [("@speller", 100), ("@speller-baseline", 60)])
def test_spells_and_keeps_quiet(tmp_path, capsys, name, least):
    for b in (1, 2):
        write_contest(tmp_path / "S01" / f"block_{b}.npz", block(b), BOOK.rate, BOOK.channels)
    score = play(tmp_path, name, capsys)
    assert score["verdict"] == "ok"
    assert score["score"] > least
    assert score["metrics"]["fpr"] == 0


def test_spoilt_data_do_not_stop_the_match(tmp_path, capsys):
    data = block(3, trials=6)
    data[42] = 0
    data[49, 3000:3100] = 30_000
    data[50, 4000:] = 0
    data[56, 5000:5003] = -1e6
    write_contest(tmp_path / "S01" / "block_1.npz", data, BOOK.rate, BOOK.channels)
    dead = np.zeros((65, 4000), np.float32)
    dead[-1, [0, 1000, 2250, 3999]] = 242, 120, 241, 243
    write_contest(tmp_path / "S02" / "block_1.npz", dead, BOOK.rate, BOOK.channels)
    score = play(tmp_path, "@speller", capsys)
    assert score["verdict"] == "ok"
    assert score["metrics"]["fpr"] == 0
    assert score["subjects"][0]["score"] > 0


def test_real_people_at_rest_raise_few_alarms(tmp_path, capsys):
    for person in ("S02", "S05"):
        (tmp_path / person).symlink_to(real_data("idle") / person)
    score = play(tmp_path, "@speller", capsys)
    assert score["metrics"]["fpr"] <= 0.1


def test_a_real_person_spells(capsys, tmp_path):
    folder = tmp_path / "S01"
    folder.mkdir()
    (folder / "block_1.npz").symlink_to(real_data("speller_spliced") / "S01" / "block_1.npz")
    score = play(tmp_path, "@speller", capsys)
    # The mark is 220 over three blocks; one block alone scatters.
    assert score["score"] > 180
    assert score["metrics"]["fpr"] <= 0.1
