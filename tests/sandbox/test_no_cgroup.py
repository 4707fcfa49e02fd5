"""A machine where no cgroup can really be made: a mount namespace in which every hierarchy is read-only."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bciarena.sandbox.cgroups import make_group
from bciarena.sandbox.limits import Limits

pytestmark = pytest.mark.usefixtures("box_works")

READ_ONLY = (
    "while read -r _ where kind _; do case $kind in cgroup*) mount -o remount,bind,ro $where || exit 9;; esac; "
    'done < /proc/mounts; exec "$@"'
)
PROGRAM = """
import json, sys
from pathlib import Path
corpus = Path(sys.argv[1])
sys.path.insert(0, str(corpus))
import recordings
from bciarena.contests import rulebook
from bciarena.entries.opened import opened
from bciarena.errors import Fault
from bciarena.runs import run_match
from bciarena.sandbox.limits import Limits
from bciarena.sandbox.probe import why_not_ranked

book, said = rulebook("imagery"), {"doctor": why_not_ranked()}
for name, limits in (("oom_shared", {"memory_mib": 400}), ("burns_cpu_behind_a_thread", {})):
    with opened(f"{corpus}/hostile/{name}/entry.py:Entry", book) as entry:
        player = entry.player(Limits(**limits))
        said[name] = run_match(book, recordings.recording("imagery"), player, clock="data", budget_s=3.0)
with opened(f"{corpus}/broken/raises/entry.py:Entry", book, ranked=True) as entry:
    try:
        run_match(book, recordings.recording("imagery"), entry.player())
    except Fault as error:
        said["ranked"] = str(error)
print(json.dumps(said))
"""


def test_limits_hold_and_nothing_is_ranked():
    if os.geteuid() != 0:
        pytest.skip("not root: mounts cannot be made read-only")
    group = make_group(Limits())
    group.close()
    assert group.folders, "a cgroup can be made out here, so that its absence in there is what the test is about"
    corpus = Path(__file__).parents[2] / "testsuite"
    command = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", sys.executable, "-c", PROGRAM, str(corpus)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["doctor"].startswith("ranked runs need a cgroup, and none can be made here")
    assert said["ranked"].startswith("a ranked run needs a cgroup")
    for name, verdict in (("oom_shared", "out_of_memory"), ("burns_cpu_behind_a_thread", "over_budget")):
        assert (said[name]["sandbox"], said[name]["verdict"]) == ("bwrap, no cgroup", verdict), said[name]
