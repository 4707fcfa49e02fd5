"""The companion package of a challenge as one file to fetch, made once and kept."""

from __future__ import annotations

import tempfile
import threading
import zipfile
from importlib.metadata import version
from pathlib import Path

from bciarena.contests import contest as find_contest
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.companion import write_starter
from bciarena.service.settings import Settings
from bciarena.writing import whole_file

EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is made
_making = threading.Lock()


def has_companion(book: Rulebook) -> bool:
    return find_contest(book).has("starter")


def companion(settings: Settings, book: Rulebook) -> Path:
    """The package as a zip archive in the site's folder."""
    kept = settings.home / "companions" / f"{book.name}-{book.digest[:12]}-{version('bciarena')}.zip"
    with _making:
        if not kept.is_file():
            kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="arena-companion-") as work:
                folder = Path(work) / book.name
                names = write_starter(book, folder)
                with whole_file(kept) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
                    for name in names:
                        info = zipfile.ZipInfo(f"{book.name}/{name}", EPOCH)
                        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                        archive.writestr(info, (folder / name).read_bytes())
    return kept
