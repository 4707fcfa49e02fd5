"""What the documents promise is there: commands, options, files, and the examples run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from bciarena.cli import build
from bciarena.contests import rulebook
from tests.making import write_folder

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
COMMAND = re.compile(r"(?:^|[`\s|])arena ([a-z][^`\n|]*)")


@pytest.fixture(scope="module")
def commands():
    return typer.main.get_command(build())


def promised():
    for page in PAGES:
        for words in COMMAND.findall(page.read_text("utf-8")):
            yield page.name, words.split("#")[0].split("  ")[0].strip()


@pytest.mark.parametrize(("page", "words"), sorted(set(promised())))
def test_documented_commands_and_options_exist(page, words, commands):
    try:
        parts = shlex.split(words.replace("...", ""))
    except ValueError:
        parts = words.split()
    verb = parts[0].rstrip(",.;:)")
    command = commands.commands.get(verb)
    assert command is not None, f"{page}: arena {verb} does not exist"
    if hasattr(command, "commands") and len(parts) > 1 and parts[1] in command.commands:
        command = command.commands[parts[1]]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    for part in parts[1:]:
        option = part.strip("[](),.;:").split("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option):
            assert option in known, f"{page}: arena {verb} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_first_example_runs(name, tmp_path, monkeypatch, capsys):
    book = rulebook("imagery")
    write_folder(book, tmp_path / "my" / "test", [(9000, {k * 2000 + 500: 201 for k in range(4)})])
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text("utf-8")
    example = re.search(r"```python\n(.*?)```", text, re.S)
    exec(compile(example.group(1), name, "exec"), {})
    assert float(capsys.readouterr().out) >= 0


def test_both_readmes_show_the_same_commands():
    def shown(name):
        text = (ROOT / name).read_text("utf-8")
        block = re.search(r"```bash\n(.*?)```", text, re.S).group(1)
        return [line.split("#")[0].replace(" --language zh", "").strip() for line in block.splitlines()]

    assert shown("README.md") == shown("README.zh.md")
