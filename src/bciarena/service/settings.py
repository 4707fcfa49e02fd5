"""Where a site keeps its things and how much it lets in."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput
from bciarena.jobs import home as places


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
    trusted_proxies : int
        How many proxies in front of the site append to X-Forwarded-For; 0: the header is ignored.
    """

    home: Path
    database: str
    storage: str
    secret: str
    data_roots: tuple[Path, ...]
    boxed: bool = True
    https: bool = False
    open_signup: bool = True
    trusted_proxies: int = 0
    upload_limit: int = 256 << 20
    form_limit: int = 1 << 20

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
            folder.mkdir(parents=True, exist_ok=True)
            secret = _secret(folder / "secret.key")
        except OSError as error:
            raise BadInput(
                f"{folder}: cannot keep a site ({error.strerror}); name another folder with --home"
            ) from error
        named = home is not None  # a folder that was named wins over the environment's database and storage
        return Settings(
            home=folder,
            database=database or (f"sqlite:///{folder / 'arena.db'}" if named else places.database_url()),
            storage=storage or (str(folder / "storage") if named else places.storage_url()),
            secret=secret,
            data_roots=tuple(root.resolve() for root in data_roots or (folder / "data",)),
            **more,
        )


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
        raise BadInput(f"{path}: holds no key; remove it and a new one is made (everybody must sign in again)")
    return secret
