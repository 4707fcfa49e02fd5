"""Sentences about runs and contests, for pages and the API alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from bciarena.contests import CONTESTS, Rulebook
from bciarena.contests import contest as find_contest
from bciarena.jobs.model import Job
from bciarena.service.asker import Asker
from bciarena.service.models import Contest, Phase, Result, Submission
from bciarena.service.submissions import Status, seen_of
from bciarena.service.texts import LANGUAGES

Say = Callable[..., str]


def status_words(t: Say, status: Status) -> str:
    """Where a run is, in one line."""
    if status.waits == "stage":
        return t("words.waits_stage")
    if status.state == "queued" and status.before is not None:
        words = t("words.queued", n=status.before)
        return f"{words} · {t(f'words.waits_{status.waits}')}" if status.waits else words
    if status.state == "faulted":
        return t("words.faulted", n=status.faults)
    if status.state == "running" and status.progress:  # hidden where it tells something of hidden recordings
        at = status.progress
        return t(
            "words.running",
            subject=at.get("subject", "?"),
            block=at.get("block", "?"),
            trial=t("words.trial", n=at["trial"]) if at.get("trial") else "",
            percent=f"{100 * at['share']:.0f}",
            speed=f"{at.get('packets_per_s') or 0:,.0f}",
            reports=at.get("reports", 0),
        )
    return ""


def challenge_title(lang: str, name: str) -> str:
    """What a challenge is called; one that is no longer installed by its name."""
    return CONTESTS[name].title(lang) if name in CONTESTS else name


def metric_name(lang: str, book: Rulebook, name: str) -> str:
    """What a metric is called: by the contest's own words, else by ours, else its name made readable."""
    own: dict[str, str] = find_contest(book).words[lang].get("metrics", {})
    return own.get(name) or LANGUAGES[lang].get(f"metric.{name}") or name.replace("_", " ")


def unit_name(lang: str, unit: str) -> str:
    return LANGUAGES[lang].get(f"unit.{unit}", unit)


def contest_title(lang: str, contest: Contest) -> str:
    return contest.title_zh if lang == "zh" and contest.title_zh else contest.title


def phase_title(t: Say, phase: Phase) -> str:
    """Known names in the reader's language, others as they are."""
    return t(f"phase_name.{phase.name}") if phase.name in ("preliminary", "final", "practice") else phase.name


def run_rows(asker: Asker, t: Say, lang: str, where: Any, limit: int = 100) -> list[dict[str, Any]]:
    """The newest submissions with their states, as the asker may see them, for tables."""
    session = asker.session
    query = (
        select(Submission, Job, Result)
        .join(Job, Job.id == Submission.job_id)
        .outerjoin(Result, (Result.submission_id == Submission.id) & Result.current)
        .where(where)
        .order_by(Submission.id.desc())
    )
    rows = []
    for submission, job, result in session.execute(query.limit(limit)):
        status = seen_of(session, asker.account, submission, job, result).status
        title = f"{contest_title(lang, submission.phase.contest)} · {phase_title(t, submission.phase)}"
        rows.append({"submission": submission, "status": status, "words": status_words(t, status), "title": title})
    return rows
