"""arena stage: a final on stage, on the machine of the site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bciarena.cli._options import AsJson, Database, Home, Stored
from bciarena.cli._say import tell

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from bciarena.service.models import Phase
    from bciarena.service.site import Site

app = typer.Typer(help="Finals on stage: record, draw, play, and live runs.", no_args_is_help=True)
Slug = Annotated[str, typer.Argument(help="The contest.")]
Name = Annotated[str, typer.Argument(metavar="PHASE", help="The phase.")]
Team = Annotated[str, typer.Option("--team", help="Whose run it is.")]
Early = Annotated[
    str, typer.Option("--out-of-turn", metavar="REASON", help="Why it plays before its turn; kept and shown.")
]


@contextmanager
def _phase(
    slug: str, name: str, home: Path | None, database: str | None, storage: str | None
) -> Iterator[tuple[Site, Session, Phase]]:
    from bciarena.errors import BadInput
    from bciarena.service import contests
    from bciarena.service.refusals import Refused
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site

    site = Site(Settings.at(home, database, storage))
    with site.session(writes=True) as session:
        try:
            phase = contests.phase_named(contests.contest_named(session, slug), name)
        except Refused:
            raise BadInput(f"{slug} {name}: there is no such contest or phase") from None
        yield site, session, phase


@app.command()
def record(
    slug: Slug,
    name: Name,
    folder: Annotated[Path, typer.Argument(help="The recordings of arena session run or arena live record.")],
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Make a recorded session what every finalist plays (stage = "replay")."""
    from bciarena.service.live_runs import record_session

    with _phase(slug, name, home, database, storage) as (site, session, phase):
        about = record_session(session, site.storage, site.settings.secret, None, phase, folder)
    counts = f"{about['subjects']} subjects, {about['blocks']} blocks, {about['trials']} trials"
    tell(as_json, {"phase": name, **about}, f"{name}: {counts}; {about['digest']}")


@app.command()
def draw(
    slug: Slug,
    name: Name,
    seed: Annotated[str, typer.Option(help="Agreed upon by all; default: a new one.")] = "",
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Draw the order: teams by the SHA-256 of "SEED TEAM"."""
    from bciarena.service import stage
    from bciarena.service.models import Team

    with _phase(slug, name, home, database, storage) as (_, session, phase):
        made = stage.draw(session, phase.contest.owner, phase, seed)
        order = [session.get_one(Team, one["team"]).name for one in made.teams]
        lines = [f"{place}. {team}" for place, team in enumerate(order, 1)]
        tell(as_json, {"seed": made.seed, "order": order}, f"seed {made.seed}", *lines)


@app.command()
def play(
    slug: Slug,
    name: Name,
    machine: Annotated[str, typer.Option(help="Where all are played; default: this machine.")] = "",
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Play every finalist in the order drawn, on one machine that does nothing else; a worker there does it."""
    import socket

    from bciarena.service import stage

    where = machine or socket.gethostname()
    with _phase(slug, name, home, database, storage) as (_, session, phase):
        stage.play(session, phase.contest.owner, phase, where)
    told = f"{name}: played on {where} as soon as a worker and the keeper are there"
    tell(as_json, {"phase": name, "machine": where}, told)


@app.command()
def attach(
    slug: Slug,
    name: Name,
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder of a live run.")],
    team: Team,
    data: Annotated[Path | None, typer.Option(help="Its recordings, if they have moved.")] = None,
    why: Early = "",
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Take a live run as the run of a finalist (stage = "live"); its score is made anew from ledger and recordings."""
    from bciarena.service.live_runs import attach as take

    with _phase(slug, name, home, database, storage) as (site, session, phase):
        run = take(session, site.storage, None, phase, team, folder, data, why)
    tell(as_json, {"team": team, "run": run.id}, f"run {run.id} of {team}: /runs/{run.id}")


@app.command()
def live(
    slug: Slug,
    name: Name,
    plan: Annotated[Path, typer.Argument(help="The session, as TOML (docs/lab.md); its entry is the team's package.")],
    team: Team,
    why: Early = "",
    virtual: Annotated[bool, typer.Option("--virtual", help="A virtual subject.")] = False,
    port: Annotated[int, typer.Option(help="Port of the lab's pages.")] = 8010,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Let a finalist play live: the plan's session with the team's package, shown on the projector, then attached."""
    import socket

    from bciarena.cli._feed import Feed
    from bciarena.cli._live_final import played
    from bciarena.cli.live import _say, _stop
    from bciarena.service import live_runs
    from bciarena.service.turns import turn_number

    with _phase(slug, name, home, database, storage) as (site, session, phase):
        run = live_runs.waiting_run(session, phase, team, why)
        book, phase_id = phase.contest.rulebook, phase.id
        version, number, turn = run.version, run.id, turn_number(session, run)
        name_of_turn = f"run-{number}" if turn == 1 else f"run-{number}-turn-{turn}"
        session.commit()  # a session takes a while: hold no lock
        with Feed(site, phase_id, team, book, f"http://{host}:{port}"):
            folder, data = played(site, version, plan, name_of_turn, virtual, host, port, _stop(), _say)
        live_runs.attach(session, site.storage, None, phase, team, folder, data, machine=socket.gethostname())
    tell(as_json, {"team": team, "run": number}, f"run {number} of {team}: /runs/{number}")


@app.command()
def repeat(
    slug: Slug,
    name: Name,
    team: Team,
    reason: Annotated[str, typer.Option(help="What disturbed the turn; kept and shown.")],
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Let a team play its turn again, because our side disturbed it; the earlier run is kept with the reason."""
    from bciarena.service import turns

    with _phase(slug, name, home, database, storage) as (site, session, phase):
        run = turns.repeat(session, phase.contest.owner, phase, team, reason, site.settings.boxed)
        number = run.id
    tell(as_json, {"team": team, "run": number, "reason": reason}, f"run {number} of {team}: to be played again")
