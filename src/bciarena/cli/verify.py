"""arena verify: whether everything is stored, unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Database, Home, Outside, Stored
from bciarena.cli._say import give, say
from bciarena.cli._upkeep import steps

WRONG = 3
DIFFERS = 1  # a stranger's bundle is not as it says: no fault of ours


def main(
    what: Annotated[
        Path | None, typer.Argument(help="A run folder, a bundle or a backup file; default: the site itself.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The data folder of a run, if it has moved since; a bundle is played again on it."),
    ] = None,
    entry: Annotated[str | None, typer.Option(help="The entry to play again, where a bundle lacks it.")] = None,
    model: Annotated[Path | None, typer.Option(help="Its trained model, where a bundle lacks it.")] = None,
    trust_rules: Annotated[
        bool, typer.Option("--trust-rules", help="Run a bundle's own score code, if its rules are not known here.")
    ] = False,
    challenge: Outside = None,
    digests: Annotated[bool, typer.Option("--digests", help="Read every stored byte and check its digest.")] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Recompute every score from ledgers and recordings.")
    ] = False,
    remove_unused: Annotated[
        float | None, typer.Option(help="Remove files that nothing names and that are older than this many days.")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --remove-unused: say what would go, remove nothing.")
    ] = False,
) -> None:
    """Check the database of a site against its storage, a run against its data, a bundle, or a backup file."""
    if what is None:
        _site(home, database, storage, digests, scores, remove_unused, as_json, dry_run)
    elif what.is_dir():
        from bciarena.cli.score import main as score

        score(what, data, challenge=challenge, as_json=as_json)
    else:
        from bciarena.bundles import is_bundle

        if is_bundle(what):
            _bundle(what, data, entry, model, trust_rules, challenge, as_json)
        else:
            _backup(what, as_json)


def _bundle(
    path: Path,
    data: Path | None,
    entry: str | None,
    model: Path | None,
    trust_rules: bool,
    challenge: str | None,
    as_json: bool,
) -> None:
    from bciarena.bundles import verify_bundle
    from bciarena.contests import known
    from bciarena.plaintext import clean

    known(challenge)
    found = verify_bundle(path, data=data, entry=entry, model=model, trust_rules=trust_rules)
    if as_json:
        give(found.as_json())
    else:
        for word, lines in found.as_json().items():
            print("".join(f"{word}: {clean(line)}\n" for line in lines), end="")
        say(f"{path}: {len(found.differs)} things differ, {len(found.unchecked)} could not be checked")
    if found.differs:
        raise typer.Exit(DIFFERS)


def _site(
    home: Path | None,
    database: str | None,
    storage: str | None,
    digests: bool,
    scores: bool,
    days: float | None,
    as_json: bool,
    dry_run: bool,
) -> None:

    from bciarena.upkeep import verify
    from bciarena.upkeep.places import Places

    with Places.at(home, database, storage).opened() as (engine, place):
        with steps("checking") as step:
            found = verify.check(engine, place, digests=digests, scores=scores, on_step=step)
        unused = verify.unused(engine, place)
        removed = verify.remove_unused(engine, place, days, dry_run) if days is not None else 0
    if as_json:
        wrong = [one._asdict() for one in found]
        give({"wrong": wrong, "unused": len(unused), "removed": removed})
    else:
        for line in verify.lines(found):
            say(line)
        read = ", every byte read" if digests else ""
        again = ", every score recomputed" if scores else ""
        done = "would be removed" if dry_run else "removed"
        gone = f", {removed} of them {done}" if days is not None else ""
        say(f"{len(found)} things wrong{read}{again}; {len(unused)} stored files are named by nothing{gone}")
        if any(one.kind != "score" for one in found):
            say("put missing and damaged files back from a backup: arena restore FILE --home ELSEWHERE, then copy")
    if found:
        raise typer.Exit(WRONG)


def _backup(path: Path, as_json: bool) -> None:

    from bciarena.upkeep.backup import check_backup

    with steps("reading") as step:
        bad = check_backup(path, step)
    if as_json:
        give({"damaged": bad})
    else:
        say("\n".join([*(f"damaged or missing: {name}" for name in bad), f"{path}: {len(bad)} things wrong"]))
    if bad:
        raise typer.Exit(WRONG)
