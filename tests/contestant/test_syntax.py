"""What runs in an entry's interpreter keeps to Python 3.8, the standard library and numpy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from bciarena.entries.interpreters import find_python
from bciarena.errors import BadInput

SOURCE = Path(__file__).parents[2] / "src" / "bciarena"
FILES = sorted([*SOURCE.joinpath("wire").rglob("*.py"), *SOURCE.joinpath("contestant").rglob("*.py")])
NAMES = [path.relative_to(SOURCE).as_posix() for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_parses_as_38(path):
    ast.parse(path.read_text("utf-8"), feature_version=(3, 8))


def test_compiles_with_the_real_38():
    try:
        python = find_python("3.8").executable
    except BadInput as error:
        pytest.skip(str(error))
    script = "import sys\nfor path in sys.argv[1:]: compile(open(path, encoding='utf-8').read(), path, 'exec')"
    subprocess.run([python, "-W", "error", "-c", script, *map(str, FILES)], check=True)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_nothing_else(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        for name in names:
            top = name.split(".")[0]
            assert top == "numpy" or top in sys.stdlib_module_names, f"{path.name} imports {name}"
