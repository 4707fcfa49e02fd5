"""Visitors answer a contest's question (contests.game) and are counted; decoders are read from runs open to all."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.contests import contest as find_contest
from bciarena.contests import registered as find_rulebook
from bciarena.contests.game import Game, Share, Told, counted, of_trials
from bciarena.contests.rulebook import Rulebook
from bciarena.jobs.storage import Storage
from bciarena.service.limits import Limit, spend
from bciarena.service.models import Contest, Guess, Phase
from bciarena.service.refusals import Refused, not_found
from bciarena.service.results import score_of_run
from bciarena.service.site import Site
from bciarena.service.submissions import current_result, runs_open

ROUND = Limit("game-round", 1, 30 * 86400)  # a round is answered once
ADDRESS = Limit("game-address", 240, 3600)
SEALED_S = 3600


class Line(NamedTuple):
    """Somebody's answers in a table: who, and what they were worth."""

    who: str
    told: Told
    is_name: bool  # of a team; otherwise a key of the texts


def game_of(book: Rulebook) -> Game | None:
    own = find_contest(book)
    return own.part("game", Game) if own.has("game.py") else None


def asked(contest: Contest) -> Game:
    game = game_of(find_rulebook(contest.rulebook))
    if game is None:
        raise not_found()
    return game


def new_round(site: Site, contest: Contest) -> dict[str, Any]:
    """Scenes without their truth, and a code with which they are answered. The code says nothing about them."""
    name = secrets.token_urlsafe(12)
    return {
        "scenes": [scene for scene, _ in _scenes(site, contest, name)],
        "code": site.signer.sealed("game", [contest.id, name]),
    }


def _scenes(site: Site, contest: Contest, name: str) -> list[tuple[dict[str, Any], bool]]:
    seed = hmac.digest(site.settings.secret.encode(), f"game {contest.id} {name}".encode(), hashlib.sha256)
    return asked(contest).scenes(np.random.default_rng(int.from_bytes(seed[:16], "big")))


def answer(session: Session, site: Site, contest: Contest, code: str, said: str, address: str) -> list[bool]:
    """Count the answers to a round (a letter each, y or n), once, and tell the truth."""
    asked(contest)
    found = site.signer.opened("game", code, SEALED_S)
    if not isinstance(found, list) or len(found) != 2 or found[0] != contest.id:
        raise Refused(422, "refused.field", name="code")
    truth = [one for _, one in _scenes(site, contest, str(found[1]))]
    if len(said) != len(truth) or not set(said) <= {"y", "n"}:
        raise Refused(422, "refused.field", name="said")
    spend(session, ADDRESS, address)
    spend(session, ROUND, str(found[1]))
    for true, letter in zip(truth, said, strict=True):
        _count(session, contest, true, letter == "y")
    session.commit()
    return truth


def _count(session: Session, contest: Contest, truth: bool, said: bool) -> None:
    here = (Guess.contest_id == contest.id, Guess.truth == truth, Guess.said == said)
    one_more = update(Guess).where(*here).values(count=Guess.count + 1)
    if not session.execute(one_more).rowcount:  # type: ignore[attr-defined]
        try:
            with session.begin_nested():
                session.add(Guess(contest_id=contest.id, truth=truth, said=said, count=1))
        except IntegrityError:  # another process was first
            session.execute(one_more)


def visitors(session: Session, contest: Contest) -> Told:
    rows = session.scalars(select(Guess).where(Guess.contest_id == contest.id))
    return counted({(row.truth, row.said): row.count for row in rows})


def decoders(session: Session, site: Site, contest: Contest) -> list[Line]:
    """The reference entries, best first, where their runs are open to everybody."""
    book, found = find_rulebook(contest.rulebook), list[Line]()
    for phase in contest.phases:
        if runs_open(phase):
            found += _lines(session, site, phase, book)
    return sorted(found, key=lambda line: -(line.told.accuracy.value or 0.0))


def _lines(session: Session, site: Site, phase: Phase, book: Rulebook) -> list[Line]:
    from bciarena.service.models import Submission

    found = []
    for row in site.boards.of(session, phase).rows:
        result = current_result(session, session.get_one(Submission, row.submission_id)) if row.house else None
        if result is not None and result.run and result.rulebook == book.id:
            found.append(Line(row.team, of_run(site.storage, result.run, book.id), True))
    return found


@lru_cache(maxsize=200)
def of_run(storage: Storage, run: str, book: str) -> Told:
    """What a run's answers say to the contest's question; a stored run never changes."""
    game = game_of(find_rulebook(book))
    assert game is not None
    return of_trials(game, score_of_run(storage, run)["trials"])


def chance() -> Told:
    """A fair coin."""
    return Told(*(Share(1, 2) for _ in range(3)))
