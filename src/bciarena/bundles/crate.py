"""The metadata of a bundle: RO-Crate 1.1, with the run described as in the profile Process Run Crate 0.5."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.runs.schema import EndLine, Header
from bciarena.runs.shape import parsed, read_text

METADATA = "ro-crate-metadata.json"
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
WORKS = {"ok": "CompletedActionStatus"}  # any other verdict is a failed action

MEANINGS = {
    "run/ledger.jsonl": "What happened in the run, line by line: header, reports, end",
    "run/score.json": "The score, a pure function of rulebook, truth and ledger",
    "run/layout.json": "Where the trials are, without truth",
    "run/think.npz": "Computing time after each packet, seconds",
    "run/run.json": "The entry's name and the conditions it was played under",
    "run/stdout.txt": "What the entry printed",
    "run/stderr.txt": "What the entry printed to stderr",
    "run/output.jsonl": "Which part of it was printed after which packet",
    "truth.json": "Where every trial is and what the subject did",
    "rulebook.json": "Every rule with the clause it rests on",
    "environment.json": "Python, libraries and machine where the bundle was made",
    "entry.json": "Which entry was played, and how to open it",
}


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(folder: Path) -> dict[str, Path]:
    """Every file of an unpacked bundle by its name in it, but for the metadata."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    found.pop(METADATA, None)
    return found


def metadata(
    folder: Path,
    book: Rulebook,
    header: Header,
    end: EndLine,
    score: Mapping[str, Any],
    name: str,
    made: str,
    licence: str,
) -> dict[str, Any]:
    """The content of ro-crate-metadata.json for a folder whose other files are written."""
    files = files_of(folder)
    version = header["versions"].get("bciarena", "")
    entities: list[dict[str, Any]] = [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "conformsTo": {"@id": CRATE},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"{name}: a run of {book.id}",
            "description": f"{book.title}. Verdict {end['verdict']}, score {score['score']:.6g} {book.unit}. "
            "Verify it with: arena verify FILE [--data DIR]",
            "datePublished": made,
            "conformsTo": {"@id": PROFILE},
            "mentions": {"@id": "#run"},
            "hasPart": [{"@id": path} for path in files],
            **({"license": licence} if licence else {}),
        },
        {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        {"@id": "#data", "@type": "Dataset", "name": "the recordings", "identifier": header["data"]},
        {"@id": "#entry", "@type": "SoftwareApplication", "name": name, "identifier": header["entry"]},
        {
            "@id": "#arena",
            "@type": "SoftwareApplication",
            "name": "BCI Arena",
            "softwareVersion": version,
            "version": version,
        },
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": f"{name} played in {book.id}",
            "description": f"clock {header['clock']}, seed {header['seed']}, sandbox {end['sandbox']}",
            "actionStatus": f"http://schema.org/{WORKS.get(end['verdict'], 'FailedActionStatus')}",
            "endTime": made,
            "instrument": [{"@id": "#entry"}, {"@id": "#arena"}],
            "object": [{"@id": "#data"}, {"@id": "rulebook.json"}],
            "result": [{"@id": "run/ledger.jsonl"}, {"@id": "run/score.json"}],
            **({"error": end["reason"]} if end["reason"] else {}),
        },
    ]
    for at, path in files.items():
        entity = {
            "@id": at,
            "@type": "File",
            "name": MEANINGS.get(at, at),
            "contentSize": str(path.stat().st_size),
            "sha256": sha256(path),
        }
        if kind := mimetypes.guess_type(at)[0]:
            entity["encodingFormat"] = kind
        entities.append(entity)
    return {"@context": [f"{CRATE}/context", TERMS], "@graph": entities}


def digests_in(folder: Path) -> dict[str, str]:
    """What the metadata of an unpacked bundle says of each file: its sha256."""
    path = folder / METADATA
    if not path.is_file():
        raise BadInput(f"no bundle of a run: it has no {METADATA}")
    try:
        graph = parsed(read_text(path))["@graph"]
        return {str(one["@id"]): str(one["sha256"]) for one in graph if one.get("@type") == "File"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{METADATA}: is damaged ({type(error).__name__})") from error
