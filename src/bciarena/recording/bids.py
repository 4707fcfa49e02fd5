"""BIDS-EEG data sets with BrainVision files, read by memory map and written without a library.

BrainVision is three files: a text header, a text marker file, and samples. Reading it here instead of through
MNE keeps the core light and the samples on disk; tests open what is written here with MNE and mne-bids.
"""

from __future__ import annotations

import configparser
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.errors import BadInput
from bciarena.recording.bids_sides import BIDS, HED, events_side, write_places
from bciarena.recording.events import Event, Marks, events_text, invalid_of, is_lost, read_rows
from bciarena.recording.model import CHUNK_N, Block, Subject
from bciarena.recording.montages import NOT_SCALP
from bciarena.recording.spool import spool
from bciarena.recording.units import TO_MICROVOLT
from bciarena.writing import whole_file

WITH_TRUTH = "Codes in events.tsv column value are the trigger codes with truth."
DTYPES = {"IEEE_FLOAT_32": "<f4", "INT_16": "<i2"}


def is_bids(folder: Path) -> bool:
    """Whether a folder looks like a BIDS data set."""
    return (folder / "dataset_description.json").is_file() or any(folder.glob("sub-*/**/*_eeg.vhdr"))


def read_bids(folder: Path) -> tuple[Subject, ...]:
    """Subjects of a BIDS-EEG data set; a subject's blocks are its runs, sessions first."""
    subjects = []
    for path in sorted(folder.glob("sub-*")):
        headers = sorted(path.glob("**/*_eeg.vhdr"), key=_run_order)
        if headers:
            subjects.append(Subject(path.name, tuple(_read_block(header) for header in headers)))
    if not subjects:
        raise BadInput(f"{folder}: no sub-*/eeg/*_eeg.vhdr in it; only BrainVision files are read from BIDS")
    return tuple(subjects)


def _run_order(path: Path) -> tuple[str, list[int], str]:
    return str(path.parent), [int(number) for number in re.findall(r"run-(\d+)", path.name)], path.name


def _read_block(header: Path) -> Block:
    eeg, rate, names = read_brainvision(header)
    table = header.with_name(header.name.replace("_eeg.vhdr", "_events.tsv"))
    if not table.is_file():
        raise BadInput(f"{table}: missing; the codes of a BIDS recording are read from it")
    return Block(eeg, _codes(table, rate, eeg.shape[1]), rate, names, str(header), invalid_of(table, eeg.shape[1]))


def read_brainvision(header: Path) -> tuple[NDArray[Any], int, tuple[str, ...]]:
    """Samples as a map of shape (channels, samples) in microvolts, the rate, and the channel names."""
    parser = configparser.ConfigParser(allow_no_value=True, interpolation=None, comment_prefixes=(";",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        text = header.read_text("utf-8-sig")
        parser.read_string(text[text.index("[") :].split("[Comment]")[0])
        common = parser["Common Infos"]
        rate = 1e6 / float(common["SamplingInterval"])
        kind = DTYPES[parser.get("Binary Infos", "BinaryFormat", fallback="INT_16")]
        fields = [parser["Channel Infos"][f"Ch{k + 1}"] for k in range(int(common["NumberOfChannels"]))]
        vectorised = common.get("DataOrientation", "MULTIPLEXED").upper() == "VECTORIZED"
        file = header.with_name(common["DataFile"].replace("$b", header.stem))
        rows = len(fields)
        if not rows or None in fields:
            raise ValueError("it names no channels")
    except (
        KeyError,
        ValueError,
        ZeroDivisionError,
        AttributeError,
        configparser.Error,
    ) as error:  # the parser itself raises these
        raise BadInput(f"{header}: not a readable BrainVision header ({error})") from error
    if not 0.5 < rate < 1e9 or abs(rate - round(rate)) > 1e-6:
        raise BadInput(f"{header}: field SamplingInterval: {rate} Hz is not a whole rate")
    parts = [[*field.split(","), "", "", ""][:4] for field in fields]
    names = tuple(part[0].replace("\\1", ",") for part in parts)
    try:
        scale = np.array([float(part[2] or 1) * TO_MICROVOLT[part[3].strip().casefold() or "uv"] for part in parts])
    except (KeyError, ValueError) as error:
        raise BadInput(f"{header}: channel resolution or unit not understood ({error})") from error
    if not os.path.isfile(file):  # False also for impossible names
        raise BadInput(f"{header}: its data file {file.name} is missing")
    if file.stat().st_size % (rows * np.dtype(kind).itemsize) or not file.stat().st_size:
        raise BadInput(f"{file}: its size does not fit {rows} channels of {kind}; is it cut short?")
    samples = file.stat().st_size // (rows * np.dtype(kind).itemsize)
    raw: NDArray[Any] = (
        np.memmap(file, kind, "r", shape=(rows, samples))
        if vectorised
        else np.memmap(file, kind, "r", shape=(samples, rows)).T
    )
    return (raw if (scale == 1).all() else _scaled(raw, scale)), round(rate), names


def _scaled(raw: NDArray[Any], scale: NDArray[np.float64]) -> NDArray[Any]:
    def pieces() -> Iterator[NDArray[np.float64]]:
        for start in range(0, raw.shape[1], CHUNK_N):
            yield np.ascontiguousarray((raw[:, start : start + CHUNK_N] * scale[:, None]).T)

    return spool(pieces(), np.float64, (raw.shape[1], raw.shape[0])).T


def _codes(table: Path, rate: int, samples: int) -> NDArray[np.float64]:
    row = np.zeros(samples)
    for line, item in enumerate(read_rows(table), 2):
        if is_lost(item):
            continue
        try:
            code = float(item.get("value") or item["trial_type"])
            known = item.get("sample") not in (None, "", "n/a")
            at = int(item["sample"]) if known else round(float(item["onset"]) * rate)
        except (KeyError, ValueError, TypeError, OverflowError):
            raise BadInput(f"{table}: line {line}: needs an onset and an integer code in column value") from None
        if not 0 <= at < samples:
            raise BadInput(f"{table}: line {line}: sample {at} is outside the recording of {samples} samples")
        row[at] = code
    return row


def write_bids(
    folder: Path, subject: str, task: str, run: int, eeg: NDArray[Any], events: tuple[Event, ...], rate: int,
    channels: tuple[str, ...], line_hz: int = 50, meanings: Mapping[int, tuple[str, str]] | None = None,
    marks: Marks | None = None,
) -> Path:  # fmt: skip
    """Write one block as a run of a BIDS data set and return its header's path.

    Parameters
    ----------
    eeg : ndarray, shape (channels, samples)
        Microvolts, stored as 32-bit floats.
    meanings : mapping of int to (str, str), optional
        Each code in a word, and as HED tags.
    marks : Marks, optional
        Which trials are valid; the table of events then says so.
    """
    stem = f"sub-{subject}_task-{task}_run-{run:02d}"
    place = folder / f"sub-{subject}" / "eeg"
    types = ["ECG" if n == "ECG" else "EOG" if n in NOT_SCALP else "EEG" for n in channels]
    with whole_file(place / f"{stem}_eeg.eeg") as path, open(path, "wb") as file:
        for start in range(0, eeg.shape[1], CHUNK_N):
            file.write(np.ascontiguousarray(eeg[:, start : start + CHUNK_N].T, dtype="<f4").data)
    rows = [f"{n}\t{t}\tuV\t{rate}\tgood" for n, t in zip(channels, types, strict=True)]
    side = {
        "TaskName": task, "SamplingFrequency": rate, "EEGReference": "n/a", "PowerLineFrequency": line_hz,
        "SoftwareFilters": "n/a", "RecordingType": "continuous", "RecordingDuration": eeg.shape[1] / rate,
        "EEGChannelCount": types.count("EEG"), "EOGChannelCount": types.count("EOG"),
        "ECGChannelCount": types.count("ECG"), "EEGPlacementScheme": "10-05",
    }  # fmt: skip
    known = meanings or {}
    codes = [event.code for event in events] + [lost.code for lost in (marks.lost if marks else ())]
    texts = {
        f"{stem}_events.tsv": events_text(events, rate, {code: one[0] for code, one in known.items()}, marks),
        f"{stem}_events.json": json.dumps(events_side(codes, known, marks is not None), indent=2) + "\n",
        f"{stem}_channels.tsv": "\n".join(["name\ttype\tunits\tsampling_frequency\tstatus", *rows]) + "\n",
        f"{stem}_eeg.json": json.dumps(side, indent=2) + "\n",
        f"{stem}_eeg.vmrk": _markers(stem, events),
        f"{stem}_eeg.vhdr": _header(stem, rate, channels),
    }
    for name, text in texts.items():
        with whole_file(place / name) as path:
            path.write_text(text, encoding="utf-8")
    write_places(place, subject, channels)
    return place / f"{stem}_eeg.vhdr"


def describe_bids(folder: Path, name: str, subjects: list[str], readme: str = WITH_TRUTH) -> None:
    """Write the files at the root of a BIDS data set; ``readme`` says what its codes are."""
    people = "participant_id\n" + "".join(f"sub-{subject}\n" for subject in subjects)
    about = {
        "Name": name, "BIDSVersion": BIDS, "HEDVersion": HED, "DatasetType": "raw", "Authors": ["bciarena"],
        "GeneratedBy": [{"Name": "BCI Arena"}],
    }  # fmt: skip
    texts = {
        "dataset_description.json": json.dumps(about, indent=2) + "\n",
        "participants.tsv": people,
        "README": f"{name}\n\n{readme}\n",
    }
    for file, text in texts.items():
        with whole_file(folder / file) as path:
            path.write_text(text, encoding="utf-8")


def _header(stem: str, rate: int, channels: tuple[str, ...]) -> str:
    names = "\n".join(f"Ch{k}={name},,1,µV" for k, name in enumerate(channels, 1))
    return (
        "Brain Vision Data Exchange Header File Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        f"DataFile={stem}_eeg.eeg\nMarkerFile={stem}_eeg.vmrk\nDataFormat=BINARY\nDataOrientation=MULTIPLEXED\n"
        f"NumberOfChannels={len(channels)}\nSamplingInterval={1e6 / rate:g}\n\n[Binary Infos]\n"
        f"BinaryFormat=IEEE_FLOAT_32\n\n[Channel Infos]\n{names}\n"
    )


def _markers(stem: str, events: tuple[Event, ...]) -> str:
    marks = "\n".join(f"Mk{k}=Stimulus,S{e.code:3d},{e.sample + 1},1,0" for k, e in enumerate(events, 1))
    return (
        "Brain Vision Data Exchange Marker File, Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        f"DataFile={stem}_eeg.eeg\n\n[Marker Infos]\n{marks}\n"
    )
