"""The player of boxed entries: serves a match over the wire and says how the run ended."""

from __future__ import annotations

import os
import select
import signal
import time
from itertools import repeat
from pathlib import Path

from bciarena.errors import BadInput, Fault
from bciarena.match import End, Match, Player
from bciarena.package import Interpreter, Package
from bciarena.plaintext import one_line, quoted
from bciarena.sandbox.box import Box, Sandbox
from bciarena.sandbox.limits import Limits
from bciarena.sandbox.output import outputs
from bciarena.verdicts import Verdict
from bciarena.wire import page
from bciarena.wire.host import Host
from bciarena.wire.page import Malformed

WATCH_S = 0.25  # how often CPU time and memory are checked
LONG_LOAD_S = 10.0  # worth a note
START_S = 600.0  # the most that making a box may take, copies of its interpreter included
REASON_LINES = 12
FEW_REPORTS, REPORTS_A_PACKET = 1000, 4  # more can only aim at filling the ledger and our memory
FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT})
"""Signals that an operator, a service manager or the kernel sends; an entry can also send them to itself."""
OWN_FAULTS = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})


def boxed(
    package: Package,
    interpreter: Interpreter,
    *,
    sandbox: Sandbox = "bwrap",
    model: Path | None = None,
    limits: Limits | None = None,
    ranked: bool = False,
) -> Player:
    """A player that runs an entry in its own box, with its own interpreter.

    Parameters
    ----------
    sandbox : "bwrap" or "none"
        ``none`` is for debugging: the run is marked unsandboxed.
    model : Path or None
        A folder written by ``arena train``; appears read-only as ``model/`` under the entry's working directory.
    ranked : bool
        Whether the box shares no file with others that run at the same time, and must have a cgroup.
    """
    if package.needs_model and model is None:
        raise BadInput(f"{package.name}: needs a model: run arena train first and give its folder with --model")
    if model is not None and not model.is_dir():
        raise BadInput(f"{model}: no such model folder; arena train writes one")

    def player(match: Match) -> End:
        with Box(package, interpreter, sandbox, limits or Limits(), model, playing=True, ranked=ranked) as box:
            return _Serving(match, box).run()

    return player


class _Serving:
    """One boxed run from the referee's side."""

    def __init__(self, match: Match, box: Box) -> None:
        self.match, self.box = match, box
        self.host = Host(len(match.rulebook.channels) + 1, match.rulebook.packet_n)
        most = box.limits.output_kib * 1024
        self.outputs = outputs(match.folder, most)
        self.waiting = select.poll()
        self.began_s = time.monotonic()
        self.deadline_s = self.began_s + START_S  # for making the box; the budget runs from when it is ready
        self.standing_s: float | None = None
        self.load_s = 0.0  # from when the box is ready to the first packet
        self.watch_s = self.began_s + WATCH_S
        self.spin = (
            page.SPIN if len(os.sched_getaffinity(0)) > 1 else 0
        )  # on a single core polling would hold up the other side
        self.misses = 0  # polls in vain since the last look
        self._poll_up_to(self.spin)
        self.ready = self.done = False
        self.reports = 0
        self.failed: list[str] | None = None
        self.stopped: tuple[Verdict, str] | None = None  # verdict and reason, if we ended it
        self.cpu_s = 0.0
        self.box_killed = 0  # the signal that ended the box itself, before we did

    def run(self) -> End:
        order = {"fds": self.host.box_fds, "info": {**self.match.info, "cores": self.box.limits.cores}}
        stdout, stderr = self.outputs
        try:
            self.box.start(
                order, self.box.limits.cpu_s(self.match.budget_s), self.host.box_fds, stdout.write_fd, stderr.write_fd
            )
            self.host.started()
            self.waiting.register(self.host.wake_fd, select.POLLIN)
            if self.box.counted:
                self.waiting.register(self.box.counted.fd, select.POLLIN)
            for output in self.outputs:
                output.started()
                self.waiting.register(output.read_fd, select.POLLIN)
            try:
                self._serve()
            except Malformed as error:
                self.stopped = ("protocol_error", f"broke the protocol: {error}")
            if self.stopped is None and not self.done:
                self._wait_exit()
            self.cpu_s = max(self.cpu_s, self.box.usage().cpu_s)
            code, self.box_killed = self.box.ended(), self.box.killed_by()
            self.box.kill()
            self._wait_silence()
            return self._end(code)
        finally:
            self.box.kill()
            self.host.close()
            for output in self.outputs:
                output.close()
            if self.match.folder:
                self.match.folder.write_marks(mark for output in self.outputs for mark in output.marks)

    def _serve(self) -> None:
        """Answer requests until the entry is done, gone, out of time, or breaks the protocol."""
        match, host, words = self.match, self.host, self.host.words
        seq, ask = 0, page.ASK
        while True:
            for _ in repeat(None, self.polls):
                if words[ask] != seq:
                    break
            else:
                self.misses += 1
                if self.misses == page.MISSES:
                    self._poll_up_to(0)
                if not self._sleep(seq):
                    return
            seq += 1
            kind = host.asked(seq)
            if words[page.PRINTED]:
                words[page.PRINTED] = 0
                self._listen()
            if kind == page.NEXT:
                packet = match.next()
                if match.part_over:  # a part's end is not the recording's: the entry must not see it
                    self.done = True
                    return
                host.hand_out(seq, packet)
                if match.finish_seen:
                    self._finish_seen()
                else:
                    match.prepare()
            elif kind == page.REPORT:
                self.reports += 1
                if self.reports > FEW_REPORTS + REPORTS_A_PACKET * match.packets:
                    raise Malformed(f"{self.reports} reports after {match.packets} packets: no algorithm needs so many")
                match.report(host.value())
                host.reply(seq)
            elif not self._told(kind, seq):
                return
            if time.monotonic() > self.watch_s and not self._look():
                return

    def _poll_up_to(self, polls: int) -> None:
        """Set how often both sides poll for each other's word before they sleep."""
        self.polls = self.host.words[page.POLLS] = polls

    def _told(self, kind: int, seq: int) -> bool:
        """READY, DONE or FAILED; False when nothing more will come."""
        if kind == page.READY and not self.ready:
            self.ready = True
        elif kind == page.DONE and self.ready:
            self.done = True
        elif kind == page.FAILED:
            self.failed = [one_line(part) for part in (self.host.text().split("\x1f", 3) + [""] * 4)[:4]]
        else:
            raise Malformed(f"a request of unknown kind {kind}")
        self.host.reply(seq)
        return kind == page.READY

    def _finish_seen(self) -> None:
        """From here on only reports count; the entry has a few seconds to exit (R18)."""
        self.deadline_s = min(self.deadline_s, time.monotonic() + self.box.limits.after_finish_s)

    def _sleep(self, seq: int) -> bool:
        """Block until a request comes; False when none will."""
        words, wake_fd, counted = self.host.words, self.host.wake_fd, self.box.counted
        words[page.HOST_ASLEEP] = 1
        alive = True
        while words[page.ASK] == seq:
            if not alive or (time.monotonic() > self.watch_s and not self._look()):
                return False
            woken = False
            for fd, event in self.waiting.poll(page.POLL_MS):
                if fd == wake_fd:
                    woken, alive = True, self.host.take_wakes()
                elif counted and fd == counted.fd:
                    self._answer(fd, event)
                else:
                    self._listen()
                    if not all(output.open for output in self.outputs if output.read_fd == fd):
                        self.waiting.unregister(fd)
            alive = alive and (woken or self.box.ended() is None)
        words[page.HOST_ASLEEP] = 0
        return True

    def _answer(self, fd: int, event: int) -> None:
        """The box asks for a pipe, a socket or a shared page, or nobody in it can ask any more."""
        assert self.box.counted is not None
        if not event & select.POLLIN:
            self.waiting.unregister(fd)
        elif self.box.counted.answer():
            self.waiting.unregister(fd)
            if self.box.counted.fd >= 0:
                self.waiting.register(self.box.counted.fd, select.POLLIN)

    def _listen(self) -> None:
        for output in self.outputs:
            if output.open:
                output.drain(self.match.packets)

    def _look(self) -> bool:
        """Check clock, CPU time and memory; False if the entry must be ended."""
        now_s = time.monotonic()
        if self.host.greeted and self.standing_s is None:
            self.standing_s = now_s
            if not self.match.finish_seen:  # a short match can be over before the first look
                self.deadline_s = now_s + self.match.budget_s
        if self.standing_s is not None and not self.match.packets:
            self.load_s = now_s - self.standing_s
        self.watch_s = min(now_s + WATCH_S, max(self.deadline_s, now_s + 0.001))
        self.misses = 0
        self._poll_up_to(self.spin)  # the machine may be free by now
        used = self.box.usage()
        self.cpu_s = max(self.cpu_s, used.cpu_s)
        budget_s = self.match.budget_s
        if now_s > self.deadline_s:
            if self.match.finish_seen:
                words = f"was still running {self.box.limits.after_finish_s:.0f} s after the finish flag"
            else:
                words = f"took longer than its budget of {budget_s:.0f} s"
            self.stopped = ("over_budget", words)
        elif self.load_s > self.box.limits.load_s:
            self.stopped = ("over_budget", f"did not ask for its first packet within {self.box.limits.load_s:.0f} s")
        elif self.cpu_s > self.box.limits.cpu_s(budget_s):
            self.stopped = ("over_budget", self._too_much_cpu())
        elif words := self.box.over(used):
            self.stopped = ("out_of_memory", words)
        return self.stopped is None

    def _too_much_cpu(self) -> str:
        cores = self.box.limits.cores
        given = f"{cores} core{'s' * (cores != 1)}" if cores else "this machine"
        return f"used more CPU time than {given} can give in its budget of {self.match.budget_s:.0f} s"

    def _wait_exit(self) -> None:
        """The pipe is closed or the entry reported its end: give the process a moment to exit."""
        until_s = time.monotonic() + 2
        while self.box.ended() is None and time.monotonic() < until_s and self._look():
            for fd, event in self.waiting.poll(2):
                if self.box.counted and fd == self.box.counted.fd:
                    self._answer(fd, event)
                else:
                    self._listen()
                    time.sleep(0.002)

    def _wait_silence(self) -> None:
        """Everything is killed: read what is left until the last process has closed its pipes."""
        until_s = time.monotonic() + 5
        while any(output.open for output in self.outputs) and time.monotonic() < until_s:
            self._listen()
            time.sleep(0.001)

    def _end(self, code: int | None) -> End:
        verdict, words = self._verdict(code)
        notes = [f"{o.name} was cut: {o.size} bytes printed, {o.most} kept" for o in self.outputs if o.cut]
        notes += [f"warning: {warning}" for warning in (*self.box.package.warnings, *self.box.interpreter.warnings)]
        if self.load_s > LONG_LOAD_S:
            notes.append(f"{self.load_s:.0f} s passed before it asked for its first packet; they count in its budget")
        if self.box.sandbox == "none":
            notes.append("unsandboxed: the entry ran with this user's rights; not for ranking")
        if verdict != "ok" and self.match.finish_seen:  # the result was final by then (R18)
            notes.append(f"after the finish flag: {words}")
            verdict, words = "ok", ""
        if verdict != "ok":
            tail = self.outputs[1].tail(REASON_LINES)
            words = f"the entry {words}" + (f"; the last lines of its stderr:\n{quoted(tail)}" if tail else "")
        wall_s = time.monotonic() - self.began_s
        outside = verdict == "killed" and code is not None and code - 128 in FROM_OUTSIDE
        return End(verdict, words, tuple(notes), self.cpu_s, wall_s, self.box.record, outside)

    def _verdict(self, code: int | None) -> tuple[Verdict, str]:
        limits = self.box.limits
        if not self.host.greeted:
            raise Fault(f"the box did not start (exit code {code}): {self.outputs[1].tail(3)}")
        over = self.done or self.match.finish_seen
        if self.box.group.host_out_of_memory() and not over:
            raise Fault("the machine ran out of memory and killed a process of the box, which was within its limit")
        if self.box.group.out_of_memory():
            return "out_of_memory", f"used more than {limits.memory_mib} MiB of memory"
        if self.stopped:
            return self.stopped
        if self.failed:
            phase, kind, where, words = self.failed
            at = f" ({where})" if where else ""
            if kind == "MemoryError":
                return "out_of_memory", f"could get no more memory than {limits.memory_mib} MiB{at}"
            if phase == "import" and not self.match.packets:
                ours = "No module named 'bciarena" in words
                advice = "; a box shows nothing of the platform: bring what you use in your package" if ours else ""
                return "import_error", f"cannot be loaded: {words}{at}{advice}"
            return "crashed", f"raised {words}{at}" if kind != "SystemExit" else f"{words}{at}"
        if self.done or (code == 0 and self.ready):
            return "ok", ""
        if self.box_killed and not over:
            raise Fault(f"the box itself was killed from outside (signal {self.box_killed})")
        if code is None:  # the box was ready, so only the entry itself can have hung up
            return "protocol_error", "closed its end of the wire and went on running"
        if code > 128 and self.cpu_s > self.box.limits.cpu_s(self.match.budget_s):
            return "over_budget", self._too_much_cpu()  # the kernel's limit acted before the watcher
        if code > 128:
            return _died_of(code - 128)
        if not self.ready:
            return "import_error", f"exited with code {code} while it was being loaded"
        return "crashed", f"exited with code {code}"


def _died_of(number: int) -> tuple[Verdict, str]:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    words = signal.strsignal(number) or name
    return ("crashed" if number in OWN_FAULTS else "killed"), f"died of {name} ({words.lower()})"
