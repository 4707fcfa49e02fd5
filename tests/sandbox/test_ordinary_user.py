"""The box as an ordinary user makes it: user namespace, no cgroup. Root runs it as nobody; a user runs all tests so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

REPOSITORY = Path(__file__).parents[2]
NOBODY = "65534"
CASES = """lists_proc reads_parent_memory reads_recordings_dir writes_outside message_to_next_run opens_network
    connects_localhost userns_escape ptrace keyctl io_uring fills_tmp fork_bomb oom_heap oom_in_children orphan_child
    busy_loop burns_cpu_in_children ignores_sigterm maps_ahead""".split()


@pytest.fixture
def open_python(tmp_path_factory):
    """An environment of the system's Python, with numpy in it, that everybody may read."""
    if os.geteuid() != 0:
        pytest.skip("not root: the whole suite runs as an ordinary user already")
    system = Path("/usr/bin/python3")
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not system.exists() or not shutil.which("setpriv"):
        pytest.skip("no system Python or no setpriv to become another user with")
    asked = subprocess.run([system, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True)
    if asked.stdout.decode().strip() != version:
        pytest.skip(f"the system's Python is not {version}, for which numpy is installed here")
    folder = Path("/tmp") / f"arena-open-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    try:
        subprocess.run([system, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        site = folder / "venv" / "lib" / f"python{version}" / "site-packages"
        here = Path(numpy.__file__).parents[1]
        for part in here.glob("numpy*"):
            shutil.copytree(part, site / part.name)
        (site / "rest.pth").write_text(f"{REPOSITORY / 'src'}\n{here}\n")
        home = folder / "home"
        home.mkdir()
        os.chown(home, int(NOBODY), int(NOBODY))
        reads = subprocess.run(
            [*as_nobody(folder), "-c", "import bciarena.sandbox as s, pytest; print(s.why_not() or 'works')"],
            capture_output=True,
            text=True,
            env={},
            cwd="/",
        )
        if reads.stdout.strip() != "works":
            pytest.skip(f"an ordinary user cannot box here: {(reads.stdout + reads.stderr).strip()[-200:]}")
        yield folder
    finally:
        shutil.rmtree(folder)


def as_nobody(folder):
    become = [
        "setpriv",
        "--reuid",
        NOBODY,
        "--regid",
        NOBODY,
        "--clear-groups",
        "--inh-caps=-all",
        "/usr/bin/env",
        "-i",
    ]
    settings = [f"HOME={folder / 'home'}", "PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1"]
    return [shutil.which("setpriv"), *become[1:], *settings, str(folder / "venv" / "bin" / "python")]


def test_hostile_entries_as_nobody(open_python):
    chosen = " or ".join(f"hostile/{case}" for case in CASES)
    done = subprocess.run(
        [
            *as_nobody(open_python),
            *("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={open_python / 'home' / 'pytest'}"),
            *("tests/testsuite/test_corpus.py", "-k", chosen),
        ],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env={},
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"{len(CASES)} passed" in done.stdout
