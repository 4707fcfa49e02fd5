"""Two boxes at the same time: what one can tell the other."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
import recordings

from bciarena.contests import rulebook
from bciarena.entries.interpreters import find_python
from bciarena.entries.opened import opened
from bciarena.errors import BadInput, Fault
from bciarena.runs import run_match
from bciarena.sandbox import Limits, box
from bciarena.sandbox.cgroups import Group
from bciarena.sandbox.copies import own_place

pytestmark = pytest.mark.usefixtures("box_works")

FUTEX = """
import ctypes, os, struct, time
libc = ctypes.CDLL(None, use_errno=True)
WAIT, WAKE = 0, 1
address = ctypes.cast(libc.printf, ctypes.c_void_p).value & ~3  # in a page of the C library, read-only
value = ctypes.c_uint32.from_address(address).value

class Scout:
    def start(self, info):
        end = time.monotonic() + 8
        while time.monotonic() < end:
            if libc.syscall(202, ctypes.c_void_p(address), WAKE, 1, None, None, 0) > 0:
                print("somebody was woken")
                return
            time.sleep(0.001)
    def step(self, packet): return None

class Rider:
    def start(self, info):
        wait = struct.pack("qq", 8, 0)
        buffer = ctypes.create_string_buffer(wait)
        if libc.syscall(202, ctypes.c_void_p(address), WAIT, value, buffer, None, 0) == 0:
            print("a message came")
    def step(self, packet): return None
"""


def both(tmp_path, ranked):
    """A scout and a rider in boxes at the same time; what each of them printed."""
    file = tmp_path / "pair.py"
    file.write_text(FUTEX)
    book, said = rulebook("imagery"), {}
    try:
        find_python("3.10")
    except BadInput as error:
        pytest.skip(str(error))

    def play(name):
        with opened(f"{file}:{name}", book, python="3.10", ranked=ranked) as entry:
            run_match(book, recordings.recording("imagery"), entry.player(), out=tmp_path / name, clock="data")
        said[name] = (tmp_path / name / "stdout.txt").read_text()

    threads = [threading.Thread(target=play, args=(name,)) for name in ("Scout", "Rider")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


@pytest.fixture
def warm():
    """The environment is there and a first box was made, so that both start within the same seconds."""
    entry = f"{Path(__file__).parents[2]}/testsuite/broken/raises/entry.py:Entry"
    with opened(entry, rulebook("imagery"), python="3.10") as ready:
        assert ready.interpreter.version.startswith("3.10")


def test_unranked_boxes_share_pages_which_shows_that_the_attack_works(tmp_path, warm):
    said = both(tmp_path, ranked=False)
    assert said == {"Scout": "somebody was woken\n", "Rider": "a message came\n"}


def test_ranked_boxes_share_no_page(tmp_path, warm):
    (tmp_path / "first").mkdir()
    both(tmp_path / "first", ranked=True)  # makes the copies
    (tmp_path / "second").mkdir()
    assert both(tmp_path / "second", ranked=True) == {"Scout": "", "Rider": ""}


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


def test_a_ranked_run_without_a_cgroup_is_our_fault(tmp_path, monkeypatch, warm):
    monkeypatch.setattr(box, "make_group", lambda limits: Group())
    file = tmp_path / "entry.py"
    file.write_text("class Entry:\n    def step(self, packet): pass\n")
    with (
        opened(f"{file}:Entry", rulebook("imagery"), python="3.10", ranked=True) as entry,
        pytest.raises(Fault, match="a ranked run needs a cgroup"),
    ):
        run_match(rulebook("imagery"), recordings.recording("imagery"), entry.player())


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
