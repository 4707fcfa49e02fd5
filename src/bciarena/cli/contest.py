"""arena contest: creates and manages contests on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bciarena.cli._options import AsJson, Database, DryRun, Home, Rehearsal, Stored
from bciarena.cli._say import say, tell

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="Create and manage contests.", no_args_is_help=True)


@app.command()
def create(
    file: Annotated[Path, typer.Argument(help="contest.toml; docs/hosting.md describes it.")],
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    owner: Annotated[str | None, typer.Option(help="Account that manages it; default: the first operator.")] = None,
    as_json: AsJson = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make it on a site that is thrown away, and say what it would hold.")
    ] = False,
) -> None:
    """Create a contest from a single file and prepare its recordings."""
    import tempfile
    from contextlib import ExitStack

    from sqlalchemy import select

    from bciarena.bars import working
    from bciarena.errors import BadInput
    from bciarena.service import contests
    from bciarena.service.accounts import account_named, first_operator
    from bciarena.service.models import Account
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site
    from bciarena.service.spec import read_toml

    spec = read_toml(file)
    with ExitStack() as stack:
        if dry_run:
            _refuse_here(spec.slug, owner, home, database)
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-dry-")))
            database = storage = owner = None
        site = Site(Settings.at(home, database, storage))
        stack.callback(site.engine.dispose)
        session = stack.enter_context(site.session(writes=True))
        made = first_operator(session) if owner is None else None
        if made and not dry_run:
            say(f"operator account made: name {made[0]}, password {made[1]} (shown only once)", err=as_json)
        account = session.scalar(select(Account).where(Account.role == "operator").order_by(Account.id).limit(1))
        if owner is not None:
            account = account_named(session, owner)
            if account is None or account.role == "contestant":
                raise BadInput(f"--owner {owner}: no organiser or operator has this name")
        assert account is not None
        contest = contests.create(session, account, spec, None)
        made_phases = []
        for phase in contest.phases:
            if contests.awaits_session(phase):
                made_phases.append({"name": phase.name, "subjects": 0, "blocks": 0, "trials": 0})  # recorded later
                continue
            with working(f"preparing the recordings of {phase.name}"):
                contests.prepare(session, site.storage, site.settings.secret, phase)
            session.refresh(phase)
            if "trouble" in phase.data_about:
                raise BadInput(f"{file}: phase {phase.name}: {phase.data_about['trouble']} (correct it on the site)")
            about = phase.data_about
            made_phases.append({"name": phase.name, **{key: about[key] for key in ("subjects", "blocks", "trials")}})
        tell(
            as_json,
            {"slug": contest.slug, "phases": made_phases},
            *(
                f"{one['name']}: {one['subjects']} subjects, {one['blocks']} blocks, {one['trials']} trials"
                for one in made_phases
            ),
            f"would create contest {contest.slug}"
            if dry_run
            else f"contest {contest.slug} created: /contests/{contest.slug}",
        )


@contextmanager
def _looking(home: Path | None, database: str | None) -> Iterator[Session]:
    """The database of a site that is there, to look only."""
    from bciarena.database import db
    from bciarena.upkeep.places import Places

    engine = db.open_database(Places.at(home, database).database, make=False)
    try:
        with db.told_clearly(engine), db.reading(engine) as session:
            yield session
    finally:
        engine.dispose()


def _refuse_here(slug: str, owner: str | None, home: Path | None, database: str | None) -> None:
    """Refuse what a site that is there would refuse; one that is not there would be made."""
    from bciarena.errors import BadInput
    from bciarena.service import contests
    from bciarena.service.accounts import account_named
    from bciarena.service.refusals import Refused
    from bciarena.upkeep.dumps import is_free
    from bciarena.upkeep.places import Places

    account = None
    if not is_free(Places.at(home, database).database):
        with _looking(home, database) as session:
            account = account_named(session, owner) if owner is not None else None
            if any(one.slug == slug for one in contests.all_contests(session)):
                raise Refused(409, "refused.slug_taken", slug=slug)
            role = account.role if account is not None else "contestant"
    else:
        role = "contestant"
    if owner is not None and role == "contestant":
        raise BadInput(f"--owner {owner}: no organiser or operator has this name")


@app.command("list")
def show(home: Home = None, database: Database = None, storage: Stored = None, as_json: AsJson = False) -> None:
    """List the contests of a site."""
    from bciarena.service import contests
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site

    site = Site(Settings.at(home, database, storage))
    with site.session(writes=False) as session:
        rows: list[dict[str, Any]] = [
            {
                "slug": contest.slug,
                "rulebook": contest.rulebook,
                "title": contest.title,
                "phases": {phase.name: contests.phase_state(phase) for phase in contest.phases},
            }
            for contest in contests.all_contests(session)
        ]
    lines = []
    for row in rows:
        phases = ", ".join(f"{name} ({state})" for name, state in row["phases"].items())
        lines.append(f"{row['slug']}  {row['rulebook']}  {row['title']}: {phases}")
    tell(as_json, rows, *lines)


@app.command()
def export(
    slug: Annotated[str, typer.Argument(help="The contest.")],
    phase: Annotated[str, typer.Argument(help="The phase.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File; default: stdout.")] = None,
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
) -> None:
    """Write every submission of a phase as CSV."""
    from bciarena.errors import BadInput
    from bciarena.service import contests
    from bciarena.service.export import board_csv
    from bciarena.service.refusals import Refused
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site
    from bciarena.writing import wanted_file

    site = Site(Settings.at(home, database, storage))
    with site.session(writes=False) as session:
        try:
            stage = contests.phase_named(contests.contest_named(session, slug), phase)
        except Refused:
            raise BadInput(f"{slug} {phase}: there is no such contest or phase") from None
        text = board_csv(session, stage)
    if out is None:
        print(text, end="")
    else:
        with wanted_file(out) as beside:
            beside.write_text(text, "utf-8")


@app.command()
def offer(
    slug: Annotated[str, typer.Argument(help="The contest.")],
    files: Annotated[list[Path], typer.Argument(help="Files people may download from its page.")],
    about: Annotated[str, typer.Option(help="What they are, in one line.")] = "",
    login: Annotated[bool, typer.Option("--login", help="Only for people who are signed in.")] = False,
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    dry_run: Rehearsal = False,
) -> None:
    """Offer files on a contest's page, of any size: training sets, data cards."""
    from bciarena.errors import BadInput
    from bciarena.service import contests, downloads
    from bciarena.service.refusals import Refused
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site

    for file in files:
        if not file.is_file():
            raise BadInput(f"{file}: there is no such file")
    if dry_run:
        with _looking(home, database) as session:
            try:
                contest = contests.contest_named(session, slug)
            except Refused:
                raise BadInput(f"{slug}: there is no such contest") from None
            there = {one.name for one in downloads.of(session, contest)}
            for file in files:
                try:
                    downloads.check(session, contest, file.name)
                except Refused as no:
                    raise BadInput(f"{file}: {no}") from None
                verb = "replace" if file.name in there else "offer"
                say(f"would {verb} {file.name} of {slug}: {file.stat().st_size / 1e6:.1f} MB")
        return
    site = Site(Settings.at(home, database, storage))
    with site.session(writes=True) as session:
        try:
            contest = contests.contest_named(session, slug)
        except Refused:
            raise BadInput(f"{slug}: there is no such contest") from None
        for file in files:
            try:
                made = downloads.add(session, site.storage, contest.owner, contest, file, file.name, about, login)
            except Refused as no:
                raise BadInput(f"{file}: {no}") from None
            say(f"{made.digest}  {made.name}")


@app.command()
def jury(
    slug: Annotated[str, typer.Argument(help="The contest.")],
    phase: Annotated[str, typer.Argument(help="The phase.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder.")],
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Write the jury pack of a phase: page, table, and the run folders and recordings every number comes from."""
    import json
    import shutil

    from bciarena.errors import BadInput
    from bciarena.service import contests, seals
    from bciarena.service import jury as juries
    from bciarena.service.refusals import Refused
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site
    from bciarena.writing import whole_folder

    if out.exists():
        raise BadInput(f"{out}: exists already; name a new folder")
    site = Site(Settings.at(home, database, storage))
    with site.session(writes=False) as session, whole_folder(out) as folder:
        try:
            stage = contests.phase_named(contests.contest_named(session, slug), phase)
        except Refused:
            raise BadInput(f"{slug} {phase}: there is no such contest or phase") from None
        found = juries.pack(session, site, stage)
        folder.mkdir(parents=True, exist_ok=True)
        for lang, name in (("en", "jury.html"), ("zh", "jury.zh.html")):
            text = juries.page(site, juries.pack(session, site, stage, lang), lang)
            (folder / name).write_text(text, "utf-8")
        (folder / "jury.csv").write_text(juries.table(found), "utf-8")
        for run, result, stored in juries.runs_behind(session, stage):
            shutil.copytree(site.storage.fetch(str(result.run)), folder / "runs" / str(run.id))
            own = "data" if run.phase_id == stage.id else f"data-{run.phase.name}"
            if stored != run.phase.data:  # played live, on recordings of its own
                own = f"data-run-{run.id}"
            if not (folder / own).exists():
                shutil.copytree(site.storage.fetch(stored), folder / own)
        if found.stage is not None:
            told = {"key": seals.public_key(site.settings.secret), "seals": list(found.stage.seals.values())}
            told["repeated"] = [past["signed"] for past in found.departures if past.get("signed")]
            (folder / "stage.json").write_text(json.dumps(told, indent=1, ensure_ascii=False), "utf-8")
    lines = len(found.lines)
    tell(
        as_json,
        {"folder": str(out), "teams": lines},
        f"{out}: {lines} teams; jury.html, jury.zh.html, jury.csv, runs/, data/ (with truth: keep it safe)",
    )
