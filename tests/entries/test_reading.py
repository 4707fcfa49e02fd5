"""A stranger's archive is read in a box, with the same outcome as outside and bounds on whatever goes wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from bciarena.entries import open_entry, package, reading
from bciarena.errors import BadInput, EntryFailed
from bciarena.package import Package
from bciarena.sandbox import why_not
from bciarena.service import uploads
from bciarena.service.refusals import Refused
from tests.entries.test_package import MI, OWN, as_tar, as_zip

pytestmark = pytest.mark.skipif(bool(why_not()), reason="boxes do not work here")
YML = "method:\n  method_class_file: Algorithm\\method\\impl\\Mine.py\n  method_class_name: Decoder\n"


def read(source: Path, challenge: str, boxed: bool) -> tuple[Package | str, list[str]]:
    try:
        with open_entry(str(source), rulebook(challenge), boxed=boxed) as found:
            listed = found.requirements.relative_to(found.root) if found.requirements else None
            names = sorted(path.relative_to(found.root).as_posix() for path in found.root.rglob("*"))
            return replace(found, root=Path("."), requirements=listed), names
    except (BadInput, EntryFailed) as error:
        return f"{type(error).__name__} {error}", []


@pytest.mark.parametrize(
    ("challenge", "files"),
    [
        ("imagery", {**OWN, "requirements.txt": "six\n", "notes.docx": "x", "任务.txt": "x"}),
        ("imagery", {"AlgorithmImplement/AlgorithmImplementMI.py": MI, "config.toml": 'unitImage = "wrc2022-py3.8"\n'}),
        ("liveness", {"AlgorithmConfig.yml": YML, "Algorithm/method/impl/Mine.py": "class Decoder:\n    pass\n"}),
        ("imagery", {**OWN, "config.json": '{"python": "snake"}'}),
        ("imagery", {**OWN, "Algorithm/x.pyc": b"none"}),
        ("imagery", {"../out.py": "x"}),
        ("imagery", {"readme": "x"}),
    ],
)
def test_the_same_in_and_outside_a_box(tmp_path: Path, challenge: str, files: dict[str, str | bytes]) -> None:
    for source in (as_zip(tmp_path / "a.zip", files), as_tar(tmp_path / "b.tar.gz", files)):
        assert read(source, challenge, True) == read(source, challenge, False)


def test_reading_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BUDGET_S", 4.0)
    sources = {f"Algorithm/AlgorithmImplementMI{n}.py": MI + "(" * 400_000 for n in range(40)}
    found, _ = read(as_zip(tmp_path / "a.zip", sources), "imagery", True)
    assert found == "BadInput a.zip: cannot be read: reading it took longer than its budget of 4 s"


def test_a_site_reads_nothing_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader out here is broken, and uploads are looked at all the same."""
    monkeypatch.setattr(package, "read_upload", None)
    about = uploads.inspect(as_zip(tmp_path / "a.zip", {**OWN, "requirements.txt": "six\n"}), "imagery")
    assert about["requirements"] is True
    with pytest.raises(Refused):
        uploads.inspect(as_zip(tmp_path / "b.zip", {"x": "y"}), "imagery")
