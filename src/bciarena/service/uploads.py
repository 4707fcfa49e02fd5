"""Entries (计算单元) and their versions: receiving a package and checking it before it is kept."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.contests import registered as find_rulebook
from bciarena.entries.interpreters import base_for
from bciarena.entries.package import open_entry
from bciarena.entries.telling import Told, read, tell, written
from bciarena.errors import BadInput, EntryFailed
from bciarena.jobs.storage import Storage
from bciarena.package import Package
from bciarena.sandbox import why_not
from bciarena.service import limits
from bciarena.service.models import Account, Entry, Membership, Submission, Team, Version
from bciarena.service.names import plain
from bciarena.service.refusals import Refused, not_found
from bciarena.service.settings import Settings

ENTRIES_EACH = 50
PACKAGES = (".zip", ".tar.gz", ".tgz")


def create_entry(session: Session, account: Account, team: Team, name: str, challenge: str) -> Entry:
    """Define a compute unit (定义计算单元)."""
    if session.get(Membership, (team.id, account.id)) is None:
        raise not_found()
    name = plain(name)
    if not 1 <= len(name) <= 60 or not name.isprintable():
        raise Refused(422, "refused.entry_name")
    count = session.scalar(select(func.count()).select_from(Entry).where(Entry.team_id == team.id)) or 0
    if count >= ENTRIES_EACH:
        raise Refused(409, "refused.entries", most=ENTRIES_EACH)
    entry = Entry(team_id=team.id, name=name, challenge=find_rulebook(challenge).name)
    session.add(entry)
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.entry_taken") from None
    return entry


def entries_of(session: Session, team_id: int) -> list[Entry]:
    return list(session.scalars(select(Entry).where(Entry.team_id == team_id).order_by(Entry.id)))


def entry_for(session: Session, account: Account | None, entry_id: int) -> Entry:
    """An entry of one of the account's own teams; nobody else's exists."""
    entry = session.get(Entry, entry_id)
    if entry is None or account is None or session.get(Membership, (entry.team_id, account.id)) is None:
        raise not_found()
    return entry


def version_for(session: Session, account: Account | None, version_id: int) -> Version:
    version = session.get(Version, version_id)
    if version is None:
        raise not_found()
    entry_for(session, account, version.entry_id)
    return version


def begin(session: Session, settings: Settings, account: Account, entry_id: int) -> Entry:
    """What is checked before anything of an upload is read: whose entry it is, that boxes work, and the quota."""
    entry = entry_for(session, account, entry_id)
    if not settings.boxed:
        raise Refused(503, "refused.no_box")
    limits.spend(session, limits.UPLOAD, f"team-{entry.team_id}")
    if used_bytes(session, entry.team_id, account) >= settings.team_bytes:
        raise _full(settings)
    return entry


def used_bytes(session: Session, team_id: int, account: Account) -> int:
    """The size of all packages of a team, unpacked, and of those that the account left behind in dissolved teams."""
    left_behind = (Version.by == account.id) & Team.closed_at.is_not(None)
    total = (
        select(func.sum(Version.unpacked))
        .join(Entry, Entry.id == Version.entry_id)
        .join(Team, Team.id == Entry.team_id)
        .where(or_(Entry.team_id == team_id, left_behind))
    )
    return int(session.scalar(total) or 0)


def _full(settings: Settings) -> Refused:
    return Refused(409, "refused.team_bytes", most=round(settings.team_bytes / 1e9, 1))


@asynccontextmanager
async def received(stream: AsyncIterator[bytes], filename: str) -> AsyncIterator[Path]:
    """Save an upload under a name we choose; only the ending comes from the sender's file name."""
    ending = next((item for item in PACKAGES if filename.lower().endswith(item)), ".zip")
    handle, name = tempfile.mkstemp(prefix="arena-upload-", suffix=ending)
    try:
        with os.fdopen(handle, "wb") as file:
            async for chunk in stream:
                file.write(chunk)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def inspect(path: Path, challenge: str, named: str = "") -> dict[str, Any]:
    """Open a package without running any of it; what it is, or a refusal that says everything that is wrong.

    ``named`` is the class that plays (``module:Class``), where the package leaves it open.
    """
    if path.stat().st_size == 0:
        raise Refused(422, "refused.empty_upload")
    try:
        problems: list[str] = []
        opening = open_entry(
            str(path), find_rulebook(challenge), entry=named or None, boxed=why_not() is None, problems=problems
        )
        with opening as package:
            if problems:
                raise Refused(422, "refused.package", why=Problems([_shown(path, words) for words in problems]))
            return {
                "dialect": package.dialect,
                "target": package.target,
                "python": package.python,
                "compiled": not any(path for path in package.root.rglob("*.py") if not path.is_symlink()),
                "requirements": package.requirements is not None,
                "warnings": [written(_shown(path, words)) for words in (*package.warnings, *_absent(package))],
                "digest": package.digest,
                **({"entry": named} if named else {}),
                "unpacked": package.unpacked,
            }
    except Refused:
        raise
    except (BadInput, EntryFailed) as error:
        why = error.reason if isinstance(error, EntryFailed) else error.args[0]
        raise Refused(422, "refused.package", why=_shown(path, why)) from None


class Problems(list[str]):
    """All that is wrong with a package."""

    def said(self, lang: str) -> str:
        """A single problem as it is; several on a line each, then the remedies, each once."""
        parts = [(one.said(lang) if isinstance(one, Told) else one).partition("\n") for one in self]
        lines = [*(head for head, _, _ in parts), *dict.fromkeys(remedy for _, _, remedy in parts if remedy)]
        return "\n".join(lines if len(self) == 1 else ["", *lines])


def _absent(package: Package) -> list[str]:
    """Workers may be other machines than this one, so a Python that is not here is worth a warning."""
    try:
        if package.exact:
            base_for(package)
    except BadInput as error:
        return [tell("warning.here", why=error.args[0])]
    return []


def warnings_of(version: Version, lang: str) -> list[str]:
    """What was noticed about a package when it was uploaded."""
    found = [read(words) for words in version.about.get("warnings", [])]
    return [words.said(lang) if isinstance(words, Told) else words for words in found]


def _shown(path: Path, words: str) -> str:
    """A message with our temporary file's name replaced: the contestant knows it as the upload."""
    if isinstance(words, Told):
        return words.changed(lambda text: _shown(path, text))
    return words.replace(str(path), "upload").replace(path.name, "upload")


def add_version(
    session: Session,
    storage: Storage,
    settings: Settings,
    account: Account,
    entry: Entry,
    path: Path,
    filename: str,
    about: dict[str, Any],
) -> Version:
    """Keep an inspected package as the entry's next version, if the team's quota allows."""
    if used_bytes(session, entry.team_id, account) + about["unpacked"] > settings.team_bytes:
        raise _full(settings)
    session.commit()  # storing takes a while: hold no lock
    size = path.stat().st_size
    package = storage.put(path)
    # Two uploads at the same moment must not both use the rest of the quota: the team's row is the lock.
    session.execute(select(Team.id).where(Team.id == entry.team_id).with_for_update())
    if used_bytes(session, entry.team_id, account) + about["unpacked"] > settings.team_bytes:
        raise _full(settings)
    return _next_version(session, account, entry, package, None, clean_name(filename), size, about)


def remove_version(session: Session, account: Account, version_id: int) -> Entry:
    """Remove a version that was never submitted, to make room for others."""
    version = version_for(session, account, version_id)
    if session.scalar(select(Submission.id).where(Submission.version_id == version.id).limit(1)) is not None:
        raise Refused(409, "refused.version_used")
    entry = version.entry
    session.delete(version)
    session.commit()
    return entry


def add_reference(session: Session, account: Account, entry: Entry, name: str, model: str | None) -> Version:
    """A reference entry (@imagery) as a version; ``model`` is its trained model in the storage."""
    return _next_version(session, account, entry, name, model, name, 0, {"reference": True})


def _next_version(
    session: Session, account: Account, entry: Entry, package: str, model: str | None, filename: str, size: int,
    about: dict[str, Any],
) -> Version:  # fmt: skip
    session.execute(select(Entry.id).where(Entry.id == entry.id).with_for_update())
    number = (session.scalar(select(func.max(Version.number)).where(Version.entry_id == entry.id)) or 0) + 1
    version = Version(
        entry_id=entry.id,
        number=number,
        package=package,
        model=model,
        filename=filename,
        size=size,
        unpacked=about.get("unpacked", 0),
        about=about,
        by=account.id,
    )
    session.add(version)
    session.commit()
    return version


def clean_name(filename: str) -> str:
    """A file name for display: no folders, no control characters, shortened."""
    last = re.split(r"[\\/]", filename)[-1]
    return "".join(letter for letter in last if letter.isprintable())[:100] or "package"
