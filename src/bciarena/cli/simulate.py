"""``arena simulate``: simulated subjects for any set of any challenge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import give, say


def main(
    challenge: Annotated[str, typer.Argument(help="A contest: name, name/version or folder.")],
    out: Annotated[Path, typer.Option(help="Folder to make; must not exist or be empty.")],
    split: Annotated[
        str | None,
        typer.Option(help="The set: train, test, or as the contest names them. [default: the one that is scored]"),
    ] = None,
    subjects: Annotated[int | None, typer.Option(help="How many subjects. [default: what the contest says]")] = None,
    blocks: Annotated[int | None, typer.Option(help="Blocks per subject. [default: as the text says]")] = None,
    seed: Annotated[
        str, typer.Option(help="Same seed, same bytes, same people. secret: draw one of 128 bits and print it.")
    ] = "0",
    format: Annotated[str, typer.Option(help="contest (S01/block_1.npz) or bids.")] = "contest",
    deep: Annotated[
        bool | None,
        typer.Option("--deep/--no-deep", help="Liveness: use the deep generator. [default: if PyTorch is installed]"),
    ] = None,
    drawn: Annotated[
        bool,
        typer.Option(
            "--drawn", help="Draw for each person what the text keeps in a fixed order, so that it tells nothing."
        ),
    ] = False,
    cue: Annotated[
        str, typer.Option(help="Response to cues: usual (the same for all), off, weak or strong (tell the class).")
    ] = "usual",
    unsteady: Annotated[
        float, typer.Option(help="How far people change from block to block; 1: as much as from day to day.")
    ] = 0.0,
    pops: Annotated[float, typer.Option(help="Electrode contacts that slip, a minute.")] = 0.0,
    background: Annotated[
        Path | None, typer.Option(help="A data folder of recorded resting EEG in place of the simulated background.")
    ] = None,
    figures: Annotated[bool, typer.Option("--figures", help="Also write quality.html: is this EEG like EEG?")] = False,
    beside: Annotated[
        Path | None,
        typer.Option(help="A folder of real recordings of the same contest: quality.html tells the distance to them."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is not empty.")] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Simulate recordings with truth: subjects going through the experiment."""
    import signal
    from collections import Counter
    from dataclasses import asdict

    from bciarena.bars import progress_bar, working
    from bciarena.contests import rulebook
    from bciarena.errors import BadInput
    from bciarena.protocol import protocol_of
    from bciarena.protocol.seeds import secret_seed
    from bciarena.simulator import Conditions, Order, make

    name = rulebook(challenge).name
    if not seed.isdecimal() and seed != "secret":
        raise BadInput(f"--seed {seed}: give a whole number of 0 or more, or secret")
    number = secret_seed() if seed == "secret" else int(seed)
    if beside is not None and not beside.is_dir():
        raise BadInput(f"--beside {beside}: no such folder")
    under = Conditions(cue, unsteady, pops, background)
    order = Order(
        challenge, split or protocol_of(challenge).scored, subjects, blocks, number, format, deep, drawn, under
    )  # fmt: skip
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # ended from outside: half-made folders are removed, as by Ctrl-C
    with progress_bar(stays=True) as progress:
        task = progress.add_task(f"{name} {order.split}", total=order.files)
        summary = make(
            order,
            out,
            force,
            advance=lambda what: progress.update(task, advance=1, description=f"{name} {order.split}"),
            say=lambda words: progress.update(task, description=f"{name} {order.split}: {words}"),
        )
    if (figures or beside is not None) and not dry_run:
        from bciarena.simulator.quality_page import write_quality

        with working("measuring"):
            page = write_quality(out, challenge, beside)
        summary.notes.append(f"quality page: {page}")
    if as_json:
        counted = Counter(row["generator"] for row in summary.generated)
        give(asdict(summary) | {"generated": dict(counted)})
        return
    say(
        f"{out}: {summary.challenge} {summary.split}, {summary.subjects} subjects, {summary.blocks} blocks, "
        f"{summary.seconds / 60:.1f} minutes, {sum(summary.trials.values())} trials"
    )
    if seed == "secret":
        say(f"seed {number}: keep it secret; with it anybody can simulate the truth")
    for note in summary.notes:
        say(note)
