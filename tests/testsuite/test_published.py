"""Packages as published: each plays at the first try, or with the one option that the refusal names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from bciarena.entries import interpreter_for, open_entry
from bciarena.errors import BadInput
from bciarena.runs import run_match
from bciarena.sandbox import boxed, why_not

CORPUS = Path(__file__).parents[2] / "testsuite"
sys.path.insert(0, str(CORPUS))

import published  # noqa: E402
import recordings  # noqa: E402

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")


@pytest.mark.parametrize("name", published.SHAPES)
def test_shape(tmp_path: Path, name: str) -> None:
    shape = published.SHAPES[name]
    book = rulebook(shape.challenge)
    archive = published.write(tmp_path, name)
    if shape.refused:
        with pytest.raises(BadInput) as caught, open_entry(str(archive), book):
            pass
        assert shape.refused in str(caught.value)
        assert "--entry" in str(caught.value)
    with open_entry(str(archive), book, entry=shape.entry or None) as package:
        interpreter = interpreter_for(package)
        assert interpreter.version.startswith(shape.compiled.split()[0] if shape.compiled else book.python)
        target = shape.target.replace(".py:", ".pyc:") if shape.compiled else shape.target
        assert package.target == target
        result = run_match(book, recordings.recording(book.name), boxed(package, interpreter), clock="data")
        warnings = " ".join(package.warnings)
    assert (result["verdict"], result["reason"]) == ("ok", "")
    assert result["score"] == pytest.approx(published.score_of(shape), rel=1e-9)
    assert shape.warns in warnings
    assert bool(shape.warns) == bool(warnings), warnings
