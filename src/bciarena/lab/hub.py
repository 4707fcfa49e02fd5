"""Who is connected, where the block is, and what everyone must hear. No sockets here: lines are given as functions."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.contests.trial import VOID
from bciarena.lab.course import Course, clock_s
from bciarena.lab.told import kept_lines, sentence
from bciarena.lab.told import number as number_of
from bciarena.protocol.timeline import Timeline
from bciarena.words import in_language, speaker

Send = Callable[[dict[str, Any]], None]
ROLES = ("stimulus", "operator", "watcher")
SHOWN = 12  # answers and messages an operator sees
LOST_MS = 100.0  # a trial that lost more frames than this time holds is void
SILENT_S = 2.0  # a running page that says nothing for so long is told to the operator
COMMANDS = ("start", "pause", "resume", "abort", "patch")
CUES = ("arrow", "figure")
LASTING = ("step", "void", "spoilt")  # what a session that was cut off goes on from must survive a power cut
CUT = "the session was cut off"
FLICKERS = ("flicker", "flash")
SAY = speaker(Path(__file__).parent, "hub")
WHY = {key: SAY(f"why_{key.split()[-1]}") for key in ("finished", "aborted", "stopped by the subject")}
"""Why a page stopped, in its own word."""


@dataclass
class Hub(Course):
    """One block being shown.

    Parameters
    ----------
    timeline : Timeline
        What the page plays.
    log : Path or None
        Where every step, frame interval, answer and mishap is kept, line by line.
    send_code : callable or None
        Hears every code and the time of the frame that showed it, for the recording.
    language : str
        What subject and operator read.
    lost_ms : float
        A trial is void when the frames it lost add up to more than this.
    repeat : bool
        Whether void trials are shown again at the end of the block.
    confirmed : bool
        Whether the warning about flicker was given and read; without it nothing that flickers is started.
    self_paced : bool
        Whether a key of the subject starts the block; otherwise only the operator does.
    virtual : bool
        Whether nobody sits there: the block starts by itself, and keys are pressed for the subject.
    look : mapping
        How cues look and how large the screen is, for the page.
    """

    timeline: Timeline
    log: Path | None = None
    send_code: Callable[[int, float], None] | None = None
    language: str = "en"
    lost_ms: float = LOST_MS
    repeat: bool = False
    confirmed: bool = False
    self_paced: bool = False
    virtual: bool = False
    look: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, list[Send]] = field(default_factory=lambda: {role: [] for role in ROLES})
    index: int = -1
    running: bool = False
    state: str = "waiting"  # waiting, running, pausing, paused, finished, aborted, stopped
    refresh_hz: float | None = None
    dropped: int = 0
    frames: int = 0
    answers: list[str] = field(default_factory=list)
    refused: str | None = None
    message: str = ""
    messages: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=SHOWN))  # wall clock, text
    stream: str | None = None
    stamps: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = contest(self.timeline.challenge)
        self._opens, self.words = own.rules.opens, own.answers(self.language)
        self.names = {code: self.words.get(truth, truth) for code, truth in own.rules.truth.items()}
        self.read = self.confirmed = self.confirmed or self.virtual  # the subject has read the warning
        self._heard_s: float | None = None
        self._lock = threading.RLock()  # pages speak in the server's thread, a session in its own
        self.intro, self.practice = "", False
        self.not_yet = ""  # why nothing may be started now
        self._begin(self.timeline)

    def _begin(self, timeline: Timeline) -> None:
        self.timeline, self.running, self.state = timeline, False, "waiting"
        self.frames = self.dropped = 0
        self.stamps.clear()
        self._set_out([step.as_json() for step in timeline.steps])
        self.flickers = any(step["kind"] in FLICKERS for step in self.steps)

    def show(self, timeline: Timeline, log: Path | None = None, intro: str = "", practice: bool = False) -> None:
        """Go on with another block. What its log holds already was shown in an earlier sitting that was cut off."""
        with self._lock:
            self.log, self.intro, self.practice = None, intro, practice
            self._begin(timeline)
            for line in kept_lines(log):
                if line["type"] == "step":
                    self.index = line["index"]
                elif line["type"] == "void" or (line["type"] == "spoilt" and line["again"]):
                    self._note(line["type"], line["trial"] - 1, line["reason"])
            cut = self._open_trial()
            self.log = log
            if cut is not None:
                self._note("void", cut, CUT)
                self._keep({"type": "void", "trial": cut + 1, "index": self.index, "reason": CUT, "hub_s": None})
            self.tell("stimulus", self._timeline())
            self.status()

    def join(self, role: str, send: Send) -> None:
        """Someone connects; a second stimulus page takes the first one's place."""
        with self._lock:
            if role == "stimulus" and self.lines[role]:
                for old in self.lines[role]:
                    old({"type": "command", "name": "abort"})
                self.lines[role].clear()
                self._stop("stopped", SAY("took_over"))
                self._say(SAY("second_page"))
            self.lines[role].append(send)
            if role == "operator" and len(self.lines[role]) > 1:
                self._say(SAY("operators", n=len(self.lines[role])))
            self.status()

    def leave(self, role: str, send: Send) -> None:
        """Someone is gone."""
        with self._lock:
            if send not in self.lines[role]:
                return  # a page that another one has taken over from
            self.lines[role].remove(send)
            if role == "stimulus" and self.running:
                self._stop("stopped", SAY("went_away"))
                self._say(SAY("page_gone", where=SAY("in_trial", n=self.trial) if self.trial else SAY("before_trials")))
            self.status()

    def hear(self, role: str, message: dict[str, Any], answer: Send) -> None:
        """One message from someone; what is not understood is ignored and said."""
        with self._lock:
            if role == "stimulus" and answer not in self.lines[role]:
                return  # another page has taken over: this one's last words would end a run that goes on
            if role == "stimulus":
                self._heard_s = clock_s()
            kind = message.get("type")
            handler = getattr(self, f"_on_{kind}", None)
            if handler is None:
                self._say(SAY("unknown", kind=repr(str(kind)[:20]), role=role))
                return
            handler(message, answer)

    # -- what may be heard ---------------------------------------------------------------------------------------

    def _on_ping(self, message: dict[str, Any], answer: Send) -> None:
        answer({"type": "pong", "page_ms": message.get("page_ms", 0), "hub_s": clock_s()})

    def _on_hello(self, message: dict[str, Any], answer: Send) -> None:
        self.refresh_hz = number_of(message.get("refresh_hz"), 0.0) or 60.0
        self.refused = None
        about = {"scale": message.get("scale"), "size": message.get("size")}
        self._keep({"type": "hello", "refresh_hz": self.refresh_hz, **about})
        self.tell("watcher", self._screen())
        answer(self._timeline())
        self.status()

    def _screen(self) -> dict[str, Any]:
        """What is known of the subject's screen, for those who decode."""
        return {"type": "screen", "page": bool(self.lines["stimulus"]), "refresh_hz": self.refresh_hz}

    def _timeline(self) -> dict[str, Any]:
        """The block as the page needs it."""
        told = json.loads(self.timeline.as_json()) | {"steps": self.steps}
        trials = [[trial.begin, trial.opening, trial.close] for trial in self.trials]
        plan: dict[str, Any] = {"care": self.flickers and not self.read, "trials": trials, "onward": self.onward}
        plan |= {"lost_ms": self.lost_ms, "look": self.look, "intro": self.intro, "self_paced": self.self_paced}
        plan["practice"] = self.practice
        return {"type": "timeline", "timeline": told, "from_step": self._resume_at(), **plan}

    def _on_ready(self, message: dict[str, Any], answer: Send) -> None:
        self._keep({"type": "ready", "refresh_hz": self.refresh_hz})
        self.status()
        if self.virtual and not self._why_not_start():
            self._on_command({"name": "start"}, answer)

    def _on_measured(self, message: dict[str, Any], answer: Send) -> None:
        """The page has looked at its screen for longer than it does before a block."""
        self.refresh_hz = number_of(message.get("refresh_hz"), 0.0) or 60.0
        jitter, late = number_of(message.get("jitter_ms"), 0.0), str(message.get("late"))[:20]
        self._keep({"type": "measured", **{k: message.get(k) for k in ("refresh_hz", "jitter_ms", "late", "frames")}})
        frames = str(message.get("frames"))[:20]
        self._say(SAY("measured", hz=self.refresh_hz, jitter=jitter, late=late, frames=frames))

    def _on_refused(self, message: dict[str, Any], answer: Send) -> None:
        self.refused = str(message.get("reason"))[:200]
        self._say(SAY("refused", why=self.refused))

    def _on_confirm(self, message: dict[str, Any], answer: Send) -> None:
        """The operator has warned the subject of the flicker, or takes it back."""
        self.confirmed = bool(message.get("value", True))
        self._keep({"type": "confirm", "value": self.confirmed})
        self.status()

    def _on_key(self, message: dict[str, Any], answer: Send) -> None:
        """The subject pressed a key while nothing runs: the warning was read."""
        if self.flickers and not self.read:
            self.read = True
            self._keep({"type": "read"})
            answer({"type": "care", "value": False})
            self._say(SAY("read"))
        elif self.self_paced and not self._why_not_start():
            self._on_command({"name": "start"}, answer)

    def _on_command(self, message: dict[str, Any], answer: Send) -> None:
        name = message.get("name")
        if name not in COMMANDS:
            return
        if name == "start":
            why = self._why_not_start()
            if why:
                self._say(why)
                return
            self.running, self.state, self._heard_s = True, "running", clock_s()
            self._say("")
        if self.running and name in ("pause", "resume"):
            self.state = "pausing" if name == "pause" else "running"
        self._keep({"type": "command", "name": name})
        self.tell("stimulus", {"type": "command", "name": name})
        self.status()

    def _why_not_start(self) -> str | None:
        if not self.lines["stimulus"]:
            return SAY("no_page")
        if self.running:
            return SAY("is_running")
        if self.not_yet:
            return SAY("cannot_start", why=self.not_yet)
        if self.refused:
            return SAY("cannot_start", why=self.refused)
        if self.flickers and not self.confirmed:
            return SAY("cannot_start", why=SAY("warn_first"))
        if self.flickers and not self.read:
            return SAY("cannot_start", why=SAY("not_read"))
        return None

    def _on_paused(self, message: dict[str, Any], answer: Send) -> None:
        """The block's clock stands still, or goes on: by the operator, or for a key of the subject."""
        on = bool(message.get("value"))
        if self.running:
            self.state = "paused" if on else "running"
        self._keep({"type": "paused", "value": on, "why": str(message.get("why"))[:40]})
        self.status()
        if on and self.virtual and message.get("why") == "key":
            self.tell("stimulus", {"type": "command", "name": "key"})

    def _on_void(self, message: dict[str, Any], answer: Send) -> None:
        """The page could not show a trial as planned."""
        self._make_void(str(message.get("reason"))[:200], number_of(message.get("hub_s"), 0.0) or clock_s())

    def spoil(self, from_s: float, until_s: float, reason: str) -> None:
        """The recording lacks something from one time to another: trials of that time cannot be used.

        They are over, or will be: nothing on the screen changes, but they are shown again where void ones are.
        """
        with self._lock:
            for number in self._hit(from_s, until_s):
                repeated = self.repeat and self._may_repeat()
                self._keep({"type": "spoilt", "trial": number + 1, "reason": reason, "again": repeated})
                if repeated:
                    self._note("spoilt", number, reason)
                    self.tell("stimulus", self._timeline() | {"type": "plan"})
                else:
                    self.spoilt[number] = reason
                self._say(SAY("spoilt_repeated" if repeated else "spoilt", n=number + 1, reason=reason))

    def _make_void(self, reason: str, at_s: float) -> None:
        number = self._open_trial()
        if number is None:
            return
        if self.index >= self.trials[number].opening and self.send_code:
            self.send_code(VOID, at_s)  # without its opening code there is no trial in the recording to mark
        told = {"type": "void", "trial": number + 1, "index": self.index, "reason": reason, "hub_s": at_s}
        self._keep(told)
        self.tell("watcher", told)
        self._note("void", number, reason)
        if self.repeat:
            self.tell("stimulus", self._timeline() | {"type": "plan"})
        self._say(SAY("void_repeated" if self.repeat else "void", n=number + 1, reason=reason))

    def _on_noticed(self, message: dict[str, Any], answer: Send) -> None:
        """Something happened to the page that may spoil what is shown."""
        what = str(message.get("what"))[:200]
        self._keep({"type": "noticed", "what": what, "hub_s": message.get("hub_s")})
        self._say(SAY("noticed", what=what))

    def watch(self) -> None:
        """Called now and then: a page that hangs cannot say so itself."""
        with self._lock:
            if self.running and self._heard_s is not None and clock_s() - self._heard_s > SILENT_S:
                self._heard_s = None  # told once, until the page is heard again
                self._say(SAY("silent", s=SILENT_S))

    def _on_step(self, message: dict[str, Any], answer: Send) -> None:
        index = message.get("index")
        if not isinstance(index, int) or not 0 <= index < len(self.steps):
            return
        self.index = index
        step = self.steps[index]
        hub_s = number_of(message.get("hub_s"), 0.0) or clock_s()
        stamp = {"type": "step", "index": index, "code": step["code"], "hub_s": hub_s}
        # The page's own time names the frame exactly; the hub's is known to within ``clock_ms``.
        page = {key: number_of(message.get(key), 0.0) or None for key in ("page_ms", "clock_ms")}
        if step["code"] and self.send_code:
            self.send_code(step["code"], hub_s)
        self.stamps.append(stamp)
        self._shown_s[index] = hub_s
        self._keep(stamp | page | {"kind": step["kind"], "params": step["params"]})
        self.tell("watcher", stamp | {"step": step})
        self.status()

    def _on_frames(self, message: dict[str, Any], answer: Send) -> None:
        told = message.get("intervals_ms")
        intervals = [number_of(value, 0.0) for value in told[:1000]] if isinstance(told, list) else []
        self.frames += len(intervals)
        self.dropped = int(number_of(message.get("dropped"), self.dropped))
        # Time of the frame before the first interval: every frame's time follows.
        begin = {key: number_of(message.get(key), 0.0) or None for key in ("from_s", "from_ms")}
        self._keep({"type": "frames", **begin, "intervals_ms": intervals, "dropped": self.dropped})
        self.status()

    def _on_stopped(self, message: dict[str, Any], answer: Send) -> None:
        self.dropped = int(number_of(message.get("dropped"), self.dropped))
        why = str(message.get("why"))[:40]
        told = WHY.get(why, why)
        self._stop(why if why in ("finished", "aborted") else "stopped", told)
        self._say(SAY("dropped", why=told, n=self.dropped, frames=self.frames))
        counts = {"frames": self.frames, "dropped": self.dropped, "refresh_hz": self.refresh_hz}
        self.tell("watcher", {"type": "stopped", "why": why, **counts})

    def _stop(self, state: str, why: str) -> None:
        if self.running:
            self._make_void(why, clock_s())
        self.running, self.state = False, state

    def _on_answer(self, message: dict[str, Any], answer: Send) -> None:
        value = str(message.get("value"))[:64]
        self.answers.append(self.words.get(value, value))
        told = {"type": "answer", "value": value, "sample_s": message.get("sample_s")}
        self._keep(told)
        for role in ("stimulus", "watcher"):
            self.tell(role, told)
        self.status()

    def _on_shown(self, message: dict[str, Any], answer: Send) -> None:
        """An answer is on the screen: with the time of the newest sample behind it, the whole way can be told."""
        self._keep({"type": "shown", **{key: message.get(key) for key in ("value", "sample_s", "hub_s")}})

    def _on_note(self, message: dict[str, Any], answer: Send) -> None:
        self._say(sentence(message, 300))

    def _on_traces(self, message: dict[str, Any], answer: Send) -> None:
        self.tell("operator", message)

    def _on_stream(self, message: dict[str, Any], answer: Send) -> None:
        text = sentence(message, 300)
        self.stream = in_language(text, self.language)
        self._keep({"type": "stream", "text": text})
        self.status()

    def _on_subscribe(self, message: dict[str, Any], answer: Send) -> None:
        answer(self._timeline())
        answer(self._screen())

    # -- what everyone hears -------------------------------------------------------------------------------------

    def _named(self, code: int) -> str:
        return self.names.get(code) or str(code)

    def tell(self, role: str, message: dict[str, Any]) -> None:
        for send in list(self.lines[role]):
            send(message)

    def status(self) -> None:
        """Tell the operators where things stand."""
        step = self.steps[self.index] if self.index >= 0 else None
        following = [k for k in self.opening if k > self.index]
        self.tell(
            "operator",
            {
                "type": "status",
                "stimulus": bool(self.lines["stimulus"]),
                "operators": len(self.lines["operator"]),
                "refresh_hz": self.refresh_hz,
                "trial": self.trial,
                "trials": len(self.opening),
                "now": step and step["kind"],
                "next": self._named(self.steps[following[0]]["code"]) if following else None,
                "dropped": self.dropped,
                "answers": self.answers[-SHOWN:],
                "message": self.message,
                "messages": list(self.messages),
                "stream": self.stream,
                "running": self.running,
                "state": self.state,
                "void": len(self.void) + len(self.spoilt),
                "practice": self.practice,
                "flickers": self.flickers,
                "confirmed": self.confirmed,
            },
        )

    def _say(self, text: str) -> None:
        self.message = in_language(text, self.language)
        if text:
            self.messages.append((time.strftime("%H:%M:%S"), self.message))
            self._keep({"type": "message", "text": text})
        self.status()

    def _keep(self, line: dict[str, Any]) -> None:
        if self.log is None:
            return
        try:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps({"at_s": round(clock_s(), 6), **line}) + "\n")
                if line["type"] in LASTING:
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:  # the block goes on: what is on screen matters more than its log
            self.log = None
            self.message = in_language(SAY("log_failed", why=error.strerror), self.language)
