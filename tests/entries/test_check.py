"""arena check: entries with one mistake each, played for real in the box, and the words a contestant gets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.contests import RULEBOOKS, rulebook
from bciarena.entries.checkup import check
from bciarena.entries.packing import pack
from bciarena.entries.tiny import strict_recording, tiny_recording
from bciarena.referee import Truth
from bciarena.sandbox import player, why_not
from tests.entries.test_package import write

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")

PLAIN = '''import time


class Entry:
    """Answers 201 one second into every trial."""

    def __init__(self):
        self.left = None

    def step(self, packet):
        if packet.start == 0 and {renews}:
            self.left = None
        if 249 in packet.data[-1]:
            self.left = {packets}
            {at_trigger}
        elif self.left is not None:
            self.left -= 1
            {each}
            if self.left == 0:
                self.left = None
                return {answer}
'''


def plain(
    folder: Path,
    packets: int = 25,
    at_trigger: str = "pass",
    each: str = "pass",
    answer: str = "201",
    renews: bool = True,
) -> str:
    text = PLAIN.format(packets=packets, at_trigger=at_trigger, each=each, answer=answer, renews=renews)
    write(folder, {"mine.py": text})
    return f"{folder}/mine.py:Entry"


def problems(spec: str, challenge: str = "imagery", **options: str) -> list[str]:
    return check(spec, rulebook(challenge), **options).problems


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda book: book.name)
def test_the_minute_played_is_valid(book) -> None:
    recording = tiny_recording(book)
    spans = [span for _, _, spans in Truth.of(book, recording).blocks for span in spans]
    assert len(spans) == 6
    assert all(block.samples % book.packet_n for _, _, block in recording)
    assert recording.seconds < 90
    places = [span.opened % book.packet_n for span in spans]
    assert {0, book.packet_n - 1} <= set(places)
    assert len(set(places)) == 6
    assert recording.digest == tiny_recording(book).digest


def test_r20_in_rehabs_minute_only_cue_and_rest_are_zero() -> None:
    (subject,) = tiny_recording(rulebook("rehab")).subjects
    for block in subject.blocks:
        silent = ~np.asarray(block.eeg).any(axis=0)
        begun = [at for at, code in block.events if code == 240]
        opened = [at for at, code in block.events if code in range(1, 5)]
        closed = [at for at, code in block.events if code == 241]
        over = int(np.flatnonzero(silent)[-1]) + 1
        assert 1500 <= over - closed[-1] <= 1540 < block.samples - closed[-1]
        wanted = np.zeros(block.samples, dtype=bool)
        for cue, task, end, upto in zip(begun, opened, closed, [*begun[1:], over], strict=True):
            wanted[cue:task] = wanted[end + 1 : upto] = True
        assert np.array_equal(silent[1:], wanted[1:])  # the first sample is where all channels begin at 0


def test_a_good_entry(tmp_path: Path) -> None:
    found = check(plain(tmp_path), rulebook("imagery"))
    assert (found.problems, found.warnings) == ([], [])
    assert (found.reports, found.trials, found.dialect) == (12, 12, "D")


CARRIES = """class Late:
    # Answers a block's last trial in the block after.
    def __init__(self):
        self.open = False

    def step(self, packet):
        if 249 in packet.data[-1]:
            self.open = True
        elif self.open and packet.start == 500:
            self.open = False
            return 201
"""
ANYTIME = """class Anytime:
    def step(self, packet):
        if packet.start % 500 == 0:
            return 201
"""


def test_what_costs_nothing_gives_no_warning(tmp_path: Path) -> None:
    """A block that breaks off at once leaves a usual entry waiting; and an entry may report where nothing is asked."""
    write(tmp_path, {"any.py": ANYTIME})
    assert check(plain(tmp_path, renews=False), rulebook("imagery")).warnings == []
    assert check(f"{tmp_path}/any.py:Anytime", rulebook("imagery")).warnings == []


def test_answers_carried_over_to_the_next_block_are_reported(tmp_path: Path) -> None:
    write(tmp_path, {"late.py": CARRIES})
    found = check(f"{tmp_path}/late.py:Late", rulebook("imagery"))
    assert "they answer the previous block" in " ".join(found.warnings)


def test_it_never_reports(tmp_path: Path) -> None:
    assert problems(plain(tmp_path, answer="None")) == [
        "It never reported in 12 trials: each would count as wrong. Does it wait for a code that the stream does not "
        "have? Trials begin with 249 in the last row.",
    ]


def test_it_reports_in_the_trigger_packet(tmp_path: Path) -> None:
    (words,) = problems(plain(tmp_path, at_trigger="return 201", answer="None"))
    assert words.startswith("13 of 13 reports came right after the packet that holds the trigger")


def test_its_answers_are_not_valid(tmp_path: Path) -> None:
    (words,) = problems(plain(tmp_path, answer="'left'"))
    assert (
        words
        == '12 of 12 reports are not valid answers (such as "left"); an answer is an integer, one of 201, 202, 203.'
    )


def test_it_is_late(tmp_path: Path) -> None:
    (words,) = problems(plain(tmp_path, packets=101))
    assert words == "12 of 12 answers came too late: a trial may use under 4 s of data."


SLOW = """import time


class Entry:
    def run(self, packets):
        for number, packet in enumerate(packets):
            time.sleep(0.06)
            if number == 60:
                return
            yield 201
"""


def test_it_is_slow(tmp_path: Path) -> None:
    found = check(f"{write(tmp_path, {'mine.py': SLOW})}/mine.py:Entry", rulebook("imagery"))
    assert found.busy_share > 1
    assert found.problems[-1].startswith("It is too slow: it computes 1.")


def test_it_prints_and_prints(tmp_path: Path) -> None:
    found = check(plain(tmp_path, each="print('x' * 1000)"), rulebook("imagery"))
    assert found.problems == []
    assert found.warnings == [
        "It prints 293 KiB in 1.7 minutes of data: at most 1 MiB is kept of a run, and printing takes time.",
    ]


SYNC = """import time
{first}
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel


class AlgorithmImplementMI(AlgorithmInterface):
    def run(self):
        finished, left = False, 0
        while not finished:
            packet = self.task.get_data()
            finished = packet.finish_flag
            left -= 1
            if left == 0:
                report = ReportModel()
                report.result = 201
                self.task.report(report)
            if 249 in packet.data[-1]:
                left = 25
        {last}
"""


def contest(folder: Path, first: str = "", last: str = "return") -> str:
    text = SYNC.format(first=first, last=last)
    return str(write(folder, {"Algorithm/AlgorithmImplementMI.py": text, "config.toml": 'python = "3.8"\n'}))


def test_it_stays_after_the_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "WATCH_S", 1.0)  # the match is over before the referee's first look at the clock
    (words,) = problems(contest(tmp_path, last="time.sleep(60)"))
    assert words.startswith("It must leave run by itself when the finish flag is true")


def test_a_module_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = contest(tmp_path, first="import sklearn")
    (words,) = problems(spec)
    assert words.startswith("import_error: the entry cannot be loaded: ModuleNotFoundError")
    assert "put scikit-learn into requirements.txt (arena check --fix writes such a file)" in words
    assert main(["check", spec, "--challenge", "imagery"]) == 1
    out = capsys.readouterr()
    assert "problem: import_error" in out.out
    assert out.err.startswith("arena: check: import_error")


def test_it_crashes(tmp_path: Path) -> None:
    (words,) = problems(contest(tmp_path, first="x = 1 / 0"))
    assert "ZeroDivisionError" in words
    assert "line 2 of Algorithm/AlgorithmImplementMI.py" in words


def test_compiled_by_another_python(tmp_path: Path) -> None:
    packed = pack(contest(tmp_path / "e"), rulebook("imagery"), tmp_path / "e.zip", "3.10")
    assert problems(str(packed.file)) == []
    (words,) = problems(str(packed.file), python="3.8")
    assert "compiled by Python 3.10, but Python 3.8 is to run it" in words


def test_another_chunk_size_is_a_warning(tmp_path: Path) -> None:
    assert main(["new", "rehab", str(tmp_path / "e")]) == 0
    yml = tmp_path / "e" / "Algorithm" / "config" / "AlgorithmConfig.yml"
    yml.write_text(yml.read_text().replace("chunk_size: 40", "chunk_size: 1000"))
    found = check(str(tmp_path / "e"), rulebook("rehab"))
    assert found.problems == []
    assert [words[:42] for words in found.warnings] == ["AlgorithmConfig.yml asks for chunk_size 10"]


def test_for_programs_and_for_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", plain(tmp_path), "--challenge", "imagery", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is True
    assert said["reports"] == 12
    assert main(["check", "nowhere.zip", "--challenge", "imagery"]) == 2
    assert main(["check", plain(tmp_path)]) == 2
    assert "--challenge is missing" in capsys.readouterr().err


def test_all_problems_are_told_at_once_without_playing(tmp_path: Path) -> None:
    """A line Python cannot read, two libraries from elsewhere and files of two Pythons: one list, nothing played."""
    from bciarena.entries.sources import MAGIC

    magic = {python: number.to_bytes(2, "little") + b"\r\n" for number, python in MAGIC.items()}
    entry = write(
        tmp_path / "e",
        {
            "Algorithm/AlgorithmImplementMI.py": "import newer\nclass AlgorithmImplementMI:\n    x = (1\n",
            "Algorithm/stray.py": "print 1\n",
            "Algorithm/newer.py": "match 1:\n    case 1:\n        pass\n",
            "Algorithm/old.pyc": magic["3.7"] + bytes(12),
            "requirements.txt": "git+https://example.org/x.git\nscipy\n--index-url http://example.org\n",
            "config.toml": 'python = "3.8"\n',
        },
    )
    found = check(str(entry), rulebook("imagery"))
    assert not found.played
    words = "\n".join(found.problems)
    for part in (
        "AlgorithmImplementMI.py, line",
        "newer.py, line 1",
        "old.pyc: compiled by Python 3.7, but Python 3.8",
        "line 1",
        "line 3",
    ):
        assert part in words, words
    assert len(found.problems) == 5
    assert "stray.py, line 1" in " ".join(found.warnings)  # nothing imports it
    assert all("\n" in one or ";" in one for one in found.problems)  # each with its remedy


def test_nothing_stands_in_the_way_is_never_said_after_no_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = "class Quiet:\n    def step(self, packet):\n        return None\n"
    entry = write(tmp_path / "e", {"quiet.py": silent})
    for challenge in ("imagery", "speller"):
        assert main(["check", f"{entry}/quiet.py:Quiet", "--challenge", challenge]) == 1
        said = capsys.readouterr().out
        assert "It never reported in 12 trials" in said
        assert "Nothing stands" not in said


def test_what_the_check_plays(tmp_path: Path) -> None:
    """Two subjects, a block shorter than a packet, short last packets, trials at every sample of a packet."""
    for book in RULEBOOKS.values():
        played = strict_recording(book)
        assert len(played.subjects) == 2
        sizes = [block.samples for _, _, block in played]
        assert sum(size < book.packet_n for size in sizes) == 1
        assert all(size % book.packet_n for size in sizes)
        places = {
            span.opened % book.packet_n
            for _, _, spans in Truth.of(book, played).blocks
            for span in spans
            if span.data_start < span.stop
        }
        assert places == set(range(book.packet_n)), book.id
        assert played.seconds < 360
