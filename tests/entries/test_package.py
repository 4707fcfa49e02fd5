"""Opening entries: every form and layout, what is taken, which class is found, and what is refused."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from bciarena.entries import Package, open_entry
from bciarena.entries.interpreters import find_python
from bciarena.entries.reference import Reference, references
from bciarena.entries.requirements import read_requirements
from bciarena.errors import BadInput, EntryFailed

MI = (
    "from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface\n"
    "class AlgorithmImplementMI(AlgorithmInterface):\n    pass\n"
)
PLAIN = "class AlgorithmImplement:\n    async def run(self):\n        pass\n"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def as_zip(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def as_tar(path: Path, files: dict[str, str | bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            raw = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
    return path


def opened(spec: Path | str, challenge: str = "imagery", **options: str) -> tuple[Package, set[str]]:
    """The package and the names of its files, links left out."""
    with open_entry(str(spec), rulebook(challenge), **options) as package:
        found = [path for path in package.root.rglob("*") if path.is_file() and not path.is_symlink()]
        return package, {path.relative_to(package.root).as_posix() for path in found}


OWN = {"Algorithm/AlgorithmImplementMI.py": MI, "Algorithm/model.bin": b"\1\2", "config.json": '{"python": "3.8"}'}
OTHERS = {
    "main.py": "boom",
    "Framework/x.py": "boom",
    "Task/y.py": "boom",
    "notes.docx": "?",
    "__MACOSX/Algorithm/._a": "x",
}


def test_every_form_gives_the_same_package(tmp_path: Path) -> None:
    everything = {**OWN, **OTHERS, "Algorithm/.DS_Store": "x"}
    forms = [
        write(tmp_path / "folder", everything),
        as_zip(tmp_path / "a.zip", everything),
        as_tar(tmp_path / "a.tar.gz", everything),
        as_zip(tmp_path / "nested.zip", {f"my entry/{name}": text for name, text in everything.items()}),
        as_tar(tmp_path / "dotted.tar.gz", {f"./{name}": text for name, text in everything.items()}),
        as_zip(tmp_path / "windows.zip", {name.replace("/", "\\"): text for name, text in everything.items()}),
    ]
    found = [opened(form) for form in forms]
    for package, names in found:
        assert names == set(OWN)
        assert package.digest == found[0][0].digest
        assert package.target == "Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI"
        assert (package.dialect, package.python, package.requirements) == ("A", "3.8", None)
        assert package.warnings == ("left out, as not part of an entry: notes.docx",)
        assert not package.root.exists()
    changed = opened(as_zip(tmp_path / "b.zip", {**OWN, "Algorithm/model.bin": b"\1\3"}))[0]
    assert changed.digest != found[0][0].digest


def fail_inside(folder: Path, private: Path) -> None:
    with open_entry(str(folder), rulebook("imagery")):
        assert list(private.iterdir())
        raise ZeroDivisionError


def test_the_copy_is_gone_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "tmp"
    private.mkdir()
    monkeypatch.setenv("TMPDIR", str(private))
    folder = write(tmp_path / "entry", OWN)
    with pytest.raises(ZeroDivisionError):
        fail_inside(folder, private)
    assert not list(private.glob("*/*"))


def test_what_a_killed_process_left_is_swept_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "tmp"
    private.mkdir()
    folder = write(tmp_path / "entry", OWN)
    program = (
        "import os, signal; from bciarena.contests import rulebook; from bciarena.entries import open_entry\n"
        f"with open_entry({str(folder)!r}, rulebook('imagery')): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(private)})
    (left,) = private.glob("*/*/")
    monkeypatch.setenv("TMPDIR", str(private))
    with open_entry(str(folder), rulebook("imagery")) as first:
        assert not left.exists()
        with open_entry(str(folder), rulebook("imagery")) as second:
            assert first.root.exists()
            assert second.root.exists()
    assert not list(private.glob("*/*"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_nothing_is_unpacked_in_somebody_elses_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "arena-work-0").mkdir()
    os.chown(tmp_path / "arena-work-0", 1234, 1234)
    folder = write(tmp_path / "entry", OWN)
    with pytest.raises(BadInput, match="belongs to somebody else"), open_entry(str(folder), rulebook("imagery")):
        pass


def test_the_texts_packing_resolves_by_all_its_names(tmp_path: Path) -> None:
    """AlgorithmImplement/ + config.toml: imports may say any of the three names the folder had."""
    files = {
        "AlgorithmImplement/AlgorithmImplementMI.py": "class AlgorithmImplementMI:\n    pass\n",
        "AlgorithmImplement/filters.py": "VALUE = 7\n",
        "config.toml": 'python = "3.8"\n',
    }
    archive = as_zip(tmp_path / "a.zip", files)
    names = ("AlgorithmImplement.filters", "Algorithm.AlgorithmImplement.filters", "Algorithm.filters")
    with open_entry(str(archive), rulebook("imagery")) as package:
        assert package.target == "AlgorithmImplement/AlgorithmImplementMI.py:AlgorithmImplementMI"
        assert package.dialect == "A"
        program = "import importlib\n" + "".join(f"assert importlib.import_module({n!r}).VALUE == 7\n" for n in names)
        subprocess.run([find_python("3.8").executable, "-c", program], cwd=package.root, check=True)


@pytest.mark.parametrize("place", ["Algorithm/config/AlgorithmConfig.yml", "AlgorithmConfig.yml"])
def test_dialect_c_is_named_by_its_yml(tmp_path: Path, place: str) -> None:
    yml = (
        "method:\n  method_class_file: Algorithm\\method\\impl\\Mine.py\n  method_class_name: Decoder\n"
        "sources:\n  eeg_1:\n    source_receiver:\n      configuration:\n        chunk_size: 25\n"
    )
    files = {place: yml, "Algorithm/method/impl/Mine.py": "class Decoder:\n    pass\n"}
    package, _ = opened(as_zip(tmp_path / "a.zip", files), "liveness")
    assert (package.target, package.dialect) == ("Algorithm/method/impl/Mine.py:Decoder", "C")
    assert package.warnings == (
        "AlgorithmConfig.yml asks for chunk_size 25; liveness/1 hands out 50 samples a packet, whatever the file says",
    )


def test_impl_alone_is_the_liveness_texts_packing(tmp_path: Path) -> None:
    files = {"impl/AlgorithmImplement.py": PLAIN, "AlgorithmConfig.yml": "method: {}\n"}
    package, names = opened(as_zip(tmp_path / "a.zip", files), "liveness")
    assert package.target == "Algorithm/method/impl/AlgorithmImplement.py:AlgorithmImplement"
    assert "Algorithm/method/impl/AlgorithmImplement.py" in names


def test_own_interface_files_are_no_candidates(tmp_path: Path) -> None:
    files = {
        "Algorithm/method/impl/AlgorithmImplement.py": PLAIN,
        "Algorithm/method/interface/AlgorithmImplement.py": PLAIN,
    }
    assert opened(write(tmp_path, files), "rehab")[0].target.startswith("Algorithm/method/impl/")


@pytest.mark.parametrize(
    ("challenge", "name"),
    [
        ("turing", "AlgorithmImplementTuring"),
        ("imagery", "AlgorithmImplementMI"),
        ("speller", "AlgorithmImplement_SSVEP"),
        ("speller", "AlgorithmImplementSSVEP"),
        ("liveness", "AlgorithmImplement"),
        ("rehab", "AlgorithmImplement"),
    ],
)
def test_class_names_of_the_contests(tmp_path: Path, challenge: str, name: str) -> None:
    package, _ = opened(write(tmp_path, {f"Algorithm/{name}.py": f"class {name}(object):\n    pass\n"}), challenge)
    assert package.target == f"Algorithm/{name}.py:{name}"
    assert package.contest_python == rulebook(challenge).python


def test_nothing_of_the_entry_is_run(tmp_path: Path) -> None:
    marker = tmp_path / "was_run"
    code = f"open({str(marker)!r}, 'w')\n" + MI
    opened(
        write(
            tmp_path / "e", {"Algorithm/AlgorithmImplementMI.py": code, "Algorithm/__init__.py": code.splitlines()[0]}
        )
    )
    assert not marker.exists()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"Algorithm/x.py": "class Mine:\n    pass\n"}, "no class AlgorithmImplementMI.*found: Mine"),
        (
            {"Algorithm/a/AlgorithmImplementMI.py": MI, "Algorithm/b/AlgorithmImplementMI.py": MI},
            "2 classes to choose from",
        ),
        ({"readme.txt": "hello"}, "holds no entry"),
        ({**OWN, "config.json": '{"python": "snake"}'}, "not a Python version"),
        ({**OWN, "config.json": "{"}, "config.json: cannot be read"),
        ({**OWN, "config.toml": "= 3"}, "config.toml: cannot be read"),
        (
            {**OWN, "config.toml": 'requirements = "needs.txt"'},
            "'needs.txt' as requirements, but there is no such file",
        ),
        (
            {**OWN, "config.toml": 'requirements = "/etc/passwd"'},
            "'/etc/passwd' as requirements, which is not a file of",
        ),
        ({**OWN, "config.toml": 'requirements = "../../etc/passwd"'}, "which is not a file of the entry"),
        ({**OWN, "config.json": '{"requirements": "a\\u0000b"}'}, "requirements must be a short plain text"),
        ({**OWN, "config.json": '{"entry": "\\u001b[2J:X"}'}, "entry must be a short plain text"),
        ({**OWN, "config.json": '{"dialect": "\\u202eA"}'}, "dialect must be a short plain text"),
        ({**OWN, "config.toml": "python = 0x" + "f" * 1900}, "python must be a short plain text"),
        ({**OWN, "config.json": '{"python": ' + "9" * 9000 + "}"}, "config.json: cannot be read"),
        ({**OWN, "config.json": '{"a": ' * 9000}, "config.json: cannot be read"),
        ({**OWN, "config.json": " " * 70_000}, "too long for a configuration"),
        ({**OWN, "Algorithm/config/AlgorithmConfig.yml": "a: &a [1]\nb: *a\n"}, "aliases .* are not accepted"),
        ({**OWN, "Algorithm/config/AlgorithmConfig.yml": "[" * 60_000}, "AlgorithmConfig.yml: cannot be read"),
        ({**OWN, "config.toml": 'entry = "Algorithm/other.py:X"'}, "has no file Algorithm/other.py"),
        ({**OWN, "config.toml": 'entry = "../../x.py:X"'}, "has no file"),
        ({**OWN, "config.toml": 'entry = "nonsense"'}, "write module:Class"),
        ({**OWN, "config.toml": 'dialect = "Z"'}, "none of A, B, C, D"),
        ({**OWN, "Algorithm/config/AlgorithmConfig.yml": "a: [\n"}, "AlgorithmConfig.yml: cannot be read"),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, files: dict[str, str | bytes], words: str) -> None:
    for spec in (write(tmp_path / "f", files), as_zip(tmp_path / "a.zip", files)):
        with pytest.raises(BadInput, match=words) as caught:
            opened(spec)
        assert "\n" not in str(caught.value)


LEVELS = ["a0: &a0 {k0: v}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 9))]


@pytest.mark.parametrize(
    "files",
    [
        {"AlgorithmConfig.yml": "\n".join(LEVELS)},
        {"AlgorithmConfig.yml": "sources: {a: {source_receiver: {configuration: {chunk_size: " + "9" * 5000 + "}}}}"},
        {"AlgorithmConfig.yml": "a: " + "1:" * 30_000 + "1"},
        {"config.toml": "a" + ".a" * 30_000 + " = 1"},
        {"config.toml": "".join("a" + ".a" * 900 + f".b{n} = 1\n" for n in range(30))},
        {"config.json": "[" * 60_000},
        {"requirements.txt": "a;" + " " * 200_000 + "x"},
        {"Algorithm/AlgorithmImplementMI.py": "(" * 500_000},
        {"Algorithm/AlgorithmImplementMI.py": "x = " + "'a' " * 120_000},
    ],
)
def test_reading_takes_no_time(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    """Whatever is written there, it is opened or refused in a moment, and never raises anything else."""
    archive = as_zip(tmp_path / "a.zip", {**OWN, **files})
    began_s = time.process_time()
    said = ""
    try:
        opened(archive)
    except (BadInput, EntryFailed) as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 500
    assert time.process_time() - began_s < 5


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_text_of_an_entry_is_looked_up_on_the_machine(tmp_path: Path) -> None:
    """Names in its code and configuration are looked for within the entry only, seen from the system calls."""
    secret = "/var/lib/arena-looked-up"
    (tmp_path / "mine.py").write_text(f"WEIGHTS = '{secret}/a'\nclass Mine:\n    pass\n")
    write(
        tmp_path / "entry",
        {"mine.py": f"W = '{secret}/b'\nX = '../../..{secret}/c'\nclass Mine:\n    pass\n", "config.toml": ""},
    )
    program = "import sys; from tests.entries.test_package import opened; opened(sys.argv[1])"
    for spec, said in (
        (f"{tmp_path / 'mine.py'}:Mine", ""),
        (str(tmp_path / "entry"), 'entry = "mine.py:Mine"'),
        (str(tmp_path / "entry"), f'entry = "{secret}/d.py:Mine"'),
        (str(tmp_path / "entry"), f'entry = "mine.py:Mine"\nrequirements = "{secret}/e"'),
        (str(tmp_path / "entry"), f'entry = "mine.py:Mine"\nrequirements = "../../../../../..{secret}/f"'),
    ):
        (tmp_path / "entry" / "config.toml").write_text(said)
        trace = tmp_path / "trace"
        command = ["strace", "-f", "-o", str(trace), "-e", "trace=file", sys.executable, "-c", program, spec]
        subprocess.run(command, capture_output=True, check=False)
        seen = trace.read_text(errors="replace")
        assert "mine.py" in seen
        assert f"{secret}/" not in "".join(line for line in seen.splitlines() if "execve" not in line)


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": "six\n"},
        {"Algorithm/requirements.txt": "six\n"},
        {"Requirements.TXT": "six\n"},
        {"requirement.txt": "six\n"},
        {"environment.yml": "dependencies:\n  - pip:\n    - six\n"},
        {"needs/list.txt": "six\n", "config.toml": 'requirements = "needs/list.txt"\n'},
        {"requirements.txt": "# nothing\n", "requirements_dev.txt": "six\n"},
    ],
)
def test_lists_of_libraries_are_found(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    for spec in (
        write(tmp_path / "f", {**OWN, **files}),
        as_zip(tmp_path / "n.zip", {f"top/{k}": v for k, v in {**OWN, **files}.items()}),
    ):
        with open_entry(str(spec), rulebook("imagery")) as package:
            assert package.requirements is not None
            assert read_requirements(package.requirements, package.root).lines("3.8") == ["six"]
            assert package.warnings == () or "needs" in package.warnings[0]


def test_a_list_above_the_entrys_folder(tmp_path: Path) -> None:
    files = {"requirements.txt": "six\n", **{f"code/{name}": text for name, text in OWN.items()}}
    with open_entry(str(as_zip(tmp_path / "a.zip", files)), rulebook("imagery")) as package:
        assert package.requirements == package.root / "requirements.txt"


def test_no_such_file() -> None:
    for spec in ("nowhere", "nowhere.zip", "nowhere.py:Class"):
        with pytest.raises(BadInput, match="no such file"):
            opened(spec)
    with pytest.raises(BadInput, match="unknown entry '@nobody'"):
        opened("@nobody")


def test_the_class_may_be_named(tmp_path: Path) -> None:
    files = {"Algorithm/a.py": "class One:\n    pass\n", "Algorithm/sub/b.py": "class Two:\n    pass\n"}
    folder = write(tmp_path, files)
    for named in ("Algorithm.sub.b:Two", "Algorithm/sub/b.py:Two", "sub.b:Two"):
        assert opened(folder, entry=named)[0].target == "Algorithm/sub/b.py:Two"
    assert opened(folder, entry="a:One")[0].target == "Algorithm/a.py:One"
    with pytest.raises(BadInput, match=r"has no class Three \(it has: Two\)"):
        opened(folder, entry="sub.b:Three")


def test_requirements_and_challenge_in_the_configuration(tmp_path: Path) -> None:
    folder = write(tmp_path, {**OWN, "requirements.txt": "# only a word\n", "config.toml": 'challenge = "speller"'})
    package, _ = opened(folder)
    assert package.requirements is None
    assert "written for speller" in package.warnings[0]
    write(tmp_path, {"requirements.txt": "scipy\n"})
    package, _ = opened(folder)
    assert package.requirements
    assert package.requirements.name == "requirements.txt"


def test_links_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = write(tmp_path / "e", OWN)
    (folder / "Algorithm" / "weights").symlink_to("model.bin")
    assert "Algorithm/weights" in opened(folder)[1]
    (folder / "Algorithm" / "stolen").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match="a link that leaves the entry's folder"):
        opened(folder)


def test_train_py_comes_along(tmp_path: Path) -> None:
    assert "train.py" in opened(write(tmp_path, {**OWN, "train.py": "def train(data, out): pass\n"}))[1]


@pytest.mark.parametrize("item", references(), ids=lambda item: item.name)
def test_reference_entries(item: Reference) -> None:
    package, _ = opened(item.name, item.challenge)
    assert package.python == "platform"
    assert package.needs_model == (item.folder / "train.py").is_file()
    assert item.about.endswith(".")
    other = "speller" if item.challenge != "speller" else "rehab"
    with pytest.raises(BadInput, match=f"plays {item.challenge}, not {other}/1"):
        opened(item.name, other)


# Dialect D


def test_a_module_brings_what_it_needs(tmp_path: Path) -> None:
    files = {
        "mine.py": "import numpy, near\nfrom pack import x\nclass D:\n    w = 'weights.npz'\n",
        "near.py": "from further import y\n",
        "further.pyc": b"",
        "pack/__init__.py": "",
        "pack/x.py": "",
        "weights.npz": b"w",
        "unrelated.py": "boom",
        "data/secret.npz": b"s",
    }
    files["further.py"] = "y = 1\n"
    package, names = opened(f"{write(tmp_path, files)}/mine.py:D")
    assert names == {"mine.py", "near.py", "further.py", "pack/__init__.py", "pack/x.py", "weights.npz"}
    assert (package.dialect, package.target, package.python) == ("D", "mine.py:D", None)
    assert package.warnings == ("taken beside mine.py: further.py, near.py, pack/__init__.py, pack/x.py, weights.npz",)
    with pytest.raises(BadInput, match="has no class E"):
        opened(f"{tmp_path}/mine.py:E")


@pytest.mark.parametrize("entry", ["mine.py:D", "mine:D", "code/mine.py:D"])
def test_a_plain_entry_in_an_archive(tmp_path: Path, entry: str) -> None:
    place = "code/mine.py" if entry.startswith("code") else "mine.py"
    files = {place: "class D:\n    def step(self, packet):\n        pass\n", "config.toml": f'entry = "{entry}"\n'}
    package, names = opened(as_zip(tmp_path / "a.zip", files))
    assert (package.dialect, package.target, names) == ("D", f"{place}:D", {place, "config.toml"})


# Compiled entries


def compiled(tmp_path: Path, version: str, source: str = MI) -> bytes:
    path = tmp_path / f"source{version}.py"
    path.write_text(source)
    program = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
    subprocess.run([find_python(version).executable, "-c", program, path, f"{path}c"], check=True)
    return Path(f"{path}c").read_bytes()


@pytest.mark.parametrize("version", ["3.8", "3.10"])
@pytest.mark.parametrize(
    "place",
    [
        "Algorithm/AlgorithmImplementMI.pyc",
        "Algorithm/__pycache__/AlgorithmImplementMI.cpython-{}.pyc",
        "AlgorithmImplement/AlgorithmImplementMI.cpython-{}.pyc",
    ],
)
def test_compiled_entries_name_their_python(tmp_path: Path, version: str, place: str) -> None:
    place = place.format(version.replace(".", ""))
    package, names = opened(as_zip(tmp_path / "a.zip", {place: compiled(tmp_path, version)}))
    assert package.python == version
    assert package.target.endswith("/AlgorithmImplementMI.pyc:AlgorithmImplementMI")
    assert names == {f"{place.split('/')[0]}/AlgorithmImplementMI.pyc"}


def test_a_cache_beside_its_source_is_dropped(tmp_path: Path) -> None:
    cache = {"Algorithm/__pycache__/AlgorithmImplementMI.cpython-310.pyc": compiled(tmp_path, "3.10")}
    package, names = opened(as_zip(tmp_path / "a.zip", {**OWN, **cache}))
    assert (package.python, names) == ("3.8", set(OWN))


def test_compiled_by_another_python(tmp_path: Path) -> None:
    new = compiled(tmp_path, "3.10")
    archive = as_zip(tmp_path / "a.zip", {"Algorithm/AlgorithmImplementMI.pyc": new})
    with pytest.raises(EntryFailed, match=r"compiled by Python 3\.10, but Python 3\.8 is to run it"):
        opened(archive, python="3.8")
    mixed = {"Algorithm/AlgorithmImplementMI.pyc": new, "Algorithm/more.pyc": compiled(tmp_path, "3.8")}
    with pytest.raises(
        EntryFailed, match=r"more\.pyc: compiled by Python 3\.8, but Python 3\.10 is to run it"
    ) as caught:
        opened(as_zip(tmp_path / "b.zip", mixed))
    assert caught.value.verdict == "import_error"
    strange = (1234).to_bytes(2, "little") + new[2:]
    with pytest.raises(EntryFailed, match=r"unknown \(magic 1234\)"):
        opened(as_zip(tmp_path / "c.zip", {"Algorithm/AlgorithmImplementMI.pyc": strange}))


def test_config_json_of_a_2022_package(tmp_path: Path) -> None:
    """Unknown keys are left alone; a byte order mark and GBK words are read."""
    raw = json.dumps({"name": "队伍", "python": 3.8, "more": {"x": 1}}, ensure_ascii=False)
    for content in (b"\xef\xbb\xbf" + raw.encode(), raw.encode("gbk")):
        assert opened(as_tar(tmp_path / "a.tar.gz", {**OWN, "config.json": content}))[0].python == "3.8"
