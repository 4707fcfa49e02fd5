"""arena doctor --timing: one line for each thing that disturbs clocks, with a remedy."""

from __future__ import annotations

import json

import pytest

from bciarena.cli import main
from bciarena.clocks import Reference
from bciarena.doctor import timing
from bciarena.doctor.timing import examine_timing

PARTS = ["cores", "SMT", "frequency", "load", "steal", "noise", "reference load"]


def test_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--timing", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert [line["part"] for line in lines] == PARTS
    for line in lines:
        assert line["found"]
        assert bool(line["advice"]) == (line["state"] != "ok")


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A machine's /proc and /sys as files, since ours cannot be made to switch SMT or lose time to others."""

    def make(smt, governor, load, before, after):
        cpu = tmp_path / "devices/system/cpu"
        for path, text in (
            (cpu / "smt/active", smt),
            (cpu / "cpu0/cpufreq/scaling_governor", governor),
            (tmp_path / "loadavg", f"{load} 0.1 0.1 1/100 4\n"),
            (tmp_path / "stat", f"{before}\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

        def time_passes():
            (tmp_path / "stat").write_text(f"{after}\n")
            return timing.Line("noise", "ok", "none")

        monkeypatch.setattr(timing, "_noise", time_passes)
        return {line.part: line for line in examine_timing(tmp_path, tmp_path)}

    return make


def test_a_made_up_quiet_machine(made_up):
    lines = made_up("0\n", "performance\n", 0.1, "cpu 100 0 100 9000 0 0 0 0 0 0", "cpu 200 0 100 9900 0 0 0 0 0 0")
    for part in ("SMT", "frequency", "load", "steal"):
        assert lines[part].state == "ok", lines[part]


def test_a_made_up_disturbed_machine(made_up):
    lines = made_up("1\n", "powersave\n", 99.0, "cpu 100 0 100 9000 0 0 0 0 0 0", "cpu 200 0 100 9800 0 0 0 100 0 0")
    assert "smt/control" in lines["SMT"].advice
    assert lines["frequency"].found == "governor powersave"
    assert "performance" in lines["frequency"].advice
    assert "99.00" in lines["load"].found
    assert lines["steal"].found.startswith("10.0% just now")
    for part in ("SMT", "frequency", "load", "steal"):
        assert lines[part].state == "limited"


def test_noise_and_a_slow_moment_are_seen(monkeypatch):
    took = iter([0.001] * 290 + [0.01] * 10)
    monkeypatch.setattr(timing, "piece_s", lambda steps: next(took))
    assert timing._noise().state == "limited"
    monkeypatch.setattr(timing, "piece_s", lambda steps: 0.001)
    assert timing._noise().state == "ok"
    monkeypatch.setenv("ARENA_DISTURBED", "2")
    for times, state in ((1.9, "ok"), (2.1, "limited")):
        monkeypatch.setattr(timing, "reference_load", lambda times=times: Reference(times, 1.0))
        assert timing._reference().state == state
