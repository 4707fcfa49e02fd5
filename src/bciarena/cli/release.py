"""arena release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import give, say


def main(
    source: Annotated[
        str, typer.Argument(help="Recordings: anything arena import reads, or a folder with the contest's sets in it.")
    ],
    challenge: Annotated[str, typer.Option(help="The contest: name, name/version or folder.")],
    out: Annotated[Path, typer.Option(help="The folder to make: public/, truth/ and the data card.")],
    events: Annotated[str, typer.Option(help="What the source's events mean: WORD=CODE,WORD=CODE.")] = "",
    wires: Annotated[str, typer.Option("--map", help="Which channel is which: CHANNEL=ITS NAME THERE,...")] = "",
    blocks: Annotated[
        str, typer.Option(help="Blocks of a person for each set: train=3,test=2. [default: the text]")
    ] = "",
    one_set: Annotated[str | None, typer.Option("--set", help="All of it is this set.")] = None,
    hide: Annotated[str, typer.Option(help="Sets that are not given out, e.g. for training on the server.")] = "",
    bids: Annotated[
        bool, typer.Option("--bids", help="Write BIDS-EEG data sets instead of the contest layout.")
    ] = False,
    licence: Annotated[str, typer.Option(help="What contestants may do with the data; stands on the card.")] = "",
    learn_from: Annotated[
        str | None,
        typer.Option("--from", help="Generated trials: other recordings of the same people for generators to learn."),
    ] = None,
    deep: Annotated[
        bool | None,
        typer.Option("--deep/--no-deep", help="Generated trials: the deep route. [default: if PyTorch is installed]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of whatever is drawn at random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is not empty.")] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Make a contest's data from recordings: a public copy with the truth masked, the truth, and a data card."""
    from bciarena.bars import working
    from bciarena.cli._options import codes_of
    from bciarena.contests import rulebook
    from bciarena.errors import BadInput
    from bciarena.recording.channels import wire_map
    from bciarena.release import release
    from bciarena.release.making import Wanted

    book = rulebook(challenge)
    counts = {}
    for pair in filter(None, blocks.split(",")):
        name, _, count = pair.partition("=")
        if not name.strip() or not count.strip().isdigit():
            raise BadInput(f"--blocks {pair}: expected SET=NUMBER, e.g. train=3,test=2")
        counts[name.strip()] = int(count)
    if seed < 0:
        raise BadInput(f"--seed {seed}: give 0 or more")
    hidden = tuple(name.strip() for name in hide.split(",") if name.strip())
    wanted = Wanted(codes_of(events), wire_map(wires), counts, one_set, hidden, bids, licence, seed, deep, learn_from)
    with working("reading") as at:
        card = release(book, source, out, wanted, force=force, tell=at)
    if as_json:
        give(card)
        return
    for one in card["sets"]:
        say(
            f"{out}  {one['name']} ({one['role']}): {one['people']} people, {one['blocks']} blocks, "
            f"{one['trials']} trials, {one['seconds'] / 60:.1f} minutes"
        )
    for note in card["notes"]:
        say(f"  {note}")
    say(f"{out}/card.en.md, card.zh.md, card.json: the data card")
