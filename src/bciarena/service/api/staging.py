"""What organisers do over the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import Field

from bciarena.service import contests, jury, submissions
from bciarena.service.api.caller import ERRORS, Body, Caller, Id, allow
from bciarena.service.api.runs import SubmissionOut, _submission
from bciarena.service.api.shows import ContestOut, Name, contest_out
from bciarena.service.audit import audit_csv
from bciarena.service.export import board_csv
from bciarena.service.refusals import Refused
from bciarena.service.spec import ContestSpec, Granted, Images, Seconds, Terms

router = APIRouter(tags=["organisers"], responses=ERRORS)


class PhaseChange(Body):
    starts_at: Seconds | None = None
    ends_at: Seconds | None = None
    daily_limit: Annotated[int, Field(ge=0, le=1000)] | None = None
    freezes_at: Seconds | None = None
    late_until: Seconds | None = None
    counts: Literal["best", "last", "chosen"] | None = None
    board: Literal["public", "hidden"] | None = None
    revealed: bool | None = None
    limits: Granted | None = None
    terms: Terms | None = None


class Reason(Body):
    reason: Annotated[str, Field(max_length=300)] = ""


class Book(Body):
    rulebook: Annotated[str, Field(min_length=1, max_length=40)]


@router.post("/contests", status_code=201, summary="Create a contest (the form of contest.toml)")
def create(body: ContestSpec, call: Caller = allow("organise")) -> ContestOut:
    return contest_out(contests.create(call.session, call.me, body, call.site.settings.data_roots))


@router.patch("/contests/{slug}/{phase}", summary="Change a phase; publish its board")
def change(slug: Name, phase: Name, body: PhaseChange, call: Caller = allow("manage")) -> ContestOut:
    contest = contests.managed(call.session, call.me, slug)
    stage = contests.phase_named(contest, phase)
    values: dict[str, Any] = body.model_dump(exclude_unset=True)
    if "board" in values:
        values["published"] = values.pop("board") == "public"
    for name in ("daily_limit", "counts", "published", "revealed", "limits", "terms"):
        if name in values and values[name] is None:
            raise Refused(422, "refused.field", name=name)
    if body.limits is not None:
        values["limits"] = body.limits.model_dump(exclude_defaults=True)
    if body.terms is not None:
        values["terms"] = body.terms.kept()
    contests.change_phase(call.session, call.me, stage, **values)
    return contest_out(contest)


@router.put("/contests/{slug}/images", summary="Give a contest other images (tables as in contest.toml)")
def images(slug: Name, body: Images, call: Caller = allow("manage")) -> ContestOut:
    contest = contests.managed(call.session, call.me, slug)
    contests.change_images(call.session, call.me, contest, body)
    return contest_out(contest)


@router.post("/contests/{slug}/rulebook", summary="Re-score all runs under another rulebook of the challenge")
def rulebook(slug: Name, body: Book, call: Caller = allow("manage")) -> ContestOut:
    contest = contests.managed(call.session, call.me, slug)
    contests.adopt_rulebook(call.session, call.me, contest, body.rulebook)
    return contest_out(contest)


CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}}}}


@router.get("/contests/{slug}/{phase}/submissions.csv", summary="Every submission of a phase as CSV", responses=CSV)
def export(slug: Name, phase: Name, call: Caller = allow("manage")) -> PlainTextResponse:
    contest = contests.managed(call.session, call.me, slug)
    return PlainTextResponse(board_csv(call.session, contests.phase_named(contest, phase)), media_type="text/csv")


@router.get("/contests/{slug}/{phase}/jury.csv", summary="The jury pack's order as CSV", responses=CSV)
def jury_table(slug: Name, phase: Name, call: Caller = allow("manage")) -> PlainTextResponse:
    stage = contests.phase_named(contests.managed(call.session, call.me, slug), phase)
    return PlainTextResponse(jury.table(jury.pack(call.session, call.site, stage)), media_type="text/csv")


@router.post("/submissions/{submission_id}/rerun", summary="Run a submission again")
def rerun(submission_id: Id, call: Caller = allow("manage")) -> SubmissionOut:
    run = submissions.managed_submission(call.session, call.me, submission_id)
    submissions.rerun(call.session, call.me, run, call.site.settings.boxed)
    return _submission(call, run)


@router.post("/submissions/{submission_id}/disqualify", summary="Disqualify (without a reason: undo it)")
def disqualify(submission_id: Id, body: Reason, call: Caller = allow("manage")) -> SubmissionOut:
    run = submissions.managed_submission(call.session, call.me, submission_id)
    submissions.disqualify(call.session, call.me, run, body.reason)
    return _submission(call, run)


@router.get("/audit.csv", summary="What organisers and operators did, as CSV", responses=CSV)
def audit(call: Caller = allow("operate")) -> PlainTextResponse:
    return PlainTextResponse(audit_csv(call.session), media_type="text/csv")
