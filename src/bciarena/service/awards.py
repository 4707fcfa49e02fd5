"""Who is awarded what, and where the data could not have decided it."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy.orm import Session

from bciarena.service.boards import Row
from bciarena.service.models import Phase
from bciarena.service.phases import final_rows, source_of
from bciarena.service.spec import Award


class Standing(NamedTuple):
    """A team in the order that decides. ``phase``: the name of the phase its row is from."""

    place: int
    phase: str
    row: Row


class Given(NamedTuple):
    """An award with its teams. ``close`` names the team next in line where the paired test cannot tell it from the
    last that got the award; ``untested`` says that no outcome of the test could have.
    """

    award: Award
    teams: list[Standing]
    close: str = ""
    untested: bool = False


def standing(session: Session, phase: Phase) -> list[Standing]:
    """The order for awards: by this phase, then by the phase before it for those who did not reach this one."""
    found: list[Standing] = []
    seen: set[int] = set()
    stage: Phase | None = phase
    while stage is not None:
        for row in final_rows(session, stage):
            if row.team_id not in seen:
                seen.add(row.team_id)
                found.append(Standing(len(found) + 1, stage.name, row))
        stage = source_of(stage)
    return found


def given(phase: Phase, order: list[Standing]) -> list[Given]:
    """The awards of the contest for an order of teams, the first award first."""
    found, at = [], 0
    for values in phase.contest.awards or ():
        award = Award(**values)
        own = order[at : at + award.teams]
        at += award.teams
        found.append(Given(award, own, *_edge(own, order[at : at + 1])))
    return found


def _edge(own: list[Standing], after: list[Standing]) -> tuple[str, bool]:
    """Whether the edge of an award runs between teams that cannot be told apart."""
    if not own or not after or own[-1].phase != after[0].phase:
        return "", False
    last, following = own[-1].row, after[0].row
    if not (last.tested and following.tested):
        return following.team, True
    return (following.team if last.first == following.first else ""), False
