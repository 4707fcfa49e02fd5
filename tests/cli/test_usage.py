"""Wrong use of the command line: one line, exit 2, whatever version of typer is installed."""

from __future__ import annotations

import pytest

from bciarena.cli import main as arena


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--nope"],
        ["nosuch"],
        ["run"],
        ["lab", "speller", "--port", "abc"],
        ["live", "nosuch"],
        ["run", "x", "--clock", "sun"],
    ],
)
def test_wrong_use_is_one_line_and_exit_2(words, capsys):
    assert arena(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("arena: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_help_is_no_error(capsys):
    assert arena(["--help"]) == 0
    assert "Usage: arena" in capsys.readouterr().out


def test_our_own_fault_is_told_apart(monkeypatch, capsys):
    import bciarena.contests.page

    monkeypatch.setattr(bciarena.contests.page, "rules_page", lambda: 1 / 0)
    monkeypatch.delenv("ARENA_DEBUG", raising=False)
    assert arena(["challenges", "--markdown"]) == 3
    assert "our fault: ZeroDivisionError" in capsys.readouterr().err
