"""E-mail, where the site is told how: letters of the inbox, confirmations of an address, new passwords.

ARENA_SMTP names the server (smtp://USER:PASSWORD@HOST:587, smtps:// for TLS from the start), ARENA_MAIL_FROM the
sender. Nothing is mailed to an address its owner has not confirmed.
"""

from __future__ import annotations

import smtplib
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from bciarena.errors import BadInput, Fault
from bciarena.plaintext import one_line
from bciarena.service.letters import text_of
from bciarena.service.models import Account, Letter
from bciarena.service.settings import Settings
from bciarena.service.troubles import not_waiting

WAIT_S = 20.0
BATCH = 50
OLDEST_S = 3 * 86400.0


def can_mail(settings: Settings) -> bool:
    """Whether mail can be sent at all: a server, a sender, and an address of the site for links."""
    return bool(settings.smtp and settings.mail_from and settings.url)


def is_address(text: str) -> bool:
    """Whether a text is one plain address; what could add a line to a header is not."""
    if not 3 <= len(text) <= 200 or not text.isascii() or not text.isprintable() or " " in text:
        return False
    try:
        parsed = Address(addr_spec=text)
    except (ValueError, IndexError, MessageError):
        return False
    return bool(parsed.username) and "." in parsed.domain


def send(settings: Settings, to: str, subject: str, text: str) -> None:
    """Send one message; a server that cannot be reached or refuses is a fault."""
    with _server(settings) as server:
        _send(server, settings, to, subject, text)


def _send(server: smtplib.SMTP, settings: Settings, to: str, subject: str, text: str) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.mail_from, to, one_line(subject, 150)
    message.set_content(text)
    try:
        server.send_message(message)
    except (smtplib.SMTPException, OSError) as error:
        raise Fault(f"mail: {error}") from error


@contextmanager
def _server(settings: Settings) -> Iterator[smtplib.SMTP]:
    parts = urlsplit(settings.smtp)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise BadInput("ARENA_SMTP: give smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST")
    secure = ssl.create_default_context()
    try:
        if parts.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(parts.hostname, parts.port or 465, timeout=WAIT_S, context=secure)
        else:
            server = smtplib.SMTP(parts.hostname, parts.port or 587, timeout=WAIT_S)
    except (smtplib.SMTPException, OSError) as error:
        raise Fault(f"mail: {parts.hostname}: {error}") from error
    with server:
        try:
            if parts.scheme == "smtp" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
                server.starttls(context=secure)  # no password and no letter goes over an open line
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
        except (smtplib.SMTPException, OSError) as error:
            raise Fault(f"mail: {parts.hostname}: {error}") from error
        yield server


def unmailed(session: Session) -> list[Letter]:
    """Letters of the last days that were not mailed to somebody who has an address."""
    query = (
        select(Letter)
        .join(Account, Account.id == Letter.account_id)
        .where(Letter.mailed_at.is_(None), Letter.read_at.is_(None), Account.email.is_not(None))
        .where(Letter.created_at > time.time() - OLDEST_S, not_waiting("mail", literal(0)))
        .order_by(Letter.id)
    )
    return list(session.scalars(query.limit(BATCH)))


def mail_letters(session: Session, settings: Settings, found: list[Letter]) -> int:
    """Mail letters in both languages, the site's link at the end; each is marked as soon as it was sent."""
    if not found:
        return 0
    with _server(settings) as server:
        for letter in found:
            lines = [text_of(letter, lang) for lang in ("en", "zh")]
            text = "\n\n".join([*lines, f"{settings.url}{letter.link}"])
            _send(server, settings, str(letter.account.email), lines[0], text)
            letter.mailed_at = time.time()
            session.commit()
    return len(found)
