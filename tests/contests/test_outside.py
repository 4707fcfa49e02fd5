"""A contest written in a temporary folder goes the whole way without a change of ours."""

import json
import subprocess
import sys
import zipfile

import pytest

from bciarena import contests
from bciarena.cli import main as arena
from bciarena.contest_folders import check_folder, write_contest_folder
from bciarena.contests import BROKEN, CONTESTS, RULEBOOKS, rulebook
from bciarena.errors import BadInput
from tests.service.conftest import Town

pytestmark = pytest.mark.usefixtures("forgetful")


@pytest.fixture
def folder(tmp_path):
    write_contest_folder(tmp_path / "sixth")
    return tmp_path / "sixth"


def test_a_sixth_contest_is_simulated_trained_run_scored_and_reported(folder, tmp_path, capsys):
    own = ["--challenge", str(folder)]
    entry = str(folder / "baseline" / "entry.py") + ":Entry"
    data, model, run = tmp_path / "data", tmp_path / "model", tmp_path / "run"
    assert arena(["rulebook", "check", str(folder)]) == 0
    for split in ("train", "test"):
        made = ["simulate", str(folder), "--split", split, "--subjects", "2", "--out", str(data / split)]
        assert arena(made) == 0
    assert arena(["train", entry, *own, "--data", str(data / "train"), "--out", str(model)]) == 0
    assert arena(["run", entry, *own, "--data", str(data / "test"), "--model", str(model), "--out", str(run)]) == 0
    score = json.loads((run / "score.json").read_text())
    assert score["challenge"] == "sixth/1"
    assert score["score"] > 1
    assert score["metrics"]["accuracy"] > 0.6
    assert arena(["score", str(run), *own]) == 0
    assert arena(["report", str(run), *own, "-o", str(tmp_path / "report.html")]) == 0
    assert "left hand" in (tmp_path / "report.html").read_text("utf-8")
    assert arena(["new", str(folder), str(tmp_path / "package")]) == 0
    capsys.readouterr()
    assert arena(["check", str(tmp_path / "package"), *own]) == 0
    assert "sixth" in capsys.readouterr().out + (tmp_path / "package" / "config.toml").read_text()
    del RULEBOOKS["sixth/1"], CONTESTS["sixth"]  # as in a process that was not told of the folder
    for command in (["score", str(run)], ["report", str(run), "-o", str(tmp_path / "again.html")]):
        assert arena(command) == 2
        assert "unknown challenge 'sixth/1'" in (said := capsys.readouterr().err)
        assert "--challenge DIR" in said


def test_a_run_of_an_unknown_contest_says_what_to_do(folder, tmp_path):
    with pytest.raises(BadInput, match=r"unknown challenge 'sixth/1': choose one of .* or give the contest's folder"):
        rulebook("sixth/1")


def test_a_sixth_contest_is_served(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    book = rulebook(str(folder))
    home = tmp_path / "home"
    assert arena(["simulate", str(folder), "--subjects", "2", "--out", str(home / "data" / "olga" / "set")]) == 0
    town = Town(home, f"sqlite:///{tmp_path / 'arena.db'}")
    try:
        from bciarena.service import accounts
        from bciarena.service import contests as hosted
        from bciarena.service.keeper import work_once
        from bciarena.service.spec import parse
        from tests.service.conftest import PASSWORD

        stage = {"name": "only", "truth": "hidden", "data": {"folder": "olga/set"}}
        with town.site.session(writes=True) as session:
            owner = accounts.sign_up(session, "olga", PASSWORD, "organiser")
            spec = parse({"slug": "hands", "title": "Hands", "rulebook": book.id, "phase": [stage]}, "test")
            hosted.create(session, owner, spec, town.settings.data_roots)
        work_once(town.site)
        ann = town.person("ann")
        team = int(ann.post("/teams", {"name": "Alpha"}).headers["location"].split("/")[-1])
        made = ann.post(f"/teams/{team}/entries", {"name": "first", "challenge": "sixth"})
        entry = int(made.headers["location"].split("/")[-1])
        package = tmp_path / "entry.zip"
        with zipfile.ZipFile(package, "w") as archive:
            for name in ("entry.py", "config.toml"):
                archive.write(folder / "starter" / name, name)
        with package.open("rb") as file:
            sent = ann.post(f"/entries/{entry}/versions", files={"package": (package.name, file)})
        assert sent.status_code == 303, sent.text
        version = ann.api("GET", f"/entries/{entry}").json()["versions"][-1]["id"]
        answer = ann.post(f"/entries/{entry}/submit", {"version": str(version), "phase": "1"})
        assert answer.status_code == 303, answer.text
        town.play()
        board = town.visitor().get("/api/v1/contests/hands/only/board").json()
        assert [row["team"] for row in board["rows"]] == ["Alpha"]
        assert board["rows"][0]["score"] > 0
        assert "Alpha" in town.visitor().get("/contests/hands/board").text
        assert "Sixth" in ann.get(f"/entries/{entry}").text
    finally:
        town.close()


def test_an_installed_package_may_offer_a_contest(folder, tmp_path):
    """By its entry point, in a process of its own: as after pip install."""
    site = tmp_path / "site"
    (site / "offered-1.0.dist-info").mkdir(parents=True)
    (site / "offered-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: offered\nVersion: 1.0\n")
    (site / "offered-1.0.dist-info" / "entry_points.txt").write_text("[bciarena.contests]\nsixth = offered_sixth\n")
    folder.rename(site / "offered_sixth")
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r});"
        "from bciarena.contests import contest; print(contest('sixth').rules.id, contest('sixth').answers('zh')['1'])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["sixth/1", "左手"]


def test_the_environment_names_contests_and_a_broken_one_harms_nobody(folder, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "rules.py").write_text("RULEBOOK = 1 / 0\n")
    monkeypatch.setenv(contests.FOLDERS, f"{broken}:{folder}")
    contests.discover()
    assert "sixth/1" in RULEBOOKS
    assert "line 1: ZeroDivisionError" in BROKEN["broken"]
    with pytest.raises(BadInput, match="ZeroDivisionError"):
        rulebook("broken")


WRONG = {
    "no rulebook": ("rules.py", "RULEBOOK = build(", "OTHER = build(", "must offer RULEBOOK"),
    "a missing field": ("rules.py", '    Rule("rate", 250, "samples per second"),\n', "", "missing: rate"),
    "a syntax error": ("score.py", "def marks(self", "def marks(self(", "score.py: line 10: SyntaxError"),
    "an id that is none": ("rules.py", "sixth/1", "Sixth", "write a name in small letters, a slash and a version"),
    "truth nobody can say": ("rules.py", "{code: str(code) for", "{code: str(code + 7) for", "not in the vocabulary"),
    "a stream that tells": ("rules.py", "mask(dict.fromkeys(CLASSES, RELEASED))", "mask({})", "tells the truth"),
    "a score that raises": ("score.py", '"correct": int', '"right": int', "KeyError: 'correct'"),
    "a score upside down": ("score.py", '"score": mean_over(bits', '"score": -mean_over(bits', "more must be better"),
    "a score that is not a number": ("score.py", "return {\n", "return {'x': bits / 0, \n", "RuntimeWarning"),
    "a timeline without trials": ("protocol.py", '"imagine", int(code)', '"imagine", 77', "opens a trial"),
    "words that are no TOML": ("words.en.toml", "[answers]", "[answers", "words.en.toml"),
    "words outside a table": ("words.en.toml", "[page]\n", "", "about: is outside any table"),
    "words nobody says": ("words.en.toml", "2 =", "9 =", "9: not in the vocabulary"),
    "a class that is not there": ("baseline/entry.py", "class Entry", "class Other", "no class Entry"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_folder_is_told(folder, what):
    file, old, new, said = WRONG[what]
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), "utf-8")
    problems = [one.problem for one in check_folder(folder) if one.problem]
    assert len(problems) >= 1
    assert any(said in problem for problem in problems), problems


def test_the_name_of_a_known_contest_is_not_taken_twice(tmp_path):
    write_contest_folder(tmp_path / "imagery")
    with pytest.raises(BadInput, match="a contest named imagery is known already"):
        rulebook(str(tmp_path / "imagery"))
    assert CONTESTS["imagery"].folder.parent == contests.HERE
