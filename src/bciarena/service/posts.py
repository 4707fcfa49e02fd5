"""Announcements, and questions with their answers.

A question is seen by its author and the organisers alone; if an organiser publishes it with its answer, by everybody,
without its author's name.
"""

from __future__ import annotations

import time

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from bciarena.service import letters, limits
from bciarena.service.audit import record
from bciarena.service.contests import may_manage
from bciarena.service.models import Account, Contest, Post
from bciarena.service.refusals import Refused, not_found

ASK = limits.Limit("ask", 20, 3600)
SHOWN = 200
LONGEST = 10_000


def news(session: Session, contest: Contest) -> list[Post]:
    query = select(Post).where(Post.contest_id == contest.id, Post.kind == "news")
    return list(session.scalars(query.order_by(Post.id.desc()).limit(SHOWN)))


def questions(session: Session, contest: Contest, account: Account | None) -> list[Post]:
    """The questions somebody may see: all for organisers, otherwise one's own and the published ones."""
    query = select(Post).where(Post.contest_id == contest.id, Post.kind == "question")
    if not may_manage(account, contest):
        published = Post.public & Post.answered_at.is_not(None)
        query = query.where(published if account is None else or_(published, Post.account_id == account.id))
    return list(session.scalars(query.order_by(Post.id.desc()).limit(SHOWN)))


def unanswered(session: Session, contest: Contest) -> int:
    held = (Post.contest_id == contest.id) & (Post.kind == "question") & Post.answered_at.is_(None)
    return session.scalar(select(func.count()).select_from(Post).where(held)) or 0


def _checked(text: str, name: str, most: int) -> str:
    text = text.strip()
    if not 1 <= len(text) <= most:
        raise Refused(422, "refused.field", name=name)
    return text


def announce(session: Session, actor: Account, contest: Contest, title: str, text: str) -> Post:
    post = Post(
        contest_id=contest.id, kind="news", account_id=actor.id, title=_checked(title, "title", 200),
        text=_checked(text, "text", LONGEST), public=True,
    )  # fmt: skip
    session.add(post)
    contest.revision += 1
    link = f"/contests/{contest.slug}/questions"
    words = {**letters.named(contest), "title": post.title}
    letters.write(session, letters.following(session, contest), "letter.news", link, **words)
    record(session, actor, "announce", f"{contest.slug}: {post.title}")
    session.commit()
    return post


def ask(session: Session, account: Account, contest: Contest, title: str, text: str) -> Post:
    limits.spend(session, ASK, f"account-{account.id}")
    post = Post(
        contest_id=contest.id, kind="question", account_id=account.id, title=_checked(title, "title", 200),
        text=_checked(text, "text", LONGEST), public=False,
    )  # fmt: skip
    session.add(post)
    link = f"/contests/{contest.slug}/questions"
    words = {**letters.named(contest), "title": post.title}
    letters.write(session, letters.organisers(contest), "letter.question", link, **words)
    session.commit()
    return post


def answer(session: Session, actor: Account, contest: Contest, post_id: int, text: str, public: bool) -> Post:
    """Answer a question, or answer it anew; its author is told."""
    post = session.get(Post, post_id)
    if post is None or post.contest_id != contest.id or post.kind != "question":
        raise not_found()
    post.answer, post.public = _checked(text, "answer", LONGEST), public
    post.answered_by, post.answered_at = actor.id, time.time()
    contest.revision += 1
    link = f"/contests/{contest.slug}/questions"
    words = {**letters.named(contest), "title": post.title}
    letters.write(session, [post.account_id], "letter.answer", link, **words)
    record(session, actor, "answer", f"{contest.slug}: question {post.id}{', published' if public else ''}")
    session.commit()
    return post


def remove(session: Session, actor: Account, contest: Contest, post_id: int) -> None:
    """Take an announcement or a question back."""
    post = session.get(Post, post_id)
    if post is None or post.contest_id != contest.id:
        raise not_found()
    contest.revision += 1
    record(session, actor, "unpost", f"{contest.slug}: {post.title}")
    session.delete(post)
    session.commit()
