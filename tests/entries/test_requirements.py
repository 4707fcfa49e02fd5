"""Lists of libraries as people write them, and as nobody should be able to."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from bciarena.entries.requirements import PLAIN, asks_for_anything, names, read_requirements
from bciarena.errors import EntryFailed


def read(tmp_path: Path, text: str | bytes, name: str = "requirements.txt", python: str = "3.8") -> list[str]:
    return read_requirements(_file(tmp_path, text, name), tmp_path).lines(python)


def notes(tmp_path: Path, text: str | bytes, name: str = "requirements.txt") -> str:
    return " | ".join(read_requirements(_file(tmp_path, text, name), tmp_path).notes)


def _file(tmp_path: Path, text: str | bytes, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "line",
    [
        "--index-url http://example.org/simple",
        "-r /etc/passwd",
        "-r ../outside.txt",
        "-c constraints.txt",
        "-e .",
        "./local",
        ".",
        "x @ https://example.org/x.whl",
        "git+https://example.org/x.git",
        "https://example.org/x.whl",
        "numpy --global-option=x",
        'evilpkg; python_version >= "3" --global-option=x',
        "numpy; ${HOME}",
        "numpy==1.0;\x1b[2J",
        "numpy === not a version",
        "((((" * 200,
        "numpy; " + "(" * 900,
        "x" * 3000,
    ],
)
def test_only_packages_are_taken(tmp_path: Path, line: str) -> None:
    """Each refusal names its line; nothing of an environment or of another file is in it."""
    with pytest.raises(EntryFailed, match="line 2") as caught:
        read(tmp_path, f"numpy\n{line}\nscipy\n")
    assert caught.value.verdict == "import_error"
    assert caught.value.reason.isprintable()
    assert len(caught.value.reason) < 300
    assert os.environ["HOME"] not in caught.value.reason


def test_a_marker_is_judged_here_and_never_written(tmp_path: Path) -> None:
    """A program that reads options from lines would find them in a marker's quotes."""
    lines = read(
        tmp_path,
        'evilpkg; python_version >= "3 --global-option=x"\n'
        "new; python_version >= '3.10'\nold; python_version < '3.10'\nwin; sys_platform == 'win32'\n"
        "many ; python_version >= '3.8' and (os_name == 'posix' or extra == 'x')\n",
    )
    assert "old" in lines
    assert "many" in lines
    assert not {"new", "win"} & set(lines)
    assert all(PLAIN.fullmatch(line) for line in lines)
    assert not any(sign in line for line in lines for sign in " ;-$@/\"'" if line != "evilpkg" or sign != "-")


def test_every_bad_line_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(EntryFailed) as caught:
        read(tmp_path, "--pre\nnumpy\nhttps://example.org/a.whl\n-e .\n")
    assert all(f"line {number}" in caught.value.reason for number in (1, 3, 4))
    assert "line 2" not in caught.value.reason


def test_as_people_write_them(tmp_path: Path) -> None:
    text = (
        "# ours\nnumpy==1.23.5  # pinned\nscikit_learn>=1.0,<1.3\n\n  mne[full, hdf5] ; python_version >= '3.8'\n"
        "torch==2.1.0+cpu\npandas (>=1.0)\nscipy===1.9.3\n"
        "six==1.16.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
    )
    lines = read(tmp_path, text)
    assert lines == [
        "numpy==1.23.5",
        "scikit-learn<1.3,>=1.0",
        "mne[full,hdf5]",
        "torch==2.1.0",
        "pandas>=1.0",
        "scipy==1.9.3",
        "six==1.16.0",
    ]
    assert names(lines) == {"numpy", "scikit-learn", "mne", "torch", "pandas", "scipy", "six"}
    assert "hashes are not compared" in notes(tmp_path, text)
    assert not asks_for_anything(_file(tmp_path, "# nothing\n\n", "r.txt"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_as_editors_and_shells_save_them(tmp_path: Path, encoding: str) -> None:
    raw = "numpy==1.23.5\r\nscipy\r\n# 依赖\r\n".encode(encoding)
    assert read(tmp_path, raw) == ["numpy==1.23.5", "scipy"]
    assert asks_for_anything(tmp_path / "requirements.txt")


def test_condas_freeze(tmp_path: Path) -> None:
    text = (
        "joblib @ file:///home/conda/feedstock_root/build_artifacts/joblib_1663332044897/work\n"
        "numpy @ file:///C:/ci/numpy_and_numpy_base_1653915670383/work\nscipy==1.9.1\n"
        "mkl-fft==1.3.1\npywin @ D:\\\\bld\\\\x\n"
    )
    assert read(tmp_path, text) == ["joblib", "numpy", "scipy==1.9.1", "pywin"]
    assert "read as joblib, without its path" in notes(tmp_path, text)
    exported = "# platform: linux-64\n_libgcc_mutex=0.1=main\nnumpy=1.23.5=py38h1234\npython=3.8.13=h12_0\n"
    assert read(tmp_path, exported) == ["numpy==1.23.5"]
    assert read(tmp_path, "openssl=1.1.1q=h2bbff1b_0\njpeg=9e=0\nlibprotobuf=3.19.x-1=0\n") == ["libprotobuf"]


def test_builds_for_one_kind_of_machine(tmp_path: Path) -> None:
    assert read(tmp_path, "torch==1.11.0+cu113\nx ===2.0+local.1 ; python_version > '3'\n") == [
        "torch==1.11.0",
        "x==2.0",
    ]
    assert "read as torch==1.11.0: no index has +cu113" in notes(tmp_path, "torch==1.11.0+cu113\n")


def test_names_that_never_were_packages(tmp_path: Path) -> None:
    text = "sklearn==0.0\npickle\nos\nPIL\ncv2>=4\nsklearn==1.1.3\n"
    assert read(tmp_path, text) == ["scikit-learn==1.1.3", "pillow", "opencv-python-headless>=4"]
    assert "read as scikit-learn" in notes(tmp_path, text)
    assert "'pickle' is part of Python" in notes(tmp_path, text)


def test_other_lists_within_the_entry(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "base.txt").write_text("scipy\n-r more.txt\n")
    (tmp_path / "sub" / "more.txt").write_text("six\n")
    assert read(tmp_path, "numpy\n-r sub/base.txt\n--requirement=sub\\more.txt\n") == ["numpy", "scipy", "six"]
    with pytest.raises(EntryFailed, match="includes itself"):
        read(tmp_path, "-r requirements.txt\n")


def test_environment_yml(tmp_path: Path) -> None:
    text = (
        "name: bci\nchannels: [defaults]\ndependencies:\n  - python=3.8\n  - numpy=1.23.5=py38h_0\n"
        "  - pytorch::pytorch\n"
        "  - conda-forge::mne>=1.0\n  - openssl=1.1.1\n  - pip\n  - pip:\n    - scikit-learn==1.1.3\n    - -e .\n"
    )
    with pytest.raises(EntryFailed, match=r"'-e \.' is an option"):
        read(tmp_path, text, "environment.yml")
    lines = read(tmp_path, text.replace("    - -e .\n", ""), "environment.yml")
    assert lines == ["numpy==1.23.5", "torch", "mne>=1.0", "scikit-learn==1.1.3"]


@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 200_000 + "b\n",
        "a==1" + " " * 900 + "b\n",
        ("a" + " " * 800 + "\n") * 300,
        "numpy[" + "a," * 480 + "\n",
        "a;" + "(" * 990 + "\n",
        "\\\n" * 120_000,
        "-r " + "x" * 100_000,
        "a\n" * 100_000,
        "x=" * 120_000,
    ],
)
def test_reading_takes_no_time(tmp_path: Path, text: str) -> None:
    """Eight hundred spaces once took seven seconds."""
    path = _file(tmp_path, text, "requirements.txt")
    began_s = time.process_time()
    read_requirements(path, tmp_path)
    assert time.process_time() - began_s < 1


def test_too_long(tmp_path: Path) -> None:
    with pytest.raises(EntryFailed, match="too long for a list"):
        read(tmp_path, "numpy\n" * 60_000)
    with pytest.raises(EntryFailed, match="more than 200 packages"):
        read(tmp_path, "".join(f"package{number}\n" for number in range(300)))
