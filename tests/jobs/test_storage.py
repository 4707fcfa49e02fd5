"""Storage: what goes in comes out, under its digest, or not at all."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bciarena.errors import BadInput
from bciarena.jobs.storage import Damaged, Missing, Storage, Unwell
from tests.jobs.playing import wait_for


@pytest.fixture
def ftp_url(tmp_path: Path) -> Iterator[str]:
    """A real server on the other side of a socket."""
    (tmp_path / "ftp").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["-i", "127.0.0.1", "-p", str(port), "-u", "arena", "-P", "secret", "-w", "-d", str(tmp_path / "ftp")]
    # On Python 3.11 the server stands on modules that the standard library warns about.
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "pyftpdlib", *options], stderr=subprocess.DEVNULL)
    wait_for(lambda: _answers(port), 30, "the FTP server answers")
    yield f"ftp://arena:secret@127.0.0.1:{port}/store"
    server.terminate()
    server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=["folder", "memory", "ftp"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    url = {
        "folder": lambda: str(tmp_path / "store"),
        "memory": lambda: f"memory://{tmp_path.name}",
        "ftp": lambda: request.getfixturevalue("ftp_url"),
    }[request.param]()
    return Storage(url, tmp_path / "cache").make()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    (root / "S01").mkdir(parents=True)
    (root / "S01" / "block_1.npz").write_bytes(b"one" * 1000)
    (root / "note.txt").write_text("两")
    return root


def test_folder_comes_back_the_same(storage: Storage, folder: Path) -> None:
    name = storage.put(folder)
    assert storage.put(folder) == name
    there = storage.fetch(name)
    assert (there / "S01" / "block_1.npz").read_bytes() == b"one" * 1000
    assert storage.fetch(name) == there
    assert storage.files(name) == {"S01/block_1.npz": 3000, "note.txt": 3}
    assert storage.read(name, "note.txt").decode() == "两"


def test_name_depends_on_content_alone(storage: Storage, folder: Path, tmp_path: Path) -> None:
    name = storage.put(folder)
    (folder / "note.txt").write_text("三")
    assert storage.put(folder) != name
    one = tmp_path / "one.bin"
    one.write_bytes(b"x")
    assert storage.put(one) == storage.put_bytes(b"x")


def test_damage_in_storage_is_seen(storage: Storage, folder: Path) -> None:
    name = storage.put(folder)
    victim = next(path for path in storage.fs.find(storage.root) if "/file/" in path and storage.fs.size(path) == 3000)
    storage.fs.rm_file(victim)
    storage.fs.pipe_file(victim, b"two" * 1000)
    with pytest.raises(Damaged, match="digest does not match"):
        storage.fetch(name)
    with pytest.raises(Damaged):
        storage.read(name, "S01/block_1.npz")
    assert not list(storage.cache.rglob("*.part"))
    assert not [path for path in storage.cache.rglob("*") if path.is_file()]


def test_good_content_takes_the_place_of_damaged(storage: Storage, folder: Path) -> None:
    name = storage.put(folder)
    for victim in [path for path in storage.fs.find(storage.root) if "/file/" in path or "/tree/" in path]:
        size = storage.fs.size(victim)
        storage.fs.rm_file(victim)
        storage.fs.pipe_file(victim, b"x" * size)
    assert storage.put(folder) == name
    assert (storage.fetch(name) / "S01" / "block_1.npz").read_bytes() == b"one" * 1000


def test_missing_and_wrong_names(storage: Storage, folder: Path) -> None:
    with pytest.raises(Missing, match="is not there"):
        storage.fetch("file-" + "0" * 64)
    for name in ("../../etc/passwd", "file-xyz", "tree-" + "0" * 63):
        with pytest.raises(BadInput):
            storage.fetch(name)
    with pytest.raises(Missing, match="has no file"):
        storage.read(storage.put(folder), "../secret")


def test_links_are_refused(storage: Storage, folder: Path) -> None:
    os.symlink("/etc/passwd", folder / "link")
    with pytest.raises(BadInput, match="links"):
        storage.put(folder)


def test_trim_removes_the_longest_unused(storage: Storage, tmp_path: Path) -> None:
    names = [storage.put_bytes(letter * 1000) for letter in (b"a", b"b", b"c")]
    for age, name in zip((3000, 9000, 8000), names, strict=True):
        path = storage.fetch(name)
        at = path.stat().st_mtime - age
        os.utime(path, (at, at))
    assert storage.trim(1500) == 2
    assert [path.read_bytes()[:1] for path in storage.cache.glob("file/??/*")] == [b"a"]


def test_full_disk_is_one_clear_line(tmp_path: Path, small_disk: Path) -> None:
    storage = Storage(small_disk / "store", tmp_path / "cache").make()
    big = tmp_path / "big"
    big.write_bytes(os.urandom(3 << 20))
    with pytest.raises(Unwell, match="disk is full") as caught:
        storage.put(big)
    assert "\n" not in str(caught.value)
    assert [path.name for path in (small_disk / "store").rglob("*") if path.is_file()] == ["store.json"]
    storage.put_bytes(b"a little still fits")


def test_unwritable_place_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "afile").write_text("")
    storage = Storage(tmp_path / "afile" / "store", tmp_path / "cache")
    with pytest.raises(Unwell, match="making a store failed"):
        storage.make()
    for use in (lambda: storage.put_bytes(b"x"), storage.probe):
        with pytest.raises(Unwell, match="is away"):
            use()


def test_unknown_protocol_is_bad_input() -> None:
    with pytest.raises(BadInput, match="nosuch"):
        Storage("nosuch://place")


def test_a_folder_named_relative_is_the_same_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Storage("store", tmp_path / "cache").url == str(tmp_path / "store")


def test_a_remote_store_that_is_away_is_one_line_without_the_password(ftp_url: str, tmp_path: Path) -> None:
    with pytest.raises(Unwell, match=r"storage ftp://127.0.0.1:\d+/store: cannot be reached: ") as wrong:
        Storage(ftp_url.replace("secret", "guess"), tmp_path / "cache")
    assert "guess" not in str(wrong.value)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = f"ftp://arena:secret@127.0.0.1:{free.getsockname()[1]}/store"
        with pytest.raises(Unwell, match="refused") as refused:
            Storage(away, tmp_path / "cache")
    assert "secret" not in str(refused.value)


def test_a_place_without_the_mark_is_away_and_nothing_is_made_in_its_stead(storage: Storage, tmp_path: Path) -> None:
    name = storage.put_bytes(b"kept")
    unmounted = Storage(storage.url.replace("store", "other") if "store" in storage.url else f"{storage.url}x")
    for use in (
        lambda: unmounted.put_bytes(b"x"),
        lambda: unmounted.read(name),
        lambda: unmounted.fetch(name),
        unmounted.probe,
    ):
        with pytest.raises(Unwell, match=r"is away: store.json is not there"):
            use()
    assert not unmounted.fs.exists(unmounted.root)


def test_unmounted_under_a_running_process(tmp_path: Path) -> None:
    """A real mount that goes away: what lay below the mount point must stay empty."""
    root = tmp_path / "mnt"
    root.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(root)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here (needs root)")
    try:
        storage = Storage(root, tmp_path / "cache").make()
        storage.put_bytes(b"before")
    finally:
        subprocess.run(["umount", str(root)], check=True)
    with pytest.raises(Unwell, match="is away"):
        storage.put_bytes(b"after")
    assert list(root.iterdir()) == []


def test_another_store_in_its_place_is_refused(tmp_path: Path) -> None:
    first = Storage(tmp_path / "one", tmp_path / "cache").make()
    Storage(tmp_path / "two", tmp_path / "cache").make()
    with pytest.raises(Unwell, match="another store"):
        Storage(tmp_path / "two", tmp_path / "cache", first.store).put_bytes(b"x")


def test_a_folder_with_other_things_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "home" / "letters").mkdir(parents=True)
    with pytest.raises(BadInput, match="holds other things"):
        Storage(tmp_path / "home", tmp_path / "cache").make()


def test_a_damaged_cache_is_fetched_again(storage: Storage, folder: Path) -> None:
    name = storage.put(folder)
    block = storage.fetch(name) / "S01" / "block_1.npz"
    content = block.read_bytes()
    block.unlink()  # a name of its own from here on
    block.write_bytes(content[:-1] + b"x")
    assert (storage.fetch(name) / "S01" / "block_1.npz").read_bytes() == content


def test_damage_in_place_is_seen_through_a_warm_cache(tmp_path: Path, folder: Path) -> None:
    storage = Storage(tmp_path / "store", tmp_path / "cache").make()
    name = storage.put(folder)
    storage.fetch(name)
    victim = Path(storage.where("file", storage.manifest(name)["S01/block_1.npz"][0]))
    victim.chmod(0o644)
    with open(victim, "r+b") as file:
        file.write(b"X")
    with pytest.raises(Damaged, match="digest does not match"):
        storage.fetch(name)


def test_what_killed_writers_left_is_removed(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "store", tmp_path / "cache").make()
    name = storage.put_bytes(b"whole")
    killer = (
        "import os, sys; from bciarena.jobs import storage as s; s._to_disk = lambda path: os.kill(os.getpid(), 9)\n"
    )
    killer += "s.Storage(sys.argv[1]).put_bytes(b'half')"
    subprocess.run([sys.executable, "-c", killer, storage.url], check=False)
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file() and path.name != "store.json"]
    assert len(left) == 2
    assert storage.clean() == 0  # it may still be written to
    assert storage.clean(left_s=-1.0) == 1
    assert storage.read(name) == b"whole"
    assert not list((tmp_path / "store" / "part").iterdir())
