"""An entry that knows the truth and answers at 1.0 s gets exactly the score computed by hand, through the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from tests.making import write_folder

ORACLE = '''
import json
TRUTH = json.loads("""{truth}""")

class Oracle:
    """Holds (position to answer at, answer) for every block, in playing order."""
    def start(self, info):
        self.block = -1
    def step(self, packet):
        if packet.start == 0:
            self.block += 1
            self.left = {{at: answer for at, answer in TRUTH[self.block]}}
        return self.left.pop(packet.start + packet.data.shape[1], None)
'''

LOG2 = math.log2
BY_HAND = {
    # five trials a block, target 4: S = 200 * 4 / 4 = 200 in both blocks
    "turing": 200.0,
    # P = 1, T = 1 + .5: 60 log2 3 / 1.5
    "imagery": 60 * LOG2(3) / 1.5,
    # P = 1, T = 1: 60 log2 40; idle trials stay quiet
    "speller": 60 * LOG2(40),
    # 1 s counts as 3 s: .9 * 60 * 1 / 3 + .1 * 60 * log2 23 / 3 = 18 + 2 log2 23 = 27.05
    "liveness": 18 + 2 * LOG2(23),
    # ten trials of 100 points
    "rehab": 1000,
}


def layout(book, trials=5):
    """Trials 10 s apart; the speller has idle ones among them. Where and what to answer, 1.0 s after data_start."""
    gap, codes, plan = 10 * book.rate, {}, []
    kinds = sorted(book.opens - book.forbidden)
    for k in range(trials):
        opened = k * gap + 7
        code = kinds[k * 5 % len(kinds)] if book.name != "speller" else (3 + k if k % 3 else 101 + k)
        codes[opened] = code
        codes[opened + 8 * book.rate] = 241
        start = (opened // book.packet_n + 1) * book.packet_n
        if code not in book.idle:
            answer = int(book.truth[code]) if book.answers == "integer" else book.truth[code]
            plan.append((start + book.rate, answer))
    return (trials * gap + 3, codes), plan


@pytest.mark.parametrize("name", BY_HAND)
def test_oracle_at_one_second(name, tmp_path, capsys):
    book = rulebook(name)
    block, plan = layout(book)
    data = write_folder(book, tmp_path / "data", [block, block])
    (tmp_path / "oracle.py").write_text(ORACLE.format(truth=json.dumps([plan, plan])))
    command = ["run", f"{tmp_path}/oracle.py:Oracle", "--challenge", name, "--data", str(data)]
    assert arena([*command, "--out", str(tmp_path / "run"), "--sandbox", "none", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["score"] == pytest.approx(BY_HAND[name], rel=1e-12)
    assert result["verdict"] == "ok"
    assert all(t["correct"] for t in result["trials"])
    assert all(t["length_s"] in ({"liveness": 3.0}.get(name, 1.0), None) for t in result["trials"])
    stored = json.loads((tmp_path / "run" / "score.json").read_text())
    assert stored == result
    assert arena(["score", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == stored


def test_two_runs_of_a_deterministic_entry_differ_only_in_timing(tmp_path, capsys):
    book = rulebook("imagery")
    block, plan = layout(book)
    data = write_folder(book, tmp_path / "data", [block])
    (tmp_path / "oracle.py").write_text(ORACLE.format(truth=json.dumps([plan])))
    ledgers = []
    for name in ("one", "two"):
        command = [
            "run",
            f"{tmp_path}/oracle.py:Oracle",
            "--challenge",
            "imagery",
            "--data",
            str(data),
            "--clock",
            "data",
        ]
        assert arena([*command, "--out", str(tmp_path / name), "--sandbox", "none"]) == 0
        lines = [json.loads(line) for line in (tmp_path / name / "ledger.jsonl").read_text().splitlines()]
        for timing in ("cpu_s", "wall_s"):
            lines[-1].pop(timing)
        ledgers.append(lines)
    assert ledgers[0] == ledgers[1]
    assert [line["type"] for line in ledgers[0]] == ["header"] + ["report"] * 5 + ["end"]
    wanted = {"challenge", "rulebook", "data", "entry", "versions", "seed", "clock", "sandbox"}
    assert wanted <= set(ledgers[0][0])
    assert {"subject", "block", "position", "packet", "value", "think_s"} <= set(ledgers[0][1])


def test_a_run_that_was_tampered_with_is_found_out(tmp_path, capsys):
    book = rulebook("imagery")
    block, plan = layout(book)
    data = write_folder(book, tmp_path / "data", [block])
    (tmp_path / "oracle.py").write_text(ORACLE.format(truth=json.dumps([plan])))
    run = tmp_path / "run"
    words = ["run", f"{tmp_path}/oracle.py:Oracle", "--challenge", "imagery", "--data", str(data), "--sandbox", "none"]
    assert arena([*words, "--out", str(run)]) == 0
    assert arena([*words, "--out", str(run)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert arena([*words, "--out", str(run), "--force"]) == 0
    score = json.loads((run / "score.json").read_text())
    (run / "score.json").write_text(json.dumps(score | {"score": 99.0}))
    assert arena(["score", str(run)]) == 2
    assert "is not what ledger and data give" in capsys.readouterr().err
    path = data / "S01" / "block_1.npz"
    with np.load(path) as file:
        changed = dict(file)
    changed["data"][3, 5] += 1
    np.savez(path, **changed)
    assert arena(["score", str(run)]) == 2
    assert "is not the data of this run" in capsys.readouterr().err
