"""Entries in real boxes, in real interpreters, through the command line."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import recordings

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.entries.environments import interpreter_for
from bciarena.entries.interpreters import find_python
from bciarena.entries.package import open_entry
from bciarena.errors import BadInput
from bciarena.runs import run_match
from bciarena.sandbox import Limits, box, boxed, player

CORPUS = Path(__file__).parents[2] / "testsuite"
PERFECT = 60 * 1.584962500721156 / 1.5

pytestmark = pytest.mark.usefixtures("box_works")


def arena(capfd, *words):
    code = main([str(word) for word in words])
    return code, *capfd.readouterr()


def play(spec, limits=None, sandbox="bwrap", **more):
    book = rulebook("imagery")
    with open_entry(str(spec), book) as package:
        player = boxed(package, interpreter_for(package), sandbox=sandbox, limits=limits)
        return run_match(book, recordings.recording("imagery"), player, **more)


def entry(tmp_path, text):
    path = tmp_path / "entry.py"
    path.write_text(text)
    return f"{path}:Entry"


@pytest.mark.parametrize("python", ["3.8", "3.10"])
@pytest.mark.parametrize("form", ["source", "compiled"])
def test_contest_interpreters(tmp_path, capfd, data, python, form):
    try:
        find_python(python)
    except BadInput as error:
        pytest.skip(str(error))
    spec = CORPUS / "honest" / "imagery" / "perfect"
    if form == "compiled":
        packed = tmp_path / "entry.tar.gz"
        assert arena(capfd, "pack", spec, "--challenge", "imagery", "--python", python, "-o", packed)[0] == 0
        spec = packed
    out = tmp_path / "run"
    code, said, errors = arena(
        capfd, "run", spec, "--challenge", "imagery", "--data", data, "--python", python, "--out", out, "--json"
    )
    assert code == 0, errors
    assert json.loads(said)["score"] == pytest.approx(PERFECT)
    assert json.loads(said) == json.loads((out / "score.json").read_text())


def test_asynchronous_dialect_in_its_own_interpreter():
    book = rulebook("rehab")
    with open_entry(str(CORPUS / "honest" / "rehab" / "perfect"), book) as package:
        interpreter = interpreter_for(package)
        result = run_match(book, recordings.recording("rehab"), boxed(package, interpreter))
    assert interpreter.version.startswith("3.10") or interpreter.warnings
    assert (result["verdict"], result["score"]) == ("ok", 800)


def test_what_is_printed_is_kept_with_its_packet(tmp_path):
    text = """
import sys
class Entry:
    count = 0
    def start(self, info): print("start", flush=True)
    def step(self, packet):
        self.count += 1
        if self.count in (7, 1000): print("packet", self.count)
        if self.count == 9: sys.stderr.write("trouble at 9")
"""
    play(entry(tmp_path, text), out=tmp_path / "run")
    assert (tmp_path / "run" / "stdout.txt").read_text() == "start\npacket 7\npacket 1000\n"
    lines = [json.loads(line) for line in (tmp_path / "run" / "output.jsonl").read_text().splitlines()]
    assert [(line["stream"], line["packet"]) for line in lines] == [
        ("stdout", 0),
        ("stdout", 7),
        ("stdout", 1000),
        ("stderr", 9),
    ]


def test_same_seed_same_run(tmp_path):
    text = """
import random, numpy
class Entry:
    def step(self, packet):
        if numpy.random.random() < 0.02: return random.choice([201, 202, 203])
"""
    ledgers = []
    for name in ("one", "two"):
        play(entry(tmp_path, text), out=tmp_path / name, clock="data")
        lines = [json.loads(line) for line in (tmp_path / name / "ledger.jsonl").read_text().splitlines()]
        ledgers.append(lines[:-1])
    assert ledgers[0] == ledgers[1]
    assert len(ledgers[0]) > 10


def test_worker_processes_of_every_kind(tmp_path):
    text = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
def square(x):
    import numpy
    return int(numpy.square(x))
class Entry:
    def start(self, info):
        for kind in ("fork", "spawn", "forkserver"):
            with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(kind)) as pool:
                print(kind, list(pool.map(square, range(4))))
    def step(self, packet): pass
"""
    assert play(entry(tmp_path, text), out=tmp_path / "run")["verdict"] == "ok"
    said = (tmp_path / "run" / "stdout.txt").read_text()
    assert said == "fork [0, 1, 4, 9]\nspawn [0, 1, 4, 9]\nforkserver [0, 1, 4, 9]\n"


def test_record_says_how_it_was_confined(tmp_path):
    text = "class Entry:\n    def step(self, packet): pass\n"
    result = play(entry(tmp_path, text))
    assert result["sandbox"] in ("bwrap, cgroup v1", "bwrap, cgroup v2", "bwrap, no cgroup")


def test_without_a_box_is_loud_and_leaves_nothing(tmp_path, capfd, data):
    text = f"""
import os, time
class Entry:
    def run(self, packets):
        next(packets)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open({str(tmp_path / "pid")!r}, "w") as file: file.write(str(os.getpid()))
                time.sleep(1000)
            os._exit(0)
        while not os.path.exists({str(tmp_path / "pid")!r}): time.sleep(0.01)
        return
        yield
"""
    code, said, errors = arena(
        capfd, "run", entry(tmp_path, text), "--challenge", "imagery", "--data", data, "--sandbox", "none"
    )
    assert code == 0, errors
    assert "WARNING" in errors
    assert "unsandboxed" in said
    orphan = (tmp_path / "pid").read_text()
    assert orphan
    assert not Path("/proc", orphan).exists()


def test_without_a_box_a_hang_is_ended_too(tmp_path):
    text = "import time\nclass Entry:\n    def step(self, packet): time.sleep(1000)\n"
    began = time.monotonic()
    result = play(entry(tmp_path, text), sandbox="none", budget_s=1.0)
    assert (result["verdict"], result["sandbox"]) == ("over_budget", "unsandboxed")
    assert time.monotonic() - began < 20


def test_reports_before_a_crash_stand(tmp_path):
    text = """
class Entry:
    count = 0
    def step(self, packet):
        self.count += 1
        if self.count == 51: return 201
        if self.count == 60: 1 / 0
"""
    result = play(entry(tmp_path, text))
    assert result["verdict"] == "crashed"
    assert "ZeroDivisionError: division by zero (line 7 of entry.py)" in result["reason"]
    assert [trial["status"] for trial in result["trials"]] == ["in_time"] + ["missing"] * 7
    assert result["trials"][0]["correct"]


def test_over_budget_voids_the_score(tmp_path):
    text = """
import time
class Entry:
    count = 0
    def step(self, packet):
        self.count += 1
        if self.count == 51: return 201
        if self.count == 60: time.sleep(100)
"""
    result = play(entry(tmp_path, text), budget_s=1.5)
    assert (result["verdict"], result["score"]) == ("over_budget", 0.0)
    assert result["trials"][0]["correct"]


def test_an_exception_after_the_finish_is_noted(tmp_path):
    text = """
class Entry:
    def run(self, packets):
        for packet in packets: pass
        yield 201
        raise RuntimeError("too late to matter")
"""
    result = play(entry(tmp_path, text))
    assert result["verdict"] == "ok"
    assert any("after the finish flag: raised RuntimeError: too late to matter" in note for note in result["notes"])
    assert result["trials"][-1]["status"] == "in_time"


def test_exit_codes_and_lines(tmp_path, capfd, data, monkeypatch):
    bad = entry(tmp_path, "class Entry:\n    def step(self, packet): raise KeyError('x')\n")
    code, said, errors = arena(capfd, "run", bad, "--challenge", "imagery", "--data", data)
    assert code == 1
    assert "imagery/1  crashed  score 0.0000" in said
    assert "arena: crashed: the entry raised KeyError: 'x'" in errors
    for words, line in (
        (["--sandbox", "docker"], "--sandbox docker: choose bwrap or none"),
        (["--clock", "wall"], "--clock wall: choose think or data"),
        (["--budget", "0"], "--budget 0: must be more than 0"),
        (["--model", tmp_path / "nothing"], "no such model folder"),
        (["--out", tmp_path], "exists already"),
    ):
        code, said, errors = arena(capfd, "run", bad, "--challenge", "imagery", "--data", data, *words)
        assert code == 2, errors
        assert line in errors
        assert said == ""
    code, _, errors = arena(capfd, "run", bad, "--data", data)
    assert code == 2
    assert "--challenge is missing" in errors
    monkeypatch.setattr(box.shutil, "which", lambda name: None)
    code, _, errors = arena(capfd, "run", bad, "--challenge", "imagery", "--data", data)
    assert code == 2
    assert "apt install bubblewrap" in errors


def test_no_line_of_an_entry_passes_for_ours(tmp_path, capfd, data):
    """Neither what it prints nor the words of what it raises can stand at the beginning of a line of ours."""
    liar = entry(
        tmp_path,
        "import sys\nclass Entry:\n    def fit(self, X, y): print('arena: our fault: a', flush=True); self.step(0)\n"
        "    def step(self, packet):\n"
        "        sys.stderr.write('\\narena: our fault: b\\rarena: our fault: c\\n')\n"
        "        raise KeyError('x') if packet is None else SystemError(WORDS)\n"
        "WORDS = 'no\\narena: our fault: d\\u2028arena: our fault: e'\n",
    )
    for words in (["run"], ["train", "--out", tmp_path / "model"]):
        code, said, errors = arena(capfd, *words, liar, "--challenge", "imagery", "--data", data)
        assert code == 1, errors
        ours = [line for line in (said + errors).splitlines() if line.startswith("arena:")]
        assert len(ours) == 1, errors
        assert ours[0].startswith("arena: crashed: ")
        assert "| arena: our fault: b" in errors


def test_files_that_only_root_may_read(tmp_path):
    """A package of private files is shown to the box's own user all the same."""
    folder = tmp_path / "private"
    shutil.copytree(CORPUS / "honest" / "imagery" / "perfect", folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert play(folder)["score"] == pytest.approx(PERFECT)


def test_sklearn_shaped_pipeline_learns_and_plays(tmp_path, capfd, data):
    text = """
import numpy
class Entry:
    window_s = (0.0, 1.0)
    def fit(self, X, y):
        print("fit", X.shape, y.dtype.kind)
        self.labels = sorted(set(y.tolist()))
        return self
    def predict(self, X):
        return numpy.full(len(X), self.labels[0])
"""
    spec, model = entry(tmp_path, text), tmp_path / "model"
    code, said, errors = arena(capfd, "train", spec, "--challenge", "imagery", "--data", data, "--out", model)
    assert code == 0, errors
    assert "fit (8, 64, 250) i" in errors
    assert sorted(path.name for path in model.iterdir()) == ["instance.pkl", "trained.json"]
    code, said, errors = arena(capfd, "run", spec, "--challenge", "imagery", "--data", data, "--model", model, "--json")
    assert code == 0, errors
    assert [trial["answer"] for trial in json.loads(said)["trials"]] == ["201"] * 8


@pytest.mark.parametrize("sandbox", ["bwrap", "none"])
def test_own_save_and_load_and_recordings(tmp_path, capfd, data, sandbox):
    text = """
import os
class Entry:
    def fit(self, recordings):
        assert [(r.subject, r.block, r.set) for r in recordings] == [(1, 1, "a"), (1, 2, "a"), (1, 1, "b"), (1, 2, "b")]
        assert recordings[0].data.shape[0] == 65 and recordings[0].rate == 250 and recordings[0].channels[0] == "Fpz"
        self.codes = sorted(set(recordings[0].data[-1].astype(int).tolist()))
    def save(self, folder):
        with open(os.path.join(folder, "codes.txt"), "w") as file: file.write(repr(self.codes))
        os.symlink("/etc/passwd", os.path.join(folder, "link"))
    def load(self, folder):
        with open(os.path.join(folder, "codes.txt")) as file: print("loaded", file.read())
    def step(self, packet): pass
"""
    for name in ("a", "b"):
        shutil.copytree(data, tmp_path / "sets" / name)
    spec, model = entry(tmp_path, text), tmp_path / "model"
    words = ["--challenge", "imagery", "--sandbox", sandbox]
    code, _, errors = arena(capfd, "train", spec, *words, "--data", tmp_path / "sets", "--out", model)
    assert code == 0, errors
    assert sorted(path.name for path in model.iterdir()) == ["codes.txt", "trained.json"]  # links are not brought home
    code, _, errors = arena(capfd, "run", spec, *words, "--data", data, "--model", model, "--out", tmp_path / "run")
    assert code == 0, errors
    assert "loaded [0, 201, 202, 203]" in (tmp_path / "run" / "stdout.txt").read_text()


def test_training_that_fails_leaves_no_model(tmp_path, capfd, data):
    spec, model = entry(tmp_path, "class Entry:\n    def fit(self, recordings): raise OSError('no')\n"), tmp_path / "m"
    code, _, errors = arena(capfd, "train", spec, "--challenge", "imagery", "--data", data, "--out", model)
    assert code == 1
    assert "training failed with exit code 1" in errors
    assert "OSError: no" in errors
    assert not model.exists()
    code, _, errors = arena(
        capfd,
        "train",
        CORPUS / "honest" / "imagery" / "perfect",
        "--challenge",
        "imagery",
        "--data",
        data,
        "--out",
        model,
    )
    assert code == 2
    assert "nothing to train" in errors


def test_training_cannot_write_into_the_data_nor_run_forever(tmp_path, capfd, data):
    text = """
import os
class Entry:
    def fit(self, recordings):
        for place in (os.path.dirname(recordings[0].path), "/data", "/entry"):
            try:
                open(os.path.join(place, "x"), "w")
                print("ESCAPED", place)
            except OSError as error:
                print("held", error.strerror)
        while True: pass
"""
    spec, model = entry(tmp_path, text), tmp_path / "m"
    code, _, errors = arena(
        capfd, "train", spec, "--challenge", "imagery", "--data", data, "--out", model, "--budget", "2"
    )
    assert code == 1
    assert "over_budget" in errors
    assert "ESCAPED" not in errors
    assert errors.count("held") == 3


def test_training_does_not_see_how_the_fakes_were_made(tmp_path, capfd, data):
    sets = tmp_path / "sets" / "eval_train"
    shutil.copytree(data, sets)
    (sets / "generators.json").write_text('[{"generator": "SECRET"}]')
    text = """
class Entry:
    def fit(self, recordings):
        try:
            print("read:", open("/data/eval_train/generators.json").read())
        except OSError as error:
            print("read:", error.strerror)
    def save(self, folder): open(folder + "/done", "w").close()
"""
    spec, model = entry(tmp_path, text), tmp_path / "m"
    words = ["--challenge", "imagery", "--data", sets.parent, "--out", model]
    code, _, errors = arena(capfd, "train", spec, *words)
    assert code == 0, errors
    assert "read:" in errors
    assert "SECRET" not in errors


def test_compressed_data_is_converted_for_the_box(tmp_path, capfd):
    from bciarena.recording.write import write_contest

    for suffix, number in ((".npz", 1), (".pkl", 2)):
        block = recordings.recording("imagery").subjects[0].blocks[0]
        path = tmp_path / "data" / "S01" / f"block_{number}{suffix}"
        write_contest(path, block.data, block.rate, block.channels, compress=True)
    text = "class Entry:\n    def fit(self, r): self.n = [x.data.shape for x in r]; print(self.n)\n    step = print\n"
    code, _, errors = arena(
        capfd,
        *("train", entry(tmp_path, text), "--challenge", "imagery"),
        *("--data", tmp_path / "data", "--out", tmp_path / "m"),
    )
    assert code == 0, errors
    assert "[(65, 5510), (65, 5510)]" in errors


def test_a_model_that_is_needed(tmp_path):
    from dataclasses import replace

    book = rulebook("imagery")
    text = "class Entry:\n    def step(self, packet): pass\n"
    with open_entry(entry(tmp_path, text), book) as package, pytest.raises(BadInput, match="arena train"):
        boxed(replace(package, needs_model=True), interpreter_for(package))


def test_limits_can_be_given(tmp_path):
    text = """
class Entry:
    def __init__(self): self.held = bytearray(300 << 20)
    def step(self, packet): pass
"""
    assert play(entry(tmp_path, text), Limits(memory_mib=200))["verdict"] == "out_of_memory"
    assert play(entry(tmp_path, text), Limits(memory_mib=800))["verdict"] == "ok"


def test_the_box_dies_with_the_referee(tmp_path, data):
    spec = entry(tmp_path, "import time\nclass Entry:\n    def step(self, packet): time.sleep(1000)\n")
    words = ["run", spec, "--challenge", "imagery", "--data", str(data)]
    script = f"import sys; from bciarena.cli import run; run({words!r})"
    referee = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    try:
        inside = []
        deadline = time.monotonic() + 30
        while len(inside) < 2 and time.monotonic() < deadline:
            inside = descendants(referee.pid)
            time.sleep(0.1)
        assert len(inside) >= 2
    finally:
        referee.kill()
        referee.wait()
    deadline = time.monotonic() + 10
    while any(Path("/proc", str(pid)).exists() for pid in inside) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in inside if Path("/proc", str(pid)).exists()]


def descendants(pid):
    try:
        children = [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return children + [other for child in children for other in descendants(child)]


def test_a_folder_with_its_own_training(tmp_path, capfd, data):
    folder = tmp_path / "entry"
    shutil.copytree(CORPUS / "honest" / "imagery" / "perfect", folder)
    (folder / "train.py").write_text(
        "import os\n"
        "def train(data, out):\n"
        "    assert os.path.isdir('Algorithm'), os.getcwd()\n"
        "    with open(os.path.join(out, 'seen.txt'), 'w') as file:\n"
        "        file.write(' '.join(sorted(os.listdir(data))))\n"
    )
    model = tmp_path / "model"
    code, _, errors = arena(capfd, "train", folder, "--challenge", "imagery", "--data", data, "--out", model)
    assert code == 0, errors
    assert (model / "seen.txt").read_text() == "S01"


@pytest.mark.parametrize(
    ("call", "explained"),
    [
        ("__import__('socket').socket()", True),
        ("os.memfd_create('x')", True),
        ("fcntl.lockf(open('/tmp/x', 'w'), fcntl.LOCK_EX)", True),
        ("os.open('/nowhere', 0)", False),
    ],
    ids=["network", "system call", "lock", "no refusal"],
)
def test_the_verdict_explains_what_the_filter_refused(tmp_path, call, explained):
    text = f"import fcntl, os\nclass Entry:\n    def start(self, info): {call}\n    def step(self, packet): pass\n"
    result = play(entry(tmp_path, text))
    assert result["verdict"] == "crashed"
    assert result["reason"].startswith("the entry raised ")
    assert ("a box refuses network, file locks, namespaces and unusual system calls" in result["reason"]) is explained


def test_nobody_polls_for_an_entry_that_computes_long(tmp_path, monkeypatch):
    """Polling would only take time from it. After every check of the box polling is tried again."""
    told = []
    real = player._Serving._poll_up_to
    monkeypatch.setattr(player._Serving, "_poll_up_to", lambda self, polls: (told.append(polls), real(self, polls)))
    spec = entry(
        tmp_path,
        "import time\nclass Entry:\n    def step(self, packet):\n        time.sleep(0.002)\n        return None\n",
    )
    assert play(spec)["verdict"] == "ok"
    assert told[0] > 0, "it begins with polling"
    assert 0 in told
    assert any(polls > 0 for polls in told[told.index(0) :])


def test_counters_of_the_machine_stand_still(tmp_path):
    """What one box has in memory would otherwise be a message that another one reads."""
    spec = entry(
        tmp_path,
        "import ctypes, os\n"
        "import numpy as np\n"
        "def seen():\n"
        "    names = ('meminfo', 'stat', 'uptime')\n"
        "    files = [open('/proc/' + name).read() for name in names]\n"
        "    room = ctypes.create_string_buffer(256)\n"
        "    return files, ctypes.CDLL(None).sysinfo(room), room.raw\n"
        "before = seen()\n"
        "with open('/tmp/x', 'wb') as file:\n"
        "    file.write(bytes(20_000_000))\n"
        "assert seen() == before\n"
        "assert before[1] == -1, 'sysinfo is answered'\n"
        "assert 'MemTotal' in before[0][0] and '\\ncpu' in before[0][1]\n"
        "assert np.sort(np.random.rand(300_000))[0] >= 0\n"
        "class Entry:\n    def step(self, packet):\n        return None\n",
    )
    result = play(spec)
    assert result["verdict"] == "ok", result["reason"]
