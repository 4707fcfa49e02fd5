"""The keeper: a process beside the server that prepares recordings, settles finished runs and re-scores.

A query finds what is left to do, and each item is done once, so a keeper may be killed at any point and several may
run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from bciarena.database.db import is_unreachable, why
from bciarena.errors import ArenaError
from bciarena.service import contests, mail, phases, results, stage, submissions, troubles
from bciarena.service.site import Site

PAUSE_S = 0.4
AWAY_S = 5.0
T = TypeVar("T")
log = logging.getLogger("bciarena.keeper")


def work_once(site: Site) -> int:
    """Do what there is to do now, item by item; returns how many were done.

    A failure is noted and tried again later, and holds up nothing else.
    """
    done = 0
    storage = site.storage
    with site.session(writes=True) as session:
        for submission, job in _listed(session, results.unsettled):
            done += _tried(session, "settle", submission.id, partial(results.settle, session, storage, submission, job))
        for old in _listed(session, results.under_old_rules):
            done += _tried(session, "rescore", old.submission_id, partial(results.score_again, session, storage, old))
        for bare in _listed(session, results.without_ends):
            done += _tried(session, "ends", bare.submission_id, partial(results.make_ends, session, storage, bare))
        for phase in _listed(session, contests.unprepared):
            prepare = partial(contests.prepare, session, storage, site.settings.secret, phase)
            done += _tried(session, "prepare", phase.id, prepare)
        for phase in _listed(session, contests.unaudited):
            done += _tried(session, "audit", phase.id, partial(contests.audit_data, session, storage, phase))
        for phase in _listed(session, phases.unadmitted):
            done += _tried(session, "admit", phase.id, partial(phases.admit_first, session, phase))
        for one in _listed(session, phases.uncarried):
            done += _tried(session, "carry", one.team_id, partial(submissions.carry, session, one, True))
        for found in _listed(session, stage.due):
            advance = partial(stage.advance, session, storage, site.settings.secret, found)
            done += _tried(session, "stage", found.phase_id, advance)
        if mail.can_mail(site.settings) and (letters := _listed(session, mail.unmailed)):
            done += _tried(session, "mail", 0, partial(mail.mail_letters, session, site.settings, letters))
    return done


def _listed(session: Session, query: Callable[[Session], list[T]]) -> list[T]:
    found = query(session)
    session.commit()  # reading and drawing take a while: hold no lock
    return found


def _tried(session: Session, task: str, item: int, do: Callable[[], object]) -> bool:
    """Whether it could be done. An unreachable database is not a problem of the item: that is raised."""
    try:
        do()
    except Exception as error:
        session.rollback()
        if isinstance(error, DBAPIError) and is_unreachable(error):
            raise
        log.warning("%s %d: %s", task, item, error, exc_info=not isinstance(error, ArenaError))
        troubles.note(session, task, item, error)
        return False
    troubles.forget(session, task, item)
    return True


def keep(site: Site, once: bool = False) -> None:
    """Work until the process is ended, waiting for a database that is unreachable."""
    while True:
        try:
            done = work_once(site)
        except DBAPIError as error:
            if not is_unreachable(error):
                raise
            log.warning("waiting: %s", why(error))
            time.sleep(AWAY_S)
            continue
        if once:
            return
        if not done:
            time.sleep(PAUSE_S)


def main() -> None:
    """python -m bciarena.service.keeper HOME; ARENA_DATABASE and ARENA_STORAGE name places elsewhere."""
    import argparse
    import os
    import signal
    import sys
    from pathlib import Path

    from bciarena.service.settings import Settings

    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    home = parser.parse_args().home
    logging.basicConfig(format="%(name)s: %(message)s")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    url = os.environ.get("ARENA_URL", "")
    keep(Site(Settings.at(home, os.environ.get("ARENA_DATABASE"), os.environ.get("ARENA_STORAGE"), url=url)))


if __name__ == "__main__":
    main()
