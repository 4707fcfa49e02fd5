"""BIDS as written here: accepted by the official validator and by HED's, opened by MNE-BIDS, the same events back."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bciarena.contests import CONTESTS
from bciarena.contests.codes import codes_of
from bciarena.errors import BadInput
from bciarena.recording import Event, open_recording
from bciarena.recording.bids import describe_bids, write_bids
from bciarena.recording.bids_sides import positions, write_places
from bciarena.recording.events import Marks

NAMES = sorted(CONTESTS)


@pytest.fixture(scope="module")
def books():
    return {name: CONTESTS[name].rules for name in NAMES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, books):
    """One data set with a person for each contest, in whose block every code occurs; one trial is not valid."""
    place = tmp_path_factory.mktemp("bids")
    for number, book in enumerate(books.values(), 1):
        events = all_codes(book)
        eeg = np.random.default_rng(number).standard_normal((len(book.channels), events[-1].sample + 10))
        marks = Marks(book.opens, {next(e.sample for e in events if e.code in book.opens): "an electrode was off"})
        write_bids(
            place, f"{number:02d}", book.name, 1, eeg, events, book.rate, book.channels,
            meanings=codes_of(book), marks=marks,
        )  # fmt: skip
    describe_bids(place, "every code of every contest", [f"{n:02d}" for n in range(1, len(books) + 1)])
    return place


def all_codes(book) -> tuple[Event, ...]:
    return tuple(Event(20 * n, code) for n, code in enumerate(sorted(codes_of(book)), 1))


def test_events_come_back_as_they_were(folder, books):
    for subject, book in zip(open_recording(folder).subjects, books.values(), strict=True):
        (block,) = subject.blocks
        assert block.events == all_codes(book)
        assert list(block.invalid.values()) == ["an electrode was off"]
        assert (block.rate, block.channels) == (book.rate, book.channels)


def test_the_official_validator_accepts_it(folder):
    pytest.importorskip("bids_validator_deno")
    program = shutil.which("bids-validator-deno", path=str(Path(sys.executable).parent))
    done = subprocess.run([program, str(folder), "--json"], capture_output=True, text=True, timeout=120, check=False)
    issues = json.loads(done.stdout)["issues"]["issues"]
    wrong = [one for one in issues if one["severity"] == "error"]
    assert not wrong
    assert done.returncode == 0
    told = {one["code"] for one in issues}
    assert "TSV_ADDITIONAL_COLUMNS_UNDEFINED" not in told


def test_the_validator_finds_what_is_wrong(folder, tmp_path):
    pytest.importorskip("bids_validator_deno")
    program = shutil.which("bids-validator-deno", path=str(Path(sys.executable).parent))
    bad = tmp_path / "bad"
    shutil.copytree(folder, bad)
    next(bad.rglob("*_eeg.json")).unlink()
    done = subprocess.run([program, str(bad), "--json"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0


@pytest.mark.parametrize("name", NAMES)
def test_every_code_has_tags_that_hed_accepts(name, books):
    pytest.importorskip("hed")
    from hed import HedString, load_schema_version
    from hed.validator import HedValidator

    schema = load_schema_version("8.3.0")
    check = HedValidator(schema)
    assert check.validate(HedString("No-such-tag", schema), allow_placeholders=False)
    for code, (_, tags) in codes_of(books[name]).items():
        found = check.validate(HedString(tags, schema), allow_placeholders=False)
        assert not found, f"{code}: {found}"


@pytest.mark.filterwarnings("ignore")  # MNE's own, on montages and on names of channels
def test_mne_bids_opens_it_with_places(folder, books):
    mne_bids = pytest.importorskip("mne_bids")
    for number, book in enumerate(books.values(), 1):
        where = mne_bids.BIDSPath(root=folder, subject=f"{number:02d}", task=book.name, run="01", datatype="eeg")
        raw = mne_bids.read_raw_bids(where, verbose="error")
        assert len(raw.annotations) == len(all_codes(book))
        places = raw.get_montage().get_positions()["ch_pos"]
        cz = next(name for name in book.channels if name.casefold() == "cz")
        assert np.allclose(places[cz], positions()["Cz"], atol=2e-3)
        assert raw.info["sfreq"] == book.rate


@pytest.mark.filterwarnings("ignore")  # MOABB's and MNE's own
def test_moabb_opens_it(folder, books):
    base = pytest.importorskip("moabb.datasets.base")
    book = books["imagery"]
    only = f"{NAMES.index('imagery') + 1:02d}"
    events = {name: code for code, (name, _) in codes_of(book).items() if code in book.opens}
    made = base.LocalBIDSDataset(
        folder, {"subjects": only}, events=events, interval=[0, 0.02], paradigm="imagery", subjects=[only]
    )
    (runs,) = made.get_data([only])[only].values()
    (raw,) = runs.values()
    assert set(events) <= set(raw.annotations.description)


def test_a_code_is_described_once(folder):
    side = json.loads(next(folder.glob("sub-01/eeg/*_events.json")).read_text())
    assert set(side["value"]["HED"]) == set(side["value"]["Levels"])
    assert set(side) == {"onset", "duration", "trial_type", "value", "sample", "valid", "reason"}


def test_unknown_electrodes_have_no_place(tmp_path):
    write_places(tmp_path, "01", ("X1", "ECG"))
    assert not list(tmp_path.iterdir())
    write_places(tmp_path, "01", ("FZ", "X1"))
    assert (tmp_path / "sub-01_space-CapTrak_electrodes.tsv").read_text().splitlines()[1].startswith("FZ\t")


def test_a_contest_without_tags_is_described_by_its_answers(tmp_path, monkeypatch, books):
    from bciarena.contests import codes

    book = books["imagery"]
    monkeypatch.setattr(codes, "contest", lambda which: type("C", (), {"folder": tmp_path}))
    assert codes_of(book)[201].hed.endswith("Label/left-hand")
    (tmp_path / "hed.toml").write_text('[codes]\n"a-b" = ["x", "y"]\n')
    with pytest.raises(BadInput, match="'a-b'"):
        codes_of(book)
