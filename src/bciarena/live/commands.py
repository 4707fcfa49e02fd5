"""What the verbs of ``arena live`` do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.clocks import reference_load
from bciarena.contests import rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.opened import Opened
from bciarena.errors import BadInput
from bciarena.live.amplifier import Wiring
from bciarena.live.brain import LiveBrain, step_from
from bciarena.live.hubline import HubLine, LabPage
from bciarena.live.notes import NOTE
from bciarena.live.notes import told as message_of
from bciarena.live.recorder import Recorder
from bciarena.live.running import BLOCK_END, LedgerFile, LivePackets
from bciarena.live.streams import HOLD_S, CodesOut, EegOut, LiveIn, need_lsl
from bciarena.live.traces import traces
from bciarena.match import Match
from bciarena.recording import Recording, open_recording
from bciarena.referee import Ledger, Truth
from bciarena.runs import Result, RunFolder
from bciarena.runs.folder import LEDGER
from bciarena.runs.playing import end_line, header_of, keep

PAGE_END_S = 5.0
MEASURE_S = 10.0  # a page that has just been opened looks at its screen for a second or so
LINGER_S = 0.5  # an LSL stream that is closed takes with it what is still on its way, such as the last code
RECORD_HOLD_S = 0.25  # nobody waits for a recorder: codes that come late still find their sample


class Notes:
    """What happened: said at once, told to the lab's page, and kept for the recording."""

    def __init__(self, say: Callable[[str], None], page: LabPage) -> None:
        self._say, self._page = say, page
        self.kept: list[str] = []

    def __call__(self, text: str) -> None:
        self.kept.append(text)
        self._say(text)
        self._page.note(text)


def play_out(data: Path, challenge: str, name: str, speed: float, stop: threading.Event, masked: bool) -> int:
    """A recording as LSL streams in real time, blocks one after another; returns the samples sent."""
    lsl = need_lsl()
    book = rulebook(challenge)
    recording = open_recording(data)
    eeg_out, codes_out = EegOut(name, book.channels, book.rate, model="recording played"), CodesOut(name)
    sent = 0
    begin_s = lsl.local_clock() + 0.5
    try:
        for _, _, block in recording:
            codes = book.masked_trigger(block.trigger) if masked else block.trigger
            for start in range(0, block.samples, book.packet_n):
                stop_n = min(start + book.packet_n, block.samples)
                last_s = begin_s + (sent + stop_n - start - 1) / (book.rate * speed)
                if stop.wait(max(0.0, last_s - lsl.local_clock())):
                    return sent
                for k in np.flatnonzero(codes[start:stop_n]):
                    codes_out.push(int(codes[start + k]), begin_s + (sent + k) / (book.rate * speed))
                eeg_out.push(np.asarray(block.eeg[:, start:stop_n]), last_s)
                sent += stop_n - start
        stop.wait(LINGER_S)
    finally:
        eeg_out.close()
        codes_out.close()
    return sent


def be_subject(
    challenge: str, hub: str, name: str, subject: int, seed: int, stop: threading.Event, say: Callable[[str], None]
) -> None:
    """A virtual subject who looks at the lab's page: EEG in real time over LSL."""
    lsl = need_lsl()
    brain = LiveBrain(challenge, subject, seed)
    book = brain.book
    eeg_out = EegOut(name, book.channels, book.rate, model="virtual subject")
    seen: list[dict[str, Any]] = []
    line = HubLine(hub, seen.append)
    line.send(message_of("stream", NOTE("virtual", subject=subject, n=len(book.channels), rate=book.rate)))
    begin_s = lsl.local_clock()
    packet_s = book.packet_n / book.rate
    say(f"virtual subject {subject} is looking at {hub}; LSL stream {name!r}")
    try:
        while not stop.is_set() and not line.closed.is_set():
            due_s = begin_s + (brain.taken_n + book.packet_n - 1) / book.rate
            stop.wait(max(0.0, due_s - lsl.local_clock()))
            while seen:
                message = seen.pop(0)
                if message.get("type") != "step":
                    continue
                onset_n = round((message["hub_s"] - begin_s) * book.rate)
                if message["step"]["duration_s"] > 0:
                    brain.see(step_from(message), onset_n)
            eeg_out.push(brain.take(book.packet_n), due_s)
            if lsl.local_clock() - due_s > 50 * packet_s:
                say("the machine is too slow: the virtual subject is two seconds behind")
                begin_s += lsl.local_clock() - due_s
    finally:
        brain.close()
        line.close()
        eeg_out.close()


def run_live(
    entry: Opened,
    name: str,
    out: Path,
    *,
    hub: str | None,
    seconds: float | None,
    stop: threading.Event,
    say: Callable[[str], None],
    subject: int = 1,
    block: int = 1,
    about: dict[str, Any] | None = None,
    wiring: Wiring | None = None,
) -> Result:
    """An entry on a live stream; ends with the block (code 243), the page, the clock, or ``stop``.

    Keeps in ``out`` the run folder that ``arena run`` would have made, and the recording beside it (data/ and bids/).
    Where the recording has no trials there is nothing to judge: the result then says so in its notes.
    """
    book, folder, player = entry.rulebook, RunFolder(out), entry.player()
    out.mkdir(parents=True)
    ended = threading.Event()
    page = LabPage(hub, ended.set, say)
    tell = Notes(say, page)
    refresh_hz = page.refresh_hz(MEASURE_S)
    if hub and refresh_hz is None:
        say(NOTE("no_screen"))
    source, recorder = opened_stream(book, name, out, tell, page, wiring, subject, block, HOLD_S)
    packets = LivePackets(book, source, recorder, ended)
    if hub:
        packets.samples_seen = traces(book, page, source.amplifier.absent)
    delays: list[float] = []

    def told(line: dict[str, Any]) -> None:
        delays.append(time.monotonic() - packets.newest_s)
        say(f"answer {line['value']} after {packets.recorder.samples / book.rate:.2f} s")
        page.send({"type": "answer", "value": line["value"], "sample_s": packets.newest_s})

    def until_stopped() -> None:
        stop.wait(seconds)
        ended.set()

    threading.Thread(target=until_stopped, daemon=True).start()
    header = header_of(
        book, "", sandbox=entry.sandbox, entry_digest=entry.package.digest, reference=reference_load()
    ) | {"live": name}
    with LedgerFile(out / LEDGER, tell) as file:
        ledger = Ledger(header, file)  # type: ignore[arg-type]  # it writes and flushes, which is all a ledger asks
        match = Match(book, packets, ledger, folder=folder, on_report=told)
        match.info["refresh_hz"] = refresh_hz
        end = player(match)
        if end.verdict != "ok":
            why = end.reason.split(";")[0].splitlines()[0] if end.reason else end.verdict
            tell(NOTE("entry_ended", verdict=end.verdict, why=why))
        else:
            page.wait_over(PAGE_END_S)  # the block's end code comes before the page's own word of its frames
        source.close()
        ledger.append(dict(end_line(end._replace(notes=(*end.notes, *tell.kept)), match.packets)))
        data = recorder.finish(_side(source, tell, page))
    page.close()
    recording = open_recording(data)
    truth = _truth(book, recording, ledger)
    ledger.lines[0]["data"] = recording.digest  # known only now
    for line in ledger.reports:  # the data folder holds one block of one subject: number 1 of each (R17)
        line |= {"subject": 1, "block": 1}
    folder.write_ledger(ledger.lines)
    about = {
        **(about or {}),
        "live": name,
        "subject": subject,
        "block": block,
        "delays_ms": [round(delay * 1e3, 2) for delay in delays],
    }
    return keep(folder, book, recording, truth, ledger, match.think_s, about)


def _truth(book: Rulebook, recording: Recording, ledger: Ledger) -> Truth:
    """Where the trials are; a recording without any has nothing to judge, and the end line says why."""
    try:
        return Truth.of(book, recording)
    except BadInput as error:
        ledger.lines[-1]["notes"].append(f"not scored: {error}")
        return Truth(tuple((subject, number, ()) for subject, number, _ in recording))


def record(
    book: Rulebook, name: str, out: Path, seconds: float | None, stop: threading.Event, say: Callable[[str], None],
    subject: int = 1, block: int = 1, hub: str | None = None, wiring: Wiring | None = None,
) -> dict[str, Any]:  # fmt: skip
    """EEG stream and codes to a recording (contest layout and BIDS)."""
    ended = threading.Event()
    page = LabPage(hub, ended.set, say)
    tell = Notes(say, page)
    source, recorder = opened_stream(book, name, out, tell, page, wiring, subject, block, RECORD_HOLD_S)
    seen = traces(book, page, source.amplifier.absent) if hub else None
    until = time.monotonic() + seconds if seconds else None
    say(f"recording {name!r} to {out}; Ctrl-C or code {BLOCK_END} ends it")
    while not stop.is_set() and not ended.is_set() and (until is None or time.monotonic() < until):
        eeg, codes = source.read()
        recorder.add(eeg, codes)
        if seen:
            seen(eeg)
        if BLOCK_END in codes:
            page.wait_over(PAGE_END_S)
            break
    for eeg, codes in source.rest():
        recorder.add(eeg, codes)
    source.close()
    side = _side(source, tell, page)
    data = recorder.finish(side)
    page.close()
    if recorder.failed:
        raise BadInput(f"{out}: {recorder.failed}")
    return {"data": str(data), "samples": recorder.samples, "seconds": recorder.samples / book.rate, **side}


def opened_stream(
    book: Rulebook, name: str, out: Path, tell: Callable[[str], None], page: LabPage, wiring: Wiring | None,
    subject: int, block: int, hold_s: float,
) -> tuple[LiveIn, Recorder]:  # fmt: skip
    """A stream and the recorder that notes what is wrong with it; the operator is told what the stream is."""
    wiring = wiring or Wiring()
    source = LiveIn(name, book, wiring, tell=tell, hold_s=hold_s)
    recorder = Recorder(out, book, subject, block, tell, wiring.keep_all)
    source.mark = recorder.mark
    page.send(message_of("stream", source.described))
    return source, recorder


def side_of(source: LiveIn) -> dict[str, Any]:
    """What a recording's sidecar says about its stream."""
    filters = {"anti-alias": {"delay_s": source.amplifier.delay_s}} if source.amplifier.delay_s else "n/a"
    counts = {"lost_samples": source.lost_n, "reconnects": source.reconnects, "late_codes": source.late_codes}
    return {**counts, "lost_codes": source.lost_codes, "SoftwareFilters": filters, "stream": source.described}


def _side(source: LiveIn, tell: Notes, page: LabPage) -> dict[str, Any]:
    """What a recording's sidecar says about its making."""
    return {**side_of(source), "notes": tell.kept, **page.shown}
