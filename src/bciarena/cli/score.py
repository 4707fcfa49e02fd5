"""arena score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Outside
from bciarena.cli._say import give, say


def main(
    run: Annotated[Path, typer.Argument(help="A run folder kept by arena run --out.")],
    data: Annotated[Path | None, typer.Option(help="The data folder, if it has moved since.")] = None,
    rules: Annotated[str | None, typer.Option(help="Score the same ledger under another rulebook id.")] = None,
    challenge: Outside = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the score of a kept run from its ledger and the data, and compare it with the stored one."""
    from bciarena.cli._playing import told
    from bciarena.contests import known
    from bciarena.errors import BadInput
    from bciarena.runs import RunFolder, rescore

    known(challenge)
    result = rescore(run, data, rules)
    if rules is None:
        stored = RunFolder(run).score()
        # through JSON once, so that numbers are compared as they are stored
        if stored != json.loads(json.dumps(result)):
            raise BadInput(
                f"{run}: the stored score {stored.get('score')} is not what ledger and data give: "
                f"{result['score']}; the run folder was changed after the run"
            )
    if as_json:
        give(result)
        say("arena: ", told(result), err=True)
    else:
        say(f"{result['challenge']}  {result['verdict']}  score {result['score']:.4f} {result['unit']}")
        say("  ".join(f"{key} {value:.4g}" for key, value in result["metrics"].items()))
        if rules is None:
            say("equals the stored score")
        say(told(result))
