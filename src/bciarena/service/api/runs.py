"""Entries, uploads and submissions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import select

from bciarena.runs.folder import LEDGER
from bciarena.service import contests, submissions, teams, uploads
from bciarena.service.api.caller import ERRORS, LARGEST_ID, Body, Caller, Id, allow
from bciarena.service.models import Entry, Membership, Submission, Version
from bciarena.service.pages.runs import logs_of
from bciarena.service.refusals import not_found
from bciarena.summary import summary

router = APIRouter(tags=["runs"], responses=ERRORS)


class NewEntry(Body):
    name: Annotated[str, Field(min_length=1, max_length=60)]
    challenge: Annotated[str, Field(min_length=1, max_length=40)]


class VersionOut(BaseModel):
    id: int
    number: int
    filename: str
    size: int
    digest: str
    about: dict[str, Any]
    created_at: float


class EntryOut(BaseModel):
    id: int
    team_id: int
    name: str
    challenge: str
    versions: list[VersionOut]


class NewSubmission(Body):
    version_id: Annotated[int, Field(ge=1, le=LARGEST_ID)]
    contest: Annotated[str, Field(min_length=1, max_length=60)]
    phase: Annotated[str | None, Field(max_length=60)] = None


class SubmissionOut(BaseModel):
    id: int
    contest: str
    phase: str
    team: str
    entry: str
    version: int
    state: str
    final: bool
    verdict: str | None
    reason: str
    before: int | None
    progress: dict[str, Any]
    score: float | None
    low: float | None
    high: float | None
    metrics: dict[str, Any]
    blocks: list[dict[str, Any]]
    ranked: bool | None
    disqualified: str | None
    summary: str
    created_at: float


def _version(version: Version) -> VersionOut:
    return VersionOut(
        id=version.id,
        number=version.number,
        filename=version.filename,
        size=version.size,
        digest=version.package,
        about=version.about | {"warnings": uploads.warnings_of(version, "en")},
        created_at=version.created_at,
    )


def _entry(entry: Entry) -> EntryOut:
    versions = [_version(version) for version in entry.versions]
    return EntryOut(id=entry.id, team_id=entry.team_id, name=entry.name, challenge=entry.challenge, versions=versions)


def _submission(call: Caller, run: Submission) -> SubmissionOut:
    status, result, _ = submissions.seen(call.session, call.account, run)
    speaks = submissions.sees_output(call.account, run)
    return SubmissionOut(
        id=run.id,
        contest=run.phase.contest.slug,
        phase=run.phase.name,
        team=run.team.name,
        entry=run.version.entry.name,
        version=run.version.number,
        state=status.state,
        final=status.final,
        verdict=status.verdict,
        reason=status.reason if status.state == "failed" else "",
        before=status.before,
        progress=status.progress,
        score=status.score,
        low=result.low if result else None,
        high=result.high if result else None,
        metrics=result.metrics if result else {},
        blocks=result.block_rows if result else [],
        ranked=result.ranked if result else None,
        disqualified=run.disqualified,
        summary=summary(result.tally) if result and result.tally and speaks else "",
        created_at=run.created_at,
    )


@router.get("/teams/{team_id}/entries", summary="Entries of a team of yours")
def entries(team_id: Id, call: Caller = allow("enter")) -> list[EntryOut]:
    team = teams.team_for(call.session, call.me, team_id)
    if call.session.get(Membership, (team.id, call.me.id)) is None:
        raise not_found()
    return [_entry(entry) for entry in uploads.entries_of(call.session, team.id)]


@router.post("/teams/{team_id}/entries", status_code=201, summary="Define an entry")
def create_entry(team_id: Id, body: NewEntry, call: Caller = allow("enter")) -> EntryOut:
    team = teams.team_for(call.session, call.me, team_id)
    return _entry(uploads.create_entry(call.session, call.me, team, body.name, body.challenge))


@router.get("/entries/{entry_id}", summary="An entry and its versions")
def entry(entry_id: Id, call: Caller = allow("enter")) -> EntryOut:
    return _entry(uploads.entry_for(call.session, call.me, entry_id))


PACKAGE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.put("/entries/{entry_id}/versions", status_code=201, summary="Upload a package", openapi_extra=PACKAGE)
async def upload(
    entry_id: Id,
    request: Request,
    filename: Annotated[str, Query(max_length=200)] = "package.zip",
    entry: Annotated[str, Query(max_length=200, description="The class that plays, MODULE:CLASS")] = "",
    call: Caller = allow("enter"),
) -> VersionOut:
    """The body is the .zip or .tar.gz itself. It is checked before it is kept; nothing of it is run."""

    settings = call.site.settings
    found = await run_in_threadpool(uploads.begin, call.session, settings, call.me, entry_id)
    await run_in_threadpool(call.session.commit)  # a slow line must hold no lock
    async with uploads.received(request.stream(), filename) as path:
        about = await run_in_threadpool(uploads.inspect, path, found.challenge, entry.strip())
        kept = await run_in_threadpool(
            uploads.add_version, call.session, call.site.storage, settings, call.me, found, path, filename, about
        )
    return _version(kept)


@router.delete("/versions/{version_id}", status_code=204, summary="Remove a version that was never submitted")
def remove_version(version_id: Id, call: Caller = allow("enter")) -> None:
    uploads.remove_version(call.session, call.me, version_id)


@router.post("/submissions", status_code=201, summary="Submit a version to a contest")
def submit(body: NewSubmission, call: Caller = allow("enter")) -> SubmissionOut:
    version = uploads.version_for(call.session, call.me, body.version_id)
    contest = contests.contest_named(call.session, body.contest)
    phase = contests.phase_named(contest, body.phase) if body.phase else contests.current_phase(contest)
    run = submissions.submit(call.session, call.me, version, phase, call.site.settings.boxed)
    return _submission(call, run)


@router.get("/submissions", summary="Your teams' submissions, newest first")
def my_submissions(
    call: Caller = allow("account"), limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> list[SubmissionOut]:
    mine = select(Membership.team_id).where(Membership.account_id == call.me.id)
    query = select(Submission).where(Submission.team_id.in_(mine)).order_by(Submission.id.desc()).limit(limit)
    return [_submission(call, run) for run in call.session.scalars(query)]


@router.get("/submissions/{submission_id}", summary="State and result of a submission")
def submission(submission_id: Id, call: Caller = allow("run")) -> SubmissionOut:
    return _submission(call, submissions.readable_submission(call, submission_id))


@router.post("/submissions/{submission_id}/cancel", summary="Cancel a submission that has not ended")
def cancel(submission_id: Id, call: Caller = allow("cancel")) -> SubmissionOut:
    run = submissions.submission_for(call.session, call.me, submission_id)
    submissions.cancel(call.session, call.site.queue, call.me, run)
    call.session.expire_all()
    return _submission(call, run)


TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}


@router.get("/submissions/{submission_id}/logs", summary="What the entry printed (the end of it)", responses=TEXT)
def logs(submission_id: Id, call: Caller = allow("run")) -> PlainTextResponse:
    run = submissions.readable_submission(call, submission_id)
    if not submissions.sees_output(call.account, run):
        raise not_found()
    found = logs_of(call.site, submissions.current_result(call.session, run))
    return PlainTextResponse("".join(f"--- {name}\n{text}\n" for name, text in found))


LINES: dict[int | str, dict[str, Any]] = {200: {"content": {"application/x-ndjson": {}}}}


@router.get("/submissions/{submission_id}/ledger", summary="The ledger of a finished run", responses=LINES)
def ledger(submission_id: Id, call: Caller = allow("run")) -> Response:
    run = submissions.readable_submission(call, submission_id)
    result = submissions.current_result(call.session, run)
    if result is None or not result.run or not submissions.sees_output(call.account, run):
        raise not_found()
    return Response(call.site.storage.read(result.run, LEDGER), media_type="application/x-ndjson")
