"""The demo: five contests on simulated recordings, the reference entries trained and played through the real queue.

Every step first checks whether its result exists, so an interrupted build continues and a second start is quick.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
import tomllib
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from bciarena import clocks
from bciarena.bars import progress_bar
from bciarena.contests import CONTESTS, contest, rulebook
from bciarena.entries.reference import Reference, references
from bciarena.errors import ArenaError, BadInput
from bciarena.jobs.local import LocalEngine
from bciarena.jobs.model import ENDED, Job
from bciarena.jobs.queue import HELD
from bciarena.jobs.work import Work
from bciarena.service import contests, stage, submissions, teams, uploads
from bciarena.service.keeper import work_once
from bciarena.service.models import Account, Contest, Entry, Phase, Stage, Submission, Team, Version
from bciarena.service.parts import terms_of
from bciarena.service.site import Site
from bciarena.service.spec import parse
from bciarena.writing import whole_folder

SEED = 2026
PHASE = "practice"
FINAL = "final"
TEAMS = {"": "Arena reference", "-baseline": "Arena baseline"}


@dataclass(frozen=True)
class Show:
    """A demo contest, from its folder's demo.toml: what is simulated for it, small enough for a laptop.

    Attributes
    ----------
    blocks : dict of str to int
        Blocks of each set; the first set is played, the others are for training.
    effort : int
        How long simulating and training take, relative to the other contests: the longest are simulated first and
        trained last, while others play.
    final : bool
        Whether it is in its final, with a stage to look at: one block, played to the reference entries in turn.
    """

    challenge: str
    subjects: int | None
    blocks: dict[str, int]
    effort: int = 1
    final: bool = False

    @property
    def slug(self) -> str:
        return f"demo-{self.challenge}"

    @property
    def played(self) -> str:
        return next(iter(self.blocks))

    def about(self, language: str) -> str:
        return str(contest(self.challenge).words[language].get("page", {}).get("about", ""))


def shows() -> list[Show]:
    """Every contest that has a place in the demo."""
    found = []
    for one in CONTESTS.values():
        path = one.folder / "demo.toml"
        if path.is_file():
            said = tomllib.loads(path.read_text("utf-8"))
            found.append(
                Show(one.name, said.get("subjects"), said["blocks"], said.get("effort", 1), said.get("final", False))
            )
    return found


def build(site: Site, cores: int | None = None) -> None:
    """Build what is missing of the demo in a site, with progress on the terminal."""
    cores = cores or os.cpu_count() or 1
    with progress_bar(stays=True) as shown:
        step = _Steps(shown)
        _make_recordings(site.settings.home / "data", cores, step)
        with site.session(writes=True) as session:
            owner = session.scalar(select(Account).where(Account.role == "operator").order_by(Account.id))
            if owner is None:
                raise BadInput("the demo needs an operator account; start it with arena serve --demo")
            _make_contests(session, owner, site, step)
        _again_boxed(site, owner.id, step)
        if _is_played(site):  # a second start
            while work_once(site):
                pass
            return
        _enter_and_play(site, owner.id, cores, step)


class _Steps:
    """One line of progress per step."""

    def __init__(self, shown: Progress) -> None:
        self.shown = shown

    def begin(self, words: str, total: int) -> Callable[[], None]:
        task = self.shown.add_task(words, total=total)
        return lambda: self.to(task, self.shown.tasks[task].completed + 1)

    def to(self, task: TaskID, completed: float) -> None:
        """Advance a line; without a terminal (a log file), print whole steps."""
        at = self.shown.tasks[task]
        whole = int(completed) > int(at.completed)
        self.shown.update(task, completed=completed)
        if whole and not self.shown.console.is_terminal:
            self.say(f"{at.description}: {int(completed)}/{int(at.total or 0)} ({at.elapsed or 0:.0f} s)")

    def say(self, words: str) -> None:
        self.shown.console.print(words, highlight=False)


def _folder(data: Path, show: Show, split: str) -> Path:
    """Training sets share a folder, as `arena train` expects; the set that is played has its own."""
    if split == show.played:
        return data / f"{show.challenge}-{split}"
    return data / f"{show.challenge}-training" / split if len(show.blocks) > 2 else data / f"{show.challenge}-training"


def _simulate(challenge: str, split: str, subjects: int | None, blocks: int, folder: str) -> None:
    from bciarena.protocol import protocol_of
    from bciarena.simulator import Order, make

    # Without the deep generator: it would have to be trained first, which alone takes minutes.
    drawn = protocol_of(challenge).drawable
    make(Order(challenge, split, subjects, blocks, SEED, deep=False, drawn=drawn), Path(folder))


def _make_recordings(data: Path, cores: int, step: _Steps) -> None:
    wanted = [
        (show.challenge, split, show.subjects, blocks, str(_folder(data, show, split)))
        for show in sorted(shows(), key=lambda show: -show.effort)
        for split, blocks in show.blocks.items()
        if not _folder(data, show, split).is_dir()
    ]
    if not wanted:
        return
    done = step.begin("simulating recordings", len(wanted))
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_simulate, *one) for one in wanted]):
            future.result()
            done()


def _make_contests(session: Session, owner: Account, site: Site, step: _Steps) -> None:
    there = {contest.slug for contest in contests.all_contests(session)}
    session.commit()
    missing = [show for show in shows() if show.slug not in there]
    done = step.begin("setting up contests", len(shows()))
    for show in shows():
        if show in missing:
            book = rulebook(show.challenge)
            folder = str(_folder(site.settings.home / "data", show, show.played).resolve())
            practice = {"name": PHASE, "truth": "public", "daily_limit": 20, "data": {"folder": folder}}
            phases = [practice, _final_phase(site, show)] if show.final else [practice]
            values = {"slug": show.slug, "title": f"Demo: {book.title}", "title_zh": f"演示：{book.title_zh}"}
            words = {"about": show.about("en"), "about_zh": show.about("zh"), "rulebook": book.id, "phase": phases}
            contests.create(session, owner, parse({**values, **words}, "demo"), None)
        done()
    for phase in contests.unprepared(session):
        contests.prepare(session, site.storage, site.settings.secret, phase)
    for hosted in contests.all_contests(session):
        for phase in hosted.phases:
            if "trouble" in phase.data_about:
                step.say(f"{hosted.slug}: {phase.data_about['trouble']}")
    session.commit()


def _final_phase(site: Site, show: Show) -> dict[str, Any]:
    """The final of a demo contest: the first block of what is played, for those who are invited."""
    played = _folder(site.settings.home / "data", show, show.played)
    folder = played.with_name(f"{show.challenge}-final")
    if not folder.is_dir():
        first = min(path for path in played.rglob("*") if path.is_file() and path.stem == "block_1")
        with whole_folder(folder) as beside:
            (beside / first.parent.name).mkdir(parents=True)
            shutil.copy(first, beside / first.parent.name)
    terms = {"admits": "invited", "stage": "replay", "truth": "public"}
    return {"name": FINAL, **terms, "data": {"folder": str(folder.resolve())}}


def _shown_references() -> list[Reference]:
    """The reference entries of the contests shown."""
    shown = {show.challenge for show in shows()}
    return [one for one in references() if one.challenge in shown]


def _model(site: Site, one: Reference) -> Path:
    return site.settings.home / "models" / one.name.strip("@")


def _train_one(site: Site, one: Reference) -> None:
    from bciarena.entries.opened import opened

    book = rulebook(one.challenge)
    target = _model(site, one)
    with opened(one.name, book, sandbox="bwrap" if site.settings.boxed else "none") as ready:
        ready.train(site.settings.home / "data" / f"{one.challenge}-training", target, budget_s=3600)


def _submit(site: Site, owner_id: int, one: Reference) -> None:
    """Submit a reference entry once, as a version of one of our own teams."""
    with site.session(writes=True) as session:
        owner = session.get_one(Account, owner_id)
        model = _model(site, one) if one.needs_model else None
        team = _team(session, owner, TEAMS["-baseline" if one.name.endswith("-baseline") else ""])
        version = _version(session, owner, team, one, site.storage.put(model) if model else None)
        for phase in session.scalars(select(Phase).join(Contest).where(Contest.slug == f"demo-{one.challenge}")).all():
            own = (Submission.version_id == version.id, Submission.phase_id == phase.id)
            if phase.data and session.scalar(select(Submission.id).where(*own).limit(1)) is None:
                submissions.submit(session, owner, version, phase, site.settings.boxed)
        session.commit()


def _again_boxed(site: Site, owner_id: int, step: _Steps) -> None:
    """What was played before there was a box is played again in one, and ranked then."""
    if not site.settings.boxed:
        return
    slugs = [show.slug for show in shows()]
    with site.session(writes=True) as session:
        owner = session.get_one(Account, owner_id)
        for phase in session.scalars(select(Phase).join(Contest).where(Contest.slug.in_(slugs))).all():
            if count := submissions.rerun_all(session, owner, phase, "unboxed", True):
                step.say(f"{phase.contest.slug}/{phase.name}: {count} runs that were not boxed are played again")
                if (found := stage.stage_of(session, phase)) is not None:
                    found.machine = None  # perhaps on another one now
        session.commit()


def _set_stage(site: Site, owner_id: int) -> list[int]:
    """Draw the order of every final and have it played; returns the phases that are."""
    found = []
    with site.session(writes=True) as session:
        owner = session.get_one(Account, owner_id)
        for phase in session.scalars(select(Phase).join(Contest).where(Contest.slug.startswith("demo-"))).all():
            runs = stage.players(session, phase) if terms_of(phase).stage == "replay" else []
            if not any(session.get_one(Job, run.job_id).only == HELD for run in runs):
                continue
            if not stage.begun(stage.stage_of(session, phase)):
                stage.draw(session, owner, phase, str(SEED))
            stage.play(session, owner, phase, socket.gethostname())
            stage.direct(session, owner, phase, "open", "replay")
            found.append(phase.id)
    return found


def _on_stage(site: Site, phases: list[int]) -> bool:
    """Whether a final is still being played; the keeper's work is done here, since no site runs yet."""
    while work_once(site):
        pass
    with site.session(writes=False) as session:
        return any(session.get_one(Stage, phase).playing for phase in phases)


def _team(session: Session, owner: Account, name: str) -> Team:
    found = session.scalar(select(Team).where(Team.name == name, Team.house))
    return found or teams.create_team(session, owner, name, house=True)


def _version(session: Session, owner: Account, team: Team, one: Reference, model: str | None) -> Version:
    entry = session.scalar(select(Entry).where(Entry.team_id == team.id, Entry.name == one.name))
    entry = entry or uploads.create_entry(session, owner, team, one.name, one.challenge)
    found = session.scalar(select(Version).where(Version.entry_id == entry.id).order_by(Version.number.desc()))
    return found or uploads.add_reference(session, owner, entry, one.name, model)


def _enter_and_play(site: Site, owner_id: int, cores: int, step: _Steps) -> None:
    """Train the reference entries that need it and play each as soon as it is ready, half the cores for either.

    More at once would be slower: an entry and its referee wait for each other in turns of microseconds.
    """
    given = os.environ.get(clocks.VARIABLE)
    os.environ[clocks.VARIABLE] = given or "inf"  # training goes on at the same time: no run waits for a quiet machine
    known = _shown_references()
    finals = {show.challenge for show in shows() if show.final}
    total = len(known) + sum(one.challenge in finals for one in known)
    task = step.shown.add_task("playing reference entries", total=total)
    work = Work(site.queue, site.storage, LocalEngine(site.storage, max(cores // 2, 1)), say=step.say)
    playing = threading.Thread(target=work.run, name="demo worker")
    playing.start()
    try:
        _enter(site, owner_id, cores, step, lambda: step.to(task, _share(site)))
        staged = _set_stage(site, owner_id)
        while _share(site) < len(_jobs(site)) or _on_stage(site, staged):
            step.to(task, _share(site))
            playing.join(0.5)
    finally:
        work.stopping.set()
        playing.join()
        if given is None:
            del os.environ[clocks.VARIABLE]
    step.to(task, total)
    while work_once(site):
        pass
    with site.session(writes=False) as session:
        for job in session.scalars(select(Job).where(Job.kind == "match", Job.state != "finished")):
            step.say(f"{job.payload['entry']}: {job.verdict or job.state}: {(job.error or '').splitlines()[:1]}")


def _enter(site: Site, owner_id: int, cores: int, step: _Steps, look: Callable[[], None]) -> None:
    """Submit what can play at once, then the others as they are trained; ``look`` is called meanwhile."""
    ready = [one for one in _shown_references() if not one.needs_model or _model(site, one).is_dir()]
    for one in ready:
        _submit(site, owner_id, one)
    effort = {show.challenge: show.effort for show in shows()}
    wanted = sorted((one for one in _shown_references() if one not in ready), key=lambda one: effort[one.challenge])
    done = step.begin("training reference entries", len(wanted))
    (site.settings.home / "models").mkdir(exist_ok=True)
    with ThreadPoolExecutor(cores - cores // 2) as pool:
        training = {pool.submit(_train_one, site, one): one for one in wanted}
        while training:
            over, _ = wait(training, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in over:
                one = training.pop(future)
                try:
                    future.result()
                    _submit(site, owner_id, one)
                except ArenaError as error:
                    step.say(f"{one.name}: not trained, so it does not play: {error}")
                done()
            look()


def _is_played(site: Site) -> bool:
    """Whether every reference entry has been played to its end."""
    with site.session(writes=False) as session:  # those that wait for a stage, too
        states = list(session.scalars(select(Job.state).where(Job.kind == "match")))
    return len(states) >= len(_shown_references()) and all(state in ENDED for state in states)


def _jobs(site: Site) -> list[Any]:
    with site.session(writes=False) as session:
        query = select(Job.state, Job.progress).where(Job.kind == "match", or_(Job.only.is_(None), Job.only != HELD))
        return list(session.execute(query).all())


def _share(site: Site) -> float:
    """How many runs are played, parts of running ones included."""

    def one(job: Any) -> float:
        if job.state in ENDED:
            return 1.0
        at = job.progress or {}
        return min(float(at.get("packets", 0)) / float(max(at.get("total_packets", 0), 1)), 0.99)

    return sum(map(one, _jobs(site)))
