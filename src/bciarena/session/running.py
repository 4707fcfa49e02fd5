"""A session from its first block to its last: pages, recording and entry at once. Cut off anywhere, it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.entries.opened import opened
from bciarena.errors import BadInput
from bciarena.lab.app import LINES, make_app
from bciarena.lab.hub import SAY, Hub
from bciarena.live.commands import opened_stream, side_of
from bciarena.live.notes import NOTE, told
from bciarena.live.photodiode import read_offset
from bciarena.live.running import form_of
from bciarena.live.streams import CodesOut, need_lsl
from bciarena.live.traces import traces
from bciarena.processes import arena_beside
from bciarena.runs import Result
from bciarena.session.blocks import Place
from bciarena.session.decoding import Decoder
from bciarena.session.plan import Part, Plan, practice
from bciarena.writing import whole_file

Say = Callable[[str], None]
TAIL_S = 0.3  # recorded behind the last frame of a block
LOOK_S = 0.1
HOLD_S = 0.25  # nobody waits for a recorder: codes that come late still find their sample
GIVE_UP_S = 30.0  # how long a block that is over waits for its last samples: a stream that has died sends none


class HubSide:
    """The hub as recorder and traces know a lab's page: here it is in the same process."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def send(self, message: dict[str, Any]) -> None:
        self._hub.hear("watcher", message, lambda told: None)


class Headset(threading.Thread):
    """Reads the stream in a thread of its own: to the recorder, to the entry, to the operator's traces."""

    def __init__(self, plan: Plan, folder: Path, block: int, decoder: Decoder | None, hub: Hub, say: Say) -> None:
        super().__init__(daemon=True)
        book, self.tell = plan.book, say
        page: Any = HubSide(hub)
        self.source, self.recorder = opened_stream(
            book, plan.stream, folder, say, page, plan.wiring, plan.subject, block, 0.02 if decoder else HOLD_S
        )
        self.see = traces(book, page, self.source.amplifier.absent)
        self.decoder, self.form = decoder, form_of(book, plan.wiring)
        self.source.mark = self._mark
        self.hub, self.offset_s = hub, read_offset(plan.offset) if plan.offset else 0.0
        self.packet_n, self.until_s, self.cut = book.packet_n, float("inf"), threading.Event()

    def _mark(self, line: dict[str, Any]) -> None:
        self.recorder.mark(line)
        if "span_s" in line:
            first_s, last_s = (at_s - self.offset_s for at_s in line["span_s"])  # codes were sent later by the offset
            self.hub.spoil(first_s, last_s, line["reason"])

    def run(self) -> None:
        while not self._ended() and (self.source.last_s or 0.0) < self.until_s:
            eeg, codes = self.source.read()
            if eeg.shape[1]:
                self._take(eeg, codes)
        # The last packet must have something in it: it is the one that says that nothing follows.
        while not self._ended() and not self.recorder.samples % self.packet_n:
            eeg, codes = self.source.read()
            self._take(eeg[:, :1], codes[:1])

    def _ended(self) -> bool:
        return self.cut.is_set() or time.monotonic() > self.until_s + GIVE_UP_S

    def _take(self, eeg: Any, codes: Any) -> None:
        self.recorder.add(eeg, codes)
        self.see(eeg)
        if self.decoder:
            self.decoder.feed.add(self.form(eeg, codes), codes, self.source.last_s or 0.0)

    def finish(self, until_s: float, stop: threading.Event) -> None:
        """Read on up to a time, then write what was recorded; without the rest if ``stop`` is set."""
        self.until_s = until_s
        while self.is_alive():
            self.join(LOOK_S)
            if stop.is_set():
                self.cut.set()
        self.close()

    def stop(self) -> None:
        self.cut.set()
        self.join()
        self.close()

    def close(self) -> None:
        self.source.close()
        last_s = self.source.last_s
        if last_s is not None and last_s < self.until_s < float("inf"):  # the end of the block is not in the recording
            at, span = self.recorder.samples, (last_s, self.until_s)
            self._mark({"sample": at, "until": at, "reason": NOTE("never_back"), "span_s": span})
        self.recorder.finish(side_of(self.source))


def run_session(
    plan: Plan, *, virtual: bool = False, host: str = "127.0.0.1", port: int = 8010, stop: threading.Event, say: Say
) -> dict[str, Any]:
    """Play what is left of a plan; returns where the data lies and the scores of what was decoded."""
    _claim(plan)
    scores: dict[str, Result] = {}
    todo = [(part, block) for part in plan.parts for block in part.blocks if not _place(plan, part, block).done]
    if todo:
        with _lab(plan, host, port, virtual, say) as hub:
            for part in plan.parts:
                if any(one is part for one, _ in todo):
                    result = _play(plan, part, hub, stop, say)
                    if result:
                        scores[part.split] = result
            hub.not_yet = SAY("session_over")
            hub.tell("stimulus", {"type": "over"})
            time.sleep(LOOK_S)  # the page hears it before its line is cut
    else:
        say(f"{plan.out}: every block of the plan is recorded")
    return {"data": str(plan.out / "data"), "scores": {split: result["score"] for split, result in scores.items()}}


def _claim(plan: Plan) -> None:
    """The session's folder belongs to one plan: what goes on must be what was begun."""
    kept, text = plan.out / "plan.toml", plan.path.read_text("utf-8")
    if kept.is_file():
        if kept.read_text("utf-8") != text:
            raise BadInput(f"{plan.out}: holds a session of another plan ({kept}); choose another out")
        return
    if plan.out.exists() and any(plan.out.iterdir()):
        raise BadInput(f"{plan.out}: exists and holds no session; choose another out")
    with whole_file(kept) as beside:
        beside.write_text(text, "utf-8")


def _place(plan: Plan, part: Part, block: int) -> Place:
    return Place(plan.out, part.split, plan.subject, block)


@contextmanager
def _lab(plan: Plan, host: str, port: int, virtual: bool, say: Say) -> Iterator[Hub]:
    """The pages, the stream of codes, and the virtual subject if nobody sits there."""
    import uvicorn

    first = plan.parts[0]
    look = {"cue": plan.cue, "distance_cm": plan.distance_cm, "width_cm": plan.screen_cm}
    codes = CodesOut(plan.stream, read_offset(plan.offset) if plan.offset else 0.0)
    hub = Hub(
        plan.timeline(first, first.blocks[0]), None, codes.push, language=plan.language, lost_ms=plan.lost_ms,
        repeat=plan.repeat_void, self_paced=True, virtual=virtual, look=look,
    )  # fmt: skip
    hub.not_yet = SAY("not_recording")
    server = uvicorn.Server(uvicorn.Config(make_app(hub), host=host, port=port, log_level="error", **LINES))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(LOOK_S)
    if not server.started:
        raise BadInput(f"--port {port}: the pages cannot be served there; is another lab running?")
    address = f"http://{host}:{port}"
    say(f"{plan.challenge}: operator {address}/operator, stimulus {address}/stage")
    try:
        with ExitStack() as stack:
            if virtual:
                words = ["--challenge", plan.challenge, "--hub", address, "--stream", plan.stream]
                words += ["--subject", str(plan.subject), "--seed", str(plan.seed)]
                stack.enter_context(arena_beside("live", "subject", *words))
            yield hub
    finally:
        server.should_exit = True
        thread.join(10)
        codes.close()


def _play(plan: Plan, part: Part, hub: Hub, stop: threading.Event, say: Say) -> Result | None:
    """The blocks of a part that are not yet recorded."""
    intro = contest(plan.challenge).words.get(plan.language, {}).get("stage", {})
    text = str(intro.get(f"intro_{part.split}", intro.get("intro", "")))
    places = [_place(plan, part, block) for block in part.blocks]
    with ExitStack() as stack:
        decoder = None
        if part.entry:
            while hub.refresh_hz is None:  # the entry is told what the screen really does
                if stop.wait(LOOK_S):
                    raise KeyboardInterrupt
            entry = stack.enter_context(opened(part.entry, plan.book, sandbox=plan.sandbox, model=part.model))  # type: ignore[arg-type]
            decoder = Decoder(entry, plan.out / "runs" / part.split, plan.subject, _answers(hub), _teller(hub, say))
            decoder.start(hub.refresh_hz)
        try:
            if part.practice and not any(place.sittings() or place.done for place in places):
                hub.show(practice(plan.timeline(part, part.blocks[0]), part.practice), intro=text, practice=True)
                hub.not_yet = ""
                _wait_over(hub, stop)
            for number, place in enumerate(places, 1):
                if not place.done:
                    _sit(plan, part, place, number, hub, decoder, text, stop, say)
        except BaseException:
            if decoder:
                decoder.abandon()
            raise
        if decoder is None:
            return None
        about = {"entry": part.entry, "name": entry.package.name, "model": str(part.model or ""), "live": plan.stream}
        return decoder.finish(places[0].data, {**about, "subject": plan.subject})


def _answers(hub: Hub) -> Callable[[Any, float], None]:
    def told(value: Any, sample_s: float) -> None:
        hub.hear("watcher", {"type": "answer", "value": value, "sample_s": sample_s}, lambda message: None)

    return told


def _sit(
    plan: Plan, part: Part, place: Place, number: int, hub: Hub, decoder: Decoder | None, intro: str,
    stop: threading.Event, say: Say,
) -> None:  # fmt: skip
    """One block, or what is left of it."""
    start = place.recorded(plan.book)
    again = f", going on after {start / plan.book.rate:.0f} s" if start else ""
    say(f"{part.split} block {place.block}{again}: waiting for {plan.stream!r} and the stimulus page")
    place.log.parent.mkdir(parents=True, exist_ok=True)
    _wait_for_stream(plan.stream, stop)
    if decoder:
        decoder.feed.begin(number, start)
    headset = Headset(plan, place.next_sitting(), place.block, decoder, hub, _teller(hub, say))
    headset.start()
    try:
        hub.not_yet = ""
        hub.show(plan.timeline(part, place.block), place.log, intro)
        _wait_over(hub, stop)
    except BaseException:
        headset.stop()
        raise
    finally:
        hub.not_yet = SAY("not_recording")
    headset.finish(time.monotonic() + TAIL_S, stop)
    if decoder:
        decoder.feed.end(headset.source.last_s or 0.0, number == len(part.blocks))
    place.join(plan.book)
    bad = len(hub.void) + len(hub.spoilt)
    say(f"{part.split} block {place.block}: recorded, {bad} of {len(hub.trials)} trials cannot be used")


def _wait_for_stream(name: str, stop: threading.Event) -> None:
    """An amplifier may be switched on at leisure."""
    lsl = need_lsl()
    while not lsl.resolve_streams(timeout=1.0, name=name):
        if stop.is_set():
            raise KeyboardInterrupt


def _teller(hub: Hub, say: Say) -> Say:
    def tell(text: str) -> None:
        say(text)
        hub.hear("watcher", told("note", text), lambda message: None)

    return tell


def _wait_over(hub: Hub, stop: threading.Event) -> None:
    while hub.state != "finished":
        if stop.wait(LOOK_S):
            raise KeyboardInterrupt
