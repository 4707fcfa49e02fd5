"""What a live run does, told to the projector of its stage a few times a second."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from bciarena.contests import contest, registered
from bciarena.contests.trial import Trial
from bciarena.service.models import Stage
from bciarena.service.site import Site

EVERY_S = 0.4
KEPT_S = 5.0
ANSWERS = 8


class Feed:
    """Listens to a lab's hub as an operator (traces, practice) and a watcher (steps, answers).

    The score it tells is an estimate from the times of steps and answers; the referee's own follows with the run.
    """

    def __init__(self, site: Site, phase: int, team: str, book: str, hub: str) -> None:
        self.site, self.phase, self.team, self.hub = site, phase, team, hub.replace("http://", "ws://")
        self.book = registered(book)
        self.names = {lang: contest(self.book).answers(lang) for lang in ("en", "zh")}
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._traces: dict[str, Any] = {}
        self._trials: list[Trial] = []
        self._open: tuple[int, float] | None = None
        self._said: tuple[str, str, float] | None = None  # answer, mark and length so far, where the last one decides
        self._fresh = False  # whether the last answer belongs to what is on the screen
        self._practice = False
        self._answers: list[dict[str, Any]] = []
        self._threads = [
            threading.Thread(target=self._listen, args=("operator",), daemon=True),
            threading.Thread(target=self._listen, args=("watcher",), daemon=True),
            threading.Thread(target=self._tell_forever, daemon=True),
        ]

    def __enter__(self) -> Feed:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(5)
        self._tell(None)

    def _listen(self, role: str) -> None:
        from websockets.exceptions import ConnectionClosed
        from websockets.sync.client import connect

        while not self._over.wait(0.3):
            try:
                with connect(f"{self.hub}/ws/{role}", open_timeout=5, max_size=8_000_000) as line:
                    while not self._over.is_set():
                        try:
                            self.hear(json.loads(line.recv(timeout=0.5)))
                        except TimeoutError:
                            continue
            except (OSError, ConnectionClosed, TimeoutError, ValueError):
                continue  # the lab is not there yet, or not any more

    def hear(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        with self._lock:
            if kind == "traces":
                self._see(message)
            elif kind == "status":
                self._practice = bool(message.get("practice"))
            elif kind == "step" and message.get("code") in self.book.opens and not self._practice:
                self._close()
                self._open, self._fresh = (message["code"], message["hub_s"]), False
            elif kind == "void":  # what was not shown did not take place
                self._open = self._said = None
            elif kind == "stopped":
                self._close()
            elif kind == "answer":
                self._answer(str(message["value"]), float(message.get("sample_s") or 0.0))

    def _see(self, message: dict[str, Any]) -> None:
        before = self._traces.get("data") or [[] for _ in message["data"]]
        most = round(KEPT_S * message["rate"])
        data = [(old + new)[-most:] for old, new in zip(before, message["data"], strict=True)]
        self._traces = {"channels": message["channels"], "rate": message["rate"], "data": data}

    def _answer(self, value: str, at_s: float) -> None:
        mark = "none"
        if self._open is not None:
            code, begin_s = self._open
            truth, idle = self.book.truth[code], code in self.book.idle
            used_s = max(at_s - begin_s, self.book.packet_n / self.book.rate)
            late = self.book.limit_s is not None and used_s >= self.book.limit_s
            mark = "false_positive" if idle else "late" if late else "right" if value == truth else "wrong"
            self._said = (value, mark, used_s)
            if self.book.decides == "first" or idle:
                self._close()
        self._fresh = True
        self._answers = [*self._answers, {"value": value, "mark": mark}][-ANSWERS:]

    def _close(self) -> None:
        """A trial is over: it was answered, the next begins, or the block has ended."""
        if self._open is None:
            return
        code, _ = self._open
        value, mark, used_s = self._said or (None, "", None)
        idle = code in self.book.idle
        status: Any = "quiet" if idle else "missing"
        if value is not None:
            status = mark if mark in ("false_positive", "late") else "in_time"
        length_s = used_s if used_s is not None else self.book.missing_s or 0.0
        length_n = None if idle else round(length_s * self.book.rate)
        right = mark == "right" or (idle and value is None)
        number = len(self._trials) + 1
        self._trials.append(Trial(1, 1, number, self.book.truth[code], value, right, length_n, status, self.book.rate))
        self._open = self._said = None

    def _tell_forever(self) -> None:
        while not self._over.wait(EVERY_S):
            with self._lock:
                answers = [self._named(**one) for one in self._answers]
                told = {
                    "team": self.team, "heard": time.time(), **self._traces, "answers": answers, "fresh": self._fresh,
                    "right": sum(one.correct for one in self._trials), "trials": len(self._trials),
                    "score": self.book.score(self._trials).score if self._trials else 0.0,
                }  # fmt: skip
            self._tell(told)

    def _named(self, value: str, mark: str) -> dict[str, str]:
        return {"mark": mark, **{lang: names.get(value, value) for lang, names in self.names.items()}}

    def _tell(self, told: dict[str, Any] | None) -> None:
        with self.site.session(writes=True) as session:
            stage = session.get(Stage, self.phase)
            if stage is not None:
                stage.live = told
                session.commit()
