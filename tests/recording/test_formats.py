"""Every format gives back what was written, large ones as maps; damage is reported in one line."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.recording import open_recording, open_sets, write_contest
from bciarena.recording.bids import describe_bids, write_bids
from bciarena.recording.contest import read_block
from tests.making import make_data, write_folder

BOOK = rulebook("imagery")
DATA = make_data(BOOK, 5003, {0: 250, 100: 201, 1200: 241, 1300: 203, 5002: 251})


@pytest.mark.parametrize("ending", [".npz", ".pkl", ".mat"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_written_is_read(tmp_path, ending, kind, order):
    path = tmp_path / f"block_1{ending}"
    write_contest(path, np.asarray(DATA, kind, order=order), 250, BOOK.channels)
    block = read_block(path)
    assert np.array_equal(block.data, DATA)
    assert (block.rate, block.channels) == (250, BOOK.channels)
    assert [tuple(e) for e in block.events] == [(0, 250), (100, 201), (1200, 241), (1300, 203), (5002, 251)]
    assert isinstance(block.eeg, np.memmap) or isinstance(block.eeg.base, np.memmap)
    assert os.listdir(tmp_path) == [path.name]


def test_one_digest_for_all_formats(tmp_path):
    digests = set()
    for ending in (".npz", ".pkl", ".mat"):
        write_contest(tmp_path / ending / "S01" / f"block_1{ending}", DATA, 250, BOOK.channels)
        digests.add(open_recording(tmp_path / ending).digest)
    write_contest(tmp_path / "z" / "S01" / "block_1.npz", DATA, 250, BOOK.channels, compress=True)
    digests.add(open_recording(tmp_path / "z").digest)
    block = read_block(tmp_path / ".npz" / "S01" / "block_1.npz")
    write_bids(tmp_path / "bids", "01", "imagery", 1, block.eeg, block.events, 250, BOOK.channels)
    digests.add(open_recording(tmp_path / "bids").digest)
    assert len(digests) == 1


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol(tmp_path, protocol):
    path = tmp_path / "block_1.pkl"
    content = {"data": DATA.astype(np.float64), "srate": np.int64(250), "ch_names": BOOK.channels}
    path.write_bytes(pickle.dumps(content, protocol))
    assert np.array_equal(read_block(path).data, DATA)


@pytest.mark.parametrize("version", ["3.8", "3.10"])
def test_pickles_of_old_numpy_load(tmp_path, version):
    """The contest's files come from numpy 1, whose module names differ; made by a real old interpreter."""
    from bciarena.entries.environments import environment
    from bciarena.entries.images import attempts
    from bciarena.entries.interpreters import find_python

    try:
        base = find_python(version)
    except BadInput:
        pytest.skip(f"needs Python {version} (pyenv, uv, or ARENA_PYTHON_{version.replace('.', '_')})")
    python = environment(base, attempts(version, [], None, frozenset()), print) / "bin" / "python"
    path = tmp_path / "block_1.pkl"
    script = (
        "import numpy, pickle, sys\n"
        "data = numpy.zeros((65, 5003)); data[-1, 7] = 201; data[0] = numpy.arange(5003)\n"
        "names = tuple('E%d' % k for k in range(64))\n"
        "assert numpy.__version__.startswith('1.')\n"
        "pickle.dump(dict(data=data, srate=250, ch_names=names), open(sys.argv[1], 'wb'))\n"
    )
    subprocess.run([python, "-c", script, path], check=True)
    block = read_block(path)
    assert [tuple(e) for e in block.events] == [(7, 201)]
    assert np.array_equal(block.eeg[0], np.arange(5003))


@pytest.mark.parametrize("protocol", range(6))
def test_a_hostile_pickle_does_not_run(tmp_path, protocol):
    marker = tmp_path / "ran"

    class Touch:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    path = tmp_path / "block_1.pkl"
    for content in (Touch(), {"data": Touch(), "srate": 250, "ch_names": ()}):
        path.write_bytes(pickle.dumps(content, protocol))
        with pytest.raises(BadInput, match=r"refused: it asks for \w+.system; only numpy arrays and plain containers"):
            read_block(path)
    assert not marker.exists()


@pytest.mark.parametrize(
    "word", ["builtins eval", "builtins getattr", "numpy loads", "os system", "numpy.f2py.diagnose x"]
)
def test_no_other_name_resolves(tmp_path, word):
    module, name = word.split()
    path = tmp_path / "block_1.pkl"
    path.write_bytes(b"c" + module.encode() + b"\n" + name.encode() + b"\n.")
    with pytest.raises(BadInput, match="refused"):
        read_block(path)


@pytest.mark.parametrize("ending", [".npz", ".pkl", ".mat"])
@pytest.mark.parametrize("keep", [0, 10, 0.5, -1])
def test_cut_files_are_refused(tmp_path, ending, keep):
    path = tmp_path / f"block_1{ending}"
    write_contest(path, DATA, 250, BOOK.channels)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(BadInput, match=f"block_1{ending}"):
        read_block(path)


def test_blocks_come_in_numeric_and_subjects_in_sorted_order(tmp_path):
    for subject, number in (("S02", 1), ("S01", 10), ("S01", 2), ("S01", 1)):
        data = DATA[:, : 100 + number].copy()
        data[-1, 0] = 201
        write_contest(tmp_path / subject / f"block_{number}.npz", data, 250, BOOK.channels)
    recording = open_recording(tmp_path)
    assert [s.name for s in recording.subjects] == ["S01", "S02"]
    assert [b.samples for b in recording.subjects[0].blocks] == [101, 102, 110]


def test_named_sets(tmp_path):
    write_folder(BOOK, tmp_path / "cali_train", [(500, {0: 201})])
    write_folder(BOOK, tmp_path / "eval_train", [(500, {0: 201})])
    assert list(open_sets(tmp_path)) == ["cali_train", "eval_train"]
    assert list(open_sets(tmp_path / "cali_train")) == [""]


@pytest.mark.parametrize("ending", [".npz", ".pkl"])
def test_opening_a_large_block_takes_no_memory(tmp_path, ending):
    """A block of 400 MB is opened by a process that may not use 250 MB more than it starts with."""
    path = tmp_path / "S01" / f"block_1{ending}"
    data = np.zeros((65, 800_000), np.float64)
    data[-1, 0] = 201
    write_contest(path, data, 250, BOOK.channels)
    del data
    script = (
        "import resource, sys\n"
        "from bciarena.recording import open_recording\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "block = open_recording(sys.argv[1]).subjects[0].blocks[0]\n"
        "assert block.samples == 800000 and block.eeg[3, 5] == 0\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    grown_kb = int(subprocess.check_output([sys.executable, "-c", script, str(tmp_path)]))
    assert grown_kb < 100_000


def test_bids_is_read_by_mne_without_warnings(tmp_path):
    mne = pytest.importorskip("mne", reason="needs MNE: pip install 'bciarena[files]'")
    mne_bids = pytest.importorskip("mne_bids", reason="needs mne-bids: pip install 'bciarena[files]'")
    block = read_block_of(tmp_path)
    header = write_bids(tmp_path / "bids", "01", "imagery", 1, block.eeg, block.events, 250, BOOK.channels)
    describe_bids(tmp_path / "bids", "Test", ["01"])
    raw = mne.io.read_raw_brainvision(header, verbose="error")
    assert raw.ch_names == list(BOOK.channels)
    assert np.allclose(raw.get_data() * 1e6, DATA[:-1], atol=1e-6)
    events, _ = mne.events_from_annotations(raw, verbose="error")
    assert list(events[:, 0]) == [e.sample for e in block.events]
    assert mne_bids.get_bids_path_from_fname(header).subject == "01"


def read_block_of(folder):
    write_contest(folder / "S01" / "block_1.npz", DATA, 250, BOOK.channels)
    return read_block(folder / "S01" / "block_1.npz")


def test_real_recordings_open(shared_data):
    recording = open_recording(shared_data("imagery/test"))
    assert len(recording.subjects) == 8
    assert all(block.channels == BOOK.channels for _, _, block in recording)
