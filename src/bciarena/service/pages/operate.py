"""What operators see and do: the queue, faults, workers, roles, the audit log."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import func, select

from bciarena.jobs.model import STATES, Job, Worker
from bciarena.service import accounts, troubles
from bciarena.service.audit import audit_csv, newest, record
from bciarena.service.models import ROLES, Account, Phase, Team
from bciarena.service.page import Id, Page, may
from bciarena.service.refusals import not_found

router = APIRouter()


@router.get("/operate")
def operate(page: Page = may("operate")) -> HTMLResponse:
    return _show(page)


def _show(page: Page, password: str = "") -> HTMLResponse:
    found = {row[0]: row[1] for row in page.session.execute(select(Job.state, func.count()).group_by(Job.state))}
    return page.render(
        "operate.html",
        counts=[(name, found.get(name, 0)) for name in STATES],
        workers=list(page.session.scalars(select(Worker).order_by(Worker.name))),
        faulted=list(
            page.session.scalars(select(Job).where(Job.state == "faulted").order_by(Job.id.desc()).limit(100))
        ),
        troubles=[(one, *_named(page, one)) for one in troubles.all_troubles(page.session)],
        accounts=list(page.session.scalars(select(Account).order_by(Account.id.desc()).limit(500))),
        audit=newest(page.session, 100),
        roles=ROLES,
        password=password,
        knows=page.knows,
    )


def _named(page: Page, trouble: troubles.Trouble) -> tuple[str, str]:
    """What a trouble is about, as people know it, and where to look at it."""
    phase = page.session.get(Phase, trouble.item) if trouble.task in ("prepare", "audit", "admit") else None
    if phase is not None:
        return f"{phase.contest.slug}, {phase.name}", f"/organise/{phase.contest.slug}"
    if trouble.task == "carry":
        team = page.session.get(Team, trouble.item)
        return team.name if team else str(trouble.item), f"/teams/{trouble.item}"
    return str(trouble.item), "/operate" if trouble.task == "mail" else f"/runs/{trouble.item}"


@router.post("/operate/jobs/{job_id}/retry")
def retry(job_id: Id, page: Page = may("operate")) -> Response:
    page.session.commit()
    if not page.site.queue.retry(job_id):
        raise not_found()
    record(page.session, page.me, "retry", f"job {job_id}")
    page.session.commit()
    return page.go("/operate", "notice.rerun")


@router.post("/operate/roles")
def roles(page: Page = may("operate")) -> Response:
    accounts.set_role(page.session, page.me, page.field("name"), page.field("role"), page.field("disabled") == "1")
    return page.go("/operate", "notice.saved")


@router.post("/operate/password")
def reset_password(page: Page = may("operate")) -> HTMLResponse:
    """A new password for somebody who lost theirs, shown once."""
    name = page.field("name")
    return _show(page, accounts.reset_password(page.session, page.me, name))


@router.get("/operate/audit.csv")
def audit(page: Page = may("operate")) -> Response:
    named = 'attachment; filename="audit.csv"'
    return Response(
        audit_csv(page.session), media_type="text/csv; charset=utf-8", headers={"content-disposition": named}
    )
