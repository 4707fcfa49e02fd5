"""LSL streams of ours: EEG out, codes out, and both in on one clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput

CODES = "-codes"
HOLD_S = 0.02  # how long a sample waits for codes where someone waits for the answer
PULL_S = 0.005
QUIET_S = 1.0  # a stream that sends nothing for so long has stopped
GAP = 1.5  # a step between time stamps longer than this many sample periods means lost samples


def need_lsl() -> Any:
    """mne_lsl.lsl, or a clear line."""
    try:
        from mne_lsl import lsl, set_log_level
    except (ImportError, RuntimeError, OSError) as error:
        raise BadInput(f"live streams need mne-lsl: pip install 'bciarena[lab]' ({error})") from None
    set_log_level("ERROR")
    return lsl


class EegOut:
    """An EEG stream with its channel names and microvolts."""

    def __init__(self, name: str, channels: tuple[str, ...], rate: int) -> None:
        lsl = need_lsl()
        info = lsl.StreamInfo(name, "EEG", len(channels), rate, "float32", f"bciarena-{name}")
        info.set_channel_names(list(channels))
        info.set_channel_types("eeg")
        info.set_channel_units("microvolts")
        self._outlet = lsl.StreamOutlet(info, max_buffered=60)

    def push(self, eeg: NDArray[Any], last_s: float) -> None:
        """Send (channels, n); ``last_s`` is the time of the last sample."""
        self._outlet.push_chunk(np.ascontiguousarray(eeg.T, dtype=np.float32), last_s)

    def close(self) -> None:
        del self._outlet


class CodesOut:
    """A stream of trigger codes, each at its own time."""

    def __init__(self, name: str) -> None:
        lsl = need_lsl()
        info = lsl.StreamInfo(name + CODES, "Markers", 1, 0.0, "int32", f"bciarena-{name}{CODES}")
        self._outlet = lsl.StreamOutlet(info)

    def push(self, code: int, at_s: float) -> None:
        self._outlet.push_sample(np.array([code], np.int32), at_s)

    def close(self) -> None:
        del self._outlet


@dataclass
class LiveIn:
    """EEG and codes as they come, codes laid on the sample nearest to their time.

    Nothing is ever filled in: lost samples are counted and told, and the stream goes on with what came next.

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
    """

    name: str
    channels: tuple[str, ...]
    rate: int
    wait_s: float = 10.0
    hold_s: float = HOLD_S
    tell: Callable[[str], None] = print
    lost_n: int = 0
    reconnects: int = 0
    late_codes: int = 0
    last_s: float | None = None  # time of the newest sample handed on
    _silent: bool = False
    _heard_s: float = field(default_factory=time.monotonic)
    _codes: deque[tuple[float, int]] = field(default_factory=deque)
    _held: deque[tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._lsl = need_lsl()
        found_eeg = self._find(self.name, self.wait_s)
        if found_eeg is None:
            raise BadInput(f"no LSL stream named {self.name!r} within {self.wait_s:g} s; is it running?")
        # Codes first: those of the first samples must not be missed while the other line is being opened.
        found_codes = self._find(self.name + CODES, 1.0)
        self._marks = self._open(found_codes) if found_codes is not None else None
        if self._marks is None:
            self.hold_s = 0.0
            self.tell(f"there is no stream {self.name + CODES!r}: no codes will be seen")
        self._eeg = self._open(found_eeg)
        info = self._eeg.get_sinfo()
        found = tuple(info.get_channel_names() or ())
        if round(info.sfreq) != self.rate:
            raise BadInput(f"stream {self.name!r}: {info.sfreq:g} Hz; {self.rate} Hz are needed")
        self._rows = self._matching(found, info.n_channels)

    def _matching(self, found: tuple[str, ...], count: int) -> list[int]:
        if not found or all(not name for name in found):
            if count < len(self.channels):
                raise BadInput(f"stream {self.name!r}: {count} unnamed channels; {len(self.channels)} are needed")
            return list(range(len(self.channels)))
        places = {name.casefold(): row for row, name in enumerate(found)}
        missing = [name for name in self.channels if name.casefold() not in places]
        if missing:
            raise BadInput(f"stream {self.name!r}: has no channel {', '.join(missing[:8])}")
        return [places[name.casefold()] for name in self.channels]

    def _find(self, name: str, wait_s: float) -> Any:
        until = time.monotonic() + wait_s
        while True:
            for info in self._lsl.resolve_streams(timeout=min(1.0, wait_s), name=name):
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
            hold_s = self._held[0][1][-1] + self.hold_s - self._lsl.local_clock() if self._held else PULL_S
            if hold_s <= 0:
                break
            if time.monotonic() > until:
                self._look_for_silence()
                return np.zeros((len(self.channels), 0)), np.zeros(0, np.int64)
            data, stamps = self._eeg.pull_chunk(timeout=min(hold_s, PULL_S), max_samples=1024)
            if len(stamps):
                # copies: the library fills the same buffers again with the next pull
                self._held.append((np.array(data, np.float64).T[self._rows], np.array(stamps)))
                self._heard_s = time.monotonic()
        self._pull_codes()
        eeg, times = self._held.popleft()
        codes = self._place(times)
        self._look_for_gaps(times)
        return eeg, codes

    def rest(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """What is still held back, at once: for the end of a recording."""
        self.hold_s = 0.0
        while self._held:
            yield self.read(0.0)

    def _pull_codes(self) -> None:
        if self._marks is None:
            return
        data, stamps = self._marks.pull_chunk(timeout=0.0, max_samples=256)
        for stamp, row in zip(stamps, data, strict=True):
            self._codes.append((float(stamp), int(row[0])))

    def _place(self, stamps: NDArray[np.float64]) -> NDArray[np.int64]:
        codes = np.zeros(len(stamps), np.int64)
        if not len(stamps):
            return codes
        half = 0.5 / self.rate
        while self._codes and self._codes[0][0] <= stamps[-1] + half:
            at_s, code = self._codes.popleft()
            if at_s < stamps[0] - half and self.last_s is None:
                continue  # older than the first sample we have
            if at_s < stamps[0] - half:
                self.late_codes += 1
                self.tell(
                    f"code {code} came {(stamps[0] - at_s) * 1e3:.0f} ms after its sample and was put on the next one"
                )
            row = int(np.argmin(np.abs(stamps - at_s)))
            while row < len(stamps) and codes[row]:  # two codes must not fall on one sample
                row += 1
            if row == len(stamps):
                self._codes.appendleft((float(stamps[-1] + 1.1 / self.rate), code))
                break
            codes[row] = code
        return codes

    def _look_for_silence(self) -> None:
        if not self._silent and time.monotonic() - self._heard_s > QUIET_S:
            self._silent = True
            self.tell(f"the stream has stopped: no samples for {QUIET_S:g} s; data so far is kept, waiting for more")

    def _look_for_gaps(self, stamps: NDArray[np.float64]) -> None:
        before = stamps if self.last_s is None else np.concatenate([[self.last_s], stamps])
        steps = np.diff(before) * self.rate
        lost = int(sum(round(step) - 1 for step in steps if step > GAP))
        if lost > 0:
            self.lost_n += lost
            self.tell(f"{lost} samples were lost before {stamps[-1]:.3f} s; nothing was filled in")
        if self._silent:
            self._silent = False
            self.reconnects += 1
            self.tell("the stream is back")
        self.last_s = float(stamps[-1])

    def close(self) -> None:
        for inlet in (self._eeg, self._marks):
            if inlet is not None:
                inlet.close_stream()
