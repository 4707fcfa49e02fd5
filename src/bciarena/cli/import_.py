"""arena import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import give, say

NAME = "import"


def main(
    source: Annotated[
        str,
        typer.Argument(
            help="A recording, a folder of them, or moabb:NAME. Contest pkl/npz/mat, .dat + .yaml, EDF, BDF, "
            "GDF, BrainVision, EEGLAB, FIF, XDF."
        ),
    ],
    challenge: Annotated[str, typer.Option(help="The challenge whose format it gets.")],
    out: Annotated[Path, typer.Option(help="The data folder to make.")],
    events: Annotated[str, typer.Option(help="What the source's events mean: WORD=CODE,WORD=CODE.")] = "",
    subjects: Annotated[str, typer.Option(help="moabb: which subjects, e.g. 1,2,3.")] = "",
    splice: Annotated[
        bool, typer.Option("--splice", help="Speller: splice epochs into an asynchronous stream.")
    ] = False,
    idle: Annotated[str | None, typer.Option(help="Speller: EEG without flicker to splice them into.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the splicing.")] = 0,
    wires: Annotated[
        str, typer.Option("--map", help="Which channel is which: CHANNEL=ITS NAME THERE,..., e.g. Fz=E12,T7=T3.")
    ] = "",
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep what the challenge's recordings blank within trials.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is not empty.")] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Turn recordings you have into a challenge's data folder, and say what was adapted."""
    from bciarena.bars import working
    from bciarena.cli._options import codes_of
    from bciarena.contests import rulebook
    from bciarena.errors import BadInput
    from bciarena.importing import bring_in
    from bciarena.recording.channels import wire_map

    book = rulebook(challenge)
    words = codes_of(events)
    try:
        people = tuple(int(number) for number in filter(None, subjects.split(",")))
    except ValueError:
        raise BadInput(f"--subjects {subjects}: expected numbers, e.g. 1,2,3") from None
    with working("reading") as at:
        done = bring_in(
            book, source, out, events=words, subjects=people, splice=splice, idle=idle, seed=seed, force=force,
            names=wire_map(wires), keep_all=keep_all,
            tell=lambda text: at(f"reading {text}"),
        )  # fmt: skip
    if as_json:
        give(done)
        return
    say(f"{out}  {done['challenge']}: {done['subjects']} subjects, {done['blocks']} blocks, {done['trials']} trials")
    for file in done["files"]:
        say(f"{file['file']}  from {file['source']}, {file['trials']} trials")
        for note in file["adapted"]:
            say(f"  {note}")
