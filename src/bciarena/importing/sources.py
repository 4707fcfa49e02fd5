"""Where recordings come from: contest files, .dat with .yaml, anything MNE opens, and MOABB data sets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bciarena.errors import BadInput
from bciarena.importing.piece import Piece
from bciarena.recording.apart import read_apart
from bciarena.recording.contest import READERS, read_block
from bciarena.recording.folder import open_recording
from bciarena.recording.model import Block
from bciarena.recording.units import to_microvolt

MNE_ENDINGS = (".edf", ".bdf", ".gdf", ".vhdr", ".set", ".fif", ".fif.gz", ".xdf")
MOST_HZ = 100_000
DAT_TO_MICROVOLT = 1e6  # the contests' .dat files are in volts


def pieces(source: str, subjects: tuple[int, ...] = ()) -> Iterator[Piece]:
    """Every continuous recording of a source, in order."""
    if source.startswith("moabb:"):
        yield from _moabb(source.removeprefix("moabb:"), subjects)
        return
    path = Path(source)
    if not path.exists():
        raise BadInput(f"{source}: no such file or folder")
    if path.is_file():
        yield _file(path, "S01")
        return
    try:
        recording = open_recording(path)
    except BadInput:
        files = sorted(f for f in path.rglob("*") if f.name.lower().endswith((*MNE_ENDINGS, ".dat")))
        if not files:
            raise
        for file in files:
            yield _file(file, _subject_of(file, path))
        return
    for number, _, block in recording:
        yield _block(block, recording.subjects[number - 1].name)


def _subject_of(file: Path, root: Path) -> str:
    """The folder below the root, or the name up to the first digits: S001R04.edf is S001's."""
    inside = file.relative_to(root)
    if len(inside.parts) > 1:
        return inside.parts[0]
    found = re.match(r"[A-Za-z]*[-_]?\d+", file.name)
    return found.group() if found else file.stem


def _file(path: Path, subject: str) -> Piece:
    piece = _read(path, subject)
    if not 1 <= piece.rate <= MOST_HZ:
        raise BadInput(f"{path}: {piece.rate:g} samples per second; between 1 and {MOST_HZ} can be used")
    return piece


def _read(path: Path, subject: str) -> Piece:
    if path.suffix in READERS:
        return _block(read_block(path), subject)
    if path.suffix == ".dat":
        return _dat(path, subject)
    return _mne(path, subject)


def _block(block: Block, subject: str) -> Piece:
    codes = [(event.sample, event.code) for event in block.events]
    eeg = np.asarray(block.eeg, float)
    return Piece(subject, block.source, eeg, block.rate, block.channels, codes=codes, invalid=dict(block.invalid))


def _dat(path: Path, subject: str) -> Piece:
    """32-bit floats, all channels and the trigger sample by sample; a .yaml of the same name describes them."""
    about = path.with_suffix(".yaml")
    try:
        told = yaml.safe_load(about.read_text("utf-8"))
        names, rate = tuple(map(str, told["channel_label"])), float(told["sample_rate"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"{about}: needs channel_label and sample_rate to read {path.name} ({error})") from error
    raw = np.fromfile(path, "<f4")
    if raw.size % (len(names) + 1) or not raw.size:
        raise BadInput(f"{path}: {raw.size} numbers do not make {len(names)} channels and a trigger; is it cut short?")
    data = raw.reshape(-1, len(names) + 1).T.astype(np.float64)
    at = np.flatnonzero(data[-1])
    codes = [(int(sample), round(float(data[-1, sample]))) for sample in at]
    piece = Piece(subject, str(path), data[:-1] * DAT_TO_MICROVOLT, rate, names, codes=codes)
    piece.notes.append("volts turned into microvolts")
    return piece


def _mne(path: Path, subject: str) -> Piece:
    return Piece(**{**read_apart(mne_fields, path), "subject": subject})


def mne_fields(path: Path) -> dict[str, Any]:
    """A Piece's fields, for the reader's own process."""
    mne = need_mne()
    try:
        if path.suffix == ".xdf":
            return vars(_xdf(path, ""))
        if path.suffix.lower() == ".gdf":
            _check_gdf(path)
        raw = mne.io.read_raw(path, preload=True, verbose="error")
        return vars(from_raw(raw, "", str(path)))
    except BadInput:
        raise
    except Exception as error:  # its readers, and what they make of a damaged file, fail in many ways
        raise BadInput(f"{path}: MNE cannot read it ({error})") from error


def _check_gdf(path: Path) -> None:
    """MNE makes lists for as many channels as the header names: billions, where a bit is wrong."""
    with open(path, "rb") as file:
        head = file.read(256)
    named = int.from_bytes(head[252 : 256 if head[4:5] == b"1" else 254], "little")  # version 2 has two bytes for it
    if 256 * (named + 1) > path.stat().st_size:
        raise BadInput(f"{path}: its header names {named} channels, for which it is too short; is it damaged?")


def _xdf(path: Path, subject: str) -> Piece:
    """The first EEG stream of an XDF file; marker streams become marks on its clock."""
    try:
        import pyxdf
    except ImportError:
        raise BadInput("reading XDF needs pyxdf: pip install 'bciarena[files]'") from None
    streams, _ = pyxdf.load_xdf(str(path))
    eeg = next((s for s in streams if s["info"]["type"][0].upper() == "EEG"), None)
    if eeg is None:
        raise BadInput(f"{path}: no stream of type EEG in it")
    rate = float(eeg["info"]["nominal_srate"][0])
    try:
        described = eeg["info"]["desc"][0]["channels"][0]["channel"]
        names = tuple(str(one["label"][0]) for one in described)
    except (KeyError, TypeError, IndexError):
        raise BadInput(f"{path}: its EEG stream does not name its channels") from None
    stamps, samples = np.asarray(eeg["time_stamps"]), np.asarray(eeg["time_series"], float).T
    marks = []
    for stream in streams:
        if stream["info"]["type"][0].casefold() == "markers":
            for stamp, words in zip(stream["time_stamps"], stream["time_series"], strict=True):
                sample = int(np.searchsorted(stamps, stamp - 0.5 / rate if rate else stamp))  # the nearest
                if sample < stamps.size:
                    marks.append((sample, str(words[0])))
    units = [str((one.get("unit") or [""])[0]) for one in described]
    note = "taken as microvolts, as LSL streams usually are"
    if all(to_microvolt(unit) for unit in units):
        samples = samples * np.array([[to_microvolt(unit)] for unit in units], float)
        note = f"microvolts from {', '.join(sorted(set(units)))} as the stream declares"
    piece = Piece(subject, str(path), samples, rate, names, sorted(marks))
    gaps = int((np.abs(np.diff(stamps) - 1 / rate) > 0.5 / rate).sum()) if rate else 0
    piece.notes.append(note)
    if gaps:
        piece.notes.append(f"{gaps} irregular steps between time stamps: samples may be missing")
    return piece


def need_mne() -> Any:
    """MNE, or a clear line."""
    try:
        import mne
    except ImportError:
        raise BadInput("reading this kind of file needs MNE: pip install 'bciarena[files]'") from None
    return mne


def from_raw(raw: Any, subject: str, source: str) -> Piece:
    """A Piece from an mne.io.Raw: annotations and stimulus channels become marks."""
    mne = need_mne()
    rate = float(raw.info["sfreq"])
    marks = []
    for note in raw.annotations:
        sample = round((note["onset"] - raw.first_time * (raw.annotations.orig_time is not None)) * rate)
        if 0 <= sample < raw.n_times:
            marks.append((sample, str(note["description"])))
    for name in mne.pick_types(raw.info, meg=False, stim=True):
        row = raw.get_data(picks=[name])[0]
        steps = np.flatnonzero(np.diff(row, prepend=0.0) > 0)
        marks += [(int(sample), f"{row[sample]:g}") for sample in steps]
    data = raw.copy().pick(["eeg", "eog", "ecg"], verbose="error")
    names = tuple(data.ch_names)
    return Piece(
        subject,
        source,
        data.get_data() * 1e6,
        rate,
        names,
        sorted(marks),
        notes=["volts turned into microvolts"],
    )


def _moabb(name: str, subjects: tuple[int, ...]) -> Iterator[Piece]:
    try:
        import moabb.datasets as shelf
        from moabb.datasets import fake
    except ImportError:
        raise BadInput("MOABB data sets need MOABB: pip install 'bciarena[moabb]'") from None
    maker = getattr(shelf, name, None) or getattr(fake, name, None)
    if maker is None:
        raise BadInput(f"MOABB has no data set {name!r}; see moabb.datasets")
    try:
        data = maker().get_data(subjects=list(subjects) or None)
    except Exception as error:
        raise BadInput(f"moabb:{name}: could not be obtained ({type(error).__name__}: {error})") from error
    for subject, sessions in data.items():
        for session, runs in sessions.items():
            for run, raw in runs.items():
                yield from_raw(
                    raw, f"S{int(subject):02d}", f"moabb:{name} subject {subject} session {session} run {run}"
                )
