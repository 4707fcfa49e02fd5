"""From run to result while things go wrong: each thing by itself, faults leave what stands, nothing is lost twice."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from bciarena.contests import RULEBOOKS
from bciarena.contests.imagery.score import ImageryScore
from bciarena.jobs.model import Job
from bciarena.service import results, troubles
from bciarena.service.keeper import work_once
from bciarena.service.models import Result, Submission
from bciarena.service.site import Site
from tests.service.conftest import RIGHT, packed
from tests.service.test_flow import submit, team_with_entry, upload

GOOD = RIGHT.format(answer="201 + (self.count - 1) % 3")


@pytest.fixture
def played_on_both(town, tmp_path, monkeypatch):
    return play(town, tmp_path, monkeypatch)


@pytest.fixture
def played(sqlite_town, tmp_path, monkeypatch):
    return play(sqlite_town, tmp_path, monkeypatch)


def play(town, tmp_path, monkeypatch):
    """A site with one scored run, a second reading of the rules (which doubles scores), and no patience."""
    monkeypatch.setattr(troubles, "PAUSES_S", (0.0, 0.0))
    first = RULEBOOKS["imagery/1"]

    class Doubled(ImageryScore):
        def rates(self, *given):
            found = super().rates(*given)
            return {**found, "score": 2 * found["score"]}

    monkeypatch.setitem(RULEBOOKS, "imagery/2", replace(first, id="imagery/2", scoring=Doubled()))
    town.contest()
    town.ann, town.olga = town.person("ann"), town.person("olga")
    _, town.entry = team_with_entry(town.ann)
    town.version = upload(town.ann, town.entry, packed(tmp_path / "p", GOOD))
    town.run = submit(town.ann, town.entry, town.version)
    town.play()
    seen = town.ann.api("GET", f"/submissions/{town.run}").json()
    town.score = seen["score"]
    assert town.score > 0, seen
    return town


def adopt(town, book: str) -> None:
    assert town.olga.post("/organise/spring/rulebook", {"rulebook": book}).status_code == 303


def shown(town) -> float:
    return town.ann.api("GET", f"/submissions/{town.run}").json()["score"]


def stored(town, name: str, path: str | None = None) -> Path:
    """Where a stored file, or one file of a stored folder, lies."""
    storage = town.site.storage
    digest = storage.manifest(name)[path][0] if path else name.split("-")[1]
    return Path(storage.where("file" if path else name.split("-")[0], digest))


def current(town) -> list[Result]:
    with town.site.session(False) as session:
        return list(session.scalars(select(Result).where(Result.current)))


def away(town) -> tuple[Path, Path]:
    root = Path(town.site.storage.root)
    return root, root.with_name("elsewhere")


def test_rescoring_while_storage_is_away_leaves_the_old_result(played):
    root, elsewhere = away(played)
    adopt(played, "imagery/2")
    root.rename(elsewhere)
    work_once(played.site)
    one = current(played)
    assert [(row.rulebook, row.score, row.ranked) for row in one] == [("imagery/1", played.score, True)]
    assert "storage" in played.person("root", "operator").get("/operate").text
    if root.exists():
        root.rmdir()
    elsewhere.rename(root)
    assert work_once(played.site) == 1
    assert shown(played) == pytest.approx(2 * played.score)
    with played.site.session(False) as session:
        assert list(session.scalars(select(troubles.Trouble))) == []


def test_a_reading_adopted_twice_uses_its_result_again(played_on_both):
    for book, factor in (("imagery/2", 2), ("imagery/1", 1), ("imagery/2", 2)):
        adopt(played_on_both, book)
        assert work_once(played_on_both.site) == 1
        assert work_once(played_on_both.site) == 0
        assert shown(played_on_both) == pytest.approx(factor * played_on_both.score)
        assert [row.rulebook for row in current(played_on_both)] == [book]


def test_two_keepers_at_once_agree(played_on_both):
    """Both look, both work it out, both write: one row, and nobody is hurt."""
    adopt(played_on_both, "imagery/2")
    both, hurt = threading.Barrier(2), []

    def keep(site: Site) -> None:
        try:
            with site.session(writes=True) as session:
                [old] = results.under_old_rules(session)
                session.commit()
                both.wait(20)
                results.score_again(session, site.storage, old)
        except Exception as error:
            hurt.append(error)
        finally:
            site.engine.dispose()

    keepers = [threading.Thread(target=keep, args=(Site(played_on_both.settings),)) for _ in range(2)]
    for one in keepers:
        one.start()
    for one in keepers:
        one.join(60)
    assert hurt == []
    assert [row.rulebook for row in current(played_on_both)] == ["imagery/2"]


def test_one_missing_run_holds_up_nobody(played, tmp_path):
    more = [submit(played.ann, played.entry, played.version) for _ in range(2)]
    from bciarena.jobs.local import LocalEngine
    from bciarena.jobs.work import Work

    Work(played.site.queue, played.site.storage, LocalEngine(played.site.storage, 2), say=print, once=True).run()
    with played.site.session(False) as session:
        first, second = [session.get(Job, session.get(Submission, one).job_id) for one in more]
    lost = stored(played, first.run)
    kept = lost.read_bytes()
    lost.unlink()
    work_once(played.site)
    with played.site.session(False) as session:
        assert session.scalar(select(Result.score).where(Result.job_id == second.id)) == pytest.approx(played.score)
        assert session.scalar(select(Result).where(Result.job_id == first.id)) is None
    page = played.person("root", "operator").get("/operate").text
    assert f"run {more[0]}" in page
    assert "is not there" in page
    assert "arena restore" in page or "backup" in page
    lost.write_bytes(kept)
    assert work_once(played.site) == 1
    with played.site.session(False) as session:
        assert session.scalar(select(Result.score).where(Result.job_id == first.id)) == pytest.approx(played.score)


def test_a_page_whose_file_is_missing_does_not_say_that_nothing_was_lost(played):
    [result] = current(played)
    stored(played, result.run, "ledger.jsonl").unlink()
    seen = played.olga.get(f"/runs/{played.run}/ledger")
    assert seen.status_code == 500
    assert "missing" in seen.text
    assert "othing was lost" not in seen.text


def test_what_cannot_be_done_now_waits_longer_each_time(played, monkeypatch):
    monkeypatch.setattr(troubles, "PAUSES_S", (3600.0, 7200.0))
    monkeypatch.setattr(troubles, "AWAY_PAUSE_S", 3600.0)
    adopt(played, "imagery/2")
    root, elsewhere = away(played)
    root.rename(elsewhere)
    work_once(played.site)
    assert work_once(played.site) == 0  # waits its hour, and is not even tried
    with played.site.session(False) as session:
        [trouble] = session.scalars(select(troubles.Trouble))
        assert trouble.tries == 1
        assert 3000 < trouble.next_at - trouble.since_at <= 3601


def test_rescoring_during_a_rerun_does_not_take_its_place(played):
    """The old run is scored again while the new one is queued; the new one's result must still come."""
    assert played.olga.post(f"/runs/{played.run}/rerun").status_code == 303
    adopt(played, "imagery/2")
    work_once(played.site)
    played.play()
    with played.site.session(False) as session:
        job = session.get(Submission, played.run).job_id
    assert [row.job_id for row in current(played)] == [job]
    with played.site.session(False) as session:
        old, new = session.scalars(select(Job.id).order_by(Job.id))
    # and what comes late for the old run does not push the new one out
    with played.site.session(writes=True) as session:
        late = session.scalar(select(Result).where(Result.job_id == old, Result.rulebook == "imagery/1"))
        results.score_again(session, played.site.storage, late)
    assert [row.job_id for row in current(played)] == [new]


def test_a_run_that_the_new_reading_cannot_score_has_no_rank(played, monkeypatch):
    other = replace(RULEBOOKS["imagery/1"], id="imagery/3", channels=RULEBOOKS["imagery/1"].channels[:-1])
    monkeypatch.setitem(RULEBOOKS, "imagery/3", other)
    adopt(played, "imagery/3")
    assert work_once(played.site) == 1
    [row] = current(played)
    assert (row.ranked, row.score) == (False, 0.0)
    assert "not scored under imagery/3" in row.reason
