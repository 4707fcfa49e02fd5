"""What a reference entry gets of this package as its own files."""

import subprocess
import sys

import pytest

from bciarena.contests import rulebook
from bciarena.entries import library
from bciarena.entries.package import open_entry
from bciarena.entries.reference import references


def modules(root):
    return {path.relative_to(root).as_posix() for path in (root / "bciarena").rglob("*.py")}


def test_what_is_imported_comes_along_and_nothing_else(tmp_path):
    (tmp_path / "entry.py").write_text("def f():\n    from bciarena.decoders.asynchronous import Settings\n")
    names = library.add_used(tmp_path)
    assert "bciarena.decoders.asynchronous" in names
    assert not any(name.startswith(("bciarena.simulator", "bciarena.referee", "bciarena.service")) for name in names)
    assert (tmp_path / "bciarena" / "__init__.py").read_text() == ""
    assert (tmp_path / "bciarena" / "decoders" / "background.npz").is_file()


def test_an_entry_that_uses_nothing_gets_nothing(tmp_path):
    (tmp_path / "entry.py").write_text("import numpy\nimport bciarena_not_ours\n")
    assert library.add_used(tmp_path) == []
    assert not (tmp_path / "bciarena").exists()


@pytest.mark.parametrize("one", references(), ids=lambda one: one.name)
def test_every_reference_entry_is_complete(one):
    """Imported in a fresh interpreter that cannot see this package."""
    with open_entry(one.name, rulebook(one.challenge)) as package:
        files = [path for path in modules(package.root) if not path.endswith("__init__.py")]
        names = [path[:-3].replace("/", ".") for path in files]
        program = "import sys, importlib; sys.path = [p for p in sys.path if not p.endswith('/src')];"
        program += "sys.path.insert(0, sys.argv[1]); [importlib.import_module(n) for n in sys.argv[2:]];"
        program += "import bciarena; assert bciarena.__file__.startswith(sys.argv[1]), bciarena.__file__"
        done = subprocess.run(
            [sys.executable, "-c", program, str(package.root), *names, *(["bciarena"] if not names else [])],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]


def test_an_optional_import_is_not_needed():
    from bciarena.entries.opened import opened

    with opened("@liveness", rulebook("liveness")) as ready:
        assert any(path.name == "deep_net.py" for path in ready.package.root.rglob("*.py"))
        assert "torch" not in library.needs(ready.package.root)
        assert "sklearn" in library.needs(ready.package.root)
