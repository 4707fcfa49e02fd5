"""The notebooks of the handbook's gallery run, in a real kernel, and say what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.test_handbook import script

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "gallery").glob("*.ipynb"))


def numbers(text):
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own parts
def test_the_notebook_says_what_it_shows(path, monkeypatch):
    """Words exactly, numbers nearly: their last digits depend on libraries. `make notebooks` renews them."""
    pytest.importorskip("nbclient")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebooks = script("notebooks")
    kept, fresh = json.loads(path.read_text("utf-8")), notebooks.play(path)
    said, says = notebooks.printed(kept), notebooks.printed(fresh)
    assert re.sub(r"[\d.\s]+", " ", said) == re.sub(r"[\d.\s]+", " ", says)
    assert numbers(says) == pytest.approx(numbers(said), rel=0.3, abs=3)
    figures = [
        cell for cell in kept["cells"] if any("image/svg+xml" in o.get("data", {}) for o in cell.get("outputs", []))
    ]
    assert figures
    assert all(cell["metadata"]["alt"] for cell in figures)
