"""What the site says to a package before it costs a submission."""

from __future__ import annotations

import io
import zipfile

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
    assert "2 core(s), 2048 MiB" in ann.get("/contests/spring").text
