"""Entries: upload a package, submit a version to a contest."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import select

from bciarena.contests import registered as find_rulebook
from bciarena.service import contests, submissions, uploads
from bciarena.service.models import Entry, Phase, Submission, Version
from bciarena.service.page import Id, Page, may
from bciarena.service.refusals import not_found
from bciarena.service.words import contest_title, phase_title, run_rows

router = APIRouter()


@router.get("/entries/{entry_id}")
def show_entry(entry_id: Id, page: Page = may("enter")) -> HTMLResponse:
    entry = uploads.entry_for(page.session, page.me, entry_id)
    own = select(Version.id).where(Version.entry_id == entry.id)
    return page.render(
        "entry.html",
        entry=entry,
        versions=entry.versions,
        warnings_of=lambda version: uploads.warnings_of(version, page.lang),
        used={
            row[0] for row in page.session.execute(select(Submission.version_id).where(Submission.version_id.in_(own)))
        },
        room=(uploads.used_bytes(page.session, entry.team_id, page.me), page.site.settings.team_bytes),
        phases=_open_phases(page, entry),
        runs=run_rows(page, page.say, page.lang, Submission.version_id.in_(own)),
    )


def _open_phases(page: Page, entry: Entry) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for contest in contests.all_contests(page.session):
        if find_rulebook(contest.rulebook).name != entry.challenge:
            continue
        for phase in contest.phases:
            if contests.phase_state(phase) != "open":
                continue
            title = f"{contest_title(page.lang, contest)} · {phase_title(page.say, phase)}"
            used = submissions.used_today(page.session, phase.id, entry.team_id, page.me.id)
            left = page.say("entry.left", n=max(phase.daily_limit - used, 0)) if phase.daily_limit else ""
            found.append({"id": phase.id, "title": title, "left": left})
    return found


def _begin(page: Page) -> None:
    uploads.begin(page.session, page.site.settings, page.me, page.id("entry_id"))


@router.post("/entries/{entry_id}/versions")
def upload(entry_id: Id, page: Page = may("enter", before=_begin)) -> Response:
    entry = uploads.entry_for(page.session, page.me, entry_id)
    page.session.commit()  # inspecting a package takes a while: hold no lock
    package = page.upload("package")
    with tempfile.TemporaryDirectory(prefix="arena-upload-") as work:
        path = Path(work) / "upload"
        with open(path, "wb") as file:
            shutil.copyfileobj(package.file, file, 1 << 20)
        about = uploads.inspect(path, entry.challenge, page.field("entry", 200).strip())
        settings, name = page.site.settings, package.filename or ""
        uploads.add_version(page.session, page.site.storage, settings, page.me, entry, path, name, about)
    return page.go(f"/entries/{entry_id}", "notice.uploaded")


@router.post("/entries/{entry_id}/versions/{version_id}/remove")
def remove_version(entry_id: Id, version_id: Id, page: Page = may("enter")) -> Response:
    uploads.entry_for(page.session, page.me, entry_id)
    uploads.remove_version(page.session, page.me, version_id)
    return page.go(f"/entries/{entry_id}", "notice.removed")


@router.post("/entries/{entry_id}/submit")
def submit(entry_id: Id, page: Page = may("enter")) -> Response:
    uploads.entry_for(page.session, page.me, entry_id)
    version = uploads.version_for(page.session, page.me, page.number("version"))
    phase = page.session.get(Phase, page.number("phase"))
    if phase is None or version.entry_id != entry_id:
        raise not_found()
    run = submissions.submit(page.session, page.me, version, phase, page.site.settings.boxed)
    return page.go(f"/runs/{run.id}", "notice.submitted")
