"""The worked example of a page runs as it is printed: its Python saved under the name the page gives, its commands."""

import re
import shlex
from pathlib import Path

import pytest

from bciarena.cli import main

DOCS = Path(__file__).resolve().parents[1] / "docs"
SAVED = re.compile(r"[Ss]ave this as `([\w.]+)`[^\n]*\n```\w*\n(.*?)```", re.S)
LAST = {
    "publishing.md": "paper/references.bib",
    "models.md": "score",
    "moabb.md": "ok",
    "bids.md": "30 trials",
    "import.md": "30 trials",
    "entries.md": "48 reports in 48 trials",
}
"""What the last command of the page's example says."""


@pytest.mark.filterwarnings("ignore")  # of the libraries that an example uses
@pytest.mark.parametrize("page", LAST)
def test_the_example_runs(page, tmp_path, monkeypatch, capfd):
    text = (DOCS / page).read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    for name, content in SAVED.findall(text):
        Path(name).write_text(content, "utf-8")
    for line in re.search(r"```bash\n(.*?)```", text, re.S).group(1).splitlines():
        capfd.readouterr()
        verb, *arguments = shlex.split(line, comments=True)
        assert verb == "arena"
        code = main(arguments)
        said = capfd.readouterr()
        assert code == 0, f"{line}: {said.err}"
    assert LAST[page] in said.out


@pytest.mark.filterwarnings("ignore")  # MOABB and MNE warn of their own later versions
def test_the_evaluation_of_the_moabb_page_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("moabb")
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (DOCS / "moabb.md").read_text("utf-8"), re.S).group(1)
    exec(compile(example, "moabb.md", "exec"), {"__name__": "notebook"})
    assert "mean_length_s" in capsys.readouterr().out
