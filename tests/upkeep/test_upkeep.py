"""arena verify, backup and restore, on real sites that run meanwhile."""

from __future__ import annotations

import json
import os
import tarfile
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import update

from bciarena import cli
from bciarena.jobs.model import Job
from bciarena.service.models import Result
from bciarena.service.site import Site
from tests.service.conftest import RIGHT, Town, packed
from tests.service.test_flow import submit, team_with_entry, upload

GOOD = RIGHT.format(answer="201 + (self.count - 1) % 3")


def prepared(town: Town, tmp_path: Path) -> Town:
    """One run of one team, scored; upkeep's options for this site."""
    town.contest()
    town.ann = town.person("ann")
    _, town.entry = team_with_entry(town.ann)
    town.version = upload(town.ann, town.entry, packed(tmp_path / "p", GOOD))
    submit(town.ann, town.entry, town.version)
    town.play()
    town.options = ["--home", str(town.settings.home), "--database", town.settings.database]
    return town


@pytest.fixture
def site(sqlite_town: Town, tmp_path: Path) -> Town:
    return prepared(sqlite_town, tmp_path)


def board(base: Town) -> list[dict]:
    return base.visitor().get("/api/v1/contests/spring/preliminary/board").json()["rows"]


def verify(site: Town, capsys, *options: str) -> tuple[int, dict]:
    capsys.readouterr()
    code = cli.main(["verify", "--json", *site.options, *options])
    return code, json.loads(capsys.readouterr().out)


def stored(site: Town, name: str, path: str | None = None) -> Path:
    storage = site.site.storage
    kind, digest = name.split("-")
    return Path(storage.where("file", storage.manifest(name)[path][0]) if path else storage.where(kind, digest))


def run_of(site: Town) -> str:
    with site.site.session(False) as session:
        return session.get_one(Job, 1).run


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_backup_under_load_and_restore_into_an_empty_home(town: Town, tmp_path: Path, capsys, request) -> None:
    site = prepared(town, tmp_path)
    file = tmp_path / "site.backup"
    data = site.settings.home / "data"
    (data / "olga" / "next year").mkdir()
    (data / "olga" / "next year" / "note.txt").write_text("not in any contest yet")
    stop = threading.Event()

    def busy() -> None:  # others write all the time
        while not stop.is_set():
            site.site.queue.put("noop", {"echo": 1})
            site.site.storage.put_bytes(os.urandom(64))

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        assert cli.main(["backup", str(file), *site.options]) == 0
    finally:
        stop.set()
        thread.join()
    first = file.stat().st_size
    assert file.stat().st_mode & 0o077 == 0
    expected = board(site)
    with tarfile.open(file) as tar:
        blobs = [name for name in tar.getnames() if name.startswith("storage/")]
    assert len(blobs) == len(set(blobs))  # recordings of contests are in data/ and in the storage, here once
    assert cli.main(["backup", str(file), *site.options]) == 0
    with tarfile.open(file) as tar:  # the second time nothing stored is copied again
        assert [name for name in tar.getnames() if name.startswith("storage/")] == blobs
    assert file.stat().st_size > first
    assert cli.main(["verify", str(file)]) == 0

    home = tmp_path / "new"
    url = f"sqlite:///{home / 'arena.db'}"
    if not site.settings.database.startswith("sqlite"):
        url = request.getfixturevalue("postgres").url()
    options = ["--home", str(home), "--database", url]
    assert cli.main(["restore", str(file), *options]) == 0
    capsys.readouterr()
    assert cli.main(["verify", "--digests", "--scores", *options]) == 0, capsys.readouterr().out
    again = Town(home, url)
    try:
        assert board(again) == expected
        assert again.person("ann").get("/teams").status_code == 200  # her password is the same
        assert (home / "secret.key").read_text() == (site.settings.home / "secret.key").read_text()
        assert files_in(home / "data") == files_in(data)
        choices = again.person("olga").get("/organise/new").text
        assert "olga/set" in choices
    finally:
        again.close()
    assert cli.main(["restore", str(file), *options]) == 2
    assert "is there already" in capsys.readouterr().err


def test_verify_finds_what_is_missing_damaged_and_wrong(site: Town, capsys) -> None:
    assert verify(site, capsys, "--digests", "--scores") == (0, {"wrong": [], "unused": 0, "removed": 0})
    run = run_of(site)
    ledger, score = stored(site, run, "ledger.jsonl"), stored(site, run, "score.json")
    content = ledger.read_bytes()
    ledger.unlink()
    code, said = verify(site, capsys)
    assert code == 3
    assert [one["kind"] for one in said["wrong"]] == ["missing"]
    assert "ledger.jsonl" in said["wrong"][0]["what"]
    assert "run of job 1" in said["wrong"][0]["who"]
    ledger.write_bytes(content)
    score.chmod(0o644)
    text = score.read_bytes()
    score.write_bytes(b"#" + text[1:])
    assert verify(site, capsys)[0] == 0  # the same size: only reading tells
    code, said = verify(site, capsys, "--digests")
    assert [one["kind"] for one in said["wrong"]] == ["damaged"]
    score.write_bytes(text)
    with site.site.session(writes=True) as session:
        session.execute(update(Result).values(score=Result.score + 1))
        session.commit()
    code, said = verify(site, capsys, "--scores")
    assert [(one["kind"], one["who"]) for one in said["wrong"]] == [("score", ["result of run 1"])]


def test_verify_takes_a_run_or_a_backup(site: Town, tmp_path: Path, capsys) -> None:
    storage = site.site.storage
    with site.site.session(False) as session:
        data = session.get_one(Job, 1).payload["data"]
    run = storage.fetch(run_of(site))
    assert cli.main(["verify", str(run), "--data", str(storage.fetch(data))]) == 0
    assert "equals the stored score" in capsys.readouterr().out
    (tmp_path / "letter.txt").write_text("dear")
    assert cli.main(["verify", str(tmp_path / "letter.txt")]) == 2
    assert "is not a backup" in capsys.readouterr().err


def test_an_interrupted_backup_spoils_nothing(site: Town, tmp_path: Path, capsys) -> None:
    file = tmp_path / "site.backup"
    assert cli.main(["backup", str(file), *site.options]) == 0
    whole = file.read_bytes()
    submit(site.ann, site.entry, upload(site.ann, site.entry, packed(tmp_path / "q", GOOD + "\n# another\n")))
    site.play()
    assert cli.main(["backup", str(file), *site.options]) == 0
    longer = file.read_bytes()
    for cut in (len(whole) + 700, (len(whole) + len(longer)) // 2, len(longer) - 1500):
        file.write_bytes(longer[:cut])
        assert cli.main(["verify", str(file)]) == 0
        assert cli.main(["backup", str(file), *site.options]) == 0
        assert cli.main(["verify", str(file)]) == 0
    size = file.stat().st_size
    capsys.readouterr()
    assert cli.main(["backup", str(file), *site.options, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(file), "files": 0, "bytes": 0}  # all is in it
    assert file.stat().st_size == size
    assert cli.main(["backup", str(tmp_path / "fresh"), *site.options, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] > 0
    assert not (tmp_path / "fresh").exists()
    other = ["--database", "postgresql://nobody@127.0.0.1:9/none"]
    for words in ([], ["--dry-run"]):  # before anything is written
        assert cli.main(["restore", str(file), "--home", str(tmp_path / "new"), *other, *words]) == 2
        assert "the backup is of sqlite" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert cli.main(["restore", str(file), "--home", str(tmp_path / "new"), "--dry-run"]) == 0
    assert not (tmp_path / "new").exists()
    assert cli.main(["restore", str(file), "--home", str(tmp_path / "new")]) == 0


def test_a_damaged_backup_is_seen_and_not_restored(site: Town, tmp_path: Path, capsys) -> None:
    file = tmp_path / "site.backup"
    assert cli.main(["backup", str(file), *site.options]) == 0
    with tarfile.open(file) as tar:
        victim = max((one for one in tar if one.name.startswith("storage/file")), key=lambda one: one.size)
    with open(file, "r+b") as opened:
        opened.seek(victim.offset_data + victim.size // 2)
        opened.write(b"damage")
    assert cli.main(["verify", str(file)]) == 3
    assert cli.main(["restore", str(file), "--home", str(tmp_path / "new")]) == 3
    assert not (tmp_path / "new" / "arena.db").exists()


def test_what_is_missing_in_storage_is_said_and_the_rest_is_backed_up(site: Town, tmp_path: Path, capsys) -> None:
    stored(site, run_of(site), "ledger.jsonl").unlink()
    file = tmp_path / "site.backup"
    assert cli.main(["backup", str(file), *site.options]) == 3
    assert "missing or damaged in storage" in capsys.readouterr().out
    assert cli.main(["restore", str(file), "--home", str(tmp_path / "new")]) == 0


def test_a_link_in_data_is_said_and_data_mends_what_is_damaged_in_storage(site: Town, tmp_path: Path, capsys) -> None:
    (site.settings.home / "data" / "olga" / "link").symlink_to("/etc")
    with site.site.session(False) as session:
        recording = session.get_one(Job, 1).payload["data"]
    victim = stored(site, recording, "S01/block_1.npz")
    victim.unlink()
    file = tmp_path / "site.backup"
    assert cli.main(["backup", str(file), *site.options]) == 3
    said = capsys.readouterr().out
    assert "data/olga/link" in said
    assert "in storage" not in said
    assert cli.main(["backup", str(file), "--keep", "1", *site.options]) == 3
    home = tmp_path / "new"
    assert cli.main(["restore", str(file), "--home", str(home)]) == 0
    assert cli.main(["verify", "--digests", "--scores", "--home", str(home)]) == 0
    assert files_in(home / "data") == files_in(site.settings.home / "data")
    assert not (home / "data" / "olga" / "link").exists()


def test_only_the_newest_backups_are_kept_where_asked(site: Town, tmp_path: Path) -> None:
    file = tmp_path / "site.backup"
    for _ in range(3):
        assert cli.main(["backup", str(file), "--keep", "2", *site.options]) == 0
    with tarfile.open(file) as tar:
        moments = [name for name in tar.getnames() if name.endswith("index.json")]
    assert len(moments) == 2
    assert cli.main(["verify", str(file)]) == 0
    assert cli.main(["restore", str(file), "--moment", moments[0].split("/")[1], "--home", str(tmp_path / "new")]) == 0


def test_what_nothing_names_is_removed_only_when_it_is_old(site: Town, capsys) -> None:
    storage = site.site.storage
    new, old = storage.put_bytes(b"just uploaded"), storage.put_bytes(b"refused long ago")
    ages_ago = time.time() - 9 * 86400
    os.utime(stored(site, old), (ages_ago, ages_ago))
    os.utime(stored(site, run_of(site)), (ages_ago, ages_ago))  # old, but needed
    assert verify(site, capsys, "--remove-unused", "7") == (0, {"wrong": [], "unused": 2, "removed": 1})
    assert (storage.exists(new), storage.exists(old)) == (True, False)
    assert cli.main(["verify", *site.options, "--remove-unused", "0"]) == 2


def test_a_site_that_is_not_there_is_one_line_and_nothing_is_made(tmp_path: Path, capsys) -> None:
    for command in (["verify"], ["backup", str(tmp_path / "b")]):
        assert cli.main([*command, "--home", str(tmp_path / "nowhere")]) == 2
        assert "no such database" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_storage_away_is_said(site: Town, tmp_path: Path, capsys) -> None:
    root = Path(site.site.storage.root)
    root.rename(tmp_path / "elsewhere")
    assert cli.main(["backup", str(tmp_path / "b"), *site.options]) == 3
    assert "is away" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()
    assert isinstance(site.site, Site)
