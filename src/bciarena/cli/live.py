"""arena live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import give, say

app = typer.Typer(help="Live streams: record, play, run an entry, be a virtual subject.", no_args_is_help=True)
Name = Annotated[str, typer.Option("--stream", help="Name of the LSL stream.")]
Hub = Annotated[str | None, typer.Option(help="Address of the lab's pages, e.g. http://127.0.0.1:8010.")]

Map = Annotated[
    str, typer.Option("--map", help="Which channel is which: CHANNEL=NAME IN THE STREAM,...; A1= for none.")
]
Unit = Annotated[str, typer.Option(help="V, mV, uV or nV, where the stream declares none or a wrong one.")]
KeepAll = Annotated[bool, typer.Option("--keep-all", help="Keep what the contest's recordings blank within trials.")]


def _wiring(wires: str, unit: str, keep_all: bool) -> Any:
    from bciarena.live.amplifier import Wiring
    from bciarena.recording.channels import wire_map

    return Wiring(wire_map(wires), unit, keep_all)


def _stop() -> Any:
    """An event that Ctrl-C and SIGTERM set, so that everything received is kept."""
    import threading

    from bciarena.processes import set_by_signals

    event = threading.Event()
    set_by_signals(event)
    return event


def _say(text: str) -> None:

    say(text, err=True)


@app.command()
def subject(
    challenge: Annotated[str, typer.Option(help="What the subject goes through.")],
    hub: Annotated[str, typer.Option(help="Address of the lab's pages.")] = "http://127.0.0.1:8010",
    stream: Name = "bciarena",
    number: Annotated[int, typer.Option("--subject", min=1, help="Which simulated person.")] = 1,
    seed: Annotated[int, typer.Option(help="As in arena simulate.")] = 0,
) -> None:
    """A virtual subject watches the lab's page and streams EEG in real time."""
    from bciarena.live.commands import be_subject

    be_subject(challenge, hub, stream, number, seed, _stop(), _say)


@app.command()
def play(
    data: Annotated[Path, typer.Argument(help="A data folder.")],
    challenge: Annotated[str, typer.Option(help="Its challenge.")],
    stream: Name = "bciarena",
    speed: Annotated[float, typer.Option(help="1 is real time.")] = 1.0,
    masked: Annotated[bool, typer.Option("--masked", help="Send the codes an entry may see, not the truth.")] = False,
) -> None:
    """Play a recording as an LSL stream with correct time stamps."""
    from bciarena.errors import BadInput
    from bciarena.live.commands import play_out

    if not speed > 0:
        raise BadInput(f"--speed {speed:g}: give more than 0")
    say(f"{play_out(data, challenge, stream, speed, _stop(), masked)} samples sent")


@app.command()
def record(
    challenge: Annotated[str, typer.Option(help="The challenge whose format the recording gets.")],
    out: Annotated[Path, typer.Option(help="Folder to make.")],
    stream: Name = "bciarena",
    seconds: Annotated[float | None, typer.Option(help="Stop after so long; otherwise at code 243 or Ctrl-C.")] = None,
    number: Annotated[int, typer.Option("--subject", min=1, help="Number of the subject.")] = 1,
    block: Annotated[int, typer.Option(min=1, help="Number of the block.")] = 1,
    hub: Hub = None,
    wires: Map = "",
    unit: Unit = "",
    keep_all: KeepAll = False,
) -> None:
    """Record an EEG stream and its codes, in contest layout and BIDS."""
    from bciarena.contests import rulebook
    from bciarena.errors import BadInput
    from bciarena.live.commands import record as keep

    if out.exists():
        raise BadInput(f"{out}: exists already; choose another name")
    wiring = _wiring(wires, unit, keep_all)
    kept = keep(rulebook(challenge), stream, out, seconds, _stop(), _say, number, block, hub, wiring)
    give(kept)


@app.command()
def run(
    entry_spec: Annotated[str, typer.Argument(metavar="ENTRY", help="Any entry of any dialect.")],
    out: Annotated[Path, typer.Option(help="Run folder to make; the recording is kept in it.")],
    challenge: Annotated[str | None, typer.Option(help="The rules; may be left out for @names.")] = None,
    stream: Name = "bciarena",
    hub: Hub = None,
    model: Annotated[Path | None, typer.Option(help="A folder written by arena train.")] = None,
    sandbox: Annotated[str, typer.Option(help="bwrap or none.")] = "bwrap",
    seconds: Annotated[float | None, typer.Option(help="Stop after so long; otherwise at code 243 or Ctrl-C.")] = None,
    number: Annotated[int, typer.Option("--subject", min=1, help="Number of the subject, as the entry is told.")] = 1,
    block: Annotated[int, typer.Option(min=1, help="Number of the block.")] = 1,
    wires: Map = "",
    unit: Unit = "",
    keep_all: KeepAll = False,
    as_json: AsJson = False,
) -> None:
    """Run an entry on a live stream: packets cut as in the contest, answers sent to the lab's page."""
    from bciarena.cli._playing import checked, told, told_first
    from bciarena.contests import rulebook
    from bciarena.entries.opened import opened
    from bciarena.errors import BadInput, EntryFailed
    from bciarena.live.commands import run_live

    book = rulebook(checked.challenge(entry_spec, challenge))
    if out.exists():
        raise BadInput(f"{out}: exists already; choose another name")
    with opened(entry_spec, book, sandbox=checked.sandbox(sandbox), model=model) as ready:
        about = {"entry": entry_spec, "name": ready.package.name, "model": str(model or "")}
        result = run_live(
            ready, stream, out, hub=hub, seconds=seconds, stop=_stop(), say=_say, about=about, subject=number,
            block=block, wiring=_wiring(wires, unit, keep_all),
        )  # fmt: skip
    if as_json:
        give(result)
        say("arena: ", told(result), err=True)
    else:
        say(f"{result['challenge']}  {result['verdict']}  recording in {out / 'data'}")
        say(f"score {result['score']:.4f} {result['unit']}")
        for note in told_first(result["notes"])[:20]:
            say(f"note: {note}")
        say(told(result))
    if result["verdict"] != "ok":
        raise EntryFailed(result["verdict"], result["reason"])


@app.command()
def check(
    challenge: Annotated[str, typer.Option(help="What will be recorded: its channels and rate.")],
    stream: Name = "bciarena",
    wires: Map = "",
    unit: Unit = "",
    mains: Annotated[float, typer.Option(help="Frequency of the mains, Hz.")] = 50.0,
    once: Annotated[bool, typer.Option("--once", help="No page: judge the first seconds; exit 1 if unfit.")] = False,
    as_json: AsJson = False,
    port: Annotated[int, typer.Option(help="Port of the page.")] = 8020,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Look at a signal before a session and beside it: traces, faults, topography, one light."""
    import threading

    from bciarena.contests import rulebook
    from bciarena.live.check import checked_once, make_check, watched
    from bciarena.ports import refuse_busy_port

    if not once:
        refuse_busy_port(host, port)
    stop = _stop() if once else threading.Event()
    wiring = _wiring(wires, unit, False)
    source, watch, thread = watched(rulebook(challenge), stream, wiring, mains, stop, _say)
    try:
        if once:
            found = checked_once(watch, stop)
        else:
            import uvicorn

            say(f"{source.described}\nsignal check on http://{host}:{port}/")
            uvicorn.run(make_check(watch, source.described), host=host, port=port, log_level="warning")
            return
    finally:
        stop.set()
        thread.join()
    if as_json:
        give(found)
    else:
        bad = [f"{row['name']} {' '.join(row['faults'])}" for row in found["channels"] if row["faults"]]
        bad += [f"{one}-{two} bridged" for one, two in found["bridged"]]
        say("no signal" if found["waiting"] else "fit" if found["fit"] else f"not fit: {'; '.join(bad)}")
    if not found["fit"]:
        raise typer.Exit(1)


@app.command()
def rescue(folder: Annotated[Path, typer.Argument(help="What arena live record or run left behind.")]) -> None:
    """Make a data folder and BIDS from a recording that was cut off by a crash or a full disk."""
    from bciarena.live.recorder import rescue as make_whole

    say(f"recording in {make_whole(folder)}")


@app.command()
def board(
    board_id: Annotated[int, typer.Option("--id", help="BrainFlow's board number; -1 is its synthetic board.")] = -1,
    stream: Name = "bciarena",
    port: Annotated[str, typer.Option(help="Serial port, where the board has one.")] = "",
    seconds: Annotated[float | None, typer.Option(help="Stop after so long; otherwise at Ctrl-C.")] = None,
) -> None:
    """Turn a BrainFlow board into an LSL stream (extra boards)."""
    from bciarena.live.board import stream_board

    say(f"{stream_board(board_id, port, stream, seconds, _stop(), _say)} samples sent")
