"""The second wall, tried on this kernel in a process of its own."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from bciarena.contestant.landlock import wall
version = wall([sys.argv[1]])
print(version)
open(sys.argv[1] + "/inside", "w").write("x")
open("/dev/null", "w").write("x")
open(sys.argv[2] + "/there").read()
try:
    open(sys.argv[2] + "/outside", "w")
    print("written")
except PermissionError:
    print("held")
"""


def test_writing_outside_is_refused_reading_is_not(tmp_path):
    mine, others = tmp_path / "mine", tmp_path / "others"
    for folder in (mine, others):
        folder.mkdir()
        (folder / "there").write_text("x")
    done = subprocess.run([sys.executable, "-c", PROGRAM, mine, others], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    version, outcome = done.stdout.split()
    if int(version) == 0:
        pytest.skip("this kernel has no Landlock")
    assert outcome == "held"
    assert (mine / "inside").exists()
