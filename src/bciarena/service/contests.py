"""Contests and their phases: creating them, preparing their recordings, who may do what and when."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.contests import registered as find_rulebook
from bciarena.errors import BadInput
from bciarena.jobs.storage import Storage
from bciarena.protocol.seeds import secret_seed
from bciarena.recording import open_recording
from bciarena.referee import Truth
from bciarena.service.audit import record
from bciarena.service.models import Account, Contest, Phase
from bciarena.service.refusals import Refused, not_found
from bciarena.service.spec import ContestSpec, Images, seconds
from bciarena.service.troubles import not_waiting


def create(session: Session, owner: Account, spec: ContestSpec, roots: tuple[Path, ...] | None) -> Contest:
    """A contest as described. Its recordings are prepared afterwards (`prepare`), since that takes a while.

    ``roots`` bounds the folders that may be named (`folders_for`); None: any (somebody at the machine itself).
    """
    contest = Contest(
        slug=spec.slug,
        title=spec.title,
        title_zh=spec.title_zh,
        about=spec.about,
        about_zh=spec.about_zh,
        rulebook=find_rulebook(spec.rulebook).id,
        owner_id=owner.id,
        images=spec.tables(),
    )
    for item in spec.phase:
        order: dict[str, Any] = {}
        if item.data.simulate:
            order = {"simulate": item.data.simulate.model_dump()}
            if item.data.simulate.seed is None:
                order["simulate"]["seed"] = secret_seed()
        if item.data.folder is not None:
            order = {"folder": str(_allowed(owner, item.data.folder, roots))}
        contest.phases.append(
            Phase(
                name=item.name,
                starts_at=seconds(item.starts),
                ends_at=seconds(item.ends),
                daily_limit=item.daily_limit,
                hidden_data=item.truth == "hidden",
                published=item.board == "public",
                counts=item.counts,
                limits=item.limits.model_dump(exclude_defaults=True),
                data="",
                data_about={"order": order},
            )
        )
    session.add(contest)
    try:
        session.flush()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.slug_taken", slug=spec.slug) from None
    record(session, owner, "create", contest.slug)
    session.commit()
    return contest


def folders_for(session: Session, account: Account, roots: tuple[Path, ...]) -> list[str]:
    """Data folders an account may choose, relative to their root: organisers below the folder of their own name."""
    owners = {account.name}
    if account.role == "operator":
        owners |= set(session.scalars(select(Account.name).where(Account.role != "contestant")))
    found: set[str] = set()
    for root in roots:
        found |= {f"{name}/{item.name}" for name in owners for item in _subfolders(root / name)}
        if account.role == "operator":
            found |= {item.name for item in _subfolders(root) if item.name not in owners}
    return sorted(found)


def _subfolders(folder: Path) -> list[Path]:
    return [item for item in folder.iterdir() if item.is_dir()] if folder.is_dir() else []


def _allowed(owner: Account, folder: str, roots: tuple[Path, ...] | None) -> Path:
    """The data folder a contest names, if its owner may choose it; nobody may choose another contest's truth."""
    if roots is None:
        return Path(folder).resolve()
    for root in roots:
        bound = root if owner.role == "operator" else root / owner.name
        inside = (root / folder).resolve()
        if inside.is_relative_to(bound.resolve()) and inside != bound.resolve() and inside.is_dir():
            return inside
    raise Refused(422, "refused.folder")


def prepare(session: Session, storage: Storage, phase: Phase) -> None:
    """Simulate or copy the phase's recordings into the storage and note what they hold; problems are noted as well."""
    order = phase.data_about["order"]
    with tempfile.TemporaryDirectory(prefix="arena-data-") as work:
        try:
            if "folder" in order:
                folder = Path(order["folder"])
            else:
                folder = Path(work) / "data"
                _simulate(phase.contest.rulebook, order["simulate"], folder)
            about = describe(phase.contest.rulebook, folder)
            name = storage.put(folder)
        except BadInput as error:
            about, name = {"trouble": str(error)}, ""
        finally:
            shutil.rmtree(Path(work) / "data", ignore_errors=True)
    # If two prepare the same phase, the first one's recordings stay; the same order gives the same bytes anyway.
    session.execute(
        update(Phase)
        .where(Phase.id == phase.id, Phase.data == "")
        .values(data=name, data_about={"order": order, **about}, revision=Phase.revision + 1)
    )
    session.commit()


def unprepared(session: Session) -> list[Phase]:
    """Phases whose recordings are still to be made."""
    waiting = session.scalars(
        select(Phase).where(Phase.data == "", not_waiting("prepare", Phase.id)).order_by(Phase.id)
    )
    return [phase for phase in waiting if "trouble" not in phase.data_about]


def _simulate(book: str, order: dict[str, Any], folder: Path) -> None:
    from bciarena.protocol import protocol_of
    from bciarena.simulator import Order, make

    split = order.get("split") or protocol_of(book).scored
    make(Order(book, split, order["subjects"], order["blocks"], order["seed"]), folder)


def describe(book: str, folder: Path) -> dict[str, Any]:
    """The contents of a data folder, after a full check that it can be scored."""
    recording = open_recording(folder)
    truth = Truth.of(find_rulebook(book), recording)
    return {
        "subjects": len(recording.subjects),
        "blocks": sum(1 for _ in recording),
        "trials": sum(len(spans) for _, _, spans in truth.blocks),
        "seconds": round(recording.seconds, 1),
        "digest": recording.digest,
    }


def all_contests(session: Session) -> list[Contest]:
    return list(session.scalars(select(Contest).order_by(Contest.id)))


def contest_named(session: Session, slug: str) -> Contest:
    known = slug.isascii() and slug.isprintable()
    contest = session.scalar(select(Contest).where(Contest.slug == slug)) if known else None
    if contest is None:
        raise not_found()
    return contest


def page_state(session: Session, slug: str) -> tuple[Any, ...]:
    """Everything a contest's public page depends on, in one small query: while it is the same, so is the page."""
    now = time.time()
    query = (
        select(Contest.rulebook, Phase.id, Phase.revision, Phase.starts_at, Phase.ends_at)
        .join(Phase, Phase.contest_id == Contest.id)
        .where(Contest.slug == slug)
        .order_by(Phase.id)
    )
    rows = session.execute(query).all() if slug.isascii() and slug.isprintable() else []
    if not rows:
        raise not_found()
    return tuple(
        (book, one, revision, (starts or 0) <= now, (ends or now + 1) <= now)
        for book, one, revision, starts, ends in rows
    )


def phase_named(contest: Contest, name: str) -> Phase:
    for phase in contest.phases:
        if phase.name == name:
            return phase
    raise not_found()


def may_manage(account: Account | None, contest: Contest) -> bool:
    """Organisers manage their own contests, operators all."""
    if account is None:
        return False
    return account.role == "operator" or (account.role == "organiser" and contest.owner_id == account.id)


def managed(session: Session, account: Account | None, slug: str) -> Contest:
    contest = contest_named(session, slug)
    if not may_manage(account, contest):
        raise Refused(403, "refused.role_needed")
    return contest


def phase_state(phase: Phase, now: float | None = None) -> str:
    """preparing, trouble, upcoming, open or over."""
    now = time.time() if now is None else now
    if not phase.data:
        return "trouble" if "trouble" in phase.data_about else "preparing"
    if phase.starts_at is not None and now < phase.starts_at:
        return "upcoming"
    if phase.ends_at is not None and now >= phase.ends_at:
        return "over"
    return "open"


def current_phase(contest: Contest) -> Phase:
    """The phase a visitor means: the newest open one, else the last that has begun, else the first."""
    states = [(phase_state(phase), phase) for phase in contest.phases]
    for wanted in ("open", "over"):
        found = [phase for state, phase in states if state == wanted]
        if found:
            return found[-1]
    return contest.phases[0]


def change_phase(session: Session, actor: Account, phase: Phase, **values: Any) -> None:
    """Change dates, limits and what is shown; the board is drawn again."""
    starts, ends = values.get("starts_at", phase.starts_at), values.get("ends_at", phase.ends_at)
    if starts is not None and ends is not None and starts >= ends:
        raise Refused(422, "refused.dates")
    values = {name: value for name, value in values.items() if getattr(phase, name) != value}
    for name, value in values.items():
        setattr(phase, name, value)
    phase.revision += 1
    about = ", ".join(f"{name}={value}" for name, value in values.items()) or "nothing changed"
    record(session, actor, "phase", f"{phase.contest.slug}/{phase.name}: {about}")
    session.commit()


def change_images(session: Session, actor: Account, contest: Contest, images: Images) -> None:
    """Give a contest other images; runs that wait keep those they were sent with."""
    contest.images = images.tables()
    for phase in contest.phases:
        phase.revision += 1  # its public page tells of them
    about = "; ".join(f"{name}: {', '.join(one.packages)}" for name, one in images.image.items()) or "none"
    record(session, actor, "images", f"{contest.slug}: {about}")
    session.commit()


def adopt_rulebook(session: Session, actor: Account, contest: Contest, book: str) -> None:
    """Put a contest under another reading of the same rules; its runs are re-scored from their ledgers."""
    new = find_rulebook(book)
    if new.name != find_rulebook(contest.rulebook).name:
        raise Refused(422, "refused.rulebook")
    contest.rulebook = new.id
    record(session, actor, "rulebook", f"{contest.slug}: {new.id}")
    session.commit()
