"""Labels that arrive after each trial, where an organiser lets entries learn while they play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import trial_spans
from bciarena.errors import BadInput
from bciarena.recording.model import Block


def with_labels(rulebook: Rulebook, block: Block) -> NDArray[np.float64]:
    """The masked trigger row with the truth of each trial once no report can count for it any more, shape (samples,).

    It is the code that opened the trial, on the first free sample of a packet: of the one that follows the trial's last
    position or, where the stream hides onsets, of the first one past the limit, since the end of a trial would tell
    where the next one begins. The last trial of a block, and trials that do not count, are not told.
    """
    n = rulebook.packet_n
    row = rulebook.masked_trigger(block.trigger)
    for span in trial_spans(rulebook, block):
        if rulebook.mask[span.code] == span.code:
            raise BadInput(f"{rulebook.id}: code {span.code} reaches the entry as it is: its label cannot come later")
        at = span.stop
        if not rulebook.mask[span.code]:
            late = span.data_start + round((rulebook.limit_s or 0) * rulebook.rate)
            at = -(-late // n) * n if late < span.stop else block.samples
        free = np.flatnonzero(row[at : at + n] == 0)
        if len(free) and not span.invalid:
            row[at + free[0]] = span.code
    return row
