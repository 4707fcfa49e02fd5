"""What a box shows of an interpreter, worked out on real and on made-up installations."""

import sys
from pathlib import Path

import pytest

from bciarena.entries.environments import platform_interpreter
from bciarena.errors import BadInput
from bciarena.package import Interpreter
from bciarena.places import cache_folder
from bciarena.sandbox.libraries import asked, closure, system_tree
from bciarena.sandbox.places import _bottom, interpreter_places, outermost


@pytest.fixture
def installation(tmp_path, monkeypatch):
    """A base Python and an environment over it, with this platform installed in both."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base, env = tmp_path / "base", tmp_path / "env"
    for prefix in (base, env):
        site = prefix / "lib" / "python3.11" / "site-packages"
        for name in ("numpy", "bciarena", "bciarena-1.dist-info"):
            (site / name).mkdir(parents=True)
        (prefix / "bin").mkdir()
        (prefix / "include").mkdir()
    (base / "bin" / "python3.11").write_bytes(Path(sys.executable).resolve().read_bytes())
    (env / "bin" / "python").symlink_to(base / "bin" / "python3.11")
    (env / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    return base, env


def test_modules_without_programs_and_without_this_platform(installation):
    base, env = installation
    shown, hidden = interpreter_places(Interpreter(env / "bin" / "python", "3.11.0", (base, env)))
    places = {place for _, place in shown}
    assert {base / "lib", env / "lib", env / "pyvenv.cfg"} <= places
    assert {env / "bin" / "python", base / "bin" / "python3.11"} <= places
    assert not {base, env, base / "bin", env / "bin", base / "include", Path("/usr"), Path("/usr/lib")} & places
    site = env / "lib" / "python3.11" / "site-packages"
    assert {site / "bciarena", site / "bciarena-1.dist-info", base / "lib/python3.11/site-packages"} <= set(hidden)
    assert site / "numpy" not in hidden


def test_an_environment_may_ask_for_the_packages_below_it(installation):
    base, env = installation
    (env / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    _, hidden = interpreter_places(Interpreter(env / "bin" / "python", "3.11.0", (base, env)))
    site = base / "lib" / "python3.11" / "site-packages"
    assert site not in hidden
    assert site / "bciarena" in hidden


def test_the_systems_python_shows_its_modules_only(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shown, _ = interpreter_places(Interpreter(Path("/usr/bin/python3"), "3.11.0", (Path("/usr"),)))
    places = {place for _, place in shown}
    assert Path("/usr/bin/python3") in places
    assert not {Path("/usr"), Path("/usr/bin"), Path("/usr/lib")} & places


def test_libraries_are_read_from_the_files(tmp_path):
    loader, names = asked(Path(sys.executable).resolve())
    assert loader.startswith("/lib")
    assert "libc.so.6" in names
    assert asked(Path(__file__)) == ("", [])
    cut = tmp_path / "cut.so"
    cut.write_bytes(Path(sys.executable).resolve().read_bytes()[:100])
    assert asked(cut) == ("", [])
    found = {path.name for path in closure([Path(sys.executable).resolve()])}
    assert {"libc.so.6", "libm.so.6", Path(loader).name} <= found


def test_the_tree_holds_plain_files_and_is_made_once(tmp_path):
    executable = Path(sys.executable).resolve()
    tree = system_tree([], executable, tmp_path)
    files = [path for path in tree.rglob("*") if path.is_file()]
    assert any(path.name == "libc.so.6" for path in files)
    assert not any(path.is_symlink() or path.stat().st_mode & 0o6022 for path in files)
    assert system_tree([], executable, tmp_path) == tree
    assert len(list(tmp_path.iterdir())) == 1


def test_what_lies_inside_another_is_left_out():
    assert outermost([Path("/a/b"), Path("/a"), Path("/ab"), Path("/a/b/c")]) == [Path("/a"), Path("/ab")]


def test_the_platforms_own_interpreter_brings_no_code_of_ours():
    import bciarena

    home = Path(bciarena.__file__).resolve().parent
    shown, hidden = interpreter_places(platform_interpreter())
    covered = [place for _, place in shown if place == home or place in home.parents]
    assert not covered or home in hidden


def test_a_folder_with_something_else_in_it_is_bound_by_its_items(tmp_path):
    """aarch64's loader is a file of /usr/lib, and the system's Python lies below it."""
    for name in ("usr/lib/ld-linux-aarch64.so.1", "usr/lib/aarch64-linux-gnu/libc.so.6", "usr/lib64/ld.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert _bottom(tmp_path, [Path("/opt/python/lib")]) == [Path("/usr/lib"), Path("/usr/lib64")]
    assert _bottom(tmp_path, [Path("/usr/lib/python3")]) == [
        Path("/usr/lib/aarch64-linux-gnu"),
        Path("/usr/lib/ld-linux-aarch64.so.1"),
        Path("/usr/lib64"),
    ]


def test_a_cache_where_a_box_has_its_own_files_is_refused(monkeypatch):
    """It would not start, and the fault would seem ours."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/shm/cache")
    with pytest.raises(BadInput, match="XDG_CACHE_HOME=/dev/shm/cache: lies below /dev"):
        cache_folder()
