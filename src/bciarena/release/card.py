"""The data card: who, how much, in what form, of what quality, under which digests, and what was done to the signal."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.importing.meanings import meanings_of
from bciarena.recording import open_recording
from bciarena.recording.channels import cap_rows
from bciarena.recording.model import Block, Recording
from bciarena.release.dealing import Part
from bciarena.words import LANGUAGES, Tables, read_words

FORMAT = 1
LARGE_UV = 200.0
MAINS_HZ = (50.0, 60.0)
MOST_N = 60_000  # samples of a block that its quality is measured on


def card_of(
    book: Rulebook, parts: list[Part], out: Path, licence: str, notes: dict[str, list[str]], said: list[str]
) -> dict[str, Any]:
    """The card as plain values. ``notes`` are what was done to the signal, by set of the source."""
    done = {name: lines for name, lines in notes.items() if lines}
    return {
        "format": FORMAT,
        "challenge": book.id,
        "rulebook": book.digest,
        "licence": licence,
        "channels": list(book.channels),
        "rate": book.rate,
        "reference": meanings_of(book).reference or "as recorded",
        "sets": [_set(book, part, out) for part in parts],
        "done": done,
        "notes": said,
    }


def _set(book: Rulebook, part: Part, out: Path) -> dict[str, Any]:
    recording = part.recording
    codes = Counter(event.code for _, _, block in recording for event in block.events if event.code in book.opens)
    truth = Counter(book.truth[code] for code in codes.elements())
    digests = {where: _digest(out / where / part.name) for where in ("public", "truth")}
    return {
        "name": part.name,
        "role": part.role,
        "people": len(part.subjects),
        "blocks": sum(len(one.blocks) for one in part.subjects),
        "trials": sum(codes.values()),
        "invalid": sum(len(block.invalid) for _, _, block in recording),
        "per_class": _per_class(book, truth) if part.role == "train" else {},  # of a scored set the truth stays here
        "seconds": round(recording.seconds, 3),
        "rate": book.rate,
        "quality": quality_of(recording),
        "digest_public": digests["public"],
        "digest_truth": digests["truth"],
    }


def _per_class(book: Rulebook, truth: Counter[str]) -> dict[str, int]:
    return {name: truth[name] for name in dict.fromkeys(book.truth.values()) if truth[name]}


def _digest(folder: Path) -> str:
    return open_recording(folder).digest if folder.is_dir() else ""


def quality_of(recording: Recording) -> dict[str, Any]:
    """Numbers an organiser looks at first; medians over blocks unless they are counts."""
    rows = [_block_quality(block) for _, _, block in recording]
    return {
        "amplitude_uv": round(float(np.median([row["amplitude"] for row in rows])), 2),
        "beyond_200_uv": round(float(np.mean([row["large"] for row in rows])), 5),
        "flat_channels": sorted({name for row in rows for name in row["flat"]}),
        "zeros": round(float(np.mean([row["zeros"] for row in rows])), 4),
        "mains_db": {str(int(hz)): round(float(np.median([row[hz] for row in rows])), 1) for hz in MAINS_HZ},
    }


def _block_quality(block: Block) -> dict[Any, Any]:
    from scipy.signal import welch

    eeg = np.asarray(block.eeg[:, :MOST_N], float)
    live = eeg.any(axis=0)
    scalp = [row for row in cap_rows(block.channels) if eeg[row].any()]
    kept = eeg[scalp][:, live] if scalp and live.any() else np.zeros((1, 2 * block.rate))
    middle = kept - np.median(kept, axis=1, keepdims=True)
    found: dict[Any, Any] = {
        "amplitude": float(np.median(middle.std(axis=1))),
        "large": float((np.abs(middle) > LARGE_UV).mean()),
        "flat": [name for row, name in enumerate(block.channels) if np.ptp(eeg[row]) == 0],
        "zeros": float(1 - live.mean()),
    }
    hz, power = welch(kept, block.rate, nperseg=min(2 * block.rate, kept.shape[1]))
    whole = power.mean(axis=0)
    for line in MAINS_HZ:
        at = np.abs(hz - line) <= 0.6
        around = (np.abs(hz - line) > 1.5) & (np.abs(hz - line) <= 5)
        level = whole[at].mean() / max(whole[around].mean(), 1e-30) if at.any() and around.any() else 1.0
        found[line] = float(10 * np.log10(max(level, 1e-10)))
    return found


# ---------------------------------------------------------------------- as text


@cache
def _words() -> dict[str, Tables]:
    return read_words(Path(__file__).parent)


def write_card(card: dict[str, Any], folder: Path) -> None:
    """card.json, and the same for people in each language; once more for the public, without digests of the truth.

    With the public copy at hand, the truth of a few trials could be found by trying all of them against its digest.
    """
    _write(card, folder)
    if (folder / "public").is_dir():
        _write(card | {"sets": [one | {"digest_truth": ""} for one in card["sets"]]}, folder / "public")


def _write(card: dict[str, Any], folder: Path) -> None:
    (folder / "card.json").write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", "utf-8")
    for language in LANGUAGES:
        (folder / f"card.{language}.md").write_text(card_text(card, language), "utf-8")


def card_text(card: dict[str, Any], language: str) -> str:
    """The card as Markdown."""
    say = _words()[language]["card"]
    title = contest(card["challenge"]).title(language)
    about = say["about"].format(
        channels=len(card["channels"]), rate=card["rate"], reference=_translated(card["reference"], language)
    )
    lines = [
        f"# {say['title'].format(title=title, challenge=card['challenge'])}",
        "",
        about,
        "",
        f"{say['licence']}: {card['licence'] or say['no_licence']}",
        "",
        f"## {say['sets']}",
        "| " + " | ".join(say["columns"].split("|")) + " |",
        "|" + "---|" * len(say["columns"].split("|")),
    ]
    for one in card["sets"]:
        minutes = f"{one['seconds'] / 60:.1f}"
        cells = (one["name"], say[one["role"]], one["people"], one["blocks"], one["trials"], one["invalid"], minutes)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for one in card["sets"]:
        if one["per_class"]:
            each = ", ".join(f"{name}: {count}" for name, count in one["per_class"].items())
            lines += ["", say["per_class"].format(name=one["name"], each=each)]
    lines += ["", f"## {say['quality']}"]
    for one in card["sets"]:
        lines.append(f"- {one['name']}: {_quality_text(one['quality'], say)}")
    lines += ["", f"## {say['done']}"]
    for name, notes in card["done"].items():
        lines += [f"- {name + ': ' if name else ''}{_translated(note, language)}" for note in notes]
    lines += [f"- {say['masked']}"] if any(one["role"] == "scored" for one in card["sets"]) else []
    lines += [f"- {_translated(note, language)}" for note in card["notes"]]
    lines += ["", f"## {say['digests']}"]
    for one in card["sets"]:
        for where in ("public", "truth"):
            if one[f"digest_{where}"]:
                lines.append(f"- {where}/{one['name']}: `{one[f'digest_{where}']}`")
    return "\n".join(lines) + "\n"


def _quality_text(found: dict[str, Any], say: Any) -> str:
    flat = ", ".join(found["flat_channels"]) or say["none"]
    mains = ", ".join(f"{hz} Hz {level:+.1f} dB" for hz, level in found["mains_db"].items())
    return str(
        say["quality_line"].format(
            amplitude=found["amplitude_uv"], large=100 * found["beyond_200_uv"], zeros=100 * found["zeros"], flat=flat,
            mains=mains,
        )
    )  # fmt: skip


def _translated(note: str, language: str) -> str:
    """A note in a language: its table ``notes`` has patterns of our English notes, and what they become."""
    for pattern, words in _words()[language].get("notes", {}).items():
        if found := re.fullmatch(pattern, note):
            return found.expand(words)
    return note
