"""Where a site keeps its files, and its limits."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bciarena.database import home as places
from bciarena.errors import BadInput


@dataclass(frozen=True)
class Settings:
    """What a site needs to know at start.

    Attributes
    ----------
    home : Path
        Folder with the secret key, and by default the database and the stored files.
    database : str
        SQLAlchemy URL.
    storage : str
        Folder or fsspec URL of entries, recordings and run folders.
    data_roots : tuple of Path
        Organisers may name data folders under these in the browser, and nowhere else.
    boxed : bool
        Whether entries can be boxed on this machine; where not, uploads are refused.
    https : bool
        Whether cookies are to be sent over https only.
    proxies : tuple of networks
        Proxies in front of the site: only what they append to X-Forwarded-For is trusted.
    url : str
        The address people use (https://arena.example), for links that are passed on. Empty: links are completed by
        the reader's browser. The Host header of a request never ends up in a link.
    team_bytes : int
        Quota for the packages of one team, unpacked.
    smtp, mail_from : str
        The mail server and the sender, from ARENA_SMTP and ARENA_MAIL_FROM; without them nothing is mailed.
    """

    home: Path
    database: str
    storage: str
    secret: str
    data_roots: tuple[Path, ...]
    boxed: bool = True
    https: bool = False
    open_signup: bool = True
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    url: str = ""
    team_bytes: int = 20 * 10**9
    upload_limit: int = 256 << 20
    form_limit: int = 1 << 20
    smtp: str = ""
    mail_from: str = ""

    @staticmethod
    def at(
        home: Path | None = None,
        database: str | None = None,
        storage: str | None = None,
        data_roots: tuple[Path, ...] = (),
        **more: Any,
    ) -> Settings:
        """The settings of a site in ``home``; makes the folder and the secret key on first use."""
        folder = home or places.home()
        try:
            _make_private(folder)
            secret = _secret(folder / "secret.key")
        except OSError as error:
            raise BadInput(
                f"{folder}: cannot keep a site ({error.strerror}); name another folder with --home"
            ) from error
        more.setdefault("smtp", os.environ.get("ARENA_SMTP", ""))
        more.setdefault("mail_from", os.environ.get("ARENA_MAIL_FROM", ""))
        named = home is not None  # a folder that was named wins over the environment's database and storage
        return Settings(
            home=folder,
            database=database or (f"sqlite:///{folder / 'arena.db'}" if named else places.database_url()),
            storage=storage or (str(folder / "storage") if named else places.storage_url()),
            secret=secret,
            data_roots=tuple(root.resolve() for root in data_roots or (folder / "data",)),
            **more,
        )


def networks(texts: list[str]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Addresses and networks (127.0.0.1, 10.0.0.0/8) of proxies."""
    try:
        return tuple(ip_network(text, strict=False) for text in texts)
    except ValueError as error:
        raise BadInput(f"--proxy: {error}") from None


def public_url(text: str) -> str:
    """A site's address as it is put before paths."""
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or parts.query):
        raise BadInput(f"--url {text}: give the site's address without a path, such as https://arena.example")
    return text.rstrip("/")


def _make_private(folder: Path) -> None:
    """Make the folder if it is missing, and close it and its files to other users.

    Older versions left them open. Stored files keep their own modes: nobody else can enter the folder.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name, mode in (("data", 0o700), ("storage", 0o700), ("reports", 0o700), ("secret.key", 0o600)):
        if (folder / name).exists():
            (folder / name).chmod(mode)
    for file in folder.glob("arena.db*"):
        file.chmod(0o600)


def _secret(path: Path) -> str:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
    secret = path.read_text("ascii").strip()
    if len(secret) < 32:
        raise BadInput(f"{path}: contains no key; remove it to have a new one made (everybody must sign in again)")
    return secret
