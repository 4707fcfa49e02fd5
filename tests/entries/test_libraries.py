"""Libraries from the command line: added, named when they are missing, taken to a machine without an index."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.entries.checkup import Checkup, write_list
from bciarena.entries.index import Index, Settings, wheelhouse
from bciarena.entries.interpreters import find_python
from bciarena.entries.opened import opened
from bciarena.errors import Fault
from tests.entries.packages import SmallIndex

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
NEEDS = (
    "import small_one, small_two, os, numpy\ntry:\n    import json5\nexcept ImportError:\n    json5 = None\n"
    "class AlgorithmImplementMI:\n    def run(self):\n        while True:\n            data = self.task.get_data()\n"
    "            if data.finish_flag:\n                break\n"
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def places(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> SmallIndex:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    index = SmallIndex(tmp_path / "index")
    index.wheel("small_one")
    index.wheel("small_two", "2.0")
    index.use_beside(monkeypatch)
    package = tmp_path / "package"
    (package / "Algorithm").mkdir(parents=True)
    (package / "Algorithm" / "AlgorithmImplementMI.py").write_text(NEEDS)
    (package / "config.json").write_text('{"python": "3.8"}')
    return index


def test_everything_missing_is_named_at_once_and_the_file_offered(
    places: SmallIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "package"
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    check = ["check", str(package), "--challenge", "imagery"]
    assert main([*check, "--fix"]) == 1
    said = capsys.readouterr()
    assert "Its Python has no module small_one, json5, small_two: put small_one, json5, small_two" in said.out
    written = tmp_path / "package-requirements.txt"
    assert str(written) in said.err
    assert written.read_text().split() == ["json5", "small_one", "small_two"]
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before

    written.write_text("small_one\nsmall_two==2.0\n")  # json5 it can do without
    main([*check, "--requirements", str(written), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert list(found["missing"]) == ["json5"]
    assert not any("import_error" in words for words in found["problems"])
    assert any("imports what its Python does not have: json5" in words for words in found["warnings"])

    house = tmp_path / "house"
    assert main(["env", "export", str(house), "--entry", str(package), "--challenge", "imagery",
                 "--requirements", str(written)]) == 0  # fmt: skip
    assert {path.name.partition("-")[0] for path in house.glob("*.whl")} == {
        "numpy", "setuptools", "small_one", "small_two"
    }  # fmt: skip
    capsys.readouterr()


def test_a_machine_without_an_index(
    places: SmallIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package, house = tmp_path / "package", tmp_path / "house"
    (package / "requirements.txt").write_text("small_one\nsmall-two==2.0\n")
    export = ["env", "export", str(house), "--entry", str(package), "--challenge", "imagery"]
    assert main(export) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    check = ["check", str(package), "--challenge", "imagery", "--json"]
    assert main(check) == 3  # whatever it asks for: numpy and setuptools are ours to bring
    assert "numpy, setuptools: not among the wheels of this machine" in capsys.readouterr().err
    assert main(["env", "import", str(house)]) == 0
    (package / "requirements.txt").write_text("small_one\nunheard-of\n")
    assert main(check) == 1
    assert "unheard-of: not among the wheels of this machine, which asks no index" in capsys.readouterr().out
    (package / "requirements.txt").write_text("small_one\nsmall-two==2.0\n")
    main(check)
    found = capsys.readouterr().out
    assert "import_error" not in found
    assert find_python("3.8").full in found
    (house / "small_one-1.0-py3-none-any.whl").write_bytes(b"other")
    assert main(["env", "import", str(house)]) == 2
    assert "is not the file that was exported" in capsys.readouterr().err


def test_an_image_of_the_organiser_is_taken_by_name(
    places: SmallIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "config" / "bciarena" / "images.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[image.house]\npython = "3.8"\npackages = ["small_one", "small_two==2.0", "numpy<2"]\n')
    package = tmp_path / "package"
    config = package / "config.json"
    config.write_text('{"unitImage": "house"}')
    main(["check", str(package), "--challenge", "imagery", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["python"].startswith("3.8.")
    assert not any("import_error" in words for words in found["problems"])
    config.write_text('{"unitImage": "elsewhere"}')
    main(["check", str(package), "--challenge", "imagery", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert any("names the image 'elsewhere', which is not known here" in words for words in found["warnings"])
    assert main(["check", str(package), "--challenge", "imagery", "--image", "nowhere"]) == 2


def test_an_image_of_the_contest_goes_with_its_runs(places: SmallIndex, tmp_path: Path) -> None:
    """By name, or as the default of an entry that names nothing and brings no list."""
    contests = {"own": {"python": "3.8", "packages": ["small_one", "numpy<2"], "default": True}}
    package = tmp_path / "package"
    for said in ('{"unitImage": "own"}', "{}"):
        (package / "config.json").write_text(said)
        with opened(str(package), rulebook("imagery"), images=contests) as ready:
            (site,) = (ready.interpreter.readable[-1] / "lib").glob("*/site-packages")
            assert (site / "small_one.py").is_file(), said
            assert not (site / "small_two.py").is_file()
    (package / "requirements.txt").write_text("small_two\n")
    with opened(str(package), rulebook("imagery"), images=contests) as ready:
        (site,) = (ready.interpreter.readable[-1] / "lib").glob("*/site-packages")
        assert not (site / "small_one.py").is_file()


def test_packed_with_its_libraries(places: SmallIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = tmp_path / "more.txt"
    more.write_text("small_one\nsmall_two; python_version < '4'\n")
    out = tmp_path / "up.zip"
    pack = ["pack", str(tmp_path / "package"), "--challenge", "imagery", "-o", str(out)]
    assert main([*pack, "--requirements", str(more), "--image", "wrc2022-py3.8"]) == 0
    assert "requirements.txt" in capsys.readouterr().out
    main(["check", str(out), "--challenge", "imagery", "--requirements", str(tmp_path / "absent.txt")])
    assert "absent.txt: no such file" in capsys.readouterr().err


@pytest.mark.parametrize("spec", ["mine", "./mine", "mine.zip", "mine.py:Mine"])
def test_the_list_is_beside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    """A folder whose name could be that of a class, too."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert write_list(spec, Checkup("imagery")) == tmp_path / "here" / "mine-requirements.txt"


def test_an_index_that_is_away_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library would otherwise take seconds and a line to learn the same."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("bciarena.entries.index.TRIES", 1)
    wheelhouse().mkdir(parents=True)
    for name in ("one", "two"):
        (wheelhouse() / f"{name}-1.0-py3-none-any.whl").write_bytes(b"")
    said: list[str] = []
    index = Index(Settings(indexes=("http://127.0.0.1:9/simple",)), said.append)
    asked: list[str] = []
    real = index._page
    monkeypatch.setattr(index, "_page", lambda url, name: (asked.append(name), real(url, name))[1])
    assert [file.name for name in ("one", "two") for file in index.files(name)] == [
        "one-1.0-py3-none-any.whl",
        "two-1.0-py3-none-any.whl",
    ]
    with pytest.raises(Fault, match="cannot be reached"):
        index.files("three")
    assert asked == ["one"]
    assert len(said) == 1
    assert said[0].endswith("going on with the wheels imported here")
