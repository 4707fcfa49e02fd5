"""Two boxes at the same time: what one can tell the other."""

import json
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import recordings

from bciarena.contests import rulebook
from bciarena.entries.environments import platform_interpreter
from bciarena.entries.interpreters import find_python
from bciarena.entries.opened import opened
from bciarena.errors import BadInput
from bciarena.package import Interpreter
from bciarena.runs import run_match
from bciarena.sandbox import Limits
from bciarena.sandbox.copies import own_place
from bciarena.sandbox.places import without_the_site

pytestmark = pytest.mark.usefixtures("box_works")

PAIR = Path(__file__).parents[2] / "testsuite" / "hostile" / "signals_on_shared_pages"


def both(folder, ranked, python):
    """Play the pair in two boxes at the same time, again if they did not meet; returns what they printed."""
    book = rulebook("imagery")

    def play(where, number):
        source = where / f"entry-{number}"
        shutil.copytree(PAIR, source)
        (source / "where.json").write_text(json.dumps({"number": number}))
        with opened(f"{source}/entry.py:Entry", book, python=python, ranked=ranked) as entry:
            run_match(book, recordings.recording("imagery"), entry.player(), out=where / f"run-{number}", clock="data")
        return (where / f"run-{number}" / "stdout.txt").read_text()

    for attempt in range(5):  # the first one may still make copies
        where = folder / f"{attempt}"
        with ThreadPoolExecutor(2) as pool:
            said = list(pool.map(play, (where, where), (0, 1)))
        times = [[float(word) for word in text.splitlines()[-1].split()[1:]] for text in said]
        if "ESCAPED" in said[0] or min(end for _, end in times) - max(began for began, _ in times) > 1:
            return said
    raise AssertionError(f"the two never ran at the same time: {times}")


def older_python():
    try:
        find_python("3.10")
    except BadInput as error:
        pytest.skip(str(error))


def test_unranked_boxes_share_pages_which_shows_that_the_attack_works(tmp_path):
    rider, scout = both(tmp_path, ranked=False, python=None)
    for page in ("the C library", "the interpreter", "a module", "numpy", "our client"):
        assert f"ESCAPED a message came through {page}\n" in rider
        assert f"ESCAPED somebody was woken through {page}\n" in scout


@pytest.mark.parametrize("python", [None, "3.10"], ids=["platform", "named"])
def test_ranked_boxes_share_no_page(tmp_path, python):
    if python:
        older_python()
    expected = tomllib.loads((PAIR / "expected.toml").read_text())
    for said in both(tmp_path, ranked=True, python=python):
        assert "ESCAPED" not in said
        assert all(f"{words}\n" in said for words in expected["prints"])


def test_a_place_is_held_by_one_and_left_by_the_dead(tmp_path):
    with own_place(tmp_path) as one, own_place(tmp_path) as two:
        assert (one.number, two.number) == (0, 1)
    program = (
        "import sys; from pathlib import Path; from bciarena.sandbox.copies import own_place\n"
        "own_place(Path(sys.argv[1])).__enter__(); print('held', flush=True); input()"
    )
    pipe = subprocess.PIPE
    holder = subprocess.Popen([sys.executable, "-c", program, tmp_path], stdin=pipe, stdout=pipe)
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.communicate()
    with own_place(tmp_path) as again:
        assert again.number == 0


def test_copies_are_made_once_and_again_after_a_change(tmp_path):
    source = tmp_path / "lib"
    (source / "secret").mkdir(parents=True)
    (source / "a.py").write_text("1")
    with own_place(tmp_path / "places") as place:
        shown = [(source, Path("/opt/lib"))]
        ((copy, where),) = place.copies(shown, [source / "secret"])
        assert where == Path("/opt/lib")
        assert [path.name for path in copy.iterdir()] == ["a.py"]
        assert (copy / "a.py").stat().st_ino != (source / "a.py").stat().st_ino
        assert place.copies(shown, [source / "secret"]) == [(copy, where)]
        (source / "b.py").write_text("2")
        assert place.copies(shown, [source / "secret"])[0][0] != copy
        assert not copy.exists()


def test_what_only_the_site_needs_is_not_copied():
    left_out = {path.name for path in without_the_site(platform_interpreter())}
    assert {"sqlalchemy", "fastapi", "pytest", "test"} <= left_out
    assert not {"numpy", "scipy", "sklearn", "mne", "pandas"} & left_out
    other = Interpreter(Path("/opt/env/bin/python"), "3.11.0", (Path("/opt/env"),))
    assert without_the_site(other) == []


def test_waiting_before_the_first_packet_is_bounded_and_told(tmp_path, monkeypatch):
    file = tmp_path / "entry.py"
    file.write_text(
        "import time\nclass Entry:\n    def start(self, info): time.sleep(60)\n    def step(self, p): pass\n"
    )
    with opened(f"{file}:Entry", rulebook("imagery"), python="3.10") as entry:
        player = entry.player(Limits(load_s=1.0))
        result = run_match(rulebook("imagery"), recordings.recording("imagery"), player)
    assert result["verdict"] == "over_budget"
    assert "did not ask for its first packet within 1 s" in result["reason"]
