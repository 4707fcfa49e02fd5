"""Who is connected, where the block is, and what everyone must hear. No sockets here: lines are given as functions."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.protocol.timeline import Timeline

Send = Callable[[dict[str, Any]], None]
ROLES = ("stimulus", "operator", "watcher")
BETWEEN = ("rest", "mark")
SHOWN = 12  # answers and messages an operator sees


def clock_s() -> float:
    """The hub's clock, the same as LSL's on this machine: monotonic seconds."""
    return time.monotonic()


@dataclass
class Hub:
    """One block being shown.

    Parameters
    ----------
    timeline : Timeline
        What the page plays.
    log : Path or None
        Where every step, frame interval, answer and mishap is kept, line by line.
    send_code : callable or None
        Hears every code and the time of the frame that showed it, for the recording.
    """

    timeline: Timeline
    log: Path | None = None
    send_code: Callable[[int, float], None] | None = None
    lines: dict[str, list[Send]] = field(default_factory=lambda: {role: [] for role in ROLES})
    index: int = -1
    running: bool = False
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
        self.steps = [step.as_json() for step in self.timeline.steps]
        own = contest(self.timeline.challenge)
        book, words = own.rules, own.answers("en")
        self.names = {code: words.get(truth, truth) for code, truth in book.truth.items()}
        self.opening = [k for k, step in enumerate(self.steps) if step["code"] in book.opens]

    def join(self, role: str, send: Send) -> None:
        """Someone connects; a second stimulus page takes the first one's place."""
        if role == "stimulus" and self.lines[role]:
            for old in self.lines[role]:
                old({"type": "command", "name": "abort"})
            self.lines[role].clear()
            self.running = False
            self._say("a second stimulus page was opened: it takes over, the first one is stopped")
        self.lines[role].append(send)
        if role == "operator" and len(self.lines[role]) > 1:
            self._say(f"{len(self.lines[role])} operators are connected: commands of each count")
        self.status()

    def leave(self, role: str, send: Send) -> None:
        """Someone is gone."""
        if send not in self.lines[role]:
            return  # a page that another one has taken over from
        self.lines[role].remove(send)
        if role == "stimulus" and self.running:
            self.running = False
            where = f"in trial {self.trial}" if self.trial else "before the first trial"
            self._say(f"the stimulus page went away {where}; data so far is kept. Reload it, then start to go on")
        self.status()

    def hear(self, role: str, message: dict[str, Any], answer: Send) -> None:
        """One message from someone; what is not understood is ignored and said."""
        if role == "stimulus" and answer not in self.lines[role]:
            return  # another page has taken over: this one's last words would end a run that goes on
        kind = message.get("type")
        handler = getattr(self, f"_on_{kind}", None)
        if handler is None:
            self._say(f"a message of unknown type {str(kind)[:20]!r} from {role} was ignored")
            return
        handler(message, answer)

    # -- what may be heard ---------------------------------------------------------------------------------------

    def _on_ping(self, message: dict[str, Any], answer: Send) -> None:
        answer({"type": "pong", "page_ms": message.get("page_ms", 0), "hub_s": clock_s()})

    def _on_hello(self, message: dict[str, Any], answer: Send) -> None:
        self.refresh_hz = float(message.get("refresh_hz") or 60.0)
        self.refused = None
        start = self._resume_at()
        answer({"type": "timeline", "timeline": json.loads(self.timeline.as_json()), "from_step": start})
        self.status()

    def _on_ready(self, message: dict[str, Any], answer: Send) -> None:
        self._keep({"type": "ready", "refresh_hz": self.refresh_hz})
        self.status()

    def _on_refused(self, message: dict[str, Any], answer: Send) -> None:
        self.refused = str(message.get("reason"))[:200]
        self._say(f"refused: {self.refused}")

    def _on_command(self, message: dict[str, Any], answer: Send) -> None:
        name = message.get("name")
        if name not in ("start", "pause", "resume", "abort", "patch"):
            return
        if name == "start":
            if not self.lines["stimulus"]:
                self._say("there is no stimulus page yet: open it first")
                return
            if self.refused:
                self._say(f"cannot start: {self.refused}")
                return
            self.running = True
            self._say("")
        self._keep({"type": "command", "name": name})
        self.tell("stimulus", {"type": "command", "name": name})
        self.status()

    def _on_step(self, message: dict[str, Any], answer: Send) -> None:
        index = message.get("index")
        if not isinstance(index, int) or not 0 <= index < len(self.steps):
            return
        self.index = index
        step = self.steps[index]
        stamp = {"type": "step", "index": index, "code": step["code"], "hub_s": message.get("hub_s") or clock_s()}
        if step["code"] and self.send_code:
            self.send_code(step["code"], float(stamp["hub_s"]))
        self.stamps.append(stamp)
        self._keep(stamp)
        self.tell("watcher", stamp | {"step": step})
        self.status()

    def _on_frames(self, message: dict[str, Any], answer: Send) -> None:
        intervals = [float(value) for value in message.get("intervals_ms", [])][:1000]
        self.frames += len(intervals)
        self.dropped = int(message.get("dropped", self.dropped))
        self._keep({"type": "frames", "intervals_ms": intervals, "dropped": self.dropped})
        self.status()

    def _on_stopped(self, message: dict[str, Any], answer: Send) -> None:
        self.running = False
        self.dropped = int(message.get("dropped", self.dropped))
        why = str(message.get("why"))[:40]
        self._say(f"{why}: {self.dropped} of {self.frames} frames dropped")
        counts = {"frames": self.frames, "dropped": self.dropped, "refresh_hz": self.refresh_hz}
        self.tell("watcher", {"type": "stopped", "why": why, **counts})

    def _on_answer(self, message: dict[str, Any], answer: Send) -> None:
        value = str(message.get("value"))[:64]
        self.answers.append(value)
        told = {"type": "answer", "value": value, "sample_s": message.get("sample_s")}
        self._keep(told)
        for role in ("stimulus", "watcher"):
            self.tell(role, told)
        self.status()

    def _on_shown(self, message: dict[str, Any], answer: Send) -> None:
        """An answer is on the screen: with the time of the newest sample behind it, the whole way can be told."""
        self._keep({"type": "shown", **{key: message.get(key) for key in ("value", "sample_s", "hub_s")}})

    def _on_note(self, message: dict[str, Any], answer: Send) -> None:
        self._say(str(message.get("text"))[:300])

    def _on_traces(self, message: dict[str, Any], answer: Send) -> None:
        self.tell("operator", message)

    def _on_stream(self, message: dict[str, Any], answer: Send) -> None:
        self.stream = str(message.get("text"))[:200]
        self._keep({"type": "stream", "text": self.stream})
        self.status()

    def _on_subscribe(self, message: dict[str, Any], answer: Send) -> None:
        answer({"type": "timeline", "timeline": json.loads(self.timeline.as_json())})

    # -- what everyone hears -------------------------------------------------------------------------------------

    @property
    def trial(self) -> int:
        """The trial that was opened last, from 1; 0 before the first."""
        return sum(opened <= self.index for opened in self.opening)

    def _resume_at(self) -> int:
        """Where a page that comes back goes on: at the rest before the next trial that was not begun."""
        if self.index < 0:
            return 0
        following = [k for k in self.opening if k > self.index]
        if not following:
            return max(0, len(self.steps) - 1)
        start = following[0]
        while start > 0 and self.steps[start - 1]["kind"] not in BETWEEN and start - 1 > self.index:
            start -= 1
        return start

    def _named(self, code: int) -> str:
        return f"{self.names.get(code) or 'no answer'} ({code})"

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
            },
        )

    def _say(self, text: str) -> None:
        self.message = text
        if text:
            self.messages.append((time.strftime("%H:%M:%S"), text))
            self._keep({"type": "message", "text": text})
        self.status()

    def _keep(self, line: dict[str, Any]) -> None:
        if self.log is None:
            return
        try:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps({"at_s": round(clock_s(), 6), **line}) + "\n")
        except OSError as error:  # the block goes on: what is on screen matters more than its log
            self.log = None
            self.message = f"the log cannot be written any more ({error.strerror}); the block goes on without it"
