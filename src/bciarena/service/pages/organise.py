"""What organisers do: make contests, change phases, re-score, export."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError
from sqlalchemy import select

from bciarena import audit
from bciarena.contests import RULEBOOKS
from bciarena.contests import registered as find_rulebook
from bciarena.errors import BadInput
from bciarena.service import contests, jury, markdown, phases, posts, submissions
from bciarena.service.export import board_csv
from bciarena.service.middleware import PRINT_POLICY
from bciarena.service.models import Contest, Phase, Submission
from bciarena.service.page import Page, may
from bciarena.service.parts import terms_of
from bciarena.service.refusals import Refused
from bciarena.service.spec import ContestSpec, Granted, Terms, checked, images_toml, parse, parse_images, parse_toml
from bciarena.service.words import contest_title, phase_title, run_rows

router = APIRouter()
FOLDERS_SHOWN = 200
LIVE = "@live"  # in a list of folders: a session that is still to be recorded
COUNTS = ("best", "last", "chosen")
NUMBERS = {"budget_s": "organise.budget", "cores": "organise.cores", "memory_mib": "organise.memory"}
SWITCHES = ("pyc_only", "fixed_names", "strict")


@router.get("/organise")
def overview(page: Page = may("organise")) -> HTMLResponse:
    mine = [one for one in contests.all_contests(page.session) if contests.may_manage(page.account, one)]
    return page.render(
        "organise.html",
        contests=mine,
        title_of=lambda one: contest_title(page.lang, one),
        phase_state=contests.phase_state,
    )


@router.get("/organise/new")
def new_form(page: Page = may("organise")) -> HTMLResponse:
    return _form(page)


def _form(page: Page, problem: str = "", code: int = 200) -> HTMLResponse:
    roots = page.site.settings.data_roots
    folders = contests.folders_for(page.session, page.me, roots)
    return page.render(
        "organise_new.html",
        code,
        problem=problem,
        books=list(RULEBOOKS.values()),
        folders=folders[:FOLDERS_SHOWN],
        roots=", ".join(root.name if page.me.role == "operator" else f"{root.name}/{page.me.name}" for root in roots),
        f=lambda name: page.field(name, 60_000),
    )


@router.post("/organise/new")
def create(page: Page = may("organise")) -> Response:
    values: dict[str, Any] = {
        name: page.field(name, 20_000) for name in ("slug", "title", "title_zh", "about", "about_zh", "rulebook")
    }
    values["phase"] = [phase_values(page, number) for number in ("1", "2") if page.field(f"name{number}").strip()]
    return _create(page, lambda: parse(values, "contest"))


def phase_values(page: Page, number: str) -> dict[str, Any]:
    """A phase as a form gives it; ``number`` ends the names of its fields."""

    def given(name: str) -> str | None:
        return page.field(name + number).strip() or None

    return {
        "name": given("name"),
        "starts": given("starts"),
        "ends": given("ends"),
        "daily_limit": given("limit") or "10",
        "truth": given("truth") or "hidden",
        "board": given("board") or "public",
        "counts": given("counts") or "best",
        "freezes": given("freezes"),
        "late_until": given("late_until"),
        **_terms_values(page, number),
        "data": data_values(page, number),
    }


def data_values(page: Page, number: str) -> dict[str, Any]:
    """Where a phase's recordings come from, as a form gives it."""
    if folder := page.field(f"folder{number}").strip():
        return {"live": True} if folder == LIVE else {"folder": folder}
    simulate = {name: page.field(name + number).strip() or None for name in ("subjects", "blocks", "seed")}
    return {"simulate": {name: value for name, value in simulate.items() if value is not None}}


@router.post("/organise/toml")
def create_from_toml(page: Page = may("organise")) -> Response:
    return _create(page, lambda: parse_toml(page.field("toml", 60_000), "contest.toml"))


def _create(page: Page, read: Callable[[], ContestSpec]) -> Response:
    try:
        contest = contests.create(page.session, page.me, read(), page.site.settings.data_roots)
    except Refused as no:
        return _form(page, page.say(no.key, **no.words), no.status)
    except BadInput as error:
        return _form(page, str(error), 422)
    return page.go(f"/organise/{contest.slug}", "notice.created")


@router.get("/organise/{slug}")
def manage(slug: str, page: Page = may("manage")) -> HTMLResponse:
    return _contest(page, contests.managed(page.session, page.me, slug))


def _contest(page: Page, contest: Contest, problem: str = "", code: int = 200) -> HTMLResponse:
    name = find_rulebook(contest.rulebook).name
    own = select(Phase.id).where(Phase.contest_id == contest.id)
    return page.render(
        "organise_contest.html",
        code,
        problem=problem,
        contest=contest,
        python=find_rulebook(contest.rulebook).python,
        images=page.field("images", 20_000) or images_toml(contest.images),
        title=contest_title(page.lang, contest),
        phase_title=partial(phase_title, page.say),
        phase_state=contests.phase_state,
        terms_of=terms_of,
        why_closed=contests.why_closed,
        audit_text=lambda phase: markdown.html(audit.markdown(phase.data_about["audit"], page.lang)),
        admissions_of=lambda phase: phases.admissions_of(page.session, phase),
        counts=COUNTS,
        open_questions=posts.unanswered(page.session, contest),
        books=[book for book in RULEBOOKS.values() if book.name == name],
        runs=run_rows(page, page.say, page.lang, Submission.phase_id.in_(own), 200),
    )


@router.post("/organise/{slug}/rulebook")
def rescore(slug: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    contests.adopt_rulebook(page.session, page.me, contest, page.field("rulebook"))
    return page.go(f"/organise/{slug}", "notice.rescore")


@router.post("/organise/{slug}/images")
def change_images(slug: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    try:
        images = parse_images(page.field("images", 20_000))
    except BadInput as error:
        return _contest(page, contest, str(error), 422)
    contests.change_images(page.session, page.me, contest, images)
    return page.go(f"/organise/{slug}", "notice.saved")


@router.get("/organise/{slug}/{name}.csv")
def export(slug: str, name: str, page: Page = may("manage")) -> Response:
    contest, phase = _phase(page, slug, name)
    text = board_csv(page.session, phase)
    named = f'attachment; filename="{contest.slug}-{phase.name}.csv"'
    return Response(text, media_type="text/csv; charset=utf-8", headers={"content-disposition": named})


@router.get("/organise/{slug}/{name}/jury")
def jury_page(slug: str, name: str, page: Page = may("manage")) -> HTMLResponse:
    _, phase = _phase(page, slug, name)
    found = jury.pack(page.session, page.site, phase, page.lang)
    return HTMLResponse(jury.page(page.site, found, page.lang), headers={"content-security-policy": PRINT_POLICY})


@router.get("/organise/{slug}/{name}/jury.csv")
def jury_table(slug: str, name: str, page: Page = may("manage")) -> Response:
    contest, phase = _phase(page, slug, name)
    text = jury.table(jury.pack(page.session, page.site, phase, page.lang))
    named = f'attachment; filename="{contest.slug}-{phase.name}-jury.csv"'
    return Response(text, media_type="text/csv; charset=utf-8", headers={"content-disposition": named})


@router.post("/organise/{slug}/{name}/admit")
def admit(slug: str, name: str, page: Page = may("manage")) -> Response:
    _, phase = _phase(page, slug, name)
    phases.invite_team(page.session, page.me, phase, page.field("team", 60))
    return page.go(f"/organise/{slug}", "notice.saved")


@router.post("/organise/{slug}/{name}/withdraw")
def withdraw(slug: str, name: str, page: Page = may("manage")) -> Response:
    _, phase = _phase(page, slug, name)
    phases.withdraw_team(page.session, page.me, phase, page.number("team"))
    return page.go(f"/organise/{slug}", "notice.saved")


@router.post("/organise/{slug}/{name}/rerun")
def rerun_all(slug: str, name: str, page: Page = may("manage")) -> Response:
    _, phase = _phase(page, slug, name)
    submissions.rerun_all(page.session, page.me, phase, page.field("which"), page.site.settings.boxed)
    return page.go(f"/organise/{slug}", "notice.rerun")


@router.post("/organise/{slug}/{name}")
def change(slug: str, name: str, page: Page = may("manage")) -> Response:
    contest, phase = _phase(page, slug, name)
    counts = page.field("counts")
    if counts not in COUNTS:
        raise Refused(422, "refused.field", name="counts")
    try:
        limits = _granted(page).model_dump(exclude_defaults=True)
        kept = {
            name: phase.terms[name] for name in ("calibration", "scores", "output") if name in phase.terms
        }  # as it was, where the form does not say
        terms = checked(Terms, kept | _terms_values(page), phase.name).kept()
    except BadInput as error:
        return _contest(page, contest, str(error), 422)
    contests.change_phase(
        page.session,
        page.me,
        phase,
        starts_at=page.moment("starts"),
        ends_at=page.moment("ends"),
        daily_limit=page.number("limit", 0, 1000),
        counts=counts,
        published=page.field("board") == "public",
        limits=limits,
        freezes_at=page.moment("freezes"),
        late_until=page.moment("late_until"),
        revealed=bool(page.field("revealed")),
        terms=terms,
    )
    return page.go(f"/organise/{slug}", "notice.saved")


def _terms_values(page: Page, number: str = "") -> dict[str, Any]:
    """The terms of a phase as a form gives them; ``number`` ends the names of its fields."""

    def given(name: str) -> str | None:
        return page.field(name + number, 4000).strip() or None

    admits = given("admits") or "all"
    values: dict[str, Any] = {"admits": admits, "total_limit": given("total_limit") or "0"}
    if admits == "first":
        values |= {"first": given("first"), "of": given("of"), "carries": given("carries") or "nothing"}
    values |= {"audit": bool(given("audit")), "waiver": given("waiver") or "", "stage": given("stage") or "none"}
    values |= {name: told for name in ("scores", "output") if (told := given(name))}
    public = {name: _numbers(given(f"public_{name}")) for name in ("subjects", "blocks")}
    return values | {"public": public}


def _numbers(text: str | None) -> list[str]:
    return (text or "").replace(",", " ").replace("，", " ").split()


def _granted(page: Page) -> Granted:
    """The limits of the form; an empty field is the platform's own value."""
    values: dict[str, Any] = {name: page.field(name).strip() or None for name in NUMBERS}
    values |= {name: bool(page.field(name)) for name in SWITCHES}
    values["pythons"] = page.field("pythons", 200).replace(",", " ").replace("，", " ").split()
    try:
        return Granted.model_validate(values)
    except ValidationError as error:
        key = NUMBERS.get(str(error.errors()[0]["loc"][0]), "organise.pythons")
        raise BadInput(page.say("refused.field", name=page.say(key))) from None


def _phase(page: Page, slug: str, name: str) -> tuple[Contest, Phase]:
    contest = contests.managed(page.session, page.me, slug)
    return contest, contests.phase_named(contest, name)
