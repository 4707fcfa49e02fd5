"""arena lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def main(
    challenge: Annotated[str, typer.Argument(help="A contest: its name or folder.")],
    split: Annotated[str | None, typer.Option(help="train or test, where the texts differ.")] = None,
    subject: Annotated[int, typer.Option(help="Number of the subject.")] = 1,
    block: Annotated[int, typer.Option(help="Number of the block.")] = 1,
    seed: Annotated[int, typer.Option(help="Same seed, same order of trials.")] = 0,
    word: Annotated[
        str | None, typer.Option(help="Where keys are spelt: cue the keys of this word instead of a whole block.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="Where rounds are played: only so many of them.")] = None,
    log: Annotated[Path | None, typer.Option(help="Keep steps, frame intervals and answers here (JSON lines).")] = None,
    stream: Annotated[
        str, typer.Option(help="Name of the headset's LSL stream: codes go out beside it as NAME-codes.")
    ] = "bciarena",
    port: Annotated[int, typer.Option(help="Port of the pages.")] = 8010,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Show an experiment: the stimulus page for the subject, the operator's page beside it."""
    import uvicorn

    from bciarena.errors import BadInput
    from bciarena.lab.app import make_app
    from bciarena.lab.hub import Hub
    from bciarena.live.streams import CodesOut
    from bciarena.protocol import Screening, screened

    options = {name: value for name, value in {"word": word, "rounds": rounds}.items() if value is not None}
    timeline = screened(challenge, Screening(split, subject, block, seed, options))
    if log is not None:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.touch()
        except OSError as error:
            raise BadInput(f"--log {log}: cannot be written ({error.strerror})") from error
    print(
        f"{timeline.challenge}: {timeline.duration_s:.0f} s, operator http://{host}:{port}/operator, stimulus http://{host}:{port}/stage"
    )
    uvicorn.run(make_app(Hub(timeline, log, CodesOut(stream).push)), host=host, port=port, log_level="warning")
