"""What the site says to a package before it costs a submission."""

from __future__ import annotations

import io
import zipfile
from html import unescape

import pytest

from bciarena.sandbox import why_not
from tests.service.test_flow import team_with_entry

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")
MI = "class AlgorithmImplementMI:\n    def run(self):\n        pass\n"


def packed(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def test_what_cannot_play_is_refused_at_once_with_everything_that_is_wrong(sqlite_town) -> None:
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    broken = packed(
        {
            "Algorithm/AlgorithmImplementMI.py": MI.replace("pass", "return (1"),
            "requirements.txt": "--index-url http://example.org\nscipy\n",
        }
    )
    answer = ann.api("PUT", f"/entries/{entry}/versions", content=broken)
    assert answer.status_code == 422
    assert "AlgorithmImplementMI.py, line" in answer.json()["error"]
    assert "its requirements" in answer.json()["error"]
    assert ann.api("GET", f"/entries/{entry}").json()["versions"] == []


def test_every_problem_stands_on_a_line_and_a_remedy_once(sqlite_town) -> None:
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    lines = "git+https://example.org/x.git\nnumpy\n-i https://example.org/simple\n"
    bad = packed({"Algorithm/AlgorithmImplementMI.py": MI, "requirements.txt": lines})
    said = ann.api("PUT", f"/entries/{entry}/versions", content=bad).json()["error"].splitlines()
    assert [words.split(":")[0] for words in said[:3]] == ["The package cannot be used", *["its requirements"] * 2]
    assert len(said) == 4
    assert "arena check --fix" in said[3]
    old = packed({"Algorithm/AlgorithmImplementMI.pyc": (3394).to_bytes(2, "little") + b"\r\n" + bytes(12)})
    assert "it is for Python 3.7; entries run in 3.8" in ann.api("PUT", f"/entries/{entry}/versions", content=old).text


def test_a_reader_of_chinese_is_told_in_chinese(sqlite_town) -> None:
    """Not the frame alone: every problem that was found in the box, and an archive that is none."""
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    ann.http.headers["accept-language"] = "zh-CN"
    broken = {
        "Algorithm/AlgorithmImplementMI.py": MI.replace("pass", "return (1"),
        "requirements.txt": "--index-url http://example.org\nscipy\n",
    }

    def told(raw: bytes) -> str:
        answer = ann.post(f"/entries/{entry}/versions", files={"package": ("x.zip", raw)})
        assert answer.status_code == 422
        return unescape(answer.text)

    said = told(packed(broken))
    assert "Algorithm/AlgorithmImplementMI.py 第 3 行：" in said
    assert "依赖清单：requirements.txt 第 1 行：'--index-url http://example.org' 是选项；只接受包名与版本" in said
    assert "upload：不是 .zip 或 .tar.gz 压缩包；请用 arena pack 打包" in told(b"Rar!\x1a\x07")
    assert "此程序包中没有用于 imagery/1 的类" in told(packed({"Algorithm/a.py": "class X:\n    pass\n"}))


def test_what_was_noticed_about_a_package_is_told_in_the_language_of_the_page(sqlite_town) -> None:
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    files = {"Algorithm/AlgorithmImplementMI.py": MI, "notes.docx": "x"}
    assert ann.api("PUT", f"/entries/{entry}/versions", content=packed(files)).status_code == 201
    said = ann.api("GET", f"/entries/{entry}").json()["versions"][0]["about"]["warnings"]
    assert said == ["left out, as not part of an entry: notes.docx"]
    assert said[0] in ann.get(f"/entries/{entry}").text
    assert "不属于参赛程序，未收入：notes.docx" in ann.get(f"/entries/{entry}?lang=zh").text


def test_the_class_that_plays_can_be_named(sqlite_town) -> None:
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    two = packed({f"Algorithm/{name}/AlgorithmImplementMI.py": MI for name in "ab"})
    open_ = ann.api("PUT", f"/entries/{entry}/versions", content=two)
    assert open_.status_code == 422
    assert "--entry" in open_.json()["error"]
    wanted = "Algorithm.b.AlgorithmImplementMI:AlgorithmImplementMI"
    taken = ann.api("PUT", f"/entries/{entry}/versions?entry={wanted}", content=two)
    assert taken.status_code == 201, taken.text
    page = ann.post(f"/entries/{entry}/versions", {"entry": wanted}, {"package": ("a.zip", two)})
    assert page.status_code == 303, page.text
    assert "Algorithm/b/AlgorithmImplementMI.py" in ann.get(f"/entries/{entry}").text


def test_a_strict_phase_takes_only_what_the_texts_ask_for(sqlite_town, tmp_path) -> None:
    """Python of the contest, compiled, named as the texts say; and the run gets what the phase grants."""
    from bciarena.contests import rulebook
    from bciarena.entries.packing import pack
    from bciarena.jobs.model import Job

    sqlite_town.contest(limits={"strict": True, "cores": 2, "memory_mib": 2048, "budget_s": 90})
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    folder = tmp_path / "e" / "Algorithm"
    folder.mkdir(parents=True)
    (folder / "AlgorithmImplementMI.py").write_text(MI)
    pack(str(tmp_path / "e"), rulebook("imagery"), tmp_path / "right.zip")
    pack(str(tmp_path / "e"), rulebook("imagery"), tmp_path / "newer.zip", "3.10")
    cases = {
        "sources": (packed({"Algorithm/AlgorithmImplementMI.py": MI}), "compiled (.pyc)"),
        "another Python": ((tmp_path / "newer.zip").read_bytes(), "it must be 3.8"),
        "right": ((tmp_path / "right.zip").read_bytes(), ""),
    }
    for name, (content, words) in cases.items():
        version = ann.api("PUT", f"/entries/{entry}/versions", content=content).json()["id"]
        answer = ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"})
        assert answer.status_code == (422 if words else 201), (name, answer.text)
        assert words in answer.text, name
    with sqlite_town.site.session(writes=False) as session:
        payload = session.query(Job).filter(Job.kind == "match").one().payload
    assert payload["limits"] == {"cores": 2, "memory_mib": 2048}
    assert payload["budget_s"] == 90
    assert "2 core(s), 2048 MiB" in ann.get("/contests/spring/start").text


IMAGES = """[image."own-py3.8"]
python = "3.8"
packages = ["numpy==1.23.*", "scipy"]
extras = ["torch==2.2.*"]
default = true
"""


def test_an_organiser_sets_limits_and_images_in_a_browser(sqlite_town) -> None:
    """They are checked, kept with the contest, shown on its page, sent with the next run, and in the audit log."""
    from bciarena.jobs.model import Job
    from bciarena.service.audit import newest

    town = sqlite_town
    town.contest()
    olga, ann = town.person("olga"), town.person("ann")
    fields = {"counts": "best", "board": "public", "limit": "10", "starts": "", "ends": ""}
    wrong = olga.post("/organise/spring/preliminary", {**fields, "pythons": "2.7"}, headers={"accept-language": "zh"})
    assert wrong.status_code == 422
    assert "允许的 Python 版本" in wrong.text
    given = {
        **fields,
        "budget_s": "90.5",
        "cores": "2",
        "memory_mib": "2048",
        "pythons": "3.8, 3.10",
        "fixed_names": "yes",
    }
    assert olga.post("/organise/spring/preliminary", given).status_code == 303
    refused = olga.post("/organise/spring/images", {"images": IMAGES.replace('"scipy"', '"git+https://example.org/x"')})
    assert refused.status_code == 422
    assert "image own-py3.8" in refused.text
    assert olga.post("/organise/spring/images", {"images": IMAGES}).status_code == 303
    form = olga.get("/organise/spring").text
    for part in ('value="90.5"', 'value="2048"', 'value="3.8, 3.10"', "numpy==1.23.*"):
        assert part in form, part
    shown = town.visitor().get("/contests/spring/start").text
    for part in ("2 core(s), 2048 MiB", "Python 3.8, 3.10", "own-py3.8", "AlgorithmImplementMI"):
        assert part in shown, part
    _, entry = team_with_entry(ann)
    version = ann.api("PUT", f"/entries/{entry}/versions", content=packed({"Algorithm/AlgorithmImplementMI.py": MI}))
    sent = ann.api("POST", "/submissions", json={"version_id": version.json()["id"], "contest": "spring"})
    assert sent.status_code == 201, sent.text
    with town.site.session(writes=False) as session:
        payload = session.query(Job).filter(Job.kind == "match").one().payload
        said = {line.what: line.about for line in newest(session, 10)}
    assert payload["limits"] == {"cores": 2, "memory_mib": 2048}
    assert payload["budget_s"] == 90.5
    assert payload["images"]["own-py3.8"]["packages"] == ["numpy==1.23.*", "scipy"]
    assert said["images"] == "spring: own-py3.8: numpy==1.23.*, scipy"
    assert said["phase"].startswith("spring/preliminary: limits={'budget_s': 90.5, 'cores': 2")
