"""arena demo: a guided tour in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._say import say
from bciarena.words import Said, shown

Words = Callable[..., Said]
TOUR = (
    ("rules", "entries"),
    ("simulate", "simulate {contest} --split {training} --subjects 1 --blocks 2 --seed 1 --out training"),
    ("unseen", "simulate {contest} --split {played} --subjects 1 --blocks 1 --seed 1 --out unseen"),
    ("new", "new {contest} mine"),
    ("check", "check mine --challenge {contest}{box}"),
    ("run", "run mine --challenge {contest} --data unseen --out run-mine{box}"),
    ("train", "train @{contest}-baseline --data training --out model{box}"),
    ("play", "run @{contest}-baseline --model model --data unseen --out run-baseline{box}"),
    ("compare", "compare run-mine run-baseline"),
    ("score", "score run-mine"),
    ("report", "report run-mine -o report.html"),
)
"""Which words explain a step (words.*.toml, table demo), and its command."""


def main(
    contest: Annotated[str | None, typer.Argument(help="Which contest to show. [default: the quickest]")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Do it in this new folder and keep it; otherwise nothing is kept.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not wait for Enter between steps.")] = False,
) -> None:
    """A guided tour of a few minutes: real commands, shown and run one after the other, without the internet."""
    import sys
    import tempfile

    from bciarena.sandbox import why_not
    from bciarena.words import speaker
    from bciarena.writing import refuse_existing

    words = speaker(Path(__file__).parent, "demo")
    name, sets = _shown(contest)
    trouble = why_not()
    values = {"contest": name, "played": sets[0], "training": sets[1], "box": " --sandbox none" if trouble else ""}
    waits = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    say(words("welcome", contest=name, n=len(TOUR)))
    if trouble:
        say(words("unboxed", why=trouble))
    if out is not None:
        refuse_existing(out)
        out.mkdir(parents=True, exist_ok=True)
        _steps(out, values, words, waits)
        say(words("kept", where=out))
    else:
        with tempfile.TemporaryDirectory(prefix="arena-demo-", ignore_cleanup_errors=True) as work:
            _steps(Path(work), values, words, waits)
            if waits:
                _look(Path(work), words)
    say(words("next", contest=name))


def _shown(wanted: str | None) -> tuple[str, list[str]]:
    """A contest with a training set that the demo shows, and its sets: the one that is played, the one for training."""
    import tomllib

    from bciarena.contests import CONTESTS, contest
    from bciarena.errors import BadInput

    found = {}
    for one in CONTESTS.values() if wanted is None else [contest(wanted)]:
        path = one.folder / "demo.toml"
        said = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {"blocks": {}}
        if len(said["blocks"]) == 2 and one.has("starter") and one.has("baseline"):
            found[one.name] = said
    if not found:
        raise BadInput(f"{wanted}: the tour needs a contest with one training set, a companion package and a baseline")
    name = min(found, key=lambda name: found[name].get("effort", 1))
    return name, list(found[name]["blocks"])


def _steps(folder: Path, values: dict[str, str], words: Words, waits: bool) -> None:
    """Show and run every command in ``folder``."""
    import shlex
    import subprocess

    from bciarena.errors import BadInput
    from bciarena.processes import own_environment, own_python

    for number, (key, template) in enumerate(TOUR, 1):
        line = template.format(**values)
        say()
        say(f"[{number}/{len(TOUR)}] ", words(key))
        say(f"$ arena {line}")
        if waits:
            input(shown(words("enter")))
        ended = subprocess.run(own_python("bciarena", *shlex.split(line)), cwd=folder, env=own_environment()).returncode
        if ended in (130, -2):
            raise KeyboardInterrupt
        if ended:
            raise BadInput(f"arena {line} ended with code {ended}; arena doctor says what this machine lacks")


def _look(folder: Path, words: Words) -> None:
    from bciarena.cli.open_ import _browse

    if _browse((folder / "report.html").resolve().as_uri()):
        input(shown(words("look")))
