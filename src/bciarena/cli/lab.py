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
        str | None, typer.Option(help="For spelling: cue the keys of this word instead of a whole block.")
    ] = None,
    free: Annotated[
        bool, typer.Option("--free", help="For spelling: no cues, the subject spells what comes to mind.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="A virtual subject, decoded live: open the stimulus page and watch.")
    ] = False,
    rounds: Annotated[int | None, typer.Option(help="For contests in rounds: play only this many.")] = None,
    log: Annotated[Path | None, typer.Option(help="Keep steps, frame intervals and answers here (JSON lines).")] = None,
    stream: Annotated[
        str, typer.Option(help="Name of the headset's LSL stream: codes go out beside it as NAME-codes.")
    ] = "bciarena",
    language: Annotated[str, typer.Option(help="What subject and operator read: en or zh.")] = "en",
    cue: Annotated[
        str, typer.Option(help="How a limb is cued: arrow (alike for all classes) or figure (as in the texts).")
    ] = "arrow",
    lost_ms: Annotated[
        float, typer.Option(help="A trial is void when the frames it lost add up to more than this.")
    ] = 100.0,
    repeat_void: Annotated[
        bool, typer.Option("--repeat-void", help="Show void trials again at the end of the block.")
    ] = False,
    distance_cm: Annotated[float | None, typer.Option(help="From the eyes to the screen.")] = None,
    screen_cm: Annotated[float | None, typer.Option(help="Width of the screen: with it sizes are in degrees.")] = None,
    port: Annotated[int, typer.Option(help="Port of the pages.")] = 8010,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Show an experiment: the stimulus page for the subject, the operator's page beside it."""
    import uvicorn

    from bciarena.errors import BadInput
    from bciarena.lab.app import make_app
    from bciarena.lab.hub import CUES, Hub
    from bciarena.live.streams import CodesOut
    from bciarena.protocol import Screening, screened
    from bciarena.words import LANGUAGES

    if language not in LANGUAGES:
        raise BadInput(f"--language {language}: choose one of {', '.join(LANGUAGES)}")
    if cue not in CUES:
        raise BadInput(f"--cue {cue}: choose one of {', '.join(CUES)}")
    for name, value in {"lost-ms": lost_ms, "distance-cm": distance_cm, "screen-cm": screen_cm}.items():
        if value is not None and not value > 0:
            raise BadInput(f"--{name} {value:g}: give more than 0")
    if demo:
        import shutil

        from bciarena.cli.live import _say, _stop
        from bciarena.session.demo import run_demo

        sandbox = "bwrap" if shutil.which("bwrap") else "none"  # the entry is one of ours
        run_demo(challenge, language=language, sandbox=sandbox, host=host, port=port, stop=_stop(), say=_say)
        return
    asked = {"word": word, "rounds": rounds, "free": free or None}
    options = {name: value for name, value in asked.items() if value is not None}
    timeline = screened(challenge, Screening(split, subject, block, seed, options))
    if log is not None:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.touch()
        except OSError as error:
            raise BadInput(f"--log {log}: cannot be written ({error.strerror})") from error
    look = {"cue": cue, "distance_cm": distance_cm, "width_cm": screen_cm}
    send_code = CodesOut(stream).push
    hub = Hub(timeline, log, send_code, language=language, lost_ms=lost_ms, repeat=repeat_void, look=look)
    address = f"http://{host}:{port}"
    print(f"{timeline.challenge}: {timeline.duration_s:.0f} s, operator {address}/operator, stimulus {address}/stage")
    uvicorn.run(make_app(hub), host=host, port=port, log_level="warning")
