"""What organisers change after a contest was created: texts, awards, people, phases, files; with its history."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bciarena.errors import BadInput
from bciarena.service import contests, downloads, editing, registrations
from bciarena.service.changes import told
from bciarena.service.models import Contest
from bciarena.service.page import Id, Page, may
from bciarena.service.pages.organise import FOLDERS_SHOWN, data_values, phase_values
from bciarena.service.refusals import Refused
from bciarena.service.spec import Data, PhaseSpec, awards_toml, checked, parse_awards
from bciarena.service.words import contest_title

router = APIRouter()
TEXTS = ("title", "title_zh", "about", "about_zh")
MORE = ("data", "data_zh")


@router.get("/organise/{slug}/edit")
def edit_form(slug: str, page: Page = may("manage")) -> HTMLResponse:
    return _show(page, contests.managed(page.session, page.me, slug))


def _show(page: Page, contest: Contest, problem: str = "", code: int = 200) -> HTMLResponse:
    return page.render(
        "organise_edit.html",
        code,
        problem=problem,
        contest=contest,
        title=contest_title(page.lang, contest),
        awards=page.field("awards", 20_000) or awards_toml(contest.awards),
        files=downloads.of(page.session, contest),
        folders=contests.folders_for(page.session, page.me, page.site.settings.data_roots)[:FOLDERS_SHOWN],
        registrations=registrations.of(page.session, contest),
        history=[told(page.lang, one) for one in editing.history(page.session, contest)],
        upload_mb=page.site.settings.upload_limit >> 20,
        f=lambda name: page.field(name, 20_000),
    )


@router.post("/organise/{slug}/edit")
def edit(slug: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    values: dict[str, Any] = {name: page.field(name, 20_000).strip() for name in TEXTS}
    if not 1 <= len(values["title"]) <= 120 or len(values["title_zh"]) > 120:
        raise Refused(422, "refused.field", name="title")
    joining = page.field("joining")
    if joining not in ("open", "approval"):
        raise Refused(422, "refused.field", name="joining")
    try:
        awards = parse_awards(page.field("awards", 20_000))
    except BadInput as error:
        return _show(page, contest, str(error), 422)
    texts = {name: text for name in MORE if (text := page.field(f"text_{name}", 20_000).strip())}
    editing.change_contest(
        page.session, page.me, contest, **values, joining=joining, one_team=bool(page.field("one_team")), awards=awards,
        texts=texts,
    )  # fmt: skip
    return page.go(f"/organise/{slug}/edit", "notice.saved")


@router.post("/organise/{slug}/organisers")
def add_organiser(slug: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    editing.add_organiser(page.session, page.me, contest, page.field("name"))
    return page.go(f"/organise/{slug}/edit", "notice.saved")


@router.post("/organise/{slug}/organisers/{account_id}/remove")
def remove_organiser(slug: str, account_id: Id, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    editing.remove_organiser(page.session, page.me, contest, account_id)
    return page.go(f"/organise/{slug}/edit", "notice.saved")


@router.post("/organise/{slug}/registrations/{team_id}")
def decide(slug: str, team_id: Id, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    registrations.decide(page.session, page.me, contest, team_id, page.field("state") == "admitted")
    return page.go(f"/organise/{slug}/edit", "notice.saved")


@router.post("/organise/{slug}/phases")
def add_phase(slug: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    try:
        item = checked(PhaseSpec, phase_values(page, "3"), "phase")
    except BadInput as error:
        return _show(page, contest, str(error), 422)
    editing.add_phase(page.session, page.me, contest, item, page.site.settings.data_roots)
    return page.go(f"/organise/{slug}", "notice.saved")


@router.post("/organise/{slug}/{name}/remove")
def remove_phase(slug: str, name: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    editing.remove_phase(page.session, page.me, contests.phase_named(contest, name))
    return page.go(f"/organise/{slug}", "notice.saved")


@router.post("/organise/{slug}/{name}/data")
def change_data(slug: str, name: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    try:
        data = checked(Data, data_values(page, "3"), "data")
    except BadInput as error:
        return _show(page, contest, str(error), 422)
    phase = contests.phase_named(contest, name)
    editing.change_data(page.session, page.me, phase, data, page.site.settings.data_roots)
    return page.go(f"/organise/{slug}", "notice.saved")


# ------------------------------------------------------------------ files


def _manages(page: Page) -> None:
    contests.managed(page.session, page.me, str(page.request.path_params["slug"]))


@contextmanager
def _received(page: Page) -> Iterator[tuple[Path, str]]:
    """The uploaded file on our disk, and the name its sender gave it."""
    package = page.upload("file")
    page.session.commit()  # copying takes a while: hold no lock
    with tempfile.TemporaryDirectory(prefix="arena-upload-") as work:
        path = Path(work) / "upload"
        with open(path, "wb") as file:
            shutil.copyfileobj(package.file, file, 1 << 20)
        if not path.stat().st_size:
            raise Refused(422, "refused.empty_upload")
        yield path, package.filename or ""


@router.post("/organise/{slug}/downloads")
def add_download(slug: str, page: Page = may("manage", before=_manages)) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    login, about = bool(page.field("login")), page.field("about", 300)
    with _received(page) as (path, filename):
        name = page.field("name", 100).strip() or filename.replace("\\", "/").rsplit("/", 1)[-1]
        downloads.add(page.session, page.site.storage, page.me, contest, path, name, about, login)
    return page.go(f"/organise/{slug}/edit", "notice.saved")


@router.post("/organise/{slug}/downloads/{name}/remove")
def remove_download(slug: str, name: str, page: Page = may("manage")) -> Response:
    downloads.remove(page.session, page.me, contests.managed(page.session, page.me, slug), name)
    return page.go(f"/organise/{slug}/edit", "notice.saved")


@router.post("/organise/{slug}/upload")
def upload_folder(slug: str, page: Page = may("manage", before=_manages)) -> Response:
    """A data folder as an archive: it can then be chosen as a phase's recordings."""
    contests.managed(page.session, page.me, slug)
    name = page.field("folder", 60).strip()
    with _received(page) as (path, _):
        editing.keep_folder(page.session, page.me, path, name, page.site.settings.data_roots[0])
    return page.go(f"/organise/{slug}/edit", "notice.saved")
