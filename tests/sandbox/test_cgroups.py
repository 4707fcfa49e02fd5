import os
import subprocess
from pathlib import Path

import pytest

from bciarena.sandbox import cgroups
from bciarena.sandbox.cgroups import Group, GroupV1, GroupV2, make_group
from bciarena.sandbox.limits import Limits


def tree(root, controllers):
    """A cgroup2 mount as the kernel would show it, in plain files."""
    (root / "user").mkdir()
    for folder in (root, root / "user"):
        (folder / "cgroup.procs").write_text("")
    mounts, own = root.parent / "mounts", root.parent / "own"
    mounts.write_text(f"cgroup2 {root} cgroup2 rw 0 0\n")
    own.write_text("0::/user\n")
    made = Path.mkdir

    def mkdir(self, *args, **kwargs):
        made(self, *args, **kwargs)
        for name in ("cgroup.procs", "memory.events", "cpu.stat", *controllers):
            (self / name).write_text("")

    return mounts, own, mkdir


def test_v2_in_a_made_up_tree_because_this_kernel_may_run_v1(tmp_path, monkeypatch):
    root = tmp_path / "cgroup"
    root.mkdir()
    mounts, own, mkdir = tree(root, ("memory.max", "pids.max", "memory.swap.max"))
    monkeypatch.setattr(Path, "mkdir", mkdir)
    group = make_group(Limits(memory_mib=8, processes=5), mounts, own)
    assert isinstance(group, GroupV2)
    assert group.folder.parent in (root, root / "user")
    assert (group.folder / "memory.max").read_text() == str(8 << 20)
    assert (group.folder / "memory.swap.max").read_text() == "0"
    assert (group.folder / "pids.max").read_text() == "5"
    (group.folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    (group.folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.cpu_s() == 1.5
    assert group.out_of_memory()


def test_v2_without_controllers_falls_back(tmp_path, monkeypatch):
    root = tmp_path / "cgroup"
    root.mkdir()
    mounts, own, mkdir = tree(root, ())
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", lambda self: None)
    group = make_group(Limits(), mounts, own)
    assert group.kind == "no cgroup"
    assert group.cpu_s() is None
    assert not group.out_of_memory()


def test_none_mounted(tmp_path):
    for name in ("mounts", "own"):
        (tmp_path / name).write_text("")
    assert type(make_group(Limits(), tmp_path / "mounts", tmp_path / "own")) is Group


@pytest.fixture
def real_group():
    group = make_group(Limits(memory_mib=64, processes=20))
    if not group.folders:
        pytest.skip("no cgroup can be made here")
    yield group
    if group.folders[0].exists():
        group.close()


def test_real_group_counts_kills_and_goes(real_group):
    join = "for d; do echo $$ > $d/cgroup.procs; done; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 60"
    process = subprocess.Popen(["/bin/sh", "-c", join, "sh", *map(str, real_group.folders)])
    while not real_group.cpu_s():
        assert process.poll() is None
    assert isinstance(real_group, GroupV1 | GroupV2)
    real_group.close()
    assert process.wait(5) == -9
    assert not any(folder.exists() for folder in real_group.folders)


def test_groups_of_the_dead_are_swept(real_group):
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    parent = real_group.folders[0].parent
    left = parent / f"{cgroups.PREFIX}{gone.pid}-1"
    left.mkdir()
    other = make_group(Limits())
    other.close()
    assert not left.exists()
    assert str(os.getpid()) in real_group.folders[0].name
