"""arena wrap: from a trained model to an entry."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import tell


def main(
    model: Annotated[
        str,
        typer.Argument(
            help="model.onnx, .pkl, .joblib, .pt with --module, pipeline.yml, or module.py:Class to be trained."
        ),
    ],
    challenge: Annotated[str, typer.Option(help="A contest's name, name/version or folder.")],
    data: Annotated[Path, typer.Option(help="A training folder: window and stopping rule are fitted on it.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="ENTRY", help="The entry's folder.")],
    module: Annotated[str, typer.Option(help="net.py:Net or package.module:Class, for a state_dict or a pickle.")] = "",
    arguments: Annotated[str, typer.Option(metavar="JSON", help="For that class, as an object.")] = "{}",
    classes: Annotated[str, typer.Option(help="Answers that the model's columns stand for: 201,202,203.")] = "",
    window: Annotated[str, typer.Option(metavar="S,S", help="Lengths of window to try, seconds.")] = "",
    channels: Annotated[str, typer.Option(help="Those the model takes, in its order: C3,Cz,C4.")] = "",
    band: Annotated[str, typer.Option(metavar="HZ,HZ", help="Band-pass the model was trained on: 8,30.")] = "",
    rate: Annotated[int, typer.Option(min=0, help="Samples per second the model takes; default: as recorded.")] = 0,
    scale: Annotated[float, typer.Option(help="What microvolts are multiplied by: 1e-6 for volts.")] = 1.0,
    refit: Annotated[bool, typer.Option("--refit", help="Train a pickled estimator anew on --data.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of --out if it exists.")] = False,
    sandbox: Annotated[str, typer.Option(help="bwrap, or none to debug your own model.")] = "bwrap",
    budget: Annotated[float, typer.Option(metavar="S", help="Wall and CPU seconds that fitting may take.")] = 86400.0,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Make an entry of a trained model: its window, and when to answer, are fitted on training data, in a box."""
    import json
    import sys

    from bciarena.bars import working
    from bciarena.cli._playing import checked, shown_live
    from bciarena.contests import rulebook
    from bciarena.errors import BadInput
    from bciarena.wrapping.making import Options, wrap

    book = rulebook(challenge)
    box = checked.sandbox(sandbox)
    if not data.is_dir():
        raise BadInput(f"{data}: no such data folder")
    try:
        given = json.loads(arguments)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise BadInput(f'--arguments {arguments}: must be a JSON object such as {{"n_chans": 64}}')
    options = Options(
        module,
        given,
        tuple(filter(None, classes.split(","))),
        _numbers("--window", window),
        tuple(filter(None, channels.split(","))),
        _numbers("--band", band, 2),
        rate,
        scale,
        refit,
    )
    shown = shown_live()
    with working("fitting"):
        told = wrap(
            model,
            book,
            data,
            out,
            options,
            force=force,
            sandbox=box,
            budget_s=budget,
            on_output=lambda raw: print(shown(raw), end="", file=sys.stderr, flush=True),
        )
    where = (
        "on trials left out" if told.out_of_fold else "on the trials given (fewer, if the model was trained on them)"
    )
    rule = told.policy
    when = (
        f"answers after {rule.last_s:.2f} s"
        if rule.start > 1
        else f"answers from {rule.first_s:.2f} s on, at {rule.last_s:.2f} s at the latest"
    )
    tell(
        as_json,
        {
            "folder": str(out),
            "window_s": told.window_s,
            "first_s": rule.first_s,
            "last_s": rule.last_s,
            "score": told.score,
            "accuracy": told.accuracy,
            "mean_length_s": told.mean_length_s,
            "out_of_fold": told.out_of_fold,
            "trials": told.trials,
        },
        f"{out}: a window of {told.window_s:g} s, {when}",
        f"{told.score:.4g} {book.unit}, accuracy {told.accuracy:.2f}, {told.mean_length_s:.2f} s a trial, {where} "
        f"({told.trials})",
    )


def _numbers(option: str, text: str, count: int = 0) -> tuple[float, ...]:
    from bciarena.errors import BadInput

    try:
        found = tuple(float(part) for part in text.split(",") if part)
    except ValueError:
        found = (-1.0,)
    if any(not value > 0 for value in found) or (found and count and len(found) != count):
        raise BadInput(f"{option} {text}: give {count or 'some'} numbers above 0, with commas between them")
    return found
