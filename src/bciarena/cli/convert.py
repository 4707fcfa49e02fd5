"""arena convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import tell


def main(
    data: Annotated[Path, typer.Argument(help="A data folder: contest layout or BIDS.")],
    challenge: Annotated[str, typer.Option(help="a contest's name, name/version or folder: what its codes mean.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to make.")],
    kind: Annotated[str, typer.Option("--format", help="xdf, bids or contest.")] = "xdf",
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is not empty.")] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Write a data folder in another format: XDF for LSL's tools, BIDS, or the contest's own npz."""
    from bciarena.bars import working
    from bciarena.contests import rulebook
    from bciarena.contests.codes import codes_of
    from bciarena.contests.spans import check_form
    from bciarena.errors import BadInput
    from bciarena.recording import open_recording, write_contest
    from bciarena.recording.bids import describe_bids, write_bids
    from bciarena.recording.events import ENDING, Marks, events_text
    from bciarena.recording.xdf import write_xdf
    from bciarena.writing import wanted_folder

    if kind not in ("xdf", "bids", "contest"):
        raise BadInput(f"--format {kind}: choose xdf, bids or contest")
    book = rulebook(challenge)
    recording = open_recording(data)
    check_form(book, recording)
    count, total = 0, sum(len(subject.blocks) for subject in recording.subjects)
    with wanted_folder(out, force) as folder, working("converting") as at:
        for number, subject in enumerate(recording.subjects, 1):
            for run, block in enumerate(subject.blocks, 1):
                at(done=count, total=total)
                count += 1
                marks = Marks(book.opens | book.masked, block.invalid)
                if kind == "bids":
                    write_bids(
                        folder, f"{number:02d}", book.name, run, block.eeg, block.events, block.rate, block.channels,
                        meanings=codes_of(book), marks=marks,
                    )  # fmt: skip
                    continue
                path = folder / f"S{number:02d}" / f"block_{run}.{'xdf' if kind == 'xdf' else 'npz'}"
                if kind == "xdf":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_xdf(path, block, book.name)
                else:
                    write_contest(path, block.data, block.rate, block.channels)
                if block.invalid:
                    path.with_name(path.stem + ENDING).write_text(
                        events_text(block.events, block.rate, {}, marks), "utf-8"
                    )
        if kind == "bids":
            describe_bids(folder, f"{book.id}", [f"{n:02d}" for n in range(1, len(recording.subjects) + 1)])
    people = len(recording.subjects)
    tell(
        as_json,
        {"folder": str(out), "subjects": people, "blocks": count, "format": kind},
        f"{out}: {people} subjects, {count} blocks, {kind}",
    )
