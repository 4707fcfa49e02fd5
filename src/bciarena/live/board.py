"""BrainFlow boards as LSL streams (extra ``boards``)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bciarena.errors import BadInput
from bciarena.live.streams import EegOut, need_lsl


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
        board = BoardShim(board_id, parameters)
        board.prepare_session()
        board.start_stream()
    except BrainFlowError as error:
        raise BadInput(f"board {board_id}: {error}") from error
    outlet = EegOut(name, names, rate)
    say(f"board {board_id}: {len(names)} channels at {rate} Hz; LSL stream {name!r}")
    until = time.monotonic() + seconds if seconds else None
    sent = 0
    try:
        while not stop.wait(0.02) and (until is None or time.monotonic() < until):
            data = board.get_board_data()
            if data.shape[1]:
                outlet.push(data[rows], lsl.local_clock())
                sent += data.shape[1]
    finally:
        board.stop_stream()
        board.release_session()
        outlet.close()
    return sent
