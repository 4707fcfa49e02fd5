"""Recordings of every kind become data folders that play, and the list says what was changed."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from bciarena.importing import bring_in
from bciarena.recording import open_recording, write_contest
from tests.making import make_data, write_folder

IMAGERY, SPELLER = rulebook("imagery"), rulebook("speller")
SOME = (
    "Fp1",
    "Fp2",
    "F3",
    "F4",
    "C3",
    "C4",
    "P3",
    "P4",
    "O1",
    "O2",
    "F7",
    "F8",
    "T3",
    "T4",
    "T5",
    "T6",
    "Fz",
    "Cz",
    "Pz",
)


def raw_array(names=SOME, rate=500, seconds=40):
    mne = pytest.importorskip("mne", reason="needs MNE: pip install 'bciarena[files]'")
    rng = np.random.default_rng(0)
    data = rng.standard_normal((len(names), rate * seconds)) * 1e-5
    raw = mne.io.RawArray(data, mne.create_info(list(names), rate, "eeg"), verbose="error")
    raw.set_annotations(mne.Annotations([5, 15, 25], [4, 4, 4], ["left_hand", "right_hand", "feet"]))
    return raw, data * 1e6


def imported(capsys, *words):
    assert arena(["import", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_fif_file_is_resampled_interpolated_and_coded(tmp_path, capsys):
    raw, microvolts = raw_array()
    raw.save(tmp_path / "x_raw.fif", verbose="error")
    told = imported(capsys, tmp_path / "x_raw.fif", "--challenge", "imagery", "--out", tmp_path / "data")
    notes = " | ".join(told["files"][0]["adapted"])
    assert "resampled from 500 to 250 Hz" in notes
    assert "events: feet is 203, left_hand is 201, right_hand is 202" in notes
    assert "interpolated:" in notes
    assert "rows of zeros: ECG HEOR HEOL VEOU VEOL" in notes
    (block,) = open_recording(tmp_path / "data").subjects[0].blocks
    assert [e for e in block.events if e.code in IMAGERY.opens] == [(1250, 201), (3750, 202), (6250, 203)]
    assert [e.sample for e in block.events if e.code == 241] == [2250, 4750, 7250]
    # 10-20 names of old: T3 is T7; samples survive up to the resampling filter
    row = IMAGERY.channels.index("T7")
    slow = microvolts[SOME.index("T3")].reshape(-1, 50).mean(axis=1)
    assert np.corrcoef(block.eeg[row].reshape(-1, 25).mean(axis=1), slow)[0, 1] > 0.98
    assert block.eeg[IMAGERY.channels.index("FC3")].std() > 0


def test_a_folder_of_brainvision_files(tmp_path, capsys):
    pytest.importorskip("pybv", reason="needs pybv: pip install 'bciarena[files]'")
    raw, _ = raw_array()
    (tmp_path / "in").mkdir()
    raw.export(tmp_path / "in" / "sub7_run1.vhdr", verbose="error")
    told = imported(capsys, tmp_path / "in", "--challenge", "imagery", "--out", tmp_path / "data")
    assert (told["subjects"], told["trials"]) == (1, 3)
    assert told["files"][0]["file"].startswith("sub7/")


def test_dat_and_yaml_of_the_contest_frameworks(tmp_path, capsys):
    names = ["POz", "PO3", "PO4", "PO5", "PO6", "Oz", "O1", "O2"]
    volts = np.random.default_rng(1).standard_normal((9, 5000)).astype("<f4") * 1e-5
    volts[-1] = 0
    volts[-1, [10, 500, 1800, 4990]] = [242, 7, 241, 243]
    volts.T.copy().tofile(tmp_path / "data1.dat")
    labels = "\n".join(f"  {name}: null" for name in names)
    (tmp_path / "data1.yaml").write_text(f"channel_number: 8\nsample_rate: 250\nchannel_label:\n{labels}\n")
    told = imported(capsys, tmp_path / "data1.dat", "--challenge", "speller", "--out", tmp_path / "out")
    (block,) = open_recording(tmp_path / "out").subjects[0].blocks
    assert [tuple(e) for e in block.events] == [(10, 242), (500, 7), (1800, 241), (4990, 243)]
    assert np.allclose(block.eeg[SPELLER.channels.index("Oz")], volts[5] * 1e6, rtol=1e-5)
    assert not block.eeg[SPELLER.channels.index("Cz")].any()  # eight electrodes say nothing about the rest
    assert any("rows of zeros" in note for note in told["files"][0]["adapted"])


def xdf(path, names, eeg, rate, marks):
    """A small XDF file by hand: file header, two stream headers, samples, markers."""

    def chunk(tag, content):
        body = struct.pack("<H", tag) + content
        return b"\x04" + struct.pack("<I", len(body)) + body

    labels = "".join(f"<channel><label>{n}</label></channel>" for n in names)
    head = (
        f"<?xml version='1.0'?><info><name>amp</name><type>EEG</type><channel_count>{len(names)}</channel_count>"
        f"<nominal_srate>{rate}</nominal_srate><channel_format>double64</channel_format><desc><channels>{labels}"
        "</channels></desc></info>"
    )
    mark = (
        "<?xml version='1.0'?><info><name>m</name><type>Markers</type><channel_count>1</channel_count>"
        "<nominal_srate>0</nominal_srate><channel_format>string</channel_format></info>"
    )
    samples = b"".join(
        b"\x08" + struct.pack("<d", 100 + k / rate) + eeg[:, k].astype("<f8").tobytes() for k in range(eeg.shape[1])
    )
    words = b"".join(
        b"\x08" + struct.pack("<d", 100 + at / rate) + b"\x01" + bytes([len(word)]) + word.encode()
        for at, word in marks
    )
    path.write_bytes(
        b"XDF:" + chunk(1, b"<?xml version='1.0'?><info><version>1.0</version></info>")
        + chunk(2, struct.pack("<I", 1) + head.encode()) + chunk(2, struct.pack("<I", 2) + mark.encode())
        + chunk(3, struct.pack("<I", 1) + b"\x04" + struct.pack("<I", eeg.shape[1]) + samples)
        + chunk(3, struct.pack("<I", 2) + b"\x04" + struct.pack("<I", len(marks)) + words)
    )  # fmt: skip


def test_xdf_streams(tmp_path, capsys):
    pytest.importorskip("pyxdf", reason="needs pyxdf: pip install 'bciarena[files]'")
    eeg = np.random.default_rng(2).standard_normal((3, 3000)) * 10
    xdf(tmp_path / "x.xdf", ("C3", "Cz", "C4"), eeg, 250, [(500, "go_left"), (1700, "go_feet")])
    imported(
        capsys,
        tmp_path / "x.xdf",
        "--challenge",
        "imagery",
        "--out",
        tmp_path / "d",
        "--events",
        "go_left=201,go_feet=203",
    )
    (block,) = open_recording(tmp_path / "d").subjects[0].blocks
    assert [tuple(e) for e in block.events if e.code in IMAGERY.opens] == [(500, 201), (1700, 203)]
    assert np.allclose(block.eeg[IMAGERY.channels.index("Cz")], eeg[1], atol=1e-4)


@pytest.mark.filterwarnings("ignore")  # MOABB's own deprecation warnings are not ours to fix
def test_moabb_data_sets_by_name(tmp_path, capsys):
    """MOABB's own made-up set: real ones need its download."""
    pytest.importorskip("moabb", reason="needs MOABB: pip install 'bciarena[moabb]'")
    words = ["import", "moabb:FakeDataset", "--challenge", "imagery", "--out", str(tmp_path / "d"), "--subjects", "1,2"]
    assert arena([*words, "--events", "fake1=201,fake2=202,fake3=203", "--json"]) == 0
    told = json.loads((tmp_path / "d" / "import.json").read_text())  # MOABB prints on stdout what it likes
    assert told["subjects"] == 2
    assert arena(["import", "moabb:NoSuchSet", "--challenge", "imagery", "--out", str(tmp_path / "e")]) == 2
    assert "MOABB has no data set" in capsys.readouterr().err


def test_splicing_makes_an_asynchronous_stream(tmp_path, capsys):
    codes = {k * 1400 + 100: k + 1 for k in range(12)}
    write_folder(SPELLER, tmp_path / "sync", [(17500, codes)])
    write_folder(SPELLER, tmp_path / "rest", [(60000, {0: 101})])
    told = imported(
        capsys,
        tmp_path / "sync",
        "--challenge",
        "speller",
        "--out",
        tmp_path / "d",
        "--splice",
        "--idle",
        tmp_path / "rest",
    )
    (block,) = open_recording(tmp_path / "d").subjects[0].blocks
    flicker = [e for e in block.events if 1 <= e.code <= 40]
    still = [e for e in block.events if 101 <= e.code <= 141]
    assert sorted(e.code for e in flicker) == list(range(1, 13))
    assert len(still) == 6
    # the epochs are the recording's own: the second channel of 3.9 s in the middle is found again, levelled
    source = make_data(SPELLER, 17500, codes)
    for event in flicker[:3]:
        at = next(s for s, c in codes.items() if c == event.code)
        piece, own = block.eeg[1, event.sample + 20 : event.sample + 1000], source[1, at + 20 : at + 1000]
        assert np.allclose(piece - piece.mean(), own - own.mean(), atol=1e-3)
    assert any("each idle sample used once" in note for note in told["files"][0]["adapted"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing.edf"], "no such file or folder"),
        (["{file}", "--events", "left"], "expected WORD=CODE"),
        (["{file}", "--events", "left=900"], "expected WORD=CODE"),
        (["{file}"], "is it cut short"),
        (["{folder}"], "no recordings in it"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, words, says):
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 not really")
    (tmp_path / "empty").mkdir()
    known = {"file": tmp_path / "x.npz", "folder": tmp_path / "empty"}
    given = [word.format(**known) for word in words]
    assert arena(["import", *given, "--challenge", "imagery", "--out", str(tmp_path / "d")]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert not (tmp_path / "d").exists()
    assert not list(tmp_path.glob(".*part"))


def test_a_map_the_form_and_marks_of_trials(tmp_path):
    book = rulebook("rehab")
    codes = {1000: 240, 7000: 1, 15000: 241, 18000: 240, 24000: 2, 32000: 241, 39000: 243}
    data = make_data(book, 40000, codes)  # at 2000 Hz
    theirs = tuple(f"E{k}" for k in range(1, 78))
    write_contest(tmp_path / "in" / "S01" / "block_1.npz", data, 2000, theirs)
    table = tmp_path / "in" / "S01" / "block_1_events.tsv"
    table.write_text("onset\tsample\tvalid\treason\n12\t24000\tfalse\tcable\n")
    names = dict(zip(book.channels, theirs, strict=True))
    bring_in(book, str(tmp_path / "in"), tmp_path / "out", names=names)
    (block,) = open_recording(tmp_path / "out").subjects[0].blocks
    assert block.invalid == {12000: "cable"}
    kept = np.flatnonzero((block.eeg != 0).any(axis=0))
    assert set(range(3500, 7500)) | set(range(12000, 16000)) <= set(kept)  # imagery
    assert not set(range(501, 3500)) & set(kept)  # the cue
    bring_in(book, str(tmp_path / "in"), tmp_path / "all", names=names, keep_all=True)
    assert (open_recording(tmp_path / "all").subjects[0].blocks[0].eeg != 0).any(axis=0).all()


def test_the_common_average_is_taken_over_the_whole_cap(tmp_path):
    book, cap = rulebook("liveness"), rulebook("imagery")
    data = make_data(cap, 2000, {100: 129, 1900: 241})
    write_contest(tmp_path / "in" / "S01" / "block_1.npz", data, 250, cap.channels)
    bring_in(book, str(tmp_path / "in"), tmp_path / "out")
    (block,) = open_recording(tmp_path / "out").subjects[0].blocks
    rows = [cap.channels.index(name) for name in ("FZ", "Cz", "Oz", "C3", "C4")]
    assert np.allclose(block.eeg, data[rows] - data[:59].mean(axis=0), atol=1e-3)
