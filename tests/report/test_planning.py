"""arena plan: more data gives more power, and what is impossible is refused in one line."""

from __future__ import annotations

import json

import pytest

from bciarena.cli import main as arena


def test_more_people_give_more_power(tmp_path, capsys):
    figure = tmp_path / "plan.svg"
    words = [
        "plan",
        "imagery",
        "--teams",
        "2",
        "--difference",
        "15",
        "--people",
        "1,6",
        "--blocks",
        "6",
        "--boards",
        "12",
    ]
    assert arena([*words, "--json", "--figure", str(figure)]) == 0
    few, many = json.loads(capsys.readouterr().out)
    assert few["trials"] == many["trials"] == 30
    assert many["power"] >= 0.8 > few["power"]
    assert "6 people" in figure.read_text("utf-8")


def test_too_few_blocks_have_no_power(capsys):
    assert arena(["plan", "imagery", "--difference", "15", "--people", "1", "--blocks", "5", "--boards", "5"]) == 0
    assert "too few blocks to test" in capsys.readouterr().out


def test_what_is_impossible_is_refused(capsys):
    for words, says in [
        (["--difference", "900"], "no entry can be that much better"),
        (["--difference", "-1"], "must be above 0"),
        (["--difference", "nan"], "must be above 0"),
        (["--difference", "5", "--seconds", "9"], "below the limit"),
        (["--difference", "5", "--people", "x"], "whole numbers"),
        (["--difference", "5", "--teams", "1"], "two are needed"),
    ]:
        assert arena(["plan", "imagery", *words]) == 2
        assert says in capsys.readouterr().err


def test_where_points_add_up_a_difference_is_that_of_a_block(capsys):
    """Otherwise a larger design would make the same difference smaller, and more data would tell less."""
    words = ["plan", "rehab", "--difference", "200", "--people", "2,6", "--blocks", "6", "--boards", "20"]
    assert arena([*words, "--json"]) == 0
    small, large = json.loads(capsys.readouterr().out)
    assert small["power"] < large["power"]
    assert small["gain_log_odds"] == pytest.approx(large["gain_log_odds"], rel=0.3)
    assert arena(words) == 0
    assert "better by 200 points on a block" in capsys.readouterr().out


def test_a_contest_without_a_time_limit_is_refused_too(capsys):
    assert arena(["plan", "liveness", "--difference", "1", "--seconds", "0"]) == 2
    assert "--seconds 0: must be above 0" in capsys.readouterr().err
