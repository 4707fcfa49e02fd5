"""arena doctor: what this machine can do."""

from typing import Annotated

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import give, say


def main(
    as_json: AsJson = False,
    timing: Annotated[bool, typer.Option("--timing", help="Only what disturbs clocks: cores, load, noise.")] = False,
) -> None:
    """Examine this machine (Pythons, the box, programs, optional parts) and say what to do about what is missing."""
    from bciarena.doctor import examine
    from bciarena.doctor.timing import examine_timing

    lines = examine_timing() if timing else examine()
    if as_json:
        give([line._asdict() for line in lines])
        return
    for line in lines:
        say(f"{line.state:<8} {line.part:<16} {line.found}")
        if line.advice:
            say(f"{'':<25} -> {line.advice}")
