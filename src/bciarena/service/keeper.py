"""The keeper: a process beside the server that prepares recordings, settles finished runs and re-scores.

Everything it does is found by a query and done once, so it may be killed at any line, and there may be several.
"""

from __future__ import annotations

import logging
import time

from sqlalchemy.exc import DBAPIError

from bciarena.errors import Fault
from bciarena.jobs.db import is_unreachable, why
from bciarena.service import contests, results
from bciarena.service.site import Site

PAUSE_S = 0.4
AWAY_S = 5.0
log = logging.getLogger("bciarena.keeper")


def work_once(site: Site) -> int:
    """Do what there is to do now; returns how many things were done."""
    done = 0
    with site.session(writes=True) as session:
        for submission, job in results.unsettled(session):
            session.commit()  # reading and drawing take a while: hold no lock meanwhile
            results.settle(session, site.storage, submission, job)
            done += 1
        session.commit()
        for old in results.under_old_rules(session):
            results.score_again(session, site.storage, old)
            done += 1
        session.commit()
        for phase in contests.unprepared(session):
            contests.prepare(session, site.storage, phase)
            done += 1
    return done


def keep(site: Site, once: bool = False) -> None:
    """Work until the process is ended; a database that is away is waited for."""
    while True:
        try:
            done = work_once(site)
        except (DBAPIError, Fault) as error:
            if isinstance(error, DBAPIError) and not is_unreachable(error):
                raise
            log.warning("waiting: %s", why(error))
            time.sleep(AWAY_S)
            continue
        if once:
            return
        if not done:
            time.sleep(PAUSE_S)


def main() -> None:
    """python -m bciarena.service.keeper HOME; ARENA_DATABASE and ARENA_STORAGE where they are not in there."""
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
    keep(Site(Settings.at(home, os.environ.get("ARENA_DATABASE"), os.environ.get("ARENA_STORAGE"))))


if __name__ == "__main__":
    main()
