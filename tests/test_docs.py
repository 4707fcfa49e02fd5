"""What the documents promise is there: commands, options, files, and the examples run."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest
import typer.main

from bciarena.cli import build

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
MADE = {ROOT / "docs" / "reference" / f"{name}.md" for name in ("commands", "verdicts", "schemas", "http", "python")}
"""Pages of the handbook that are made from the code when it is built."""
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
    elif "show" in getattr(command, "commands", {}):  # a group that shows whatever is none of its commands
        command = command.commands["show"]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    for part in parts[1:]:
        option = part.strip("[](),.;:").split("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option):
            assert option in known, f"{page}: arena {verb} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        place = (page.parent / target).resolve()
        assert place.exists() or place in MADE, f"{page.name}: {target}"


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_and_rooms_named_are_there(name):
    named = re.findall(r"`((?:[\w*]+/)+[\w.*]*|\w+\.(?:py|toml|md))`", (ROOT / name).read_text("utf-8"))
    assert len(named) > 20
    for path in set(named) - {"S01/block_1.npz", "imagery/2"}:
        path = path.replace("NAME", "rehab").replace("dialect_*", "dialect_sync").replace("words.*", "words.en")
        places = (ROOT, ROOT / "src" / "bciarena", ROOT / "src" / "bciarena" / "contests" / "rehab")
        assert any((place / path).exists() for place in places), path


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_first_example_scores_as_printed(name, tmp_path, monkeypatch, capsys):
    """Copied to a file and run as a script, with nothing else there; as an entry it plays nothing when imported."""
    text = (ROOT / name).read_text("utf-8")
    file = tmp_path / "mine.py"
    file.write_text(re.search(r"```python\n(.*?)```", text, re.S).group(1), "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(file), run_name="mine")
    assert capsys.readouterr().out == ""
    runpy.run_path(str(file), run_name="__main__")
    assert float(capsys.readouterr().out) > 0


def test_the_examples_of_the_python_page_run(capsys):
    """One after another in one namespace, as in a notebook."""
    page = ROOT / "docs" / "python.md"
    names: dict = {"__name__": "notebook"}
    said = []
    for example in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S):
        exec(compile(example, page.name, "exec"), names)
        said.append(capsys.readouterr().out)
    played, broken, data, rules, runs, decoded = said
    assert played.split()[2] in ("in_time", "late")
    assert broken.strip() in page.read_text("utf-8")
    assert data.splitlines()[0] in page.read_text("utf-8")
    assert "imagery/1" in rules
    assert runs.split()[0] == "True"
    assert float(decoded) > 1


def test_both_readmes_show_the_same_commands():
    def shown(name):
        text = (ROOT / name).read_text("utf-8")
        block = re.search(r"```bash\n(.*?)```", text, re.S).group(1)
        return [line.split("#")[0].replace(" --language zh", "").strip() for line in block.splitlines()]

    assert shown("README.md") == shown("README.zh.md")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.zh.md")), ids=lambda p: p.stem)
def test_both_languages_show_the_same_examples(page):
    def shown(path):
        blocks = re.findall(r"```(\w+)\n(.*?)```", path.read_text("utf-8"), re.S)
        return [(kind, [line.split("  #")[0].rstrip() for line in text.splitlines()]) for kind, text in blocks]

    assert shown(page) == shown(page.with_name(page.name.replace(".zh.md", ".md")))


def test_all_of_starts_how_tos_and_explanations_is_in_chinese():
    for part in ("start", "howto", "explain"):
        for page in (ROOT / "docs" / part).glob("[!.]*.md"):
            assert page.name.endswith(".zh.md") or page.with_suffix(".zh.md").exists(), page
