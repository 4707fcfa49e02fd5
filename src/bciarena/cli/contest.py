"""arena contest: creates and manages contests on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bciarena.cli._options import AsJson, Database, DryRun, Home, Stored
from bciarena.cli._say import say, tell

app = typer.Typer(help="Create and manage contests.", no_args_is_help=True)


@app.command()
def create(
    file: Annotated[Path, typer.Argument(help="contest.toml; docs/hosting.md describes it.")],
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    owner: Annotated[str | None, typer.Option(help="Account that manages it; default: the first operator.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a contest from a single file and prepare its recordings."""
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
    site = Site(Settings.at(home, database, storage))
    with site.session(writes=True) as session:
        made = first_operator(session) if owner is None else None
        if made:
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
                contests.prepare(session, site.storage, phase)
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
            f"contest {contest.slug} created: /contests/{contest.slug}",
        )


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
            (folder / "stage.json").write_text(json.dumps(told, indent=1, ensure_ascii=False), "utf-8")
    lines = len(found.lines)
    tell(
        as_json,
        {"folder": str(out), "teams": lines},
        f"{out}: {lines} teams; jury.html, jury.zh.html, jury.csv, runs/, data/ (with truth: keep it safe)",
    )
