"""Contests and their phases: creating them, preparing their recordings, who may do what and when."""

from __future__ import annotations

import hashlib
import hmac
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.contests import contest as find_contest
from bciarena.contests import registered as find_rulebook
from bciarena.errors import BadInput
from bciarena.jobs.storage import Storage
from bciarena.protocol.seeds import secret_seed
from bciarena.recording import Recording, open_recording
from bciarena.recording.folder import KEY
from bciarena.referee import Truth
from bciarena.scratch import scratch
from bciarena.service.audit import record
from bciarena.service.models import Account, Change, Contest, Phase, Result, Submission
from bciarena.service.refusals import Refused, not_found
from bciarena.service.spec import (
    AwardList,
    ContestSpec,
    Data,
    Images,
    PhaseSpec,
    Terms,
    checked,
    images_toml,
    seconds,
    why_not_dates,
)
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
        joining=spec.joining,
        one_team=spec.one_team,
        awards=usual_awards(spec.rulebook) if spec.award is None else [one.model_dump() for one in spec.award],
    )
    for item in spec.phase:
        contest.phases.append(new_phase(owner, item, roots))
    session.add(contest)
    try:
        session.flush()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.slug_taken", slug=spec.slug) from None
    bound_simulation(session, owner, contest)
    record(session, owner, "create", contest.slug)
    session.commit()
    return contest


def new_phase(owner: Account, item: PhaseSpec, roots: tuple[Path, ...] | None) -> Phase:
    """A phase as described, its recordings still to be prepared."""
    return Phase(
        name=item.name,
        starts_at=seconds(item.starts),
        ends_at=seconds(item.ends),
        freezes_at=seconds(item.freezes),
        late_until=seconds(item.late_until),
        daily_limit=item.daily_limit,
        hidden_data=item.truth == "hidden",
        published=item.board == "public",
        counts=item.counts,
        limits=item.limits.model_dump(exclude_defaults=True),
        terms=item.kept(),
        data="",
        data_about={"order": data_order(owner, item.data, roots) | _sets_order(owner, item, roots)},
    )


def _sets_order(owner: Account, terms: Terms, roots: tuple[Path, ...] | None) -> dict[str, Any]:
    """The sets that entries may learn from, as the keeper is told."""
    sets = {name: str(_allowed(owner, folder, roots)) for name, folder in terms.calibration.sets.items()}
    return {"sets": sets} if sets else {}


def data_order(owner: Account, data: Data, roots: tuple[Path, ...] | None) -> dict[str, Any]:
    """Where recordings come from, as the keeper is told."""
    if data.folder is not None:
        return {"folder": str(_allowed(owner, data.folder, roots))}
    if data.live:
        return {"live": True}
    assert data.simulate is not None
    order = {"simulate": data.simulate.model_dump()}
    if data.simulate.seed is None:
        order["simulate"]["seed"] = secret_seed()
    return order


MOST_BLOCKS, USUAL_BLOCKS = 400, 6  # a block takes up to 100 MB
"""Simulated for all contests of an organiser; an operator may order more."""


def bound_simulation(session: Session, actor: Account, contest: Contest) -> None:
    """Refuse what fills the disk, and keeps the keeper busy for days; rolls back."""
    if actor.role == "operator":
        return
    session.flush()
    told = session.scalars(
        select(Phase.data_about)
        .join(Contest, Contest.id == Phase.contest_id)
        .where(Contest.owner_id == contest.owner_id)
    )
    orders = [about["order"]["simulate"] for about in told if "simulate" in about.get("order", {})]
    if sum(one["subjects"] * (one["blocks"] or USUAL_BLOCKS) for one in orders) > MOST_BLOCKS:
        session.rollback()
        raise Refused(422, "refused.simulated", most=MOST_BLOCKS)


def usual_awards(book: str) -> list[dict[str, Any]]:
    """The awards that the contest's own text names (awards.toml of its folder)."""
    found = checked(AwardList, find_contest(find_rulebook(book)).awards, "awards.toml")
    return [one.model_dump() for one in found.award]


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


def kept_recordings(storage: Storage, secret: str, phase: Phase, folder: Path) -> tuple[str, dict[str, Any]]:
    """Recordings for a phase in the storage, and what they hold.

    Those with hidden truth get a key for their digest. It is made from the site's secret and the recordings: other
    phases with the same ones have the same digest, and whoever gets the key of one has no other.
    """
    recording = open_recording(folder)
    beside = {}
    if phase.hidden_data:
        content = replace(recording, key=b"").digest
        beside[KEY] = hmac.digest(secret.encode(), f"digest of {content}".encode(), hashlib.sha256).hex().encode()
        recording = replace(recording, key=beside[KEY])
    about = describe(phase.contest.rulebook, recording)
    return storage.put(folder, beside), about


def prepare(session: Session, storage: Storage, secret: str, phase: Phase) -> None:
    """Simulate or copy the phase's recordings into the storage and note what they hold; problems are noted as well."""
    order, book = phase.data_about["order"], phase.contest.rulebook
    session.commit()  # this takes a while: hold no lock
    with scratch() as work:
        try:
            if "folder" in order:
                folder = Path(order["folder"])
            else:
                folder = work / "data"
                _simulate(book, order["simulate"], folder, phase.hidden_data)
            name, about = kept_recordings(storage, secret, phase, folder)
            about |= {"sets": {one: _stored(storage, Path(place)) for one, place in order.get("sets", {}).items()}}
        except BadInput as error:
            about, name = {"trouble": str(error)}, ""
        finally:
            shutil.rmtree(work / "data", ignore_errors=True)
    # If two prepare the same phase, the first one's recordings stay; the same order gives the same bytes anyway.
    session.execute(
        update(Phase)
        .where(Phase.id == phase.id, Phase.data == "")
        .values(data=name, data_about={"order": order, **about}, revision=Phase.revision + 1)
    )
    session.commit()


def _stored(storage: Storage, folder: Path) -> str:
    """A set that entries may learn from, in the storage once it was found readable."""
    open_recording(folder)
    return storage.put(folder)


def unaudited(session: Session) -> list[Phase]:
    """Phases whose recordings are to be searched for leaks, and were not."""
    found = session.scalars(select(Phase).where(Phase.data != "", not_waiting("audit", Phase.id)).order_by(Phase.id))
    return [phase for phase in found if phase.terms.get("audit") and "audit" not in phase.data_about]


def audit_data(session: Session, storage: Storage, phase: Phase) -> None:
    """Let leak probes try a phase's recordings, and keep what they found."""
    from bciarena import audit

    data, book = phase.data, phase.contest.rulebook
    session.commit()  # this takes a while: hold no lock
    found = audit.verdict(storage.fetch(data), book)
    session.refresh(phase)
    if phase.data == data:
        phase.data_about = {**phase.data_about, "audit": found}
        phase.revision += 1
    session.commit()


def why_closed(phase: Phase) -> str:
    """Whether an audit that the terms ask for keeps a phase closed: waiting, failed, or empty."""
    if not phase.terms.get("audit"):
        return ""
    found = phase.data_about.get("audit")
    if found is None:
        return "waiting"
    return "" if found["passed"] or phase.terms.get("waiver") else "failed"


def unprepared(session: Session) -> list[Phase]:
    """Phases whose recordings are still to be made."""
    waiting = session.scalars(
        select(Phase).where(Phase.data == "", not_waiting("prepare", Phase.id)).order_by(Phase.id)
    )
    return [phase for phase in waiting if "trouble" not in phase.data_about and not awaits_session(phase)]


def awaits_session(phase: Phase) -> bool:
    """Whether a phase is played on a session that is not recorded yet, or on one for each team."""
    return not phase.data and bool(phase.data_about.get("order", {}).get("live"))


def _simulate(book: str, order: dict[str, Any], folder: Path, hidden: bool) -> None:
    from bciarena.protocol import protocol_of
    from bciarena.simulator import Order, make

    own, drawn = protocol_of(book), order.get("drawn")
    if drawn is None:
        drawn = hidden and own.drawable
    split = order.get("split") or own.scored
    make(Order(book, split, order["subjects"], order["blocks"], order["seed"], drawn=drawn), folder)


def describe(book: str, recording: Recording) -> dict[str, Any]:
    """The contents of a recording, after a full check that it can be scored."""
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
        select(
            Contest.rulebook,
            Contest.revision,
            Phase.id,
            Phase.revision,
            Phase.starts_at,
            Phase.ends_at,
            Phase.freezes_at,
            Phase.late_until,
        )
        .join(Phase, Phase.contest_id == Contest.id)
        .where(Contest.slug == slug)
        .order_by(Phase.id)
    )
    rows = session.execute(query).all() if slug.isascii() and slug.isprintable() else []
    if not rows:
        raise not_found()
    return tuple(
        (*row[:4], *(None if moment is None else moment <= now for moment in row[4:]))  # whether each has passed
        for row in rows
    )


def phase_named(contest: Contest, name: str) -> Phase:
    for phase in contest.phases:
        if phase.name == name:
            return phase
    raise not_found()


def may_manage(account: Account | None, contest: Contest) -> bool:
    """Organisers manage their own contests and those they were asked to help with, operators all."""
    if account is None:
        return False
    if account.role == "organiser":
        return contest.owner_id == account.id or any(one.account_id == account.id for one in contest.organisers)
    return account.role == "operator"


def managed(session: Session, account: Account | None, slug: str) -> Contest:
    contest = contest_named(session, slug)
    if not may_manage(account, contest):
        raise Refused(403, "refused.role_needed")
    return contest


def phase_state(phase: Phase, now: float | None = None) -> str:
    """preparing, trouble, upcoming, open, late (over, but submissions are still taken) or over."""
    now = time.time() if now is None else now
    if not phase.data and not (awaits_session(phase) and phase.terms.get("stage") == "live"):
        return "trouble" if "trouble" in phase.data_about else "preparing"
    if closed := why_closed(phase):
        return "preparing" if closed == "waiting" else "trouble"
    if phase.starts_at is not None and now < phase.starts_at:
        return "upcoming"
    if phase.ends_at is not None and now >= phase.ends_at:
        return "late" if phase.late_until is not None and now < phase.late_until else "over"
    return "open"


def is_over(phase: Phase) -> bool:
    return phase_state(phase) == "over"


def current_phase(contest: Contest) -> Phase:
    """The phase a visitor means: the newest open one, else the last that has begun, else the first."""
    states = [(phase_state(phase), phase) for phase in contest.phases]
    for wanted in ("open", "late", "over"):
        found = [phase for state, phase in states if state == wanted]
        if found:
            return found[-1]
    return contest.phases[0]


def change_phase(session: Session, actor: Account, phase: Phase, **values: Any) -> None:
    """Change dates, limits and what is shown; the board is drawn again."""
    dates = [values.get(name, getattr(phase, name)) for name in ("starts_at", "ends_at", "freezes_at", "late_until")]
    if why_not_dates(*dates):
        raise Refused(422, "refused.dates")
    terms = Terms(**values.get("terms", phase.terms))
    if terms.public and not phase.hidden_data:
        raise Refused(422, "refused.public_part")
    if terms.calibration.sets != Terms(**phase.terms).calibration.sets:  # they would have to be stored first
        raise Refused(422, "refused.field", name="calibration.sets")
    if terms.stage != Terms(**phase.terms).stage and (phase.data == "" or _submitted(session, phase)):
        raise Refused(409, "refused.phase_used")  # what is held, and what is played where, is decided before
    if terms.of is not None and terms.of not in [one.name for one in phase.contest.phases if one.id < phase.id]:
        raise Refused(422, "refused.field", name="of")
    if terms.public != Terms(**phase.terms).public:
        session.execute(update(Result).where(Result.phase_id == phase.id).values(ends=None))  # the keeper makes others
    values = {name: value for name, value in values.items() if getattr(phase, name) != value}
    for name, value in values.items():
        before = getattr(phase, name)
        for key in sorted({*before, *value}) if name in ("terms", "limits") else ():
            if before.get(key) != value.get(key):
                note(session, actor, phase.contest, f"{phase.name}: {key}", before.get(key), value.get(key))
        if name not in ("terms", "limits"):
            note(session, actor, phase.contest, f"{phase.name}: {name}", before, value)
        setattr(phase, name, value)
    phase.revision += 1
    about = ", ".join(f"{name}={value}" for name, value in values.items()) or "nothing changed"
    record(session, actor, "phase", f"{phase.contest.slug}/{phase.name}: {about}")
    session.commit()


def _submitted(session: Session, phase: Phase) -> bool:
    return session.scalar(select(Submission.id).where(Submission.phase_id == phase.id).limit(1)) is not None


def note(session: Session, actor: Account, contest: Contest, what: str, before: Any, after: Any) -> None:
    """Keep what was changed, in the transaction of the change."""
    contest.revision += 1
    session.add(
        Change(contest_id=contest.id, who=actor.name, what=what, before=str(before)[:20_000], after=str(after)[:20_000])
    )


def change_images(session: Session, actor: Account, contest: Contest, images: Images) -> None:
    """Give a contest other images; runs that wait keep those they were sent with."""
    note(session, actor, contest, "images", images_toml(contest.images), images_toml(images.tables()))
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
    note(session, actor, contest, "rulebook", contest.rulebook, new.id)
    contest.rulebook = new.id
    record(session, actor, "rulebook", f"{contest.slug}: {new.id}")
    session.commit()
