"""From a run folder to a bundle."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shutil
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypedDict

from bciarena.bundles.crate import METADATA, files_of, metadata, sha256
from bciarena.bundles.rules import write_rules
from bciarena.bundles.truth import write_truth
from bciarena.contests import registered
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.package import open_entry
from bciarena.errors import BadInput
from bciarena.recording import open_recording
from bciarena.referee import Truth
from bciarena.runs import RunFolder, rescore
from bciarena.runs.folder import ABOUT, LAYOUT, LEDGER, MARKS, SCORE, STREAMS, THINK
from bciarena.scratch import scratch
from bciarena.writing import wanted_file

ENTRY, MODEL, HOW = "entry", "model", "entry.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # of every file in the zip, so that the same run gives the same bytes
KEPT = ("name", "python", "shards", "live", "subject", "block", "delays_ms")
"""What of run.json goes along: no paths, which say where somebody keeps what."""


How = TypedDict("How", {"digest": str, "spec": str, "class": str, "module": bool, "python": str, "needs_model": bool})
"""The content of entry.json: ``spec`` is @name, "entry" where the files are in the bundle, or empty."""


def make_bundle(run: Path, out: Path, *, data: Path | None = None, with_entry: bool = False, licence: str = "") -> str:
    """Write the bundle of a kept run, whose score is recomputed first; returns the sha256 of the file.

    Parameters
    ----------
    data : Path, optional
        The data folder, if it has moved since the run. Its samples do not go into the bundle; its truth does.
    with_entry : bool
        Put the entry's files, and its model, into the bundle.
    licence : str
        Under which the bundle is shared; an URL, best one of spdx.org.
    """
    kept = RunFolder(run)
    header, _, end = kept.ledger()
    again = rescore(run, data)  # refuses a run that was cut off, or whose data is not here
    assert end is not None
    if json.loads(json.dumps(again)) != kept.score():
        raise BadInput(f"{run}: the stored score is not what ledger and data give; arena score {run} says more")
    about = RunFolder(run, lenient=True).about()
    book = registered(header["challenge"])
    recording = open_recording(data or about["data"])
    with scratch() as folder:
        (folder / "run").mkdir()
        for name in (LEDGER, SCORE, LAYOUT, THINK, MARKS, *(f"{stream}.txt" for stream in STREAMS)):
            if (run / name).is_file():
                shutil.copyfile(run / name, folder / "run" / name)
        _write(folder / "run" / ABOUT, {"data": "", **{key: about[key] for key in KEPT if key in about}})  # type: ignore[literal-required]
        write_truth(Truth.of(book, recording), folder)
        write_rules(book, folder)
        _write(folder / "environment.json", environment())
        _write(folder / HOW, _entry(dict(about), book, header["entry"], folder if with_entry else None))
        made = datetime.datetime.fromtimestamp((run / LEDGER).stat().st_mtime, datetime.UTC).isoformat("T", "seconds")
        name = about.get("name") or "an entry"
        _write(folder / METADATA, metadata(folder, book, header, end, again, name, made, licence))
        with wanted_file(out) as beside:
            _zip(folder, beside)
            return sha256(beside)


def environment() -> dict[str, Any]:
    """Python, libraries and machine, here and now; the ledger has the versions of the run itself."""
    return {
        "taken": "when the bundle was made; the run's own versions are in the first line of run/ledger.jsonl",
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "libraries": dict(sorted({one.name: one.version for one in distributions()}.items())),
    }


def _entry(about: dict[str, Any], book: Rulebook, digest: str, folder: Path | None) -> How:
    """How to open the entry again; its files are copied where a folder is given."""
    spec, model = about.get("entry", ""), about.get("model", "")
    how: How = {
        "digest": digest,
        "spec": spec if spec.startswith("@") else "",
        "class": "",
        "module": False,
        "python": about.get("python", ""),
        "needs_model": bool(model),
    }
    if folder is None:
        return how
    if not spec:
        raise BadInput("run.json does not say what was played, so the entry cannot go along; leave --with-entry out")
    with open_entry(spec, book) as package:
        if package.digest != digest:
            raise BadInput(f"{spec}: has changed since the run, so it cannot go along; its digest is not the ledger's")
        if not how["spec"]:
            how |= {"spec": ENTRY, "class": package.target, "module": ":" in spec and not os.path.exists(spec)}
            for path in package.root.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    _copy(path, folder / ENTRY / path.relative_to(package.root))
    for path in Path(model).rglob("*") if model else ():
        if path.is_file():
            _copy(path, folder / MODEL / path.relative_to(model))
    return how


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _zip(folder: Path, out: Path) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in {METADATA: folder / METADATA, **files_of(folder)}.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), path.read_bytes(), zipfile.ZIP_DEFLATED)
