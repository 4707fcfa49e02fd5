"""Contests and boards, for everybody."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from bciarena.service import contests
from bciarena.service.api.caller import ERRORS, Caller, allow
from bciarena.service.models import Contest, Phase
from bciarena.service.refusals import Refused

router = APIRouter(tags=["contests"], responses=ERRORS)
Name = Annotated[str, Path(min_length=1, max_length=60, pattern="^[a-z0-9-]+$")]


class PhaseOut(BaseModel):
    name: str
    state: str
    starts_at: float | None
    ends_at: float | None
    daily_limit: int
    truth: str
    board: str
    counts: str
    freezes_at: float | None
    late_until: float | None
    terms: dict[str, Any]
    recordings: dict[str, Any]


class ContestOut(BaseModel):
    slug: str
    title: str
    title_zh: str
    about: str
    rulebook: str
    phases: list[PhaseOut]


class RowOut(BaseModel):
    rank: int | None
    not_distinguishable_from: tuple[int, int] | None
    tested: Annotated[bool, Field(description="whether the data could have told this team from others at all")]
    team: str
    score: float
    low: Annotated[
        float | None,
        Field(description="95 % interval for new blocks of the same people; allows for choosing the best run"),
    ]
    high: float | None
    new_people_low: Annotated[
        float | None, Field(description="95 % interval for new people, with three or more people")
    ]
    new_people_high: float | None
    best_of_luck: Annotated[
        float | None, Field(description="what choosing the best of so many equal runs adds on average")
    ]
    metrics: dict[str, Any]
    verdict: str
    submitted_at: float
    runs: int


class BoardOut(BaseModel):
    rulebook: str
    unit: str
    revision: int
    part: Annotated[str, Field(description="which part of the recordings the scores are of: all, public, private")]
    frozen_at: Annotated[float | None, Field(description="runs submitted since then are not on it")]
    rows: list[RowOut]


def _terms(phase: Phase) -> dict[str, Any]:
    """The terms of a phase as everybody may read them: where sets to learn from lie is nobody's business."""
    terms = dict(phase.terms)
    if "calibration" in terms:
        terms["calibration"] = {name: value for name, value in terms["calibration"].items() if name != "sets"}
    return terms


def _phase(phase: Phase) -> PhaseOut:
    shown = ("subjects", "blocks", "trials", "seconds")
    return PhaseOut(
        name=phase.name,
        state=contests.phase_state(phase),
        starts_at=phase.starts_at,
        ends_at=phase.ends_at,
        daily_limit=phase.daily_limit,
        truth="hidden" if phase.hidden_data else "public",
        board="public" if phase.published else "hidden",
        counts=phase.counts,
        freezes_at=phase.freezes_at,
        late_until=phase.late_until,
        terms=_terms(phase),
        recordings={name: phase.data_about[name] for name in shown if name in phase.data_about},
    )


def contest_out(contest: Contest) -> ContestOut:
    return ContestOut(
        slug=contest.slug,
        title=contest.title,
        title_zh=contest.title_zh,
        about=contest.about,
        rulebook=contest.rulebook,
        phases=[_phase(phase) for phase in contest.phases],
    )


@router.get("/contests", summary="All contests")
def all_contests(call: Caller = allow("look")) -> list[ContestOut]:
    return [contest_out(contest) for contest in contests.all_contests(call.session)]


@router.get("/contests/{slug}", summary="One contest")
def contest(slug: Name, call: Caller = allow("look")) -> ContestOut:
    return contest_out(contests.contest_named(call.session, slug))


@router.get("/contests/{slug}/{phase}/board", summary="The board of a phase")
def board(slug: Name, phase: Name, call: Caller = allow("look")) -> BoardOut:
    found = contests.contest_named(call.session, slug)
    stage = contests.phase_named(found, phase)
    manages = contests.may_manage(call.account, found)
    if not stage.published and not manages:
        raise Refused(403, "board.hidden")
    made = call.site.boards.of(call.session, stage, manages)
    rows = [
        RowOut(
            rank=row.rank,
            not_distinguishable_from=(row.first, row.last) if row.first and row.last else None,
            team=row.team,
            score=row.score,
            tested=row.tested,
            low=row.low,
            high=row.high,
            new_people_low=row.new_low,
            new_people_high=row.new_high,
            best_of_luck=row.lucky,
            metrics=row.metrics,
            verdict=row.verdict,
            submitted_at=row.at,
            runs=row.runs,
        )
        for row in made.rows
    ]
    return BoardOut(
        rulebook=made.rulebook,
        unit=made.unit,
        revision=made.told,
        part=made.view.part,
        frozen_at=made.view.until,
        rows=rows,
    )
