"""arena run: plays an entry and scores it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Image, Requirements
from bciarena.cli._say import give, say


def main(
    entry_spec: Annotated[
        str,
        typer.Argument(
            metavar="ENTRY", help="A folder, .zip, .tar.gz, module.py:Class, a reference @name, or pipeline.yml."
        ),
    ],
    data: Annotated[Path, typer.Option(help="A data folder with truth.")],
    challenge: Annotated[
        str | None,
        typer.Option(help="A contest's name, name/version or folder; a reference entry brings its own."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the run in this folder.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of --out if it exists.")] = False,
    sandbox: Annotated[str, typer.Option(help="bwrap, or none to debug your own entry.")] = "bwrap",
    model: Annotated[Path | None, typer.Option(help="A folder written by arena train.")] = None,
    train: Annotated[
        Path | None, typer.Option(help="For pipeline.yml: the training folder; arena wrap has more options.")
    ] = None,
    clock: Annotated[str, typer.Option(help="think, or data to leave computing time out.")] = "think",
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python to run it with.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="MODULE:CLASS", help="Which class plays.")] = None,
    image: Image = None,
    requirements: Requirements = None,
    budget: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds for the whole run; default: the data's length.")
    ] = None,
    cores: Annotated[int, typer.Option(min=1, max=64, help="Cores whose time its processes share.")] = 1,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Play an entry on a data folder, packet by packet, and score it by the challenge's rules."""

    from contextlib import ExitStack

    from bciarena.cli._playing import checked, progress, told, told_first, wrapped
    from bciarena.contests import rulebook
    from bciarena.errors import BadInput, EntryFailed
    from bciarena.plaintext import clean
    from bciarena.processes import LINUX
    from bciarena.recording import open_recording
    from bciarena.summary import timing_words
    from bciarena.writing import refuse_existing

    book = rulebook(checked.challenge(entry_spec, challenge))
    box = checked.sandbox(sandbox)
    if budget is not None and not budget > 0:
        raise BadInput(f"--budget {budget:g}: must be more than 0 seconds")
    if out is not None:
        refuse_existing(out, force)
    recording = open_recording(data)
    ticks = checked.clock(clock)
    if not LINUX:
        from bciarena.cli._here import entry_here
        from bciarena.inprocess import InProcess
        from bciarena.runs import run_match

        name = entry_spec.rpartition(":")[2]
        about = {"entry": entry_spec, "name": name, "model": "", "python": ""}
        with progress(f"playing {name}") as shown:
            result = run_match(
                book, recording, InProcess(entry_here(entry_spec)), out=out, force=force, clock=ticks, about=about,
                on_progress=shown, budget_s=budget,
            )  # fmt: skip
    else:
        from bciarena.entries.opened import opened
        from bciarena.sandbox.limits import Limits

        with ExitStack() as stack:
            played = stack.enter_context(wrapped(entry_spec, book, train, box))
            ready = stack.enter_context(
                opened(
                    played,
                    book,
                    entry=entry,
                    python=python,
                    image=image,
                    requirements=requirements,
                    sandbox=box,
                    model=model,
                )
            )
            name = ready.package.name if played == entry_spec else Path(entry_spec).stem
            about = {"entry": entry_spec, "name": name, "model": str(model or ""), "python": python or ""}
            with progress(f"playing {name}") as shown:
                result = ready.run(
                    recording,
                    out=out,
                    force=force,
                    clock=ticks,
                    about=about,
                    on_progress=shown,
                    budget_s=budget,
                    limits=Limits(cores=cores),
                )
    if as_json:
        give(result)
        say("arena: ", told(result), err=True)
    else:
        say(f"{result['challenge']}  {result['verdict']}  score {result['score']:.4f} {result['unit']}")
        say("  ".join(f"{key} {value:.4g}" for key, value in result["metrics"].items()))
        for note in told_first(result["notes"])[:20]:
            say(f"note: {clean(note)}")
        if len(result["notes"]) > 20:
            say(f"note: {len(result['notes']) - 20} more notes" + (f" in {out / 'score.json'}" if out else ""))
        if result.timing:
            say(timing_words(result.timing))
        say(told(result))
    if result["verdict"] != "ok":
        raise EntryFailed(result["verdict"], result["reason"])
