"""Writes the honest part of the corpus: twelve behaviours in every dialect, from one table.

A behaviour is a script: which answers to report after how many samples, when to leave, whether to stay. The code around it
is one file per dialect, so that what differs between two folders is what differs between two behaviours. The expected
scores are worked out here by hand from the contest texts, without the platform's own scoring.

    python testsuite/make.py          writes one sample per dialect, kept under honest/
    python testsuite/make.py DIR      writes all of them into a folder, to be looked at
"""

import json
import shutil
import sys
from math import log2
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from recordings import BLOCKS, CHALLENGES, block_samples, data_starts  # noqa: E402

from bciarena.contests import rulebook  # noqa: E402

HERE = Path(__file__).parent
SAMPLES = ("imagery/perfect", "speller/perfect", "rehab/perfect", "plain/perfect")  # dialects A, B, C and D

SYNC = '''"""{about}"""

import json
import time

from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.DataModel import DataModel
from Algorithm.Interface.Model.ReportModel import ReportModel


class {name}(AlgorithmInterface):
    def run(self):
        with open("Algorithm/script.json") as file:  # the working directory is the package root
            script = json.load(file)
        seen, finished = 0, False
        while not finished:
            packet = {get}()
            assert type(packet) is DataModel
            assert packet.data[0, 0] == seen, "a sample was lost, doubled or moved"
            seen += packet.data.shape[1]
            finished = packet.{flag}
            self.report(script["reports"].get(str(seen), script["always"]))
            if seen == script["leave_at"]:
                return
        self.report(script["after_finish"])
        while script["stay"]:
            time.sleep(1)

    def report(self, answers):
        for answer in answers:
            model = ReportModel()
            model.{field} = answer
            {report}(model)
'''

ASYNC = '''"""{about}"""

import json
import time

from Algorithm.method.interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.method.model.AlgorithmObject import AlgorithmDataObject, AlgorithmResultObject


class AlgorithmImplement(AlgorithmInterface):
    async def run(self):
        with open("Algorithm/method/impl/script.json") as file:
            script = json.load(file)
        source = self._proxy.get_source("eeg_1")
        device = await source.get_device()
        seen = 0
        while True:
            packet = await source.get_data()
            assert isinstance(packet, AlgorithmDataObject)
            if packet.finish_flag:
                assert packet.data is None
                break
            assert packet.data.shape[0] == device.channel_number + 1
            assert packet.start_position == seen == packet.data[0, 0], "a sample was lost, doubled or moved"
            seen += packet.data.shape[1]
            await self.report(script["reports"].get(str(seen), script["always"]))
            if seen == script["leave_at"]:
                return
        await self.report(script["after_finish"])
        while script["stay"]:
            time.sleep(1)

    async def report(self, answers):
        for answer in answers:
            await self._proxy.report(AlgorithmResultObject(result=answer))
'''

PLAIN = '''"""{about}"""

import json
import time


class Entry:
    def run(self, packets):
        with open("script.json") as file:
            script = json.load(file)
        seen = 0
        for packet in packets:
            assert packet.data[0, 0] == seen, "a sample was lost, doubled or moved"
            seen += packet.data.shape[1]
            yield from script["reports"].get(str(seen), script["always"])
            if seen == script["leave_at"]:
                return
        yield from script["after_finish"]
        while script["stay"]:
            time.sleep(1)
'''

CONFIG = """method:
  method_class_file: Algorithm/method/impl/AlgorithmImplement.py
  method_class_name: AlgorithmImplement
sources:
  eeg_1:
    source_receiver:
      configuration:
        chunk_size: {packet_n}
"""

A = {"get": "self.task.get_data", "report": "self.task.report", "flag": "finish_flag", "field": "result"}
B = {
    "get": "self._problemInterface.getData",
    "report": "self._problemInterface.report",
    "flag": "finishedFlag",
    "field": "resultType",
}
DIALECTS = {
    # folder: challenge, code, where it goes, where the script goes, names in the code
    "imagery": ("imagery", SYNC, "Algorithm/AlgorithmImplementMI.py", {**A, "name": "AlgorithmImplementMI"}),
    "turing": ("turing", SYNC, "Algorithm/AlgorithmImplementTuring.py", {**A, "name": "AlgorithmImplementTuring"}),
    "speller": ("speller", SYNC, "Algorithm/AlgorithmImplementSSVEP.py", {**B, "name": "AlgorithmImplementSSVEP"}),
    "liveness": ("liveness", ASYNC, "Algorithm/method/impl/AlgorithmImplement.py", {}),
    "rehab": ("rehab", ASYNC, "Algorithm/method/impl/AlgorithmImplement.py", {}),
    "plain": ("imagery", PLAIN, "entry.py", {}),
}


def positions(challenge: str, seconds: float) -> list[tuple[int, object, object]]:
    """(samples seen, right answer, wrong answer) so long after each trial's data began, over all blocks.

    What lies beyond a block's end is left out: nobody gets there.
    """
    book, plan, samples = rulebook(challenge), CHALLENGES[challenge], block_samples(challenge)
    made = []
    for block in range(BLOCKS):
        for start, right, wrong in zip(data_starts(challenge), plan.answers, plan.wrong, strict=True):
            at = start + round(seconds * book.rate)
            if at <= samples:
                made.append((block * samples + at, right, wrong))
    return made


def reports(challenge: str, seconds: float, wrong: bool = False) -> dict[str, list[object]]:
    made: dict[str, list[object]] = {}
    for at, right, other in positions(challenge, seconds):
        answer = other if wrong else right
        if answer is not None:
            made[str(at)] = [answer]
    return made


def behaviours(challenge: str) -> dict[str, tuple[str, dict]]:
    """What each behaviour is, in a sentence and as a script."""
    book, plan, samples = rulebook(challenge), CHALLENGES[challenge], block_samples(challenge)
    packet_s = book.packet_n / book.rate
    limit_s = LIVENESS_LIMIT_S if book.limit_s is None else book.limit_s
    right = reports(challenge, 1.0)
    in_gap_s = plan.apart_s - 0.4
    table = {
        "perfect": ("Right, after one second of every trial.", {"reports": right}),
        "always_wrong": ("Wrong, after one second of every trial.", {"reports": reports(challenge, 1.0, True)}),
        "silent": ("Reads everything, says nothing.", {}),
        "reports_every_packet": ("The first trial's answer after every packet.", {"always": [plan.answers[0]]}),
        "reports_first_packet": ("Right, after the first packet of data.", {"reports": reports(challenge, packet_s)}),
        "at_limit": ("Right, with exactly the limit's length of data.", {"reports": reports(challenge, limit_s)}),
        "past_limit": ("Right, one packet after the limit.", {"reports": reports(challenge, limit_s + packet_s)}),
        "in_trigger_packet": ("Right, but in the packet that holds the code.", {"reports": reports(challenge, 0.0)}),
        "in_gap": ("Right, shortly before the next trial.", {"reports": reports(challenge, in_gap_s)}),
        "after_finish": (
            "Says the last trial's answer once everything was handed out.",
            {"after_finish": [plan.answers[-1]]},
        ),
        "exits_early": ("Perfect, but leaves after the first block.", {"reports": right, "leave_at": samples}),
        "never_exits_after_finish": ("Perfect, and then never leaves.", {"reports": right, "stay": True}),
    }
    blank = {"reports": {}, "always": [], "after_finish": [], "leave_at": -1, "stay": False}
    return {name: (about, {**blank, **script}) for name, (about, script) in table.items()}


def itr(p: float, classes: int, seconds: float) -> float:
    if p < 1 / classes:
        return 0.0
    bits = log2(classes) + (p * log2(p) if p else 0) + ((1 - p) * log2((1 - p) / (classes - 1)) if p < 1 else 0)
    return 60 * bits / seconds


def live(p_real: float, p_subject: float, seconds: float) -> float:
    return 0.9 * itr(p_real, 2, seconds) + 0.1 * itr(p_subject, 23, seconds)


LIVENESS_LIMIT_S = 2.4  # the end of the packet that holds 241
MISSING_S = 2.5  # liveness: from a trial's code to its 241
SCORES = {
    # behaviours that are not named get 0
    "imagery": {
        "perfect": itr(1, 3, 1 + 0.5),
        "reports_every_packet": itr(2 / 4, 3, 0.04 + 0.5),  # 201 is right in two of four
        "reports_first_packet": itr(1, 3, 0.04 + 0.5),
        "after_finish": 0.0,  # one of four is below chance
        "exits_early": itr(1, 3, 1.5) / 2,  # the mean of two blocks, the second with nothing in it
    },
    "turing": {
        "perfect": 200 * 4 / 4.0,  # ceil(0.8 * 4) = 4 right in 4 s
        "reports_first_packet": 200 * 4 / 0.16,
        "exits_early": 200 / 2,
    },
    "speller": {
        "perfect": itr(1, 40, 1.0),
        "reports_every_packet": 0.0,  # every idle trial a false positive: FPR 1
        "reports_first_packet": itr(1, 40, 0.04),
        # three flicker trials a block, one of them right with its whole 3 s, two missing with 5 s; then the other block
        "after_finish": itr(1 / 3, 40, (5 + 5 + 3) / 3) / 2,
        "exits_early": itr(1, 40, 1.0) / 2,
        "in_trigger_packet": 0.0,
    },
    "liveness": {
        "perfect": live(1, 1, 3.0),  # a report's length counts as 3 s at least
        "always_wrong": 0.0,
        "silent": 0.0,
        "reports_first_packet": live(1, 1, 3.0),
        "at_limit": live(1, 1, 3.0),  # the packet that holds 241 is in time
        # half of the trials have a report, of 3 s; the other half is missing, of 2.5 s
        "exits_early": live(0.5, 0.5, (3.0 + MISSING_S) / 2),
    },
    "rehab": {
        "perfect": 800,
        "reports_first_packet": 800,
        # '1': right in trial 1, right side only in trial 3, in both blocks
        "reports_every_packet": 300,
        "after_finish": 100,
        "exits_early": 400,
    },
}
SCORES["plain"] = SCORES["imagery"]
NOTES = {
    "in_trigger_packet": ["before the first trial's data, belongs to no trial"],
    "never_exits_after_finish": ["after the finish flag: was still running"],
}


def names() -> list[str]:
    """All honest cases: dialect/behaviour."""
    return [f"{dialect}/{name}" for dialect, (challenge, *_) in DIALECTS.items() for name in behaviours(challenge)]


def write(folder: Path, case: str) -> Path:
    """Write one case to FOLDER/dialect/behaviour."""
    dialect, name = case.split("/")
    challenge, code, place, words = DIALECTS[dialect]
    folder = folder / case
    about, script = behaviours(challenge)[name]
    file = folder / place
    shutil.rmtree(folder, ignore_errors=True)
    file.parent.mkdir(parents=True)
    file.write_text(code.format(about=about, **words) if words else code.replace("{about}", about))
    (file.parent / "script.json").write_text(json.dumps(script, indent=1) + "\n")
    if code is ASYNC:
        config = folder / "Algorithm" / "config" / "AlgorithmConfig.yml"
        config.parent.mkdir()
        config.write_text(CONFIG.format(packet_n=rulebook(challenge).packet_n))
    scores = SCORES[dialect]
    score = scores["perfect"] if name == "never_exits_after_finish" else scores.get(name, 0.0)
    lines = [f'about = "{about}"', f'challenge = "{challenge}"', 'verdict = "ok"', f"score = {float(score)!r}"]
    if code is PLAIN:
        lines.append('entry = "entry.py:Entry"')
    if script["stay"] and dialect != "plain":
        lines.append("limits = { after_finish_s = 1 }")  # the 5 s of the rules are waited for once
    lines.append(f"notes = {json.dumps(NOTES.get(name, []))}")
    (folder / "expected.toml").write_text("\n".join(lines) + "\n")
    return folder


if __name__ == "__main__":
    for case in names() if sys.argv[1:] else SAMPLES:
        write(Path(sys.argv[1]) if sys.argv[1:] else HERE / "honest", case)
