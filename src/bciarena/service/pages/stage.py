"""The stage of a final: the projector's page and what it asks for, and the organiser's controls."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse, Response

from bciarena.contests import registered as find_rulebook
from bciarena.jobs.model import Job
from bciarena.service import awards, contests, seals, stage, submissions, turns
from bciarena.service.models import Phase, Stage, Submission, Team
from bciarena.service.page import Page, may
from bciarena.service.parts import terms_of
from bciarena.service.refusals import not_found
from bciarena.service.stage_show import Show, show
from bciarena.service.words import challenge_title, contest_title, phase_title, unit_name

router = APIRouter()
WORDS = (
    "played", "plays", "waits", "subject", "trial", "estimate", "tie", "untested", "soon", "paused", "live",
    "next_team", "all_played",
)  # fmt: skip
SAVES = ("draw", "play", "open", "repeat")
FILLED_THERE = {name: f"{{{name}}}" for name in "sab"}  # by the page's script
SAID = ("right", "wrong", "late", "missing", "false_positive", "quiet", "invalid", "none")


@router.get("/contests/{slug}/{name}/stage")
def projector(slug: str, name: str, page: Page = may("look")) -> HTMLResponse:
    phase = contests.phase_named(contests.contest_named(page.session, slug), name)
    found = stage.visible(page.session, page.account, phase)
    book = find_rulebook(phase.contest.rulebook)
    said = {
        "unit": unit_name(page.lang, book.unit),
        "marks": {mark: page.say(f"stage.mark_{mark}") for mark in SAID},
        "words": {key: page.say(f"stage.{key}", **FILLED_THERE) for key in WORDS},
        "base": f"/contests/{slug}/{name}/stage",
        "free": found.open_to == "replay",
    }
    return page.render(
        "stage.html",
        title=contest_title(page.lang, phase.contest),
        stage_title=phase_title(page.say, phase),
        challenge=challenge_title(page.lang, book.name),
        said=said,
        seed=found.seed,
        speeds=stage.SPEEDS,
        contest=phase.contest,
        phase=phase,
    )


@router.get("/contests/{slug}/{name}/stage/state")
def state(slug: str, name: str, page: Page = may("look")) -> dict[str, Any]:
    """Who is on stage and how far; scores only of those who have been shown."""
    phase = contests.phase_named(contests.contest_named(page.session, slug), name)
    found = stage.visible(page.session, page.account, phase)
    now = time.time()
    shown = stage.shown_s(found, now)
    live_turns = terms_of(phase).stage == "live"
    due = turns.turn_of(page.session, found) if live_turns else None
    teams = []
    for place, one in enumerate(found.teams):
        run = page.session.get_one(Submission, one["run"])
        job = page.session.get_one(Job, run.job_id)
        result = submissions.current_result(page.session, run)
        done = result is not None and result.job_id == job.id
        over = place < found.at or (place == found.at and done and result is not None and _over(page, run, shown))
        over = over or (done and live_turns)  # everybody has seen it live
        teams.append({
            "name": page.session.get_one(Team, one["team"]).name,
            "state": "played" if done else "plays" if job.state == "leased" else "waits",
            "score": result.score if over and result is not None else None,
            "verdict": _verdict(page, result.verdict) if over and result is not None else None,
            "sealed": str(one["team"]) in found.seals,
            "departures": departed(page, one),
        })  # fmt: skip
    return {
        "at": found.at,
        "shown_s": shown,
        "goes": found.since is not None,
        "speed": found.speed,
        "teams": teams,
        "machine": found.machine,
        "live": stage.live_now(found),
        "next": due.team.name if due else None,
        "ranking": _ranking(page, phase) if found.at >= len(found.teams) else None,
    }


def _verdict(page: Page, verdict: str) -> str | None:
    """How a run ended, in words, where it did not end well."""
    return None if verdict == "ok" else page.say(f"verdict_name.{verdict}")


def departed(page: Page, one: dict[str, Any]) -> list[str]:
    """What departed from the order drawn for a team, in the reader's language."""
    return [page.say(f"stage.departed_{told['what']}", why=told["why"]) for told in turns.departures(one)]


def _over(page: Page, run: Submission, shown_s: float) -> bool:
    made = _show(page, run)
    return made is not None and shown_s >= made.total_s


def _ranking(page: Page, phase: Phase) -> list[dict[str, Any]]:
    """The outcome, with what it decides."""
    given = awards.given(phase, awards.standing(page.session, phase))
    names = {
        one.row.team_id: award.award.name_zh if page.lang == "zh" and award.award.name_zh else award.award.name
        for award in given
        for one in award.teams
    }
    rows = page.site.boards.of(page.session, phase, True).rows
    return [
        {
            "team": row.team, "score": row.score, "low": row.low, "high": row.high, "rank": row.rank,
            "first": row.first, "last": row.last, "tested": row.tested,
            "award": "" if row.house else names.get(row.team_id, ""),
        }
        for row in rows
    ]  # fmt: skip


def _show(page: Page, run: Submission) -> Show | None:
    result = submissions.current_result(page.session, run)
    if result is None or not result.run or result.job_id != run.job_id:
        return None
    storage = page.site.storage
    return show(storage.fetch(result.run), storage.fetch(submissions.data_of(page.session, result)))


@router.get("/contests/{slug}/{name}/stage/run/{place}")
def shown(slug: str, name: str, place: str, page: Page = may("look")) -> Response:
    """A stretch of a run. Nothing that has not been shown leaves the site, unless the stage is open as a replay."""
    phase = contests.phase_named(contests.contest_named(page.session, slug), name)
    found = stage.visible(page.session, page.account, phase)
    number = int(place) if place.isascii() and place.isdigit() and len(place) < 5 else len(found.teams)
    if number >= len(found.teams) or (number > found.at and not stage.free(page.account, found)):
        raise not_found()
    run = page.session.get_one(Submission, found.teams[number]["run"])
    made = _show(page, run)
    if made is None:
        raise not_found()
    asked = page.request.query_params
    from_s, to_s = _seconds(asked.get("from")), _seconds(asked.get("to"))
    if not stage.free(page.account, found) and number == found.at:
        to_s = min(to_s, stage.shown_s(found))
    return JSONResponse(made.cut(from_s, to_s, page.lang))


def _seconds(text: str | None) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        raise not_found() from None
    if not 0 <= value < 1e7:  # also what is no number
        raise not_found()
    return value


@router.get("/contests/{slug}/{name}/stage/seals.json")
def sealed(slug: str, name: str, page: Page = may("look")) -> Response:
    """The draw, and what was signed about the runs that have been shown."""
    phase = contests.phase_named(contests.contest_named(page.session, slug), name)
    found = stage.visible(page.session, page.account, phase)
    return JSONResponse(seals_of(page, found))


def seals_of(page: Page, found: Stage) -> dict[str, Any]:
    everything = stage.free(page.account, found) or terms_of(found.phase).stage == "live"
    told = found.teams if everything else found.teams[: max(found.at, 0)]
    own = [found.seals[str(one["team"])] for one in told if str(one["team"]) in found.seals]
    before = [past["signed"] for one in told for past in turns.departures(one) if past.get("signed")]
    return {"seed": found.seed, "key": seals.public_key(page.site.settings.secret), "seals": own, "repeated": before}


# ------------------------------------------------------------------ the organiser's side


@router.get("/organise/{slug}/{name}/stage")
def controls(slug: str, name: str, page: Page = may("manage")) -> HTMLResponse:
    contest = contests.managed(page.session, page.me, slug)
    phase = contests.phase_named(contest, name)
    found = stage.stage_of(page.session, phase)
    rows = []
    for one in found.teams if found else ():
        run = page.session.get_one(Submission, one["run"])
        status = submissions.seen(page.session, page.account, run).status
        sealed_too = str(one["team"]) in (found.seals if found else {})
        rows.append({"run": run, "status": status, "sealed": sealed_too, "departures": departed(page, one)})
    return page.render(
        "organise_stage.html",
        contest=contest,
        phase=phase,
        title=contest_title(page.lang, contest),
        stage_title=phase_title(page.say, phase),
        mode=terms_of(phase).stage,
        stage=found,
        rows=rows,
        waiting=stage.players(page.session, phase) if found is None else [],
        machines=stage.machines(page.session),
        begun=stage.begun(found),
        speeds=stage.SPEEDS,
        open_to=stage.OPEN_TO,
        awaits=contests.awaits_session(phase),
        due=turns.turn_of(page.session, found) if found else None,
        key=seals.public_key(page.site.settings.secret),
    )


@router.post("/organise/{slug}/{name}/stage")
def act(slug: str, name: str, page: Page = may("manage")) -> Response:
    phase = contests.phase_named(contests.managed(page.session, page.me, slug), name)
    what = page.field("act", 20)
    if what == "draw":
        stage.draw(page.session, page.me, phase, page.field("seed", 100))
    elif what == "play":
        stage.play(page.session, page.me, phase, page.field("machine", 255).strip())
    elif what == "repeat":
        boxed = page.site.settings.boxed
        turns.repeat(page.session, page.me, phase, page.field("team", 200), page.field("why", turns.WHY_MOST), boxed)
    else:
        stage.direct(page.session, page.me, phase, what, page.field("value", 20))
    return page.go(f"/organise/{slug}/{name}/stage", "notice.saved" if what in SAVES else "")
