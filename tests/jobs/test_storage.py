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
    return Storage(url, tmp_path / "cache")


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
    storage = Storage(small_disk / "store", tmp_path / "cache")
    big = tmp_path / "big"
    big.write_bytes(os.urandom(3 << 20))
    with pytest.raises(Unwell, match="disk is full") as caught:
        storage.put(big)
    assert "\n" not in str(caught.value)
    assert not [path for path in (small_disk / "store").rglob("*") if path.is_file()]
    storage.put_bytes(b"a little still fits")


def test_unwritable_place_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "afile").write_text("")
    storage = Storage(tmp_path / "afile" / "store", tmp_path / "cache")
    with pytest.raises(Unwell, match="writing failed"):
        storage.put_bytes(b"x")
    with pytest.raises(Unwell, match="reaching failed"):
        storage.probe()


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
