"""Reads an uploaded archive in a box: unpacking, configuration, lists, sources. Outside, only the result is used."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.archive import MAX_BYTES, MAX_FILES
from bciarena.entries.layout import contained
from bciarena.entries.telling import read, tell, written
from bciarena.errors import BadInput, EntryFailed
from bciarena.package import Dialect, Package
from bciarena.plaintext import clean, one_line
from bciarena.verdicts import Verdict

BUDGET_S = 120.0
SAID = "said.json"
MAX_SAID = 1 << 17
USED = ("id", "name", "python", "dialect", "packet_n", "classes")
"""All that reading an entry needs of a rulebook."""


def read_in_box(source: Path, rulebook: Rulebook, root: Path, entry: str | None, wanted: str | None) -> Package:
    """Like `package.read_upload`, for an archive, but in a box with limited time and memory."""
    from bciarena.entries.environments import platform_interpreter
    from bciarena.entries.installing import adopt
    from bciarena.sandbox.box import Box
    from bciarena.sandbox.errand import run_errand, too_much, workplace
    from bciarena.sandbox.limits import MIB, Limits

    with workplace("arena-read-") as place:
        given, out = place / "given", place / "out"
        given.mkdir()
        out.mkdir()
        try:
            os.link(source, given / "archive")
        except OSError:
            shutil.copyfile(source, given / "archive")
        book = {name: getattr(rulebook, name) for name in USED}
        asked = {"name": source.name, "entry": entry, "wanted": wanted, "rulebook": book}
        bounds = Limits(memory_mib=1024, file_mib=MAX_BYTES // MIB)
        reader = Package("reading", given, "D", "", None, None, "")
        with Box(reader, platform_interpreter(), limits=bounds, out=out, platform=True) as box:
            order = {"call": "bciarena.entries.reading", "read": asked, "out": "/out"}
            done = run_errand(
                box,
                order,
                BUDGET_S,
                what="reading it",
                measure=lambda: too_much(out, 2 * MAX_BYTES // MIB, 4 * MAX_FILES, 64),
            )
        if done.over:
            raise BadInput(tell("reading.over", name=source.name, why=done.over[1]))
        said = _said(out / SAID, source.name, done.tail)
        if "bad" in said:
            raise BadInput(read(said["bad"]))
        if "failed" in said:
            verdict, reason = said["failed"]
            raise EntryFailed(verdict if verdict in get_args(Verdict) else "import_error", read(reason))
        adopt(out)
        root.rmdir()
        shutil.move(out / "package", root)
        return _package(said, root, rulebook)


def _said(path: Path, name: str, tail: str) -> dict[str, Any]:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_SAID:
        raise BadInput(tell("reading.silent", name=name, why=one_line(tail, 300) or "reading it ended without a word"))
    said = json.loads(path.read_text("utf-8"))
    assert isinstance(said, dict)
    return said


def _package(said: dict[str, Any], root: Path, rulebook: Rulebook) -> Package:
    """What the box reports, as far as it can be true."""
    requirements = contained(root, str(said["requirements"])) if said["requirements"] else None
    target = contained(root, str(said["target"]).rpartition(":")[0])
    if said["dialect"] not in get_args(Dialect) or target is None or not target.is_file():
        raise BadInput(tell("reading.no_entry"))
    held = sum(item.lstat().st_size for item in root.rglob("*") if not item.is_dir())
    return Package(
        name="",
        root=root,
        dialect=said["dialect"],
        target=clean(str(said["target"])),
        python=str(said["python"])[:8] if said["python"] else None,
        exact=bool(said["exact"]),
        requirements=requirements,
        digest="",
        problems=tuple(map(read, said["problems"][:50])),
        warnings=tuple(map(read, said["warnings"][:50])),
        contest_python=rulebook.python,
        image=one_line(str(said["image"]), 300),
        unpacked=max(held, min(int(said["unpacked"]), MAX_BYTES)),
    )


def main(order: dict[str, Any]) -> int:
    """In the box: read the archive and write down the result."""
    from bciarena.entries.package import read_upload
    from bciarena.entries.static import look_over

    asked, out = order["read"], Path(order["out"])
    archive = Path("/tmp") / asked["name"]  # messages name the file
    archive.symlink_to(Path(order["root"]) / "archive")
    root = out / "package"
    root.mkdir()
    book: Any = SimpleNamespace(**asked["rulebook"] | {"classes": tuple(asked["rulebook"]["classes"])})
    try:
        package = read_upload(archive, book, root, out / "upload", asked["entry"], asked["wanted"])
        listed = package.requirements
        said: dict[str, Any] = {
            "dialect": package.dialect,
            "target": package.target,
            "python": package.python,
            "requirements": listed.relative_to(root).as_posix() if listed else None,
            "warnings": list(map(written, package.warnings)),
            "image": package.image,
            "exact": package.exact,
            "problems": list(map(written, look_over(package, here=True)[0])),
            "unpacked": package.unpacked,
        }
    except BadInput as error:
        said = {"bad": written(error.args[0])}
    except EntryFailed as error:
        said = {"failed": [error.verdict, written(error.reason)]}
    (out / SAID).write_text(json.dumps(said), "utf-8")
    return 0
