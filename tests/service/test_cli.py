"""The command line against a running site, and arena contest create."""

from __future__ import annotations

import json
import sqlite3
import stat

import pytest

from bciarena.cli import main
from bciarena.service.settings import Settings
from tests.service.conftest import PASSWORD, packed, write_imagery
from tests.service.test_browser import Busy
from tests.service.test_flow import CRASH, GOOD

TOML = """
slug = "autumn"
title = "Autumn"
title_zh = "秋季赛"
rulebook = "imagery"
[[phase]]
name = "preliminary"
ends = 2999-01-01T00:00:00Z
daily_limit = 3
truth = "public"
[phase.data]
folder = "recordings"
[[phase]]
name = "final"
starts = 2999-01-02T00:00:00Z
board = "hidden"
counts = "last"
[phase.data]
simulate = { subjects = 1, blocks = 1 }
"""


@pytest.fixture
def settled(sqlite_town, tmp_path, monkeypatch):
    """A site, a person with a team, a home of his own for the login."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ARENA_SITE", "ARENA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    sqlite_town.contest()
    sqlite_town.person("ann").post("/teams", {"name": "Alpha"})
    return sqlite_town


def test_login_submit_status(settled, tmp_path, capsys, monkeypatch):
    import io

    assert main(["status"]) == 2
    assert "arena login" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    assert main(["login", settled.base, "--name", "ann", "--password-stdin"]) == 2
    assert "Name or password" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    assert main(["login", settled.base, "--name", "ann", "--password-stdin"]) == 0
    kept = tmp_path / "config" / "bciarena" / "login.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert PASSWORD not in kept.read_text()
    good, bad = packed(tmp_path / "a", GOOD, "good.zip"), packed(tmp_path / "b", CRASH, "bad.zip")
    capsys.readouterr()
    with Busy(settled):
        assert main(["submit", str(good), "--contest", "spring", "--follow", "--json"]) == 0
        run = json.loads(capsys.readouterr().out)
        assert (run["state"], run["ranked"], run["entry"], run["version"]) == ("scored", True, "good", 1)
        assert main(["status", str(run["id"])]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == run["summary"]
        assert run["summary"].startswith("36 reports in 36 trials: ")
        assert main(["submit", str(bad), "--contest", "spring", "--entry", "good", "--follow"]) == 1
        assert "\nNOTHING WAS REPORTED: 0 reports in 36 trials" in capsys.readouterr().out
        assert main(["status", "--follow", "--logs"]) == 1  # as arena run would say
        said = capsys.readouterr()
        assert "no such luck" in said.out
        assert "crashed" in said.err
    assert main(["status"]) == 0
    assert capsys.readouterr().out.count("spring/preliminary") == 2
    assert main(["submit", str(good), "--contest", "winter"]) == 2
    assert main(["submit", str(tmp_path / "nothing.zip"), "--contest", "spring"]) == 2
    assert main(["submit", str(good), "--contest", "spring", "--team", "Omega"]) == 2
    assert "Alpha" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["login", "http://127.0.0.1:1", "--name", "x", "--token-stdin"]) == 2
    assert "cannot be reached" in capsys.readouterr().err


def test_a_folder_can_be_submitted(settled, tmp_path, capsys, monkeypatch):
    import io

    token = settled.person("ann").post("/account/tokens", {"name": "x"}).text.split('class="secret">')[1].split("<")[0]
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
    assert main(["login", settled.base, "--token-stdin"]) == 0
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "entry.py").write_text(GOOD)
    (folder / "config.toml").write_text('entry = "entry.py:Entry"\n')
    assert main(["submit", str(folder), "--contest", "spring", "--phase", "preliminary"]) == 0
    assert "queued" in capsys.readouterr().out


def test_contest_from_a_file(tmp_path, capsys):
    write_imagery(tmp_path / "recordings", 1, 2)
    file = tmp_path / "contest.toml"
    file.write_text(TOML)
    home = str(tmp_path / "home")
    assert main(["contest", "create", str(file), "--home", home, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "final: 1 subjects, 1 blocks, 30 trials" in said
    assert "would create contest autumn" in said
    assert "password" not in said
    assert not (tmp_path / "home").exists()
    assert main(["contest", "create", str(file), "--home", home]) == 0
    said = capsys.readouterr().out
    assert "preliminary: 1 subjects, 2 blocks, 12 trials" in said
    assert "final: 1 subjects, 1 blocks, 30 trials" in said
    assert "password" in said
    with sqlite3.connect(tmp_path / "home" / "arena.db") as database:
        drawn = [json.loads(row[0])["order"] for row in database.execute("select data_about from phases")]
    seeds = [order["simulate"]["seed"] for order in drawn if "simulate" in order]
    assert [seed > 2**64 for seed in seeds] == [True]
    assert main(["contest", "list", "--home", home]) == 0
    assert "preliminary (open), final (upcoming)" in capsys.readouterr().out
    for words in ([], ["--dry-run"]):
        assert main(["contest", "create", str(file), "--home", home, *words]) == 2
        assert "autumn exists" in capsys.readouterr().err
    other = tmp_path / "other.toml"
    other.write_text(TOML.replace("autumn", "winter"))
    for owner, code in (("admin", 0), ("nobody", 2)):
        assert main(["contest", "create", str(other), "--home", home, "--owner", owner, "--dry-run"]) == code
    assert "--owner nobody" in capsys.readouterr().err
    card = tmp_path / "card.md"
    card.write_text("a data card")
    assert main(["contest", "offer", "autumn", str(card), "--home", home, "--dry-run"]) == 0
    assert capsys.readouterr().out == "would offer card.md of autumn: 0.0 MB\n"
    assert main(["contest", "offer", "autumn", str(card), "--home", home]) == 0
    assert main(["contest", "offer", "autumn", str(card), "--home", home, "--dry-run"]) == 0
    assert "would replace card.md of autumn" in capsys.readouterr().out
    kept = (tmp_path / "home" / "arena.db").read_bytes()
    assert main(["account", "reset", "admin", "--home", home, "--dry-run"]) == 0
    assert "would give admin a new password" in capsys.readouterr().out
    assert main(["account", "reset", "nobody", "--home", home, "--dry-run"]) == 2
    assert (tmp_path / "home" / "arena.db").read_bytes() == kept
    assert main(["contest", "export", "autumn", "preliminary", "--home", home]) == 0
    assert capsys.readouterr().out.startswith("submission,team")


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('rulebook = "imagery"', 'rulebook = "chess"', "unknown challenge"),
        ('folder = "recordings"', 'folder = "recordings"\nsimulate = {}', "either folder or simulate"),
        ("daily_limit = 3", 'daily_limit = "many"', "phase.0.daily_limit"),
        ('name = "final"', 'name = "preliminary"', "same name"),
        ("2999-01-02T00:00:00Z", "2999-01-02T00:00:00Z\nends = 2998-01-01T00:00:00Z", "before"),
        ('slug = "autumn"', 'slug = "Autumn!"', "slug"),
        ('title = "Autumn"', 'title = "Autumn"\ncolour = "red"', "colour"),
        ("[[phase]]", "[[phase]", "TOML"),
        ("blocks = 1 }", "blocks = 1, seed = 5 }", "whoever guesses it can simulate the hidden truth"),
        ('folder = "recordings"', 'folder = "nowhere"', "nowhere"),
    ],
)
def test_a_wrong_contest_file_is_told_in_one_line(tmp_path, capsys, old, new, word):
    file = tmp_path / "contest.toml"
    file.write_text(TOML.replace(old, new, 1))
    assert main(["contest", "create", str(file), "--home", str(tmp_path / "home")]) == 2
    said = capsys.readouterr().err.strip()
    assert word in said
    assert "\n" not in said


def test_a_busy_port_and_a_bad_home_are_told_at_once(sqlite_town, tmp_path, capsys):
    port = sqlite_town.base.split(":")[-1]
    assert main(["serve", "--home", str(tmp_path / "h"), "--port", port]) == 2
    assert "cannot listen there" in capsys.readouterr().err
    (tmp_path / "file").write_text("x")
    assert main(["serve", "--home", str(tmp_path / "file"), "--port", "0"]) == 2
    (tmp_path / "h" / "secret.key").write_text("short")
    with pytest.raises(Exception, match="contains no key"):
        Settings.at(tmp_path / "h")
