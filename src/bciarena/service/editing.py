"""Changing a contest after its creation: what it says, its phases and their recordings, who manages it.

Every change is kept with what was before (`contests.note`) and stands in the audit log.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.entries.archive import unpack
from bciarena.errors import BadInput
from bciarena.service.accounts import account_named
from bciarena.service.audit import record
from bciarena.service.contests import bound_simulation, data_order, new_phase, note
from bciarena.service.models import Account, Admission, Change, Contest, Organiser, Phase, Submission
from bciarena.service.parts import terms_of
from bciarena.service.refusals import Refused, not_found
from bciarena.service.spec import Data, PhaseSpec, awards_toml, folder_name
from bciarena.service.troubles import Trouble

PHASES_EACH = 10
FOLDERS_EACH = 50
"""Data folders an organiser may have uploaded."""


def history(session: Session, contest: Contest) -> list[Change]:
    query = select(Change).where(Change.contest_id == contest.id).order_by(Change.id.desc())
    return list(session.scalars(query.limit(500)))


def change_contest(session: Session, actor: Account, contest: Contest, **values: Any) -> None:
    """Change titles, texts, awards, and who may take part."""
    changed = {name: value for name, value in values.items() if getattr(contest, name) != value}
    for name, value in changed.items():
        kept = getattr(contest, name)
        if name == "texts":
            for key in sorted(text for text in {*kept, *value} if kept.get(text) != value.get(text)):
                note(session, actor, contest, f"text {key}", kept.get(key, ""), value.get(key, ""))
        else:
            before, after = (awards_toml(one) if name == "awards" else one for one in (kept, value))
            note(session, actor, contest, name, before, after)
        setattr(contest, name, value)
    record(session, actor, "contest", f"{contest.slug}: {', '.join(changed) or 'nothing changed'}")
    session.commit()


def add_organiser(session: Session, actor: Account, contest: Contest, name: str) -> None:
    """Let another organiser manage the contest, too."""
    found = account_named(session, name)
    if found is None or found.role == "contestant":
        raise Refused(404, "refused.no_organiser", name=name.strip()[:40])
    if found.id != contest.owner_id and session.get(Organiser, (contest.id, found.id)) is None:
        session.add(Organiser(contest_id=contest.id, account_id=found.id))
        note(session, actor, contest, "organiser", "", found.name)
        record(session, actor, "organiser", f"{contest.slug}: {found.name}")
    session.commit()


def remove_organiser(session: Session, actor: Account, contest: Contest, account_id: int) -> None:
    found = session.get(Organiser, (contest.id, account_id))
    if found is None:
        raise not_found()
    note(session, actor, contest, "organiser", found.account.name, "")
    record(session, actor, "organiser", f"{contest.slug}: {found.account.name} removed")
    session.delete(found)
    session.commit()


def add_phase(
    session: Session, actor: Account, contest: Contest, item: PhaseSpec, roots: tuple[Path, ...] | None
) -> Phase:
    """A further phase; the keeper prepares its recordings."""
    if len(contest.phases) >= PHASES_EACH:
        raise Refused(409, "refused.phases", most=PHASES_EACH)
    if item.of is not None and item.of not in [one.name for one in contest.phases]:
        raise Refused(422, "refused.field", name="of")
    phase = new_phase(actor, item, roots)
    phase.contest_id = contest.id
    session.add(phase)
    note(session, actor, contest, "phase", "", item.name)
    record(session, actor, "phase", f"{contest.slug}/{item.name}: added")
    try:
        bound_simulation(session, actor, contest)
        session.commit()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.phase_name") from None
    return phase


def _untouched(session: Session, phase: Phase) -> None:
    if session.scalar(select(Submission.id).where(Submission.phase_id == phase.id).limit(1)) is not None:
        raise Refused(409, "refused.phase_used")


def remove_phase(session: Session, actor: Account, phase: Phase) -> None:
    """Remove a phase nobody has submitted to; one that others depend on, and the last one, stay."""
    contest = phase.contest
    _untouched(session, phase)
    if len(contest.phases) == 1 or any(terms_of(other).of == phase.name for other in contest.phases):
        raise Refused(409, "refused.phase_needed")
    note(session, actor, contest, "phase", phase.name, "")
    record(session, actor, "phase", f"{contest.slug}/{phase.name}: removed")
    session.execute(delete(Admission).where(Admission.phase_id == phase.id))
    session.execute(delete(Trouble).where(Trouble.item == phase.id, Trouble.task.in_(("prepare", "audit", "admit"))))
    session.delete(phase)
    session.commit()


def change_data(session: Session, actor: Account, phase: Phase, data: Data, roots: tuple[Path, ...] | None) -> None:
    """Give a phase other recordings, as long as nobody has submitted to it."""
    _untouched(session, phase)
    before = phase.data_about.get("digest") or phase.data_about.get("trouble", "")
    kept = {name: phase.data_about["order"][name] for name in ("sets",) if name in phase.data_about["order"]}
    phase.data_about = {"order": data_order(actor, data, roots) | kept}
    phase.data = ""
    phase.revision += 1
    bound_simulation(session, actor, phase.contest)
    note(session, actor, phase.contest, f"{phase.name}: data", before, data.folder or "simulated")
    record(session, actor, "phase", f"{phase.contest.slug}/{phase.name}: other recordings")
    session.commit()


def keep_folder(session: Session, actor: Account, archive: Path, name: str, root: Path) -> str:
    """Unpack an uploaded data folder below the organiser's own; returns the name a phase gives it."""
    if not folder_name(name):
        raise Refused(422, "refused.folder_name")
    own = root / actor.name
    target = own / name
    if target.exists():
        raise Refused(409, "refused.folder_taken")
    if own.is_dir() and sum(1 for one in own.iterdir()) >= FOLDERS_EACH:
        raise Refused(409, "refused.folders", most=FOLDERS_EACH)
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".upload-", dir=own) as work:
        opened = Path(work) / "opened"
        opened.mkdir()
        try:
            unpack(archive, opened)
        except BadInput as error:
            raise Refused(422, "refused.package", why=str(error).replace(archive.name, "upload")) from None
        inner = list(opened.iterdir())
        whole = inner[0] if len(inner) == 1 and inner[0].is_dir() and not inner[0].name.startswith("S0") else opened
        try:
            whole.rename(target)
        except OSError:
            shutil.rmtree(work, ignore_errors=True)
            raise Refused(409, "refused.folder_taken") from None
    record(session, actor, "upload", f"{actor.name}/{name}")
    session.commit()
    return f"{actor.name}/{name}"
