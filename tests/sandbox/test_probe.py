"""Whether boxes work here, asked of bubblewraps of several ages."""

import pytest

from bciarena.sandbox import probe


def bubblewrap(tmp_path, says):
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("says", "version"),
    [("bubblewrap 0.8.0", (0, 8, 0)), ("bubblewrap 0.11", (0, 11)), ("bubblewrap 0.12.0", (0, 12, 0)), ("what?", ())],
)
def test_versions_are_read(tmp_path, says, version):
    assert probe.bubblewrap_version(bubblewrap(tmp_path, says)) == version


@pytest.mark.parametrize("says", ["bubblewrap 0.4.1", "nothing"])
def test_an_old_or_silent_bubblewrap_is_refused(tmp_path, monkeypatch, says):
    monkeypatch.setattr(probe.shutil, "which", lambda name: bubblewrap(tmp_path, says))
    assert "boxes need bubblewrap 0.8 or newer" in probe.why_not()
