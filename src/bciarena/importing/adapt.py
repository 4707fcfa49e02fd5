"""Adapts a recording to a challenge: rate, channels, codes. Every change is noted."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.importing.meanings import Blank, meanings_of
from bciarena.importing.piece import Piece
from bciarena.importing.sources import need_mne
from bciarena.recording.channels import WHOLE_CAP, cap_rows, find_rows
from bciarena.recording.montages import NOT_SCALP

ENOUGH_TO_INTERPOLATE = 16  # fewer electrodes than this say nothing about the rest of the head


def adapted(
    book: Rulebook, piece: Piece, events: dict[str, int], names: Mapping[str, str] | None = None, keep_all: bool = False
) -> NDArray[np.float32]:
    """The piece as (channels + 1, samples) in the challenge's rate, rows and codes.

    ``names`` maps the challenge's channels to the source's; ``keep_all`` keeps what its recordings blank.
    """
    _code(book, piece, events)
    _rename(piece, names or {})
    _average(book, piece)
    _resample(book, piece)
    rows = _rows(book, piece)
    data = np.zeros((len(book.channels) + 1, piece.eeg.shape[1]), np.float32)
    data[:-1] = rows
    for sample, code in _framed(book, piece):
        data[-1, sample] = code
    if meanings_of(book).blank_s and not keep_all:
        data[:-1] = Blank(book)(data[:-1], data[-1].astype(np.int64))
        piece.notes.append("what the challenge's recordings do not keep within trials is 0")
    return data


def _rename(piece: Piece, names: Mapping[str, str]) -> None:
    theirs = {name.casefold(): row for row, name in enumerate(piece.channels)}
    renamed = list(piece.channels)
    for ours, name in names.items():
        if name and name.casefold() not in theirs:
            raise BadInput(f"{piece.source}: has no channel {name}, which the map gives for {ours}")
        if name:
            renamed[theirs[name.casefold()]] = ours
    piece.channels = tuple(renamed)


def _average(book: Rulebook, piece: Piece) -> None:
    """The common average over the whole cap, where the challenge is measured against it."""
    if meanings_of(book).reference != "average":
        return
    cap = cap_rows(piece.channels)
    if len(cap) < WHOLE_CAP:
        piece.notes.append(f"only {len(cap)} electrodes: taken as referenced to the common average already")
        return
    piece.eeg = piece.eeg - piece.eeg[cap].mean(axis=0)
    piece.notes.append(f"referenced to the common average of {len(cap)} electrodes")


def _code(book: Rulebook, piece: Piece, events: dict[str, int]) -> None:
    if not piece.marks:
        return
    used: dict[str, int] = {}
    for sample, word in piece.marks:
        code = events.get(word, events.get(_bare(word)))
        if code is None and not events:
            code = _guess(book, _bare(word))
        if code is not None:
            piece.codes.append((sample, code))
            used[word] = code
    piece.codes.sort()
    if used:
        piece.notes.append("events: " + ", ".join(f"{word} is {code}" for word, code in sorted(used.items())))
    left = sorted({word for _, word in piece.marks} - set(used))
    if left:
        piece.notes.append("events left out: " + ", ".join(left[:20]))
    if not any(code in book.opens for _, code in piece.codes):
        raise BadInput(
            f"{piece.source}: none of its events opens a {book.id} trial: {', '.join(left[:12])}; "
            "say what they mean with --events WORD=CODE,..."
        )


def _bare(word: str) -> str:
    """A BrainVision marker without its kind: Comment/feet is feet, Stimulus/S  7 is 7."""
    kind, slash, rest = word.partition("/")
    if not slash or kind not in ("Comment", "Stimulus", "Response"):
        return word
    return rest[1:].strip() if rest[:1] in "SR" and rest[1:].strip().isdigit() else rest


def _guess(book: Rulebook, word: str) -> int | None:
    """A code for a word without explanation: a known class name, a flicker frequency, or the number itself."""
    meanings = meanings_of(book)
    if word in meanings.words:
        return meanings.words[word]
    try:
        number = float(word)
    except ValueError:
        return None
    known = meanings.number(number) if meanings.number else None
    if known is not None:
        return known
    return int(number) if number == int(number) and 0 < number < 256 else None


def _resample(book: Rulebook, piece: Piece) -> None:
    if piece.rate == book.rate:
        return
    from scipy.signal import resample_poly

    ratio = Fraction(book.rate / piece.rate).limit_denominator(1000)
    before = piece.eeg.shape[1]
    piece.eeg = resample_poly(piece.eeg, ratio.numerator, ratio.denominator, axis=1, padtype="line")
    last = piece.eeg.shape[1] - 1
    taken: dict[int, int] = {}
    invalid = {}
    for sample, code in piece.codes:
        at = min(round(sample * piece.eeg.shape[1] / before), last)
        while at in taken and at < last:  # two codes must not fall on one sample
            at += 1
        taken[at] = code
        if sample in piece.invalid:
            invalid[at] = piece.invalid[sample]
    piece.invalid = invalid
    piece.codes = sorted(taken.items())
    piece.notes.append(f"resampled from {piece.rate:g} to {book.rate} Hz")


def _rows(book: Rulebook, piece: Piece) -> NDArray[np.float64]:
    """Rows in the challenge's order; missing scalp electrodes are interpolated if enough are present."""
    have = find_rows(book.channels, piece.channels)
    found = {k: have[name] for k, name in enumerate(book.channels) if name in have}
    if not found:
        raise BadInput(f"{piece.source}: none of its channels ({', '.join(piece.channels[:8])}...) is in {book.id}")
    rows = np.zeros((len(book.channels), piece.eeg.shape[1]))
    for k, row in found.items():
        rows[k] = piece.eeg[row]
    missing = [k for k, name in enumerate(book.channels) if k not in found and name not in NOT_SCALP]
    zero = [name for k, name in enumerate(book.channels) if k not in found and name in NOT_SCALP]
    scalp = [k for k in found if book.channels[k] not in NOT_SCALP]
    if missing and len(scalp) >= ENOUGH_TO_INTERPOLATE:
        rows = _interpolated(book, piece, rows, [*scalp, *missing], missing)
        piece.notes.append("interpolated: " + " ".join(book.channels[k] for k in missing))
    elif missing:
        zero += [book.channels[k] for k in missing]
    if zero:
        piece.notes.append("rows of zeros: " + " ".join(zero))
    dropped = [name for row, name in enumerate(piece.channels) if row not in found.values()]
    if dropped:
        more = f" (+{len(dropped) - 20})" if len(dropped) > 20 else ""
        piece.notes.append("channels left out: " + " ".join(dropped[:20]) + more)
    return rows


def _interpolated(
    book: Rulebook, piece: Piece, rows: NDArray[Any], used: list[int], missing: list[int]
) -> NDArray[Any]:
    """Spherical splines, by MNE."""
    mne = need_mne()
    names = [f"{k}" for k in used]
    known = mne.channels.get_builtin_montages()
    montage = mne.channels.make_standard_montage("colin27_1005" if "colin27_1005" in known else "standard_1005")
    places = {name.casefold(): place for name, place in montage.get_positions()["ch_pos"].items()}
    ch_pos = {str(k): places[book.channels[k].casefold()] for k in used}
    info = mne.create_info(names, piece.rate, "eeg")
    raw = mne.io.RawArray(rows[used] * 1e-6, info, verbose="error")
    raw.set_montage(mne.channels.make_dig_montage(ch_pos, coord_frame="head"), verbose="error")
    raw.info["bads"] = [str(k) for k in missing]
    raw.interpolate_bads(verbose="error")
    rows = rows.copy()
    rows[used] = raw.get_data() * 1e6
    return rows


def _framed(book: Rulebook, piece: Piece) -> list[tuple[int, int]]:
    """Codes, with those that a contest file has around trials and blocks added where the source lacks them."""
    codes = dict(piece.codes)
    last = piece.eeg.shape[1] - 1
    added = set()
    trial_s = meanings_of(book).trial_s
    if 241 not in codes.values() and trial_s is not None:
        for sample, code in piece.codes:
            end = sample + round(trial_s * book.rate)
            if code in book.opens and end < last and end not in codes:
                codes[end] = 241
                added.add(241)
    if 242 not in codes.values():
        for sample, code in ((0, 242), (last, 243)):
            if sample not in codes:
                codes[sample] = code
                added.add(code)
    if added:
        piece.notes.append("codes added: " + ", ".join(map(str, sorted(added))))
    return sorted(codes.items())
