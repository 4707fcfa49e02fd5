"""LSL streams: EEG out, codes out, and both in on one clock, with a note of everything that is wrong with them."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.live.amplifier import Amplifier, Bad, Wiring
from bciarena.live.notes import NOTE
from bciarena.recording.lsl_desc import MAKER, codes_desc, eeg_desc

CODES = "-codes"
ANNOTATIONS = "-annotations"
"""How mne-lsl's player names the events of a file: a channel for each of their words, or the words themselves."""
MOST_HZ = 1e6
HOLD_S = 0.02  # how long a sample waits for codes where someone waits for the answer
PULL_S = 0.005
QUIET_S = 1.0  # a stream that sends nothing for so long has stopped
GAP, GAP_S = 1.5, 0.006  # a step between time stamps longer than so many samples and so long means lost samples
JITTERS, ENOUGH_ODD = 3.0, 20  # some amplifiers stamp what they have when they are asked: so many times their jitter
BACK_S = 0.05  # time stamps that go back by more than this, or lie so far in the future, come from a clock that jumped
AHEAD_S = 0.5
LATE_S = 0.035  # two frames: a code that comes later than this has moved too far for its trial to be used
FOREVER = 1 << 62
LSL_SETTINGS = [folder / "lsl_api.cfg" for folder in (Path(), Path("~/lsl_api").expanduser(), Path("/etc/lsl_api"))]
"""Where LSL's library looks for a laboratory's settings."""


def need_lsl() -> Any:
    """mne_lsl.lsl, or a clear line."""
    # LSL's library writes its greetings to everybody's terminal; a laboratory's own settings come first.
    if "LSLAPICFG" not in os.environ and not any(place.is_file() for place in LSL_SETTINGS):
        os.environ["LSLAPICFG"] = str(Path(__file__).with_name("lsl_api.ini"))
    try:
        from mne_lsl import lsl, set_log_level
    except (ImportError, RuntimeError, OSError) as error:
        raise BadInput(f"live streams need mne-lsl: pip install 'bciarena[lab]' ({error})") from None
    set_log_level("ERROR")
    return lsl


def _describe(info: Any, desc: Element) -> None:
    """Put a description into a stream's header."""

    def add(to: Any, item: Element) -> None:
        for child in item:
            if len(child):
                add(to.append_child(child.tag), child)
            else:
                to.append_child_value(child.tag, child.text or "")

    add(info.desc, desc)


class EegOut:
    """An EEG stream that describes itself, with impedances in ohms behind its channels where there are any."""

    def __init__(
        self,
        name: str,
        channels: tuple[str, ...],
        rate: int,
        ohms: tuple[str, ...] = (),
        maker: str = MAKER,
        model: str = "",
    ) -> None:
        lsl = need_lsl()
        info = lsl.StreamInfo(name, "EEG", len(channels) + len(ohms), rate, "float32", f"bciarena-{name}")
        _describe(info, eeg_desc(channels, ohms, maker, model))
        self._outlet = lsl.StreamOutlet(info, max_buffered=60)

    def push(self, eeg: NDArray[Any], last_s: float) -> None:
        """Send (channels, n); ``last_s`` is the time of the last sample."""
        self._outlet.push_chunk(np.ascontiguousarray(eeg.T, dtype=np.float32), last_s)

    def close(self) -> None:
        del self._outlet


class CodesOut:
    """A stream of trigger codes, each at its own time; ``offset_s`` later where the screen was found to be late."""

    def __init__(self, name: str, offset_s: float = 0.0) -> None:
        self.offset_s = offset_s
        lsl = need_lsl()
        info = lsl.StreamInfo(name + CODES, "Markers", 1, 0.0, "int32", f"bciarena-{name}{CODES}")
        _describe(info, codes_desc())
        self._outlet = lsl.StreamOutlet(info)

    def push(self, code: int, at_s: float) -> None:
        self._outlet.push_sample(np.array([code], np.int32), at_s + self.offset_s)

    def close(self) -> None:
        del self._outlet


class Gap(NamedTuple):
    """A place where samples do not follow each other in time; ``jumped``: the clock is to blame."""

    seconds: float
    jumped: bool


class Held(NamedTuple):
    """Samples that follow each other, (channels, n), their times, and the gaps before them."""

    eeg: NDArray[np.float64]
    stamps: NDArray[np.float64]
    gaps: tuple[Gap, ...]


@dataclass
class LiveIn:
    """EEG and codes as they come, codes laid on the sample nearest to their time.

    Nothing is ever filled in: lost samples are counted and told, and the stream goes on with what came next. A code
    that was sent while no samples came is lost; it is laid on no other sample.

    Parameters
    ----------
    name : str
        Of the EEG stream; the codes come from the stream of that name with ``-codes``, if there is one.
    wait_s : float
        How long to look for the stream.
    hold_s : float
        How long samples are held back: a code travels on a line of its own and may come after them.
    tell : callable
        Hears what happens: gaps, reconnects.
    mark : callable
        Hears what makes trials invalid: samples from ``sample`` to ``until`` and the ``reason``, with ``code`` where
        it concerns that code alone; or a code without a sample, ``lost_at``. Where it lasted from one time to another
        it has ``span_s``.
    """

    name: str
    book: Rulebook
    wiring: Wiring = field(default_factory=Wiring)
    wait_s: float = 10.0
    hold_s: float = HOLD_S
    tell: Callable[[str], None] = print
    mark: Callable[[dict[str, Any]], None] = lambda line: None
    samples: int = 0  # handed on so far
    lost_n: int = 0
    reconnects: int = 0
    late_codes: int = 0
    lost_codes: int = 0
    last_s: float | None = None  # time of the newest sample handed on
    _silent: bool = False
    _heard_s: float = field(default_factory=time.monotonic)
    _came_s: float | None = None  # time of the newest sample that came
    _codes: deque[tuple[float, int]] = field(default_factory=deque)
    _words: list[int | None] | None = None  # of an annotations stream: the code of each of its channels
    _odd: deque[float] = field(default_factory=lambda: deque(maxlen=200))  # the last steps that were not a sample long
    _gaps: list[Gap] = field(default_factory=list)
    _bad: list[Bad] = field(default_factory=list)
    _bad_now: set[str] = field(default_factory=set)
    _held: deque[Held] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._lsl = need_lsl()
        found_eeg = self._find(self.name, self.wait_s)
        if found_eeg is None:
            raise BadInput(f"no LSL stream named {self.name!r} within {self.wait_s:g} s; is it running?")
        # Codes first: those of the first samples must not be missed while the other line is being opened.
        found_codes = self._find(self.name + CODES, 1.0)
        annotated = self._find(self.name + ANNOTATIONS, 0.2) if found_codes is None else None
        found_codes = annotated if found_codes is None else found_codes
        self._marks = self._open(found_codes) if found_codes is not None else None
        if annotated is not None and self._marks is not None:
            read = self._marks.get_sinfo
            self._words = [number_in(word) for word in header_of(read, self.name + ANNOTATIONS)[0][0]]
        if self._marks is None:
            self.hold_s = 0.0
            self.tell(NOTE("no_codes", name=repr(self.name + CODES)))
        self._eeg = self._open(found_eeg)
        said, count, rate = header_of(self._eeg.get_sinfo, self.name)
        self.amplifier = Amplifier(self.book, self.wiring, self.name, said[0], said[1], said[2], count, rate, self.tell)
        self.described = self.amplifier.described(count)

    def _find(self, name: str, wait_s: float) -> Any:
        until = time.monotonic() + wait_s
        while True:
            for info in of_header(lambda: self._lsl.resolve_streams(timeout=min(1.0, wait_s), name=name), name):
                return info
            if time.monotonic() > until:
                return None

    def _open(self, info: Any) -> Any:
        inlet = self._lsl.StreamInlet(info, max_buffered=60, processing_flags=["clocksync"], recover=True)
        inlet.open_stream(timeout=5.0)
        inlet.time_correction(timeout=5.0)  # measured now: it would hold up the first sample or code by 0.7 s
        return inlet

    def read(self, wait_s: float = 0.2) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Samples that came since, (channels, n), and the code on each, (n,); waits a little for the first."""
        until = time.monotonic() + wait_s
        while True:
            hold_s = self._held[0].stamps[-1] + self.hold_s - self._lsl.local_clock() if self._held else PULL_S
            if hold_s <= 0:
                break
            if time.monotonic() > until:
                self._look_for_silence()
                return np.zeros((len(self.book.channels), 0)), np.zeros(0, np.int64)
            data, stamps = self._eeg.pull_chunk(timeout=min(hold_s, PULL_S), max_samples=1024)
            if len(stamps):
                # copies: the library fills the same buffers again with the next pull
                self._take(np.array(data, np.float64).T, np.array(stamps))
                self._heard_s = time.monotonic()
        self._pull_codes()
        piece = self._held.popleft()
        for gap in piece.gaps:
            self._note_gap(gap, float(piece.stamps[0]))
        codes = self._place(piece)
        self._note_bad(piece.stamps)
        if self._silent:
            self._silent = False
            self.reconnects += 1
            self.tell(NOTE("back"))
        self.samples += len(piece.stamps)
        self.last_s = float(piece.stamps[-1])
        return piece.eeg, codes

    def rest(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """What is still held back, at once: for the end of a recording."""
        self.hold_s = -FOREVER
        while self._held:
            yield self.read(0.0)

    def _take(self, data: NDArray[np.float64], stamps: NDArray[np.float64]) -> None:
        """Cut what came where time does not go on, and hold it back in the contest's form."""
        before = np.concatenate([[stamps[0] if self._came_s is None else self._came_s], stamps])
        steps = np.diff(before)
        off = np.abs(steps - 1 / self.amplifier.rate)
        self._odd.extend(off[off > 0.25 / self.amplifier.rate])
        usual_s = float(np.percentile(self._odd, 90)) if len(self._odd) >= ENOUGH_ODD else 0.0
        longest = max(GAP / self.amplifier.rate, GAP_S, JITTERS * usual_s)
        ahead_s = self._lsl.local_clock() + AHEAD_S
        cuts = np.flatnonzero((steps > longest) | (steps < -BACK_S))
        self._came_s = float(stamps[-1])
        for start, stop in zip([0, *cuts], [*cuts, len(stamps)], strict=True):
            if start == stop:
                continue
            if start in cuts:
                missing_s = float(steps[start]) - 1 / self.amplifier.rate
                self._gaps.append(Gap(missing_s, bool(missing_s < 0 or stamps[start] > ahead_s)))
                self.amplifier.restart()
            eeg, times, bad = self.amplifier(data[:, start:stop], stamps[start:stop])
            self._bad += bad
            if len(times):
                self._held.append(Held(eeg, times, tuple(self._gaps)))
                self._gaps = []

    def _pull_codes(self) -> None:
        if self._marks is None:
            return
        data, stamps = self._marks.pull_chunk(timeout=0.0, max_samples=256)
        for stamp, row in zip(stamps, data, strict=True):
            code = int(row[0]) if self._words is None else annotated_code(row, self._words)
            if code is not None:
                self._codes.append((float(stamp), code))

    def _place(self, piece: Held) -> NDArray[np.int64]:
        stamps = piece.stamps
        codes = np.zeros(len(stamps), np.int64)
        half = 0.5 / self.book.rate
        while self._codes and self._codes[0][0] <= stamps[-1] + half:
            at_s, code = self._codes.popleft()
            late_s = float(stamps[0]) - at_s
            if late_s > half and self.last_s is None:
                self.tell(NOTE("before_first", code=code, s=late_s))
                continue
            if late_s > half and piece.gaps:
                self._lose(code, at_s)
                continue
            row = int(np.argmin(np.abs(stamps - at_s)))
            while row < len(stamps) and codes[row]:  # two codes must not fall on one sample
                row += 1
            if row == len(stamps):
                self._codes.appendleft((float(stamps[-1] + 1.1 / self.book.rate), code))
                break
            codes[row] = code
            if late_s > half:
                self.late_codes += 1
                why = NOTE("late_code", code=code, ms=late_s * 1e3)
                self.tell(why)
                if late_s > LATE_S:
                    at = self.samples + row
                    self.mark({"sample": at, "until": at + 1, "code": code, "reason": why})
        return codes

    def _lose(self, code: int, at_s: float) -> None:
        after_s = max(0.0, at_s - (self.last_s or at_s))
        self.lost_codes += 1
        why = NOTE("code_in_gap", code=code, s=after_s)
        self.tell(NOTE("code_lost", why=why))
        self.mark({"lost_at": self.samples, "code": code, "reason": why})

    def _look_for_silence(self) -> None:
        if not self._silent and time.monotonic() - self._heard_s > QUIET_S:
            self._silent = True
            self.tell(NOTE("stopped", s=QUIET_S))

    def _note_gap(self, gap: Gap, back_s: float) -> None:
        at_s = self.samples / self.book.rate
        if gap.jumped:
            why = NOTE("jumped", s=gap.seconds, at=at_s)
            self.tell(NOTE("jumped_told", why=why))
        else:
            lost = max(1, round(gap.seconds * self.book.rate))
            self.lost_n += lost
            why = NOTE("lost", n=lost, at=at_s)
            self.tell(NOTE("lost_told", why=why))
        span = {} if gap.jumped else {"span_s": (back_s - gap.seconds, back_s)}
        self.mark({"sample": self.samples, "until": FOREVER if gap.jumped else self.samples, "reason": why, **span})

    def _note_bad(self, stamps: NDArray[np.float64]) -> None:
        """Channels without numbers among samples that are handed on now; a filter spreads them a little."""
        wide_s = self.amplifier.delay_s
        now = [bad for bad in self._bad if bad.first_s - wide_s <= stamps[-1]]
        self._bad = [bad for bad in self._bad if bad.last_s + wide_s > stamps[-1]]
        names = {bad.channel for bad in now}
        at_s = self.samples / self.book.rate
        for bad in now:
            first, last = np.searchsorted(stamps, [bad.first_s - wide_s, bad.last_s + wide_s + 1e-9])
            line: dict[str, Any] = {"sample": self.samples + int(first), "until": self.samples + int(last)}
            line["span_s"] = (bad.first_s, bad.last_s)
            self.mark(line | {"reason": f"{bad.channel} gave no numbers"})
        if names - self._bad_now:
            self.tell(NOTE("no_numbers", names=" ".join(sorted(names)), at=at_s))
        elif self._bad_now - names:
            self.tell(NOTE("numbers_again", names=" ".join(sorted(self._bad_now - names)), at=at_s))
        self._bad_now = names

    def close(self) -> None:
        self._pull_codes()
        for at_s, code in self._codes:
            if self.last_s is not None and at_s > self.last_s + 0.5 / self.book.rate:
                self._lose(code, at_s)
        for inlet in (self._eeg, self._marks):
            if inlet is not None:
                inlet.close_stream()
        # Inlets that stay would look for their streams again, and say so, when those end after us.
        self._eeg = self._marks = None


def number_in(word: str) -> int | None:
    """The code at the end of an annotation's word (``201``, ``Stimulus/S201``); None where there is none."""
    found = re.search(r"(\d{1,3})\s*$", word)
    return int(found[1]) if found and 0 < int(found[1]) < 256 else None


def annotated_code(row: Any, words: list[int | None]) -> int | None:
    """The code of one annotation: its word, or the channel that is not 0."""
    if isinstance(row[0], (str, bytes)):
        return number_in(row[0].decode("utf-8", "replace") if isinstance(row[0], bytes) else row[0])
    return next((code for value, code in zip(row, words, strict=False) if value), None)


def of_header(read: Callable[[], Any], name: str) -> Any:
    """What a stream says of itself; anybody on the network may have written it."""
    try:
        return read()
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise BadInput(f"stream {name!r}: its header cannot be read ({error})") from error


def header_of(read: Callable[[], Any], name: str) -> tuple[list[tuple[str, ...]], int, float]:
    """Names, units and types of a stream's channels as it declares them, how many there are, and its rate."""
    info = of_header(read, name)
    told = (info.get_channel_names, info.get_channel_units, info.get_channel_types)
    said = [tuple(one or "" for one in of_header(ask, name) or ()) for ask in told]
    if not 0 <= info.sfreq < MOST_HZ:
        raise BadInput(f"stream {name!r}: its header names {info.sfreq} samples per second")
    return said, info.n_channels, info.sfreq
