"""The box's command line, word by word: a change of what a box sees must show here."""

from pathlib import Path

import pytest

from bciarena.sandbox import bwrap
from bciarena.sandbox.bwrap import View, arguments
from bciarena.sandbox.limits import Limits

PROC = [("cpuinfo", False), ("kallsyms", False), ("sys", True), ("stat", False)]


@pytest.fixture
def package(tmp_path):
    (tmp_path / "Algorithm").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "outside").symlink_to("/etc/shadow")
    return tmp_path


def view(package, **more):
    return View(
        package=package,
        shown=[(Path("/cache/env"), Path("/cache/env")), (Path("/src/wire"), Path("/arena/lib/arenabox/wire"))],
        hidden=[Path("/cache/env/bciarena")],
        proc=PROC,
        still={"stat": 9},
        limits=Limits(tmp_mib=2, shm_mib=1),
        **more,
    )


def words(text):
    return text.split()


def test_whole_list_for_root(package, monkeypatch):
    monkeypatch.setattr(bwrap, "LINKS", ())
    monkeypatch.setattr(bwrap, "ENVIRONMENT", {"HOME": "/tmp"})
    expected = words(f"""
        --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try
        --cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP
        --die-with-parent --new-session --hostname arena --chdir / --clearenv --setenv HOME /tmp
        --tmpfs / --perms 1777 --size 2097152 --tmpfs /tmp
        --perms 0755 --dir /arena --perms 0755 --dir /arena/lib --perms 0755 --dir /arena/lib/arenabox
        --perms 0755 --dir /cache
        --ro-bind-try /cache/env /cache/env --ro-bind-try /src/wire /arena/lib/arenabox/wire
        --ro-bind /dev/null /cache/env/bciarena
        --proc /proc --size 4096 --tmpfs /proc/1 --remount-ro /proc/1 --ro-bind /dev/null /proc/kallsyms
        --perms 0444 --ro-bind-data 9 /proc/stat --size 4096 --tmpfs /proc/sys --remount-ro /proc/sys
        --size 1048576 --tmpfs /dev --dev-bind /dev/null /dev/null
        --dev-bind /dev/zero /dev/zero --dev-bind /dev/full /dev/full
        --dev-bind /dev/random /dev/random
        --dev-bind /dev/urandom /dev/urandom
        --symlink /proc/self/fd/0 /dev/stdin --symlink /proc/self/fd/1 /dev/stdout
        --symlink /proc/self/fd/2 /dev/stderr --symlink /proc/self/fd /dev/fd --dir /dev/shm --remount-ro /dev
        --perms 1777 --size 1048576 --tmpfs /dev/shm
        --size 1048576 --tmpfs /entry --ro-bind {package}/Algorithm /entry/Algorithm
        --ro-bind {package}/config.json /entry/config.json --symlink /etc/shadow /entry/outside
        --remount-ro /entry --remount-ro /
    """)
    got = arguments(view(package, as_root=True))
    print("\n".join(got))
    assert got == expected


def test_a_box_that_is_played_to_has_no_real_proc(package):
    got = " ".join(arguments(view(package, as_root=True, playing=True)))
    assert "--proc " not in got
    assert "/dev/fd" not in got
    begins = (
        "--tmpfs /proc --perms 0755 --dir /proc/self --perms 0444 --ro-bind-data 9 /proc/stat --symlink self /proc/2"
    )
    assert begins in got
    assert "--symlink self /proc/399 --remount-ro /proc " in got
    assert len(got.split()) < 9000, "bubblewrap takes no more"


def test_an_ordinary_user_gets_a_user_namespace(package):
    got = " ".join(arguments(view(package, as_root=False)))
    assert "--unshare-user --disable-userns --uid 65534 --gid 65534 --cap-drop ALL" in got
    assert "--cap-add" not in got


def test_model_stands_in_the_package(package):
    (package / "model").mkdir()
    got = " ".join(arguments(view(package, as_root=True, model=Path("/models/m"))))
    assert "--ro-bind /models/m /entry/model --remount-ro /entry" in got
    assert f"--ro-bind {package}/model" not in got


def test_only_training_sees_data_and_only_out_is_writable(package):
    got = arguments(view(package, as_root=True, data=Path("/d"), out=Path("/o")))
    assert " ".join(got).endswith("--ro-bind /d /data --bind /o /out --remount-ro /")
    assert got.count("--bind") == 1
    assert "--bind" not in arguments(view(package, as_root=True))


def test_every_tmpfs_but_the_read_only_ones_is_bounded(package):
    got = arguments(view(package, as_root=False))
    for index, word in enumerate(got):
        if word == "--tmpfs" and got[index + 1] != "/":
            assert got[index - 2] == "--size", got[index + 1]
    assert got[-2:] == ["--remount-ro", "/"]


def test_no_mount_point_is_made_inside_what_an_entry_brings(package):
    """bubblewrap before 0.12.0 follows symbolic links there: no place may lie below a bound folder of the entry's."""
    (package / "model").symlink_to("/etc")
    got = arguments(view(package, as_root=True, model=Path("/models/m"), out=Path("/o")))
    places, theirs = [], []
    for index, word in enumerate(got):
        if word in ("--ro-bind", "--ro-bind-try", "--bind", "--dev-bind", "--symlink"):
            places.append(Path(got[index + 2]))
            if (
                Path(got[index + 1]).is_relative_to(package)
                or got[index + 1] in ("/models/m", "/o")
                or word == "--symlink"
            ):
                theirs.append(places[-1])
        elif word in ("--tmpfs", "--dir", "--proc", "--remount-ro"):
            places.append(Path(got[index + 1]))
    assert Path("/entry/Algorithm") in theirs
    assert not [place for place in places for bound in theirs if bound in place.parents]
    assert len(set(theirs)) == len(theirs)
