"""arena lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bciarena.cli._options import AsJson, language_of
from bciarena.cli._say import give, say


class Shows(TyperGroup):
    """``arena lab speller`` shows that experiment; only what is a command of ours is one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if own else ["show", *args])


app = typer.Typer(cls=Shows, add_completion=False)


@app.command()
def verify(
    log: Annotated[Path, typer.Option(help="What arena lab --log wrote while the light was recorded.")],
    light: Annotated[str, typer.Option(help="LSL stream with the photodiode: its own or the amplifier's.")] = "",
    channel: Annotated[str, typer.Option(help="The light's channel in that stream, e.g. AUX1; else the first.")] = "",
    file: Annotated[Path | None, typer.Option(help="Instead of a stream: npz with light and times_s.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the offset here, for arena lab --offset.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop reading after so long; otherwise at Ctrl-C.")] = None,
    as_json: AsJson = False,
) -> None:
    """Photodiode on the patch against the frame log: delay, jitter, missed changes, frequencies and phases."""
    import numpy as np

    from bciarena.cli.live import _say, _stop
    from bciarena.errors import BadInput
    from bciarena.live.photodiode import read_light
    from bciarena.live.photodiode import verify as compare

    if (file is None) == (not light):
        raise BadInput("give either --light STREAM or --file LIGHT.npz")
    if file is not None:
        try:
            with np.load(file, allow_pickle=False) as kept:
                values, times_s = kept["light"].astype(float), kept["times_s"].astype(float)
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f"{file}: needs the arrays light and times_s ({error})") from error
    else:
        values, times_s = read_light(light, channel, _stop(), seconds, _say)
    found = compare(log, values, times_s, out)
    if as_json:
        give(found)
        return
    jitter = found["jitter_ms"]
    say(f"delay {found['delay_ms']:.2f} ms, jitter {jitter['std']:.2f} ms (1 % to 99 %: {jitter['p1']:.2f} to "
          f"{jitter['p99']:.2f} ms)")  # fmt: skip
    say(f"{found['missed']} of {found['changes']} changes of the patch not seen; {found['frames_dropped']} frames "
          f"dropped by the log; {found['refresh_hz']:.2f} Hz")  # fmt: skip
    for key in found["keys"]:
        say(f"{key['hz']:6.2f} Hz: measured {key['measured_hz']:.3f} Hz ({key['measured_hz'] - key['hz']:+.3f}), "
              f"phase {key['phase_error_rad']:+.3f} rad off, {key['steps']} times")  # fmt: skip
    if out is not None:
        say(f"offset in {out}: arena lab ... --offset {out}")


@app.command(name="show", hidden=True)
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
    language: Annotated[
        str | None, typer.Option(help="What subject and operator read: en or zh. [default: yours, see arena config]")
    ] = None,
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
    offset: Annotated[
        Path | None, typer.Option(help="What arena lab verify --out wrote: codes are sent later by the screen's delay.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the pages.")] = 8010,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Show an experiment: the stimulus page for the subject, the operator's page beside it.

    arena lab verify measures the screen's timing with a photodiode.
    """
    import uvicorn

    from bciarena.errors import BadInput
    from bciarena.lab.app import LINES, make_app
    from bciarena.lab.hub import CUES, Hub
    from bciarena.live.photodiode import read_offset
    from bciarena.live.streams import CodesOut
    from bciarena.ports import refuse_busy_port
    from bciarena.protocol import Screening, screened

    speaks = language_of(language)
    if cue not in CUES:
        raise BadInput(f"--cue {cue}: choose one of {', '.join(CUES)}")
    for name, value in {"lost-ms": lost_ms, "distance-cm": distance_cm, "screen-cm": screen_cm}.items():
        if value is not None and not value > 0:
            raise BadInput(f"--{name} {value:g}: give more than 0")
    if demo:
        import shutil

        from bciarena.cli.live import _say, _stop
        from bciarena.session.demo import run_demo

        if log is not None:
            raise BadInput("--demo keeps nothing: leave --log out, or use arena session run PLAN.toml --virtual")
        sandbox = "bwrap" if shutil.which("bwrap") else "none"  # the entry is one of ours
        run_demo(challenge, language=speaks, sandbox=sandbox, host=host, port=port, stop=_stop(), say=_say)
        return
    refuse_busy_port(host, port)
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
    send_code = CodesOut(stream, read_offset(offset) if offset else 0.0).push
    hub = Hub(timeline, log, send_code, language=speaks, lost_ms=lost_ms, repeat=repeat_void, look=look)
    address = f"http://{host}:{port}"
    say(f"{timeline.challenge}: {timeline.duration_s:.0f} s, operator {address}/operator, stimulus {address}/stage")
    uvicorn.run(make_app(hub), host=host, port=port, log_level="warning", **LINES)
