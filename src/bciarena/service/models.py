"""The site's tables. Times are seconds since 1970 by the database's clock, as everywhere.

What a submission is doing is not kept here: it is read from its job's row, so the two can never disagree.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from bciarena.database.db import Base, now_s
from bciarena.service.names import skeleton

ROLES = ("contestant", "organiser", "operator")
UNSHOWN = ("sums", "of")  # of a result's blocks: for comparisons alone
SCOPES = ("read", "submit", "organise")  # of tokens; each includes those before it


def _looks(context: Any) -> str:
    """The skeleton of the name: no two look alike. None in rows from before this was asked, when they do."""
    return skeleton(context.get_current_parameters()["name"])


class Account(Base):
    """A person who can sign in."""

    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    folded: Mapped[str] = mapped_column(unique=True)  # the name as `folded` makes it: by this somebody signs in
    looks: Mapped[str | None] = mapped_column(unique=True, index=True, default=_looks)
    password: Mapped[str]
    role: Mapped[str] = mapped_column(default="contestant")
    disabled: Mapped[bool] = mapped_column(default=False)
    email: Mapped[str | None]  # only one that its owner has confirmed
    created_at: Mapped[float] = mapped_column(default=now_s())


class Visit(Base):
    """Somebody signed in with a browser. Signing out removes the row, which makes the cookie worthless."""

    __tablename__ = "visits"
    digest: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_at: Mapped[float] = mapped_column(default=now_s())
    expires_at: Mapped[float] = mapped_column(index=True)
    account: Mapped[Account] = relationship()


class Token(Base):
    """An API token; only its digest is kept. ``scope`` is one of `SCOPES`."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str]
    digest: Mapped[str] = mapped_column(unique=True)
    scope: Mapped[str]
    created_at: Mapped[float] = mapped_column(default=now_s())
    expires_at: Mapped[float]
    account: Mapped[Account] = relationship()


class UseCount(Base):
    """How often something happened in a span of time: rate limits that hold across server processes."""

    __tablename__ = "tallies"
    key: Mapped[str] = mapped_column(primary_key=True)
    span: Mapped[int] = mapped_column(primary_key=True)
    count: Mapped[int]


class Team(Base):
    """A group (分组) of contestants. ``house``: our own, for reference entries.

    ``closed_at``: it was dissolved after it had taken part; its results stay, and nobody submits for it any more.
    """

    __tablename__ = "teams"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    folded: Mapped[str] = mapped_column(unique=True)
    looks: Mapped[str | None] = mapped_column(unique=True, index=True, default=_looks)
    house: Mapped[bool] = mapped_column(default=False)
    closed_at: Mapped[float | None]
    created_at: Mapped[float] = mapped_column(default=now_s())
    members: Mapped[list[Membership]] = relationship(back_populates="team")


class Membership(Base):
    __tablename__ = "memberships"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)
    captain: Mapped[bool] = mapped_column(default=False)
    team: Mapped[Team] = relationship(back_populates="members")
    account: Mapped[Account] = relationship()


class Invitation(Base):
    """A link that lets one person join a team, once."""

    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    digest: Mapped[str] = mapped_column(unique=True)
    by: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))  # older ones do not say
    created_at: Mapped[float] = mapped_column(default=now_s())
    expires_at: Mapped[float]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    team: Mapped[Team] = relationship()
    maker: Mapped[Account | None] = relationship(foreign_keys=[by])


class Entry(Base):
    """A compute unit (计算单元): a team's algorithm for one challenge, in versions."""

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("team_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    name: Mapped[str]
    challenge: Mapped[str]  # without version: imagery
    created_at: Mapped[float] = mapped_column(default=now_s())
    team: Mapped[Team] = relationship()
    versions: Mapped[list[Version]] = relationship(back_populates="entry", order_by="Version.number")


class Version(Base):
    """One uploaded package. ``package`` is its digest in the storage, or the name of a reference entry (@imagery)."""

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("entry_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"))
    number: Mapped[int]
    package: Mapped[str]
    model: Mapped[str | None]
    filename: Mapped[str]
    size: Mapped[int]
    unpacked: Mapped[int] = mapped_column(default=0)  # bytes
    about: Mapped[dict[str, Any]] = mapped_column(default=dict)  # dialect, python, warnings
    by: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[float] = mapped_column(default=now_s())
    entry: Mapped[Entry] = relationship(back_populates="versions")


class Contest(Base):
    """``awards``: see spec.Award. ``texts``: further Markdown by the name of its field. ``joining``: whether teams may
    submit at once ("open") or only when an organiser has admitted them ("approval"). ``one_team``: nobody may take part
    in two teams. ``revision`` grows with every change of what its pages say beside the boards.
    """

    __tablename__ = "contests"
    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    title_zh: Mapped[str] = mapped_column(default="")
    about: Mapped[str] = mapped_column(default="")
    about_zh: Mapped[str] = mapped_column(default="")
    rulebook: Mapped[str]
    owner_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    images: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")  # see spec.ImageSpec
    awards: Mapped[list[Any]] = mapped_column(JSON(none_as_null=True), default=list, server_default="[]")
    texts: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    joining: Mapped[str] = mapped_column(default="open", server_default="open")
    one_team: Mapped[bool] = mapped_column(default=False, server_default=false())
    revision: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[float] = mapped_column(default=now_s())
    phases: Mapped[list[Phase]] = relationship(back_populates="contest", order_by="Phase.id")
    organisers: Mapped[list[Organiser]] = relationship()
    owner: Mapped[Account] = relationship()


class Organiser(Base):
    """Somebody who manages a contest beside its owner."""

    __tablename__ = "contest_organisers"
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)
    account: Mapped[Account] = relationship()


class Phase(Base):
    """A stage of a contest: its time, its recordings, what counts and who may see what.

    ``hidden_data``: truth and per-trial marks are for organisers only. ``published``: whether the board is public.
    ``revision`` grows with every change of the board, so that caches know. ``terms``: see spec.Terms. From
    ``freezes_at`` on the board stands still for all but organisers, and a private part of the recordings is not told,
    until ``revealed``. Until ``late_until`` a submission is taken after the end, and listed without a rank.
    ``admitted_at``: when the first of an earlier phase were admitted.
    """

    __tablename__ = "phases"
    __table_args__ = (UniqueConstraint("contest_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    name: Mapped[str]
    starts_at: Mapped[float | None]
    ends_at: Mapped[float | None]
    daily_limit: Mapped[int] = mapped_column(default=10)
    hidden_data: Mapped[bool] = mapped_column(default=True)
    published: Mapped[bool] = mapped_column(default=True)
    counts: Mapped[str] = mapped_column(default="best")
    data: Mapped[str]
    data_about: Mapped[dict[str, Any]] = mapped_column(default=dict)
    limits: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")  # see spec.Granted
    revision: Mapped[int] = mapped_column(default=0)
    freezes_at: Mapped[float | None]
    late_until: Mapped[float | None]
    admitted_at: Mapped[float | None]
    revealed: Mapped[bool] = mapped_column(default=False, server_default=false())
    terms: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    contest: Mapped[Contest] = relationship(back_populates="phases")


class Submission(Base):
    """A version sent to a phase (提交, 部署).

    ``chosen``: by its team, as the one that counts. ``late``: after the end. ``carried``: sent by the site, since the
    team was admitted to the phase with it.
    """

    __tablename__ = "submissions"
    __table_args__ = (Index("ix_submissions_phase_team", "phase_id", "team_id", "created_at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("versions.id"))
    by: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[float] = mapped_column(default=now_s())
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), index=True)
    disqualified: Mapped[str | None]
    chosen: Mapped[bool] = mapped_column(default=False, server_default=false())
    late: Mapped[bool] = mapped_column(default=False, server_default=false())
    carried: Mapped[bool] = mapped_column(default=False, server_default=false())
    phase: Mapped[Phase] = relationship()
    team: Mapped[Team] = relationship()
    version: Mapped[Version] = relationship()


def ends_of(ends: dict[str, Any] | None, part: str) -> list[float | None]:
    """The bounds of a part: low and high for the same people, then for new ones."""
    return (ends or {}).get(part) or [None] * 4


class Result(Base):
    """What a finished run was worth under one rulebook; the newest of a submission counts.

    ``blocks`` are the block scores in playing order, each with the contest's ``sums`` for comparisons; ``low`` and
    ``high`` bound the score (95 %, new blocks of the same people). ``ends`` has these and the bounds for new people, of
    all recordings and of each part of them; None until the keeper has made them.
    ``trials`` and everything else stay in the run folder ``run``.
    """

    __tablename__ = "results"
    __table_args__ = (
        UniqueConstraint("submission_id", "job_id", "rulebook"),
        Index("ix_results_board", "phase_id", "team_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), index=True)
    job_id: Mapped[int]
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    rulebook: Mapped[str]
    verdict: Mapped[str]
    reason: Mapped[str] = mapped_column(default="")
    score: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    metrics: Mapped[dict[str, Any]]
    blocks: Mapped[list[Any]] = mapped_column(JSON)
    ends: Mapped[dict[str, Any] | None]
    tally: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")  # see bciarena.summary
    sandbox: Mapped[str]
    ranked: Mapped[bool]
    current: Mapped[bool] = mapped_column(default=True)
    run: Mapped[str | None]
    created_at: Mapped[float] = mapped_column(default=now_s())

    @property
    def new_low(self) -> float | None:
        return ends_of(self.ends, "all")[2]

    @property
    def new_high(self) -> float | None:
        return ends_of(self.ends, "all")[3]

    @property
    def block_rows(self) -> list[dict[str, Any]]:
        """The blocks as pages show them."""
        return [{name: value for name, value in block.items() if name not in UNSHOWN} for block in self.blocks]


class AuditLine(Base):
    """An action of an organiser or operator. Triggers in the database refuse to change or remove a line.

    ``who`` is the name at the time; ``account_id`` is None for somebody at the machine itself.
    """

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    who: Mapped[str]
    what: Mapped[str]
    about: Mapped[str]
    created_at: Mapped[float] = mapped_column(default=now_s())


class Registration(Base):
    """A team that asks to take part in a contest. ``state``: waiting, admitted or refused."""

    __tablename__ = "registrations"
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True, index=True)
    by: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    state: Mapped[str]
    created_at: Mapped[float] = mapped_column(default=now_s())
    decided_at: Mapped[float | None]
    team: Mapped[Team] = relationship()


class Admission(Base):
    """A team that may submit to a phase. ``how``: invited; or by its place in an earlier phase, with that rank and
    score: first, and place once its entry was carried over.
    """

    __tablename__ = "admissions"
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True, index=True)
    how: Mapped[str]
    rank: Mapped[int | None]
    score: Mapped[float | None]
    created_at: Mapped[float] = mapped_column(default=now_s())
    team: Mapped[Team] = relationship()


class Download(Base):
    """A file people can fetch from a contest's page; ``login``: only when signed in."""

    __tablename__ = "downloads"
    __table_args__ = (Index("uq_downloads_contest_id_name", "contest_id", "name", unique=True),)
    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    name: Mapped[str]
    about: Mapped[str]
    stored: Mapped[str]
    size: Mapped[int]
    login: Mapped[bool]
    by: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[float] = mapped_column(default=now_s())

    @property
    def digest(self) -> str:
        """The SHA-256 of its content."""
        return self.stored.partition("-")[2]


class Post(Base):
    """An announcement of the organisers (``kind`` news), or a question with its answer.

    A question is seen by its author and the organisers; with its answer by everybody if it is ``public``.
    """

    __tablename__ = "posts"
    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    kind: Mapped[str]
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    title: Mapped[str]
    text: Mapped[str]
    public: Mapped[bool]
    answer: Mapped[str] = mapped_column(default="")
    answered_by: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    answered_at: Mapped[float | None]
    created_at: Mapped[float] = mapped_column(default=now_s())
    author: Mapped[Account] = relationship(foreign_keys=[account_id])
    contest: Mapped[Contest] = relationship()


class Letter(Base):
    """A message in somebody's inbox: a text of the site by its ``key`` with its ``words``, and where it leads.

    It is also mailed where the site can and the person has confirmed an address.
    """

    __tablename__ = "letters"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    key: Mapped[str]
    words: Mapped[dict[str, Any]]
    link: Mapped[str]
    created_at: Mapped[float] = mapped_column(default=now_s())
    read_at: Mapped[float | None]
    mailed_at: Mapped[float | None]
    account: Mapped[Account] = relationship()


class Change(Base):
    """Something of a contest that was changed after its creation: what, from what, to what."""

    __tablename__ = "changes"
    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    who: Mapped[str]
    what: Mapped[str]
    before: Mapped[str]
    after: Mapped[str]
    created_at: Mapped[float] = mapped_column(default=now_s())


class Stage(Base):
    """The stage of a phase: who plays in which order, and what a projector shows now.

    ``teams`` in the order that ``seed`` gives (see stage.drawn). ``machine``: where all of them are played;
    ``playing``: whether the keeper sends the next when one has ended. ``seals``: what was signed, by team.
    ``open_to``: "organisers"; "now": everybody sees what the projector shows; "replay": any moment of it.
    ``at`` is the place of the team on stage, from 0; -1 is the title. ``shown_s`` seconds of its recording had been
    shown at the time ``since``, and time goes on from there at ``speed`` unless that is None. ``live``: what a live run
    was doing a moment ago.
    """

    __tablename__ = "stages"
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"), primary_key=True)
    seed: Mapped[str]
    teams: Mapped[list[Any]] = mapped_column(JSON(none_as_null=True), default=list)
    drawn_at: Mapped[float] = mapped_column(default=now_s())
    machine: Mapped[str | None]
    playing: Mapped[bool] = mapped_column(default=False)
    seals: Mapped[dict[str, Any]] = mapped_column(default=dict)
    open_to: Mapped[str] = mapped_column(default="organisers")
    at: Mapped[int] = mapped_column(default=-1)
    shown_s: Mapped[float] = mapped_column(default=0.0)
    since: Mapped[float | None]
    speed: Mapped[float] = mapped_column(default=1.0)
    live: Mapped[dict[str, Any] | None]
    phase: Mapped[Phase] = relationship()


class Guess(Base):
    """How often visitors said ``said`` of something whose truth is ``truth`` (see contests.game)."""

    __tablename__ = "guesses"
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True)
    truth: Mapped[bool] = mapped_column(primary_key=True)
    said: Mapped[bool] = mapped_column(primary_key=True)
    count: Mapped[int]
