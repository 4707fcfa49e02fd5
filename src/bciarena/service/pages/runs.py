"""One run: its state, score, tables, logs; and what organisers do with it."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response

from bciarena.contests import contest as find_contest
from bciarena.contests import registered as find_rulebook
from bciarena.contests.game import Share
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import Fault
from bciarena.jobs.model import ENDED, Job
from bciarena.plaintext import clean
from bciarena.report.texts import explained
from bciarena.runs import rescore
from bciarena.runs.folder import LEDGER
from bciarena.service import figures, games, parts, phases, submissions
from bciarena.service.contests import may_manage
from bciarena.service.middleware import REPORT_POLICY
from bciarena.service.models import Membership, Result, Submission
from bciarena.service.notes import said
from bciarena.service.page import Id, Page, may
from bciarena.service.parts import AnyResult
from bciarena.service.refusals import Refused, not_found
from bciarena.service.results import score_of_run
from bciarena.service.site import Site
from bciarena.service.words import contest_title, metric_name, phase_title, status_words

router = APIRouter()
LOG_SHOWN = 16_000
TRIALS_SHOWN = 400
RIBBONS_SHOWN = 60
LOGS = ("stdout.txt", "stderr.txt")


@router.get("/runs/{run_id}")
def show(run_id: Id, page: Page = may("run")) -> HTMLResponse:
    run = submissions.readable_submission(page, run_id)
    job = page.session.get_one(Job, run.job_id)
    status, result, _ = submissions.seen(page.session, page.account, run)
    contest = run.phase.contest
    manages = may_manage(page.account, contest)
    partial_only = parts.partial(run.phase, manages)
    score, played_under = _score(page.site, result) if result and not partial_only else ({}, "")
    truth = submissions.sees_truth(page.account, run)
    speaks = submissions.sees_output(page.account, run)
    trials: list[dict[str, Any]] = score.get("trials", [])
    blocks = result.block_rows if result else []
    book = find_rulebook(contest.rulebook)
    answers = find_contest(book).answers(page.lang)
    return page.render(
        "run.html",
        run=run,
        status=status,
        words=status_words(page.say, status),
        result=result,
        unit=book.unit,
        contest_title=f"{contest_title(page.lang, contest)} · {phase_title(page.say, run.phase)}",
        knows=page.knows,
        metric_name=partial(metric_name, page.lang, find_rulebook(contest.rulebook)),
        manages=manages,
        partial_only=partial_only,
        rounded=parts.rounds(run.phase, manages),
        can_choose=_can_choose(page, run),
        blocks=blocks,
        block_columns=list(blocks[0]) if blocks else [],
        trials=trials[:TRIALS_SHOWN] if truth else None,
        trial_count=len(trials),
        ribbons=figures.ribbons(trials)[:RIBBONS_SHOWN] if truth else [],
        notes=said(score.get("notes", [])[:50], page.lang, book)
        if truth or (speaks and _marks_trials(contest.rulebook))
        else [],
        answer_name=lambda text: answers.get(str(text), text),
        has_package=run.version.size > 0 and submissions.owns(page.session, page.account, run),
        logs=logs_of(page.site, result) if speaks else [],
        speaks=speaks,
        beside=_beside(page, result, book) if result and not (partial_only or parts.rounds(run.phase, manages)) else [],
        explained=explained(result.tally)[page.lang] if result and result.tally and speaks else "",
        timing=(page.session.get_one(Job, result.job_id).result or {}).get("timing", {}) if result and speaks else {},
        played_under="" if result and played_under == result.rulebook else played_under,
        has_report=bool(result and result.run and truth),
        can_cancel=job.state not in ENDED and submissions.owns(page.session, page.account, run),
    )


def _beside(page: Page, result: AnyResult, book: Rulebook) -> list[tuple[str, Share]]:
    """What the run says to the contest's yes-or-no question, where it has one: told as its metrics are."""
    if games.game_of(book) is None or not result.run or result.rulebook != book.id:
        return []
    names = find_contest(book).words[page.lang].get("game", {})
    told = games.of_run(page.site.storage, result.run, book.id)
    return [(names.get(name, name), share) for name, share in told.items() if share.all]


def _can_choose(page: Page, run: Submission) -> bool:
    """Whether the asker may say that this run counts for its team."""
    mine = page.account is not None and page.session.get(Membership, (run.team_id, page.account.id)) is not None
    return mine and phases.choice_open(run.phase) and not run.chosen and not run.disqualified


def _score(site: Site, result: AnyResult) -> tuple[dict[str, Any], str]:
    """What the run's score file says beyond the result, and the rulebook it was played under.

    Of a run that was re-scored only the notes are still valid.
    """
    if not result.run:
        return {}, ""
    score = score_of_run(site.storage, result.run)
    book = str(score.get("challenge", ""))
    return (score if book == result.rulebook else {"notes": score.get("notes", [])}), book


def _marks_trials(book: str) -> bool:
    """Whether the stream itself shows where trials begin. If not, notes about reports would reveal it."""
    rules = find_rulebook(book)
    return bool({rules.mask[code] for code in rules.opens} - {0})


def logs_of(site: Site, result: AnyResult | None) -> list[tuple[str, str]]:
    """The last part of what the entry printed."""
    if result is None or not result.run:
        return []
    files = site.storage.files(result.run)
    found = []
    for name in LOGS:
        if files.get(name):
            text = clean(site.storage.read(result.run, name).decode("utf-8", "replace"))
            cut = f"… ({len(text) - LOG_SHOWN} more before)\n" if len(text) > LOG_SHOWN else ""
            found.append((name.split(".")[0], cut + text[-LOG_SHOWN:]))
    return found


@router.get("/runs/{run_id}/state")
def state(run_id: Id, page: Page = may("run")) -> dict[str, Any]:
    run = submissions.readable_submission(page, run_id)
    status = submissions.seen(page.session, page.account, run).status
    resting = status.final or status.state != "faulted"
    return {
        "state": status.state if resting else "queued",
        "state_text": page.say(f"state.{status.state}"),
        "words": status_words(page.say, status),
        "settled": status.settled,
        "progress": status.progress or None,
        "score": status.score,
        "score_text": "" if status.score is None else f"{status.score:.2f}",
    }


def _stored(page: Page, run_id: int) -> tuple[Submission, Result]:
    run = submissions.readable_submission(page, run_id)
    result = submissions.current_result(page.session, run)
    if result is None or not result.run:
        raise not_found()
    return run, result


@router.get("/runs/{run_id}/ledger")
def ledger(run_id: Id, page: Page = may("run")) -> Response:
    run, result = _stored(page, run_id)
    if not submissions.sees_output(page.account, run):
        raise not_found()
    content = page.site.storage.read(str(result.run), LEDGER)
    name = f'attachment; filename="run-{run_id}-ledger.jsonl"'
    return Response(content, media_type="application/x-ndjson", headers={"content-disposition": name})


@router.get("/runs/{run_id}/score.json")
def score_file(run_id: Id, page: Page = may("run")) -> Response:
    run, result = _stored(page, run_id)
    if not submissions.sees_truth(page.account, run):
        raise not_found()
    score = score_of_run(page.site.storage, str(result.run))
    if score.get("challenge") != result.rulebook:  # re-scored since it was played: the file has the former score
        data = submissions.data_of(page.session, result)
        page.session.commit()
        storage = page.site.storage
        score = dict(rescore(storage.fetch(str(result.run)), storage.fetch(data), result.rulebook))
    return JSONResponse(score)


@router.get("/runs/{run_id}/package")
def package(run_id: Id, page: Page = may("team")) -> Response:
    """The package as it was uploaded, for its team and the organisers."""
    run = submissions.submission_for(page.session, page.me, run_id)
    if not run.version.package.startswith("file-"):
        raise not_found()
    path, name = page.site.storage.fetch(run.version.package), run.version.filename
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.get("/runs/{run_id}/logs/{name}")
def whole_log(run_id: Id, name: str, page: Page = may("run")) -> Response:
    """All that the entry printed, as far as it was kept."""
    run, result = _stored(page, run_id)
    if not submissions.sees_output(page.account, run):
        raise not_found()
    if name not in LOGS or not page.site.storage.files(str(result.run)).get(name):
        raise not_found()
    text = clean(page.site.storage.read(str(result.run), name).decode("utf-8", "replace"))
    named = f'attachment; filename="run-{run_id}-{name}"'
    return PlainTextResponse(text, headers={"content-disposition": named})


@router.get("/runs/{run_id}/report")
def report(run_id: Id, page: Page = may("run")) -> Response:
    run, result = _stored(page, run_id)
    if not submissions.sees_truth(page.account, run):
        raise not_found()
    from bciarena.service.reports import report_page

    try:
        html = report_page(page.site, submissions.data_of(page.session, result), str(result.run), page.lang)
    except Fault as error:
        raise Refused(503, "refused.storage", why=str(error)) from None
    headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
    if "download" in page.request.query_params:
        headers["content-disposition"] = f'attachment; filename="run-{run_id}.html"'
    return HTMLResponse(html, headers=headers)


@router.post("/runs/{run_id}/cancel")
def cancel(run_id: Id, page: Page = may("cancel")) -> Response:
    run = submissions.submission_for(page.session, page.me, run_id)
    submissions.cancel(page.session, page.site.queue, page.me, run)
    return page.go(f"/runs/{run_id}", "notice.cancelled")


@router.post("/runs/{run_id}/choose")
def choose(run_id: Id, page: Page = may("enter")) -> Response:
    phases.choose(page.session, page.me, submissions.submission_for(page.session, page.me, run_id))
    return page.go(f"/runs/{run_id}", "notice.chosen")


@router.post("/runs/{run_id}/rerun")
def rerun(run_id: Id, page: Page = may("manage")) -> Response:
    run = submissions.managed_submission(page.session, page.me, run_id)
    submissions.rerun(page.session, page.me, run, page.site.settings.boxed)
    return page.go(f"/runs/{run_id}", "notice.rerun")


@router.post("/runs/{run_id}/disqualify")
def disqualify(run_id: Id, page: Page = may("manage")) -> Response:
    run = submissions.managed_submission(page.session, page.me, run_id)
    submissions.disqualify(page.session, page.me, run, page.field("reason"))
    return page.go(f"/runs/{run_id}", "notice.saved")
