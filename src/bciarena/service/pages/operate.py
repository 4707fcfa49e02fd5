"""What operators see and do: the queue, faults, workers, roles, the audit log."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import func, select

from bciarena.jobs.model import STATES, Job, Worker
from bciarena.service import accounts, troubles
from bciarena.service.models import ROLES, Account, Deed
from bciarena.service.refusals import not_found
from bciarena.service.site import APage, Page

router = APIRouter()


@router.get("/operate")
def operate(page: Page = APage) -> HTMLResponse:
    page.operator()
    found = {row[0]: row[1] for row in page.session.execute(select(Job.state, func.count()).group_by(Job.state))}
    deeds = select(Deed, Account.name).join(Account, Account.id == Deed.account_id).order_by(Deed.id.desc()).limit(100)
    return page.render(
        "operate.html",
        counts=[(name, found.get(name, 0)) for name in STATES],
        workers=list(page.session.scalars(select(Worker).order_by(Worker.name))),
        faulted=list(
            page.session.scalars(select(Job).where(Job.state == "faulted").order_by(Job.id.desc()).limit(100))
        ),
        troubles=troubles.all_troubles(page.session),
        accounts=list(page.session.scalars(select(Account).order_by(Account.id.desc()).limit(500))),
        deeds=[(deed, who) for deed, who in page.session.execute(deeds)],
        roles=ROLES,
    )


@router.post("/operate/jobs/{job_id}/retry")
def retry(job_id: int, page: Page = APage) -> Response:
    page.operator()
    page.session.commit()
    if not page.site.queue.retry(job_id):
        raise not_found()
    return page.go("/operate", "notice.rerun")


@router.post("/operate/roles")
def roles(page: Page = APage) -> Response:
    actor = page.operator()
    accounts.set_role(page.session, actor, page.field("name"), page.field("role"), page.field("disabled") == "1")
    return page.go("/operate", "notice.saved")
