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
