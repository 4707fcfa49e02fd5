"""A machine with only the platform's own Python: arena new, check and pack in a row work, with a warning."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.entries.interpreters import all_pythons
from bciarena.sandbox import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")


def test_with_no_other_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    (tmp_path / "bin").mkdir()
    for name in ("bwrap", "sh"):
        (tmp_path / "bin" / name).symlink_to(
            next(Path(p, name) for p in ("/usr/bin", "/bin") if Path(p, name).exists())
        )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert [found.version for found in all_pythons()] == [here]
    folder, packed = str(tmp_path / "e"), str(tmp_path / "e.zip")
    assert rulebook("imagery").python != here
    assert main(["new", "imagery", folder]) == 0
    assert main(["check", folder, "--challenge", "imagery"]) == 0
    said = capsys.readouterr().out
    assert "Python 3.8 is not on this machine" in said
    assert "Nothing stands in the way" in said
    assert main(["pack", folder, "--challenge", "imagery", "-o", packed]) == 0
    assert "Python 3.8 is not on this machine" in capsys.readouterr().err
    assert main(["check", packed, "--challenge", "imagery"]) == 0
    assert main(["check", folder, "--challenge", "imagery", "--python", "3.8"]) in (1, 2)  # asked for: it must be there
