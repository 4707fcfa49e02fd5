"""A small package index on this disk, with wheels and source packages of our own making."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest


class SmallIndex:
    """``folder``/simple is what pip's settings name while it is in use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "simple").mkdir(parents=True)
        (folder / "files").mkdir()

    def use(self, monkeypatch: pytest.MonkeyPatch, address: str = "") -> None:
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", address or (self.folder / "simple").as_uri())
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "2")

    def use_beside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Beside the machine's own index."""
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", (self.folder / "simple").as_uri())

    def wheel(
        self,
        name: str,
        version: str = "1.0",
        tag: str = "py3-none-any",
        needs: str = "",
        more: str = "",
        path_file: str = "",
    ) -> Path:
        info = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {line}\n" for line in needs.splitlines())
        files = {
            f"{name}.py": more or f"VERSION = {version!r}\n",
            f"{info}/METADATA": metadata,
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: {tag}\n",
        }
        if path_file:  # what the interpreter runs at every start
            files[f"{name}.pth"] = path_file
        record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        target = self.folder / "files" / f"{name}-{version}-{tag}.whl"
        with zipfile.ZipFile(target, "w") as archive:
            for path, text in {**files, f"{info}/RECORD": record}.items():
                archive.writestr(path, text)
        self._list(name, target)
        return target

    def source(self, name: str, marker: Path, version: str = "1.0") -> Path:
        """A source package that leaves a mark when it is built."""
        setup = f"open({str(marker)!r}, 'w').write('built')\nfrom setuptools import setup\nsetup(name={name!r})\n"
        target = self.folder / "files" / f"{name}-{version}.tar.gz"
        with tarfile.open(target, "w:gz") as archive:
            for path, text in (
                (f"{name}-{version}/setup.py", setup),
                (f"{name}-{version}/PKG-INFO", f"Name: {name}\n"),
            ):
                info = tarfile.TarInfo(path)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        self._list(name, target)
        return target

    def _list(self, name: str, target: Path) -> None:
        page = self.folder / "simple" / name.replace("_", "-") / "index.html"
        page.parent.mkdir(exist_ok=True)
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        before = page.read_text() if page.exists() else ""
        page.write_text(before + f'<a href="../../files/{target.name}#sha256={digest}">{target.name}</a>\n')
