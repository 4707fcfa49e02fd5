"""The form of a run folder: schema and reader agree on it, and every file of a real run has it."""

from __future__ import annotations

import copy
import json
import re
import zipfile
from pathlib import Path
from typing import get_args

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.inprocess import play
from bciarena.runs import RunFolder
from bciarena.runs.page import SCHEMA, runs_page, schema_text
from bciarena.runs.schema import FILES, FORMAT, LINES
from bciarena.runs.shape import DEPTH, problem
from bciarena.service.texts import LANGUAGES
from bciarena.verdicts import MEANING, VOID, Verdict
from tests.making import make_recording

ROOT = Path(__file__).resolve().parents[2]
BOOK = rulebook("imagery")


class Left:
    def step(self, packet):
        return 201 if packet.number in (90, 180) else None


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("schema") / "run"
    recording = make_recording(BOOK, [(2500, {500: 201, 1500: 202})], [(2500, {500: 203, 1500: 201})])
    play(Left(), "imagery", recording, out=out, clock="data")
    (out / "output.jsonl").write_text('{"stream": "stdout", "offset": 0, "packet": 3}\n')
    (out / "stdout.txt").write_text("hello\n")
    return out


@pytest.fixture
def copied(run, tmp_path):
    for path in run.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def documents(run):
    """Every JSON document of a run folder with the name of its file."""
    for name in FILES:
        text = (run / name).read_text("utf-8")
        for piece in text.splitlines() if name.endswith("l") else [text]:
            yield name, json.loads(piece)


def test_page_and_schema_are_as_the_types_say():
    words = "run: python -m bciarena.runs.page docs/runs.md"
    assert (ROOT / "docs" / "runs.md").read_text("utf-8") == runs_page(), words
    assert SCHEMA.read_text("utf-8") == schema_text(), words
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_every_verdict_is_explained_everywhere():
    assert set(MEANING) == set(get_args(Verdict)) > VOID
    for words in LANGUAGES.values():
        assert {f"verdict.{name}" for name in MEANING if name != "ok"} <= set(words)


def test_a_real_run_has_the_form(run):
    validate = json.loads(SCHEMA.read_text("utf-8"))["$defs"]
    for name, document in documents(run):
        jsonschema.validate(document, validate[name])
        assert problem(document, FILES[name]) == ""


JSON = st.sampled_from([None, True, 0, 1.5, -3, "ok", "x", [], {}, [1], {"subject": 1}])


def places(value, path=()):
    """The path of every part of a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


@given(data=st.data())
def test_the_check_and_the_schema_agree_on_damaged_files(run, data):
    validate = json.loads(SCHEMA.read_text("utf-8"))["$defs"]
    name, document = data.draw(st.sampled_from(list(documents(run))))
    *way, last = data.draw(st.sampled_from([path for path in places(document) if path]))
    damaged = copy.deepcopy(document)
    inner = damaged
    for key in way:
        inner = inner[key]
    if data.draw(st.booleans()):
        del inner[last]
    else:
        inner[last] = data.draw(JSON)
    valid = jsonschema.Draft202012Validator(validate[name]).is_valid(damaged)
    assert (problem(damaged, FILES[name]) == "") == valid


def test_strict_reading_says_where(copied):
    score = json.loads((copied / "score.json").read_text())
    score["trials"][1]["correct"] = "yes"
    (copied / "score.json").write_text(json.dumps(score))
    with pytest.raises(BadInput, match=r"score.json: .*trials\[1\].correct is 'yes', not true or false"):
        RunFolder(copied).score()
    lenient = RunFolder(copied, lenient=True)
    assert lenient.score() == {}
    assert "trials[1].correct" in lenient.missing[0]


def test_a_ledger_line_of_another_form_is_refused_with_its_number(copied):
    path = copied / "ledger.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace('"position"', '"positron"')
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=r"line 3 \(position is missing\)"):
        RunFolder(copied).ledger()
    assert len(RunFolder(copied, lenient=True).ledger().reports) == 1


def test_a_ledger_without_a_format_is_of_the_first_one_and_a_later_one_is_refused(copied):
    path = copied / "ledger.jsonl"
    text = path.read_text()
    path.write_text(text.replace(f'"format":{FORMAT},', ""))
    assert RunFolder(copied).ledger().header["challenge"] == "imagery/1"
    path.write_text(text.replace(f'"format":{FORMAT},', f'"format":{FORMAT + 1},'))
    with pytest.raises(BadInput, match="made by a later version"):
        RunFolder(copied).ledger()


@pytest.mark.parametrize("name", ["ledger.jsonl", "score.json", "layout.json", "run.json", "think.npz"])
def test_what_is_missing_or_cut_is_refused_or_said(copied, name):
    read = {"ledger.jsonl": "ledger", "think.npz": "think_s", "run.json": "about"}.get(name, name.split(".")[0])
    path = copied / name
    for damage in (lambda: path.write_bytes(path.read_bytes()[:-20]), path.unlink):
        damage()
        lenient = RunFolder(copied, lenient=True)
        getattr(lenient, read)()
        assert lenient.missing
        if name == "ledger.jsonl" and path.exists():
            assert "line" in lenient.missing[0]
        with pytest.raises(BadInput, match=name):
            getattr(RunFolder(copied), read)()


def test_lines_by_type_are_the_lines_of_the_ledger():
    assert set(get_args(FILES["ledger.jsonl"])) == set(LINES.values())


DEEP = 100_000


def bent(path, change):
    """A JSON file, or the last line of a file of lines, changed."""
    *before, last = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    path.write_text("\n".join([*before, change(last)]))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("ledger.jsonl", RunFolder.ledger),
        ("score.json", RunFolder.score),
        ("layout.json", RunFolder.layout),
        ("run.json", RunFolder.about),
        ("output.jsonl", RunFolder.printed),
    ],
)
@pytest.mark.parametrize("levels", [DEPTH + 2, DEEP])
def test_json_nested_without_end_is_refused_in_one_line(copied, name, read, levels):
    bent(copied / name, lambda text: text.rstrip()[:-1] + (", " if name == "layout.json" else ', "more": ')
         + "[" * levels + "]" * levels + text.rstrip()[-1])  # fmt: skip
    with pytest.raises(BadInput, match=f"{name}: damaged .*nested deeper than") as told:
        read(RunFolder(copied))
    assert "\n" not in str(told.value)
    lenient = RunFolder(copied, lenient=True)
    read(lenient)
    assert name in lenient.missing[0]


def npz(path, header, content=b""):
    """An npz file whose column says of itself what it likes."""
    text = repr({"descr": "<f4", "fortran_order": False, "shape": (0,)} | header).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        head = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        archive.writestr("think_s.npy", head + content)


@pytest.mark.parametrize(
    "header",
    [
        {"shape": (4_000_000_000_000,)},
        {"shape": (-1,)},
        {"shape": (2, 2)},
        {"shape": (1,), "descr": "<U4"},
        {"shape": (1,), "descr": "|O"},
        {"shape": "many"},
    ],
    ids=repr,
)
def test_a_column_that_announces_what_it_does_not_hold_is_refused(copied, header):
    npz(copied / "think.npz", {"shape": (4,)}, np.arange(4, dtype="<f4").tobytes())
    assert RunFolder(copied).think_s().tolist() == [0, 1, 2, 3]
    npz(copied / "think.npz", header, bytes(16))
    with pytest.raises(BadInput, match=r"think\.npz: damaged or cut"):
        RunFolder(copied).think_s()


def test_no_more_is_read_than_a_run_can_have_written(copied, monkeypatch):
    monkeypatch.setattr("bciarena.runs.shape.MOST_BYTES", 1000)
    monkeypatch.setattr("bciarena.runs.folder.MOST_BYTES", 1000)
    for name in ("ledger.jsonl", "score.json", "layout.json", "run.json", "output.jsonl", "stdout.txt"):
        (copied / name).write_text((copied / name).read_text() + " " * 1000)
    npz(copied / "think.npz", {"shape": (1000,)}, bytes(4000))
    for read in (RunFolder.ledger, RunFolder.score, RunFolder.layout, RunFolder.about, RunFolder.printed):
        with pytest.raises(BadInput, match="larger than"):
            read(RunFolder(copied))
    with pytest.raises(BadInput, match=r"think\.npz"):
        RunFolder(copied).think_s()


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1e999", "-1e999"])
def test_a_number_that_no_computation_holds_is_refused(copied, number):
    bent(copied / "score.json", lambda text: json.dumps(json.loads(text) | {"score": 1.0}).replace("1.0", number, 1))
    bent(copied / "ledger.jsonl", lambda text: re.sub(r'"packets":\d+', f'"packets":{number}', text))
    for read in (RunFolder.score, RunFolder.ledger):
        with pytest.raises(BadInput, match="number"):
            read(RunFolder(copied))


@pytest.mark.parametrize("change", [{"rate": 0}, {"trials": [[1, 2]]}], ids=repr)
def test_a_layout_that_no_page_can_draw_is_refused(copied, change):
    first, *others = json.loads((copied / "layout.json").read_text())
    (copied / "layout.json").write_text(json.dumps([first | change, *others]))
    with pytest.raises(BadInput, match=r"layout\.json"):
        RunFolder(copied).layout()
