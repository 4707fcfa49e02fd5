"""BrainFlow boards as LSL streams (extra ``boards``)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.live.streams import EegOut, need_lsl

FOLLOW = 0.02  # how much of a packet's deviation moves the clock: jitter hardly does, drift does
JUMP_S = 0.5  # a deviation beyond this is a pause of the board, not jitter
WRAP = 256  # package numbers are one byte


class BoardClock:
    """Time of a board's samples: counted at its rate, slowly corrected by the time at which they arrive.

    A board is polled now and then and returns what it has, so the moment of polling is not a sample's time.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.lost_n = 0
        self._last_s: float | None = None
        self._package: int | None = None
        self._usual = WRAP  # the smallest step between two numbers so far

    def time_of_last(self, packages: NDArray[Any], now_s: float) -> float:
        """Time of the newest of these samples; a missing package number is a lost sample."""
        numbers = packages.astype(int)
        if self._package is not None:
            numbers = np.concatenate([[self._package], numbers])
        self._package = int(numbers[-1])
        steps = np.diff(numbers) % WRAP
        if steps.size:  # some boards count by twos; some give several samples one number, and then a jump says nothing
            self._usual = min(self._usual, int(steps.min()))
        lost = int((steps // self._usual - 1).sum()) if 0 < self._usual < WRAP else 0
        self.lost_n += lost
        expected_s = now_s if self._last_s is None else self._last_s + (len(packages) + lost) / self.rate
        off_s = now_s - expected_s
        self._last_s = now_s if abs(off_s) > JUMP_S else expected_s + FOLLOW * off_s
        return self._last_s


def stream_board(
    board_id: int, port: str, name: str, seconds: float | None, stop: threading.Event, say: Callable[[str], None]
) -> int:
    """Stream a board's EEG channels in microvolts; returns the samples sent."""
    try:
        from brainflow.board_shim import BoardShim, BrainFlowError, BrainFlowInputParams
    except ImportError:
        raise BadInput("boards need BrainFlow: pip install 'bciarena[boards]'") from None
    lsl = need_lsl()
    BoardShim.disable_board_logger()
    parameters = BrainFlowInputParams()
    parameters.serial_port = port
    try:
        rows = BoardShim.get_eeg_channels(board_id)
        names = tuple(BoardShim.get_eeg_names(board_id))
        rate = BoardShim.get_sampling_rate(board_id)
        ohm_rows = _resistances(BoardShim, BrainFlowError, board_id, rows)
        package_row = BoardShim.get_package_num_channel(board_id)
        board = BoardShim(board_id, parameters)
        board.prepare_session()
        board.start_stream()
    except BrainFlowError as error:
        raise BadInput(f"board {board_id}: {error}") from error
    same = len(rows) <= len(ohm_rows) <= len(rows) + 1  # one for each electrode, and the reference's behind them
    ohms = tuple(f"Z {name}" for name in (*names, "REF"))[: len(ohm_rows)] if same else ()
    ohms = ohms or tuple(f"Z {k}" for k in range(1, len(ohm_rows) + 1))
    maker = BoardShim.get_device_name(board_id)
    outlet, clock = EegOut(name, names, rate, ohms, maker, f"BrainFlow board {board_id}"), BoardClock(rate)
    say(f"board {board_id}: {len(names)} channels at {rate} Hz; LSL stream {name!r}")
    until = time.monotonic() + seconds if seconds else None
    sent = 0
    try:
        while not stop.wait(0.02) and (until is None or time.monotonic() < until):
            data = board.get_board_data()
            if data.shape[1]:
                outlet.push(data[[*rows, *ohm_rows]], clock.time_of_last(data[package_row], lsl.local_clock()))
                sent += data.shape[1]
    finally:
        board.stop_stream()
        board.release_session()
        outlet.close()
    if clock.lost_n:
        say(f"the board lost {clock.lost_n} samples by its own count")
    return sent


def _resistances(shim: Any, missing: type[Exception], board_id: int, eeg: list[int]) -> list[int]:
    """Rows with impedances in ohms; those that take the place of EEG, a mode of some boards, are not beside it."""
    try:
        rows: list[int] = list(shim.get_resistance_channels(board_id))
    except missing:
        return []
    return [] if set(rows) & set(eeg) else rows
