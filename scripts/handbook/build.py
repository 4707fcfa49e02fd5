"""Build the handbook in both languages: python scripts/handbook/build.py [FOLDER].

The folder, by default the one that is part of the package, is replaced only when both are complete.
"""

import logging
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "src" / "bciarena" / "handbook"


def build(place: Path = PLACE, strict: bool = False) -> None:
    """Both languages. Where strict, as in the tests, a warning is an error: a dead link, a page that no menu has."""
    from mkdocs.commands.build import build as build_one
    from mkdocs.config import load_config

    logging.getLogger("mkdocs").addHandler(logging.StreamHandler())
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".handbook-") as fresh:
        for language, name in (("en", "mkdocs.yml"), ("zh", "mkdocs.zh.yml")):
            config = load_config(str(ROOT / name), site_dir=str(Path(fresh) / language), strict=strict)
            config.plugins.on_startup(command="build", dirty=False)
            build_one(config)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(fresh, place)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if sys.argv[1:] else PLACE)
