"""From a finished job to a place on the board.

A query finds what is left to do - finished jobs without a result, results under an old rulebook - so the process that
does it may die at any point, and two that do it at once agree.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.contests import registered as find_rulebook
from bciarena.errors import BadInput, Fault
from bciarena.jobs.model import Job
from bciarena.jobs.storage import Storage
from bciarena.report.statistics import score_ends, trials_from
from bciarena.report.units import units_of
from bciarena.runs import RunFolder, rescore
from bciarena.runs.folder import SCORE
from bciarena.service.models import Contest, Phase, Result, Submission, ends_of
from bciarena.service.parts import keeps, terms_of
from bciarena.service.troubles import not_waiting
from bciarena.summary import tally
from bciarena.verdicts import VOID

BOXED = "bwrap"
DONE = ("finished", "failed")


def unsettled(session: Session, limit: int = 50) -> list[tuple[Submission, Job]]:
    """Submissions whose job has ended with a verdict and that have no result of that job yet."""
    settled = select(Result.id).where(Result.submission_id == Submission.id, Result.job_id == Submission.job_id)
    query = (
        select(Submission, Job)
        .join(Job, Job.id == Submission.job_id)
        .where(Job.state.in_(DONE), ~settled.exists(), not_waiting("settle", Submission.id))
        .order_by(Submission.id)
        .limit(limit)
    )
    return [(submission, job) for submission, job in session.execute(query)]


def settle(session: Session, storage: Storage, submission: Submission, job: Job) -> Result | None:
    """Turn the outcome of a job into a result; None when another process was first."""
    session.commit()  # the storage may be far away: hold no lock
    score = score_of_run(storage, job.run) if job.run else (job.result or {})
    return _put(session, submission, job, score, score.get("challenge") or job.payload["challenge"])


def score_of_run(storage: Storage, run: str) -> dict[str, Any]:
    """The whole score.json of a stored run folder, trials included."""
    return RunFolder.score_from(storage.read(run, SCORE), run)


def is_boxed(sandbox: str) -> bool:
    """Whether the run was boxed: ``bwrap, cgroup v2`` names the box first."""
    return sandbox.split(",")[0] == BOXED


def is_ranked(score: dict[str, Any]) -> bool:
    """Only boxed runs; a run that died keeps what its reports were worth, one that is void has nothing."""
    verdict = score.get("verdict", "")
    alive = verdict == "ok" or (score.get("score", 0.0) > 0 and verdict not in VOID)
    return alive and is_boxed(score.get("sandbox", ""))


def _put(session: Session, submission: Submission, job: Job, score: dict[str, Any], book: str) -> Result | None:
    """Write the result of a job under a rulebook, and make it the current one unless a later job has one already.

    A rulebook that was in use before has its row already, which is used again. None: another process wrote the same
    at the same moment.
    """
    phase = submission.phase
    session.commit()  # intervals take a while: hold no lock
    ends = _ends(score, phase)
    low, high, *_ = ends_of(ends, "all")
    values = {
        "verdict": score.get("verdict") or job.verdict or "unknown",
        "reason": score.get("reason") or job.error or "",
        "score": float(score.get("score", 0.0)),
        "low": low,
        "high": high,
        "ends": ends,
        "metrics": score.get("metrics", {}),
        "blocks": _blocks(score, job.payload.get("live", "")),
        "tally": _tally(score, (job.result or {}).get("tally", {})),
        "sandbox": score.get("sandbox", "none"),
        "ranked": is_ranked(score),
        "run": job.run,
    }
    same = (Result.submission_id == submission.id, Result.job_id == job.id, Result.rulebook == book)
    try:
        # One writer at a time for each submission; SQLite's write lock ensures this anyway.
        session.execute(select(Submission.id).where(Submission.id == submission.id).with_for_update())
        newest = session.scalar(select(func.max(Result.job_id)).where(Result.submission_id == submission.id))
        if newest is None or newest <= job.id:
            session.execute(update(Result).where(Result.submission_id == submission.id).values(current=False))
            values["current"] = True
        else:
            values["current"] = False
        result = session.scalar(select(Result).where(*same).execution_options(populate_existing=True))
        if result is None:
            result = Result(
                submission_id=submission.id,
                job_id=job.id,
                phase_id=submission.phase_id,
                team_id=submission.team_id,
                rulebook=book,
            )
            session.add(result)
        for name, value in values.items():
            setattr(result, name, value)
        session.execute(update(Phase).where(Phase.id == submission.phase_id).values(revision=Phase.revision + 1))
        session.commit()
    except IntegrityError:
        session.rollback()
        return None
    return result


def _tally(score: dict[str, Any], played: dict[str, Any]) -> dict[str, Any]:
    """What became of the trials under these rules; what was spent stays as it was played."""
    spent = {name: played[name] for name in ("reports", "think_s", "data_s", "wall_s") if name in played}
    return tally(score) | spent if score.get("trials") else {}


def _blocks(score: dict[str, Any], live: str = "") -> list[dict[str, Any]]:
    """The rows of a run's blocks, each with the contest's sums, on which ranks are tested.

    Blocks of a live run are of its own recordings (``live``): nobody else's can be compared with them.
    """
    rows: list[dict[str, Any]] = score.get("blocks", [])
    rows = [{**row, "of": live} for row in rows] if live else rows
    if not score.get("trials"):
        return rows
    sums = units_of(find_rulebook(score["challenge"]), trials_from(score)).sums
    return [row | {"sums": {name: column[at].item() for name, column in sums.items()}} for at, row in enumerate(rows)]


def _ends(score: dict[str, Any], phase: Phase) -> dict[str, Any]:
    """The intervals of the score, on all recordings and on each part of them."""
    if not score.get("trials"):
        return {}
    found = {"all": score_ends(score)}
    if terms_of(phase).public:
        found |= {part: score_ends(score, keeps(phase, part)) for part in ("public", "private")}
    return found


def without_ends(session: Session, limit: int = 20) -> list[Result]:
    """Current results whose intervals are to be made: of an older version, or the parts have been changed since."""
    query = (
        select(Result)
        .where(
            Result.current, Result.ends.is_(None), Result.run.is_not(None), not_waiting("ends", Result.submission_id)
        )
        .order_by(Result.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def make_ends(session: Session, storage: Storage, result: Result) -> None:
    """The intervals of a result that has none, from its run folder."""
    phase, run, book = session.get_one(Phase, result.phase_id), str(result.run), result.rulebook
    data = str(session.get_one(Job, result.job_id).payload.get("data", ""))
    session.commit()  # this takes a while: hold no lock
    score = score_of_run(storage, run)
    if score.get("challenge") != book:  # re-scored under other rules since: the stored run has the old ones
        score = rescore(storage.fetch(run), storage.fetch(data), book)
    result.ends = _ends(score, phase)
    result.low, result.high, *_ = ends_of(result.ends, "all")
    phase.revision += 1
    session.commit()


def under_old_rules(session: Session, limit: int = 20) -> list[Result]:
    """Current results whose contest has since been put under another rulebook."""
    query = (
        select(Result)
        .join(Phase, Phase.id == Result.phase_id)
        .join(Contest, Contest.id == Phase.contest_id)
        .where(
            Result.current,
            Result.rulebook != Contest.rulebook,
            Result.run.is_not(None),
            not_waiting("rescore", Result.submission_id),
        )
        .order_by(Result.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def score_again(session: Session, storage: Storage, old: Result) -> Result | None:
    """Score a kept run under its contest's current rulebook, from the ledger: nothing runs again.

    A fault of ours is raised and leaves the old result as it is. A run that the rules themselves cannot score gets a
    result without rank that says so.
    """
    submission = session.get_one(Submission, old.submission_id)
    job = session.get_one(Job, old.job_id)
    book = submission.phase.contest.rulebook
    run, data = str(old.run), str(job.payload["data"])
    session.commit()  # reading recordings takes a while: hold no lock
    folder, recordings = storage.fetch(run), storage.fetch(data)
    try:
        find_rulebook(book)
        RunFolder(folder).ledger()
    except BadInput as error:
        raise Fault(str(error)) from error
    try:
        score: dict[str, Any] = rescore(folder, recordings, book)
    except BadInput as error:
        score = {"verdict": old.verdict, "reason": f"not scored under {book}: {error}"}
    return _put(session, submission, job, score, book)
