"""A stranger's package from its archive to its report: nothing of it runs outside a box at any moment.

Every piece of the stranger's code announces itself by a system call. All processes are traced, and every announcement
must come from a process that bubblewrap started. Outside, none of the stranger's files is started, loaded as code or
opened where Python would run it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from tests.entries.packages import SmallIndex
from tests.making import write_folder

pytestmark = pytest.mark.skipif(
    shutil.which("bwrap") is None or shutil.which("strace") is None, reason="bubblewrap and strace are needed"
)
WATCHED = "trace=execve,execveat,clone,clone3,fork,vfork,chdir,openat,mmap"
STRACE = ["strace", "-f", "-y", "--seccomp-bpf", "--decode-pids=pidns", "-e", WATCHED]
SAY = (
    "import os\ndef say(where):\n    try:\n        os.chdir('/stranger/' + where)\n    except OSError:\n        pass\n"
)
MINE = (
    SAY + "say('module')\nimport library\nclass Mine:\n    def fit(self, recordings):\n        say('fit')\n"
    "    def save(self, out):\n        open(out + '/x', 'w').write('1')\n"
    "    def load(self, folder):\n        say('load')\n"
    "    def step(self, packet):\n        say('step')\n        return 201\n"
)
JOURNEY = """
import sys
from bciarena.cli import main
entry, data, place = sys.argv[1:]
common = ["--challenge", "imagery"]
codes = [
    main(["check", entry, *common]),
    main(["train", entry, *common, "--data", data, "--out", place + "/model"]),
    main(["run", entry, *common, "--data", data, "--model", place + "/model", "--out", place + "/run"]),
    main(["score", place + "/run"]),
    main(["report", place + "/run", "-o", place + "/report.html"]),
    main(["export", place + "/run", "--out", place + "/table.csv"]),
]
print("codes", codes)
"""


def test_nothing_of_a_stranger_runs_outside_a_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    index = SmallIndex(tmp_path / "index")
    shout = "import os, contextlib; exec('with contextlib.suppress(OSError): os.chdir(\"/stranger/path_file\")')\n"
    index.wheel("library", more=SAY + "say('library')\n", path_file=shout)
    index.use_beside(monkeypatch)
    entry = tmp_path / "entry.zip"
    with zipfile.ZipFile(entry, "w") as archive:
        archive.writestr("config.toml", 'entry = "mine.py:Mine"\npython = "3.8"\n')
        archive.writestr("requirements.txt", "library\n")
        archive.writestr("mine.py", MINE)
        for decoy in ("setup.py", "sitecustomize.py", "conftest.py", "main.py", "__init__.py", "numpy.py", "yaml.py"):
            archive.writestr(decoy, SAY + f"say('decoy-{decoy}')\n")
    book = rulebook("imagery")
    codes = {0: 240, 100: 201, 1200: 241, 1300: 240, 1400: 202, 2500: 241}
    data = write_folder(book, tmp_path / "data", [(2600, codes)])
    trace = tmp_path / "trace"
    command = [*STRACE, "-o", str(trace)]
    done = subprocess.run(
        [*command, sys.executable, "-c", JOURNEY, str(entry), str(data), str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ,
        cwd=tmp_path,
    )
    assert "codes [" in done.stdout, done.stderr[-3000:]
    assert (tmp_path / "report.html").is_file(), done.stdout + done.stderr[-3000:]
    said, outside, programs, code = judge(trace.read_text(errors="replace"))
    assert {"module", "library", "path_file", "fit", "load", "step"} <= said
    assert outside == []
    for program in programs:  # what was started outside of boxes is none of the stranger's files
        assert not Path(program).resolve().is_relative_to(tmp_path), program
    assert any("numpy" in path for path in code[True]), "libraries that the stranger asked for are loaded in a box"
    assert [path for path in code[False] if Path(path).is_relative_to(tmp_path)] == []


def judge(trace: str) -> tuple[set[str], list[str], set[str], dict[bool, set[str]]]:
    """Announcements; those from outside a box; programs started outside a box; files that were loaded as code, by box.

    Loaded as code: mapped to be executed, or a .pyc or .pth that was opened.
    """
    parent: dict[int, int] = {}
    boxes: set[int] = set()
    said: list[tuple[int, str]] = []
    started: list[tuple[int, str]] = []
    loaded: list[tuple[int, str]] = []
    for line in trace.splitlines():
        pid = int(line.split()[0])
        if re.search(r"(clone3?|v?fork)(\(| resumed)", line) and (
            child := re.search(r"\) += (\d+)(?: /\* (\d+) in)?", line)
        ):
            parent[int(child[2] or child[1])] = pid
        if program := re.search(r'execve(?:at)?\((?:\w+, )?"([^"]+)"', line):
            started.append((pid, program[1]))
            if program[1].endswith("/bwrap"):
                boxes.add(pid)
        if where := re.search(r'chdir\("/stranger/([^"]+)"', line):
            said.append((pid, where[1]))
        if (mapped := re.search(r"mmap\(.*PROT_EXEC.*\d<([^>]+)>", line)) or (
            mapped := re.search(r'openat\(.*"[^"]+\.(?:pyc|pth)", .* = \d+<([^>]+)>', line)
        ):
            loaded.append((pid, mapped[1]))

    def boxed(pid: int | None) -> bool:
        while pid is not None:
            if pid in boxes:
                return True
            pid = parent.get(pid)
        return False

    outside = [where for pid, where in said if not boxed(pid)]
    code = {inside: {path for pid, path in loaded if boxed(pid) is inside} for inside in (True, False)}
    return {where for _, where in said}, outside, {program for pid, program in started if not boxed(pid)}, code


def test_the_judge_sees_what_runs_outside(tmp_path: Path) -> None:
    """The same trace of code that is run without a box."""
    trace = tmp_path / "trace"
    (tmp_path / "mine.py").write_text(SAY + "say('module')\n")
    command = [*STRACE, "-o", str(trace), "sh", "-c", f"cd {tmp_path}; {sys.executable} -c 'import mine'"]
    for _ in range(2):  # the second time from what the first one has compiled
        subprocess.run([*command, "; true"], check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})
    said, outside, programs, code = judge(trace.read_text())
    assert (said, outside) == ({"module"}, ["module"])
    assert sys.executable in programs
    assert any("libc" in path for path in code[False])
    assert any(path.startswith(f"{tmp_path}/__pycache__/mine.") for path in code[False])
