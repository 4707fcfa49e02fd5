"""The EEG that was handed out, small enough for a page: few channels, few samples a second, one byte each."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from bciarena.errors import BadInput
from bciarena.report.kept import KeptRun
from bciarena.report.part import part_of
from bciarena.report.texts import WORDS, Said, said

BYTES_MOST = 1_500_000
"""All traces of a page together, before base64."""
REPORT_BYTES = 60
"""What each report of the entry adds to the page, roughly, in bytes."""
RATES_HZ = (50, 40, 25, 20, 10)


def replay(run: KeptRun, room: int = 2 * BYTES_MOST) -> tuple[dict[str, Any] | None, Said]:
    """What the page's replay needs, or None and the reason.

    ``room`` is how many bytes it may add to the page.

    Traces are downsampled, scaled per channel to a signed byte, and cut to the first blocks when a run is so long that
    even ten samples a second would not fit.
    """
    try:
        recording = run.recording
    except BadInput as error:
        return None, dict.fromkeys(WORDS, str(error))
    book = run.book
    printed = _printed(run)
    beside = sum(len(text.encode()) for *_, text in printed) + REPORT_BYTES * len(run.reports)
    most = min(BYTES_MOST, (room - beside) * 3 // 4)  # base64 makes four bytes of three
    rows = [book.channels.index(name) for name in part_of(book).channels if name in book.channels]
    rows = rows or list(range(min(8, len(book.channels))))
    total_s = recording.seconds
    rate = next((r for r in RATES_HZ if total_s * r * len(rows) <= most), RATES_HZ[-1])
    step = book.rate // rate
    blocks, used = [], 0
    for subject, number, block in recording:
        samples = block.samples // step
        if used + samples * len(rows) > most:
            break
        used += samples * len(rows)
        eeg = np.asarray(block.eeg[rows, : samples * step], np.float32).reshape(len(rows), samples, step).mean(axis=2)
        eeg -= np.median(eeg, axis=1, keepdims=True)
        scale = np.maximum(np.percentile(np.abs(eeg), 99, axis=1), 1e-6)
        small = np.clip(np.round(eeg / scale[:, None] * 60), -127, 127).astype(np.int8)
        codes = [[event.sample / book.rate, book.mask[event.code]] for event in block.events if book.mask[event.code]]
        blocks.append(
            {
                "subject": subject,
                "block": number,
                "seconds": block.seconds,
                "traces": base64.b64encode(small.tobytes()).decode(),
                "samples": samples,
                "microvolts": [round(float(value), 2) for value in scale],
                "codes": codes,
                "reports": _reports(run, subject, number),
            }
        )
    if not blocks:
        return None, said(book, "replay_full")
    left_out = len(list(recording)) - len(blocks)
    note = said(book, "replay_cut", n=left_out) if left_out else {}
    names = [book.channels[row] for row in rows]
    return {"rate": rate, "channels": names, "blocks": blocks, "printed": printed}, note


def _reports(run: KeptRun, subject: int, block: int) -> list[list[Any]]:
    """Time, value, outcome and trial of each report of a block."""
    trials = {t.trial: t for t in run.trials if (t.subject, t.block) == (subject, block)}
    place = next((b for b in run.layout if (b["subject"], b["block"]) == (subject, block)), None)
    rows = []
    for report in run.reports:
        if (report["subject"], report["block"]) != (subject, block):
            continue
        number = 0
        if place:
            number = sum(start < report["position"] for _, start, _ in place["trials"])
        trial = trials.get(number)
        value = report["value"]
        shown = value["other"] if isinstance(value, dict) else str(value)
        mark = (
            "none"
            if trial is None
            else "right"
            if trial.correct
            else trial.status
            if trial.status != "in_time"
            else "wrong"
        )
        rows.append([report["position"] / run.book.rate, shown, mark, number])
    return rows


def _printed(run: KeptRun) -> list[list[Any]]:
    """Printed text with the block and the second after which it came."""
    rows: list[list[Any]] = []
    ends, before = [], 0
    for block in run.layout:
        before += -(-block["samples"] // run.book.packet_n)
        ends.append(before)
    for piece in run.printed:
        index = next((k for k, end in enumerate(ends) if piece.packet <= end), max(len(ends) - 1, 0))
        first = ends[index - 1] if index else 0
        at_s = max(piece.packet - first, 0) * run.book.packet_n / run.book.rate
        rows.append([index, round(at_s, 3), piece.stream, piece.text])
    return rows
