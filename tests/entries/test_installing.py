"""Libraries are installed in a box that reaches nothing but wheels: with real pips, of real Pythons."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bciarena.entries.environments import environment
from bciarena.entries.images import attempts, find_image
from bciarena.entries.installing import Attempt
from bciarena.entries.interpreters import find_python
from bciarena.errors import BadInput, EntryFailed, Fault
from tests.entries.packages import SmallIndex

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallIndex:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    made = SmallIndex(tmp_path / "index")
    made.use(monkeypatch)
    return made


def make(*lines: str, caps: tuple[str, ...] = (), python: str = "3.8") -> Path:
    return environment(find_python(python), [Attempt(lines, caps)], lambda text: None)


def version(folder: Path, name: str) -> str:
    program = f"import {name}; print({name}.VERSION)"
    return subprocess.check_output([folder / "bin" / "python", "-I", "-c", program], text=True).strip()


@pytest.mark.parametrize("python", ["3.8", "3.10", "3.13"])
def test_made_once_whole_and_ours(index: SmallIndex, tmp_path: Path, python: str) -> None:
    """Four at a time: one makes it, the others wait for it. Nobody else may write there."""
    index.wheel("one", "1.0", needs="two>=2")
    index.wheel("two", "2.1")
    index.wheel("two", "1.9")
    said: list[str] = []
    base = find_python(python)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(environment, base, [Attempt(("one",))], said.append) for _ in range(4)]
        (folder,) = {job.result() for job in jobs}
    assert len([line for line in said if line.startswith("preparing")]) == 1
    assert (version(folder, "one"), version(folder, "two")) == ("1.0", "2.1")
    assert sorted(path.name for path in folder.parent.iterdir()) == sorted([folder.name, f"{folder.name}.lock"])
    for path in (folder / "lib").rglob("*"):
        assert path.lstat().st_uid == os.geteuid()
        assert path.is_symlink() or path.lstat().st_mode & 0o022 == 0
    assert set(json.loads((folder / "environment.json").read_text())["wheels"]) == {
        "one-1.0-py3-none-any.whl",
        "two-2.1-py3-none-any.whl",
    }


def test_nothing_is_built(index: SmallIndex, tmp_path: Path) -> None:
    """Neither a source package by name nor one that a wheel asks for by address: the mark would show it."""
    mark = tmp_path / "built"
    source = index.source("evil", mark)
    with pytest.raises(EntryFailed, match="evil: exists only as source, and nothing is built here"):
        make("evil")
    index.wheel("leads", needs=f"evil @ {source.as_uri()}")
    with pytest.raises(EntryFailed, match="its requirements cannot be installed"):
        make("leads")
    wheel = index.wheel("other")
    index.wheel("leads2", needs=f"other @ {wheel.as_uri()}")
    with pytest.raises(EntryFailed, match="its requirements cannot be installed"):
        make("leads2")
    index.wheel("leads3", needs='evil @ https://example.org/evil-1.0.tar.gz ; extra == "x"')
    with pytest.raises(
        EntryFailed, match=r"leads3-1\.0-py3-none-any\.whl asks for evil @ .* only packages of the index"
    ):
        make("leads3")
    assert not mark.exists()


def test_each_reason_is_named(index: SmallIndex, tmp_path: Path) -> None:
    index.wheel("late", "2.0", "cp310-cp310-manylinux_2_17_x86_64")
    index.wheel("late", "1.0", "cp38-cp38-manylinux_2_17_x86_64")
    index.wheel("apple", "1.0", "cp38-cp38-macosx_11_0_arm64")
    with pytest.raises(EntryFailed) as caught:
        make("late==2.0", "nowhere", "apple", "late2==1", "late<3")
    reason = caught.value.reason
    assert caught.value.verdict == "import_error"
    assert "late==2.0: no such version for Python 3.8; it exists for 3.10" in reason
    assert "nowhere: the index has no package of this name" in reason
    assert "apple: no wheel for Linux on" in reason
    assert "late<3:" not in reason
    with pytest.raises(EntryFailed, match=r"late==7: no such version; the newest are 1\.0, 2\.0"):
        make("late==7")
    assert "\n" not in reason
    assert [path.suffix for path in (tmp_path / "cache" / "bciarena" / "envs").iterdir()] == [".lock", ".lock"]


def test_an_index_out_of_reach_is_our_fault(index: SmallIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    index.use(monkeypatch, "http://127.0.0.1:9/simple")
    with pytest.raises(Fault, match="the package index cannot be reached"):
        make("one")


def test_a_large_wheel_takes_its_time(index: SmallIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index sends nothing until it holds the whole wheel: pip must be more patient than usual."""
    from bciarena.entries.index import Index
    from bciarena.sandbox import bwrap

    index.wheel("one")
    usual, fetch = bwrap.environment, Index.wheel
    monkeypatch.setattr(bwrap, "environment", lambda limits: {**usual(limits), "PIP_DEFAULT_TIMEOUT": "1"})
    monkeypatch.setattr(Index, "wheel", lambda self, token: [time.sleep(2.5), fetch(self, token)][1])
    assert version(make("one"), "one") == "1.0"


@pytest.mark.parametrize(("wheel_mib", "disk_mib"), [(6, 8), (50, 90)])
def test_a_full_disk_is_our_fault(index: SmallIndex, tmp_path: Path, wheel_mib: int, disk_mib: int) -> None:
    """A real small disk: mounted where only this process and what it starts can see it.

    On the larger one there is room again when pip has removed what it had written.
    """
    index.wheel("large", more="X = '" + "x" * (wheel_mib << 20) + "'\n")
    cache = tmp_path / "small"
    cache.mkdir()
    program = (
        "import sys; from tests.entries.test_installing import make\n"
        "from bciarena.errors import Fault\n"
        "try: make('large')\n"
        "except Fault as error: print(error)\n"
    )
    mount = f'mount -t tmpfs -o size={disk_mib}m tmpfs {cache} && exec {sys.executable} -c "$0"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount, program],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
    )
    if "ermission" in done.stderr or "not permitted" in done.stderr:
        pytest.skip("mounting needs root")
    assert "no room left on the disk" in done.stdout, done.stderr


def test_an_own_entry_is_debugged_on_a_machine_without_bubblewrap(
    index: SmallIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.wheel("one")
    (tmp_path / "bin").mkdir()
    for name in ("sh", "rm"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    base = find_python("3.8")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(BadInput, match="bubblewrap is not installed"):
        environment(base, [Attempt(("one",))], lambda text: None)
    assert version(environment(base, [Attempt(("one",))], lambda text: None, debugging=True), "one") == "1.0"


def test_caps_give_way_where_they_cannot_be_met(index: SmallIndex) -> None:
    index.wheel("base", "2.0")
    index.wheel("base", "1.0")
    index.wheel("modern", needs="base>=2")
    index.wheel("old", needs="base")
    base = find_python("3.8")
    both = [Attempt(("old",), ("base<2",)), Attempt(("old",))]
    assert version(environment(base, both, lambda text: None), "base") == "1.0"
    both = [Attempt(("modern",), ("base<2",)), Attempt(("modern",))]
    assert version(environment(base, both, lambda text: None), "base") == "2.0"


def test_what_cannot_be_had_is_left_out_where_nothing_imports_it(index: SmallIndex, tmp_path: Path) -> None:
    """A list frozen on Windows, years ago: what the entry imports counts, and what a model may need stays."""
    index.wheel("used")
    index.wheel("pickled")
    index.wheel("winlib", tag="py3-none-win_amd64")
    index.source("old", tmp_path / "built")
    lines = ("used", "pickled", "winlib==1.0", "old", "never-was==0.1")
    spare = frozenset({"pickled", "winlib", "old", "never-was"})
    folder = environment(find_python("3.8"), [Attempt(lines)], lambda text: None, spare=spare)
    assert (version(folder, "used"), version(folder, "pickled")) == ("1.0", "1.0")
    left = json.loads((folder / "environment.json").read_text())["left_out"]
    assert [words.split(":")[0] for words in left] == ["winlib==1.0", "old", "never-was"]
    with pytest.raises(EntryFailed, match=r"winlib==1\.0: no wheel for Linux"):
        environment(find_python("3.8"), [Attempt(lines)], lambda text: None, spare=spare - {"winlib"})


def test_libraries_of_the_time() -> None:
    first, plain = attempts("3.10", ["numpy", "scikit-learn==1.1.3"], None, frozenset())
    assert "numpy<2" in first.caps
    assert "setuptools<81" in first.lines
    assert plain.caps == ()
    assert "setuptools<81" not in attempts("3.12", [], None, frozenset())[0].lines
    assert attempts("3.13", [], None, frozenset())[0].lines == ("numpy",)
    assert attempts("3.8", ["numpy==1.21.0"], None, frozenset())[0].caps == ()
    image = find_image("wrc2024-py3.10")
    assert not any("torch" in line for line in attempts("3.10", [], image, frozenset())[0].lines)
    assert any("torch" in line for line in attempts("3.10", [], image, frozenset({"torch"}))[0].lines)
    first = attempts("3.10", ["torch", "mne==1.5.1"], image, frozenset())[0]
    assert "torch==2.2.*" in first.caps
    assert "mne==1.6.*" not in first.lines
    with pytest.raises(
        BadInput, match=r"no image 'wrc1999'; there are: wrc2022-py3\.8, wrc2022-py3\.10, wrc2024-py3\.10"
    ):
        find_image("wrc1999")


def test_images_of_an_organiser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "bciarena").mkdir()
    own = tmp_path / "bciarena" / "images.toml"
    own.write_text('[image.house]\npython = "3.8"\npackages = ["numpy==1.22.*"]\n')
    assert find_image("house").packages == ("numpy==1.22.*",)
    own.write_text('[image.house]\npackages = ["numpy"]\n')
    with pytest.raises(BadInput, match="image house: must have python and packages"):
        find_image("house")
    for python in ("3.99", "2.7", "3.7", "4.0"):
        own.write_text(f'[image.house]\npython = "{python}"\npackages = ["numpy"]\n')
        with pytest.raises(
            BadInput, match=rf"image house: there is no Python {python} for entries; known are 3\.8, 3\.9"
        ):
            find_image("house")
