"""Every ruling with the clause it reads, on the smallest recording that shows it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bciarena.contests import rulebook
from bciarena.contests.itr import itr
from bciarena.contests.spans import packet_end, trial_spans
from bciarena.errors import BadInput
from bciarena.inprocess import InProcess, play
from bciarena.match import Match
from bciarena.recording import Recording, Subject
from bciarena.referee import Desk, Ledger, Truth, judge
from bciarena.runs import run_match
from bciarena.stream import Stream
from tests.making import make_block, make_recording, report

IMAGERY, TURING, SPELLER = rulebook("imagery"), rulebook("turing"), rulebook("speller")
LIVENESS, REHAB = rulebook("liveness"), rulebook("rehab")


def judged(book, blocks, *reports):
    """Judge one subject's blocks, each (samples, codes)."""
    return judge(book, Truth.of(book, make_recording(book, blocks)), reports)


def test_r1_length_counts_from_the_packet_after_the_trigger_packet():
    """需要特别指出…新试次数据是从包含 trigger 数据包的下一个数据包开始计算."""
    for opened in (500, 503, 509):  # anywhere in packet 50, which ends at 510
        (trial,) = judged(IMAGERY, [(3000, {opened: 201})], report(1, 1, 760, 201)).trials
        assert trial.length_s == 1.0  # (760 - 510) / 250


def test_r2_limits_are_exclusive():
    """最多采集 4 秒的 EEG 数据（不含 4 秒）."""
    (just,) = judged(IMAGERY, [(3000, {0: 201})], report(1, 1, 10 + 990, 201)).trials
    (exact,) = judged(IMAGERY, [(3000, {0: 201})], report(1, 1, 10 + 1000, 201)).trials
    assert (just.status, just.correct, just.length_s) == ("in_time", True, 3.96)
    assert (exact.status, exact.correct, exact.length_s) == ("late", False, 4.0)
    (short,) = judged(IMAGERY, [(1009, {0: 201})], report(1, 1, 1009, 201)).trials  # a last packet of 9 samples
    assert (short.status, short.length_s) == ("in_time", 999 / 250)


def test_r3_report_right_after_the_next_trigger_packet_belongs_to_the_earlier_trial():
    """每一个包含 trigger 的数据包, 其依然被视为是前一试次的数据."""
    blocks = [(3000, {0: 201, 605: 202})]
    first, second = judged(IMAGERY, blocks, report(1, 1, 610, 201)).trials
    assert (first.answer, second.status) == ("201", "missing")
    first, second = judged(IMAGERY, blocks, report(1, 1, 620, 202)).trials
    assert (first.status, second.answer) == ("missing", "202")


@pytest.mark.parametrize(("samples", "sizes"), [(20, [10, 10]), (21, [10, 10, 1]), (9, [9]), (10, [10]), (11, [10, 1])])
def test_r4_no_packet_is_empty(samples, sizes):
    """最后一个数据包长度可能小于 40ms."""
    match = Match(IMAGERY, Stream(IMAGERY, make_recording(IMAGERY, [(samples, {0: 201})])), Ledger({}))
    got = []
    while packet := match.next():
        got.append(packet.data.shape[1])
    assert got == sizes


def test_r5_reports_after_the_finish_belong_to_the_last_trial():
    """所有实验数据发送完毕后，程序终止标记 finish_flag 将被置为 True."""

    class AfterFinish:
        def run(self, packets):
            for packet in packets:
                last = packet
            assert last.finished
            yield 202

    result = play(AfterFinish(), "imagery", make_recording(IMAGERY, [(900, {0: 201, 300: 202})]))
    assert [t["answer"] for t in result["trials"]] == [None, "202"]
    assert result["trials"][1]["length_s"] == (900 - 310) / 250


def test_r6_turing_repeats_first_counts_and_the_violation_is_shown():
    """在一个试次时间内, 参赛者只能也必须报告一次结果."""
    score = judged(TURING, [(2000, {0: 9})], report(1, 1, 100, 1), report(1, 1, 200, 3))
    assert (score.trials[0].answer, score.trials[0].correct) == ("1", True)
    assert len(score.notes) == 1
    assert "only one is allowed" in score.notes[0]


def test_r6_thousands_of_repeats_are_told_once():
    made = [report(1, 1, 10 * k, 1) for k in range(2, 1000)]
    score = judged(TURING, [(20000, {0: 9})], *made)
    assert len(score.notes) == 201
    assert score.notes[-1] == "and 797 more notes like these"
    assert "only one is allowed" in judged(TURING, [(20000, {0: 9})], *made[:201]).notes[-1]  # 200 are told in full


def test_r7_wrong_trials_take_time_too():
    """L_b 为该 block 检测停止时所用的数据段累计长度."""
    # five trials, target ceil(.8 * 5) = 4: wrong at 1 s, then right at 1 s four times: 200 * 4 / 5 = 160
    codes = {k * 2000: 9 for k in range(5)}
    reports = [report(1, 1, k * 2000 + 10 + 250, 3 if k == 0 else 1) for k in range(5)]
    assert judged(TURING, [(10000, codes)], *reports).score == 160.0


def test_r8_any_report_in_a_still_trials_span_is_a_false_positive():
    """FP 表示静息态出现误判的试次数量."""
    blocks = [(4000, {0: 101, 2000: 5})]
    for position, status in (
        (20, "false_positive"),
        (1990, "false_positive"),
        (2010, "false_positive"),
        (2020, "quiet"),
    ):
        first, _ = judged(SPELLER, blocks, report(1, 1, position, 5)).trials
        assert first.status == status, position


def test_r9_the_think_clock_counts_computing_time():
    """5 秒的反馈时间限制包括了算法的计算时间（如果未超时，计算 itr 时以数据长度为准）."""
    desk = Desk(SPELLER)
    desk.handed_out(1, 1, 1, 10, 0.0)
    assert desk.report(5, 0.5)["think_s"] == 0.5
    desk.handed_out(1, 1, 2, 20, 2.0)  # thought 2 s about a packet that covers 0.04 s: 1.96 s behind
    assert desk.report(5, 0.0)["think_s"] == pytest.approx(1.96)
    desk.handed_out(1, 2, 1, 10, 9.0)  # a new block: the clock starts anew
    assert desk.report(5, 0.0)["think_s"] == 0.0
    late = judged(SPELLER, [(4000, {0: 5})], report(1, 1, 10 + 1000, 5, think_s=1.0)).trials[0]
    assert (late.status, late.length_s) == ("late", 4.0)  # 4 s of data and 1 s of thinking: not below 5
    fine = judged(SPELLER, [(4000, {0: 5})], report(1, 1, 10 + 1000, 5, think_s=0.99)).trials[0]
    assert (fine.status, fine.length_s) == ("in_time", 4.0)


def test_r9_fpr_is_a_mean_of_subjects_compared_exactly():
    """对于所有被试平均的 FPR 超过 10% (0.1)，则成绩无效."""
    codes = {k * 500: 101 for k in range(10)} | {5000: 1}
    people = [[(7000, codes)]] * 3  # each one false positive in ten: floats would say 0.10000000000000002 or so
    reports = [report(s, 1, 100, 1) for s in (1, 2, 3)] + [report(s, 1, 5260, 1) for s in (1, 2, 3)]
    score = judge(SPELLER, Truth.of(SPELLER, make_recording(SPELLER, *people)), reports)
    assert score.metrics["fpr"] == pytest.approx(0.1)
    assert score.score == score.metrics["itr"] > 0
    worse = judge(SPELLER, Truth.of(SPELLER, make_recording(SPELLER, *people)), [*reports, report(1, 1, 600, 1)])
    assert worse.score == 0
    assert worse.metrics["itr"] == score.metrics["itr"]


def test_r10a_a_late_answer_is_wrong_at_the_length_it_used():
    """若参赛算法在某一个试次内使用了超过结束 Trigger 信号的数据包，则本次判决结果将被记录为误判."""
    blocks = [(4000, {0: 129, 1020: 241})]  # 241 lies in the packet that ends at 1050
    (in_time,) = judged(LIVENESS, blocks, report(1, 1, 1050, "100001")).trials
    (late,) = judged(LIVENESS, blocks, report(1, 1, 1050, "100001"), report(1, 1, 1100, "100001")).trials
    assert (in_time.status, in_time.correct, in_time.length_s) == ("in_time", True, 4.0)
    assert (late.status, late.correct, late.length_s) == ("late", False, 4.2)


def test_r10b_p_and_t_are_pooled_over_all_trials():
    """ITR_3 = 0.9 × ITR_1 + 0.1 × ITR_2."""
    one = (2000, {0: 129, 1500: 241})
    score = judged(LIVENESS, [one, one], report(1, 1, 800, "100001"), report(1, 2, 800, "000001"))
    # P1 = 1/2 gives 0 bits, P2 = 1 gives log2 23 at 3 s
    assert score.score == pytest.approx(0.1 * 60 * math.log2(23) / 3)
    assert [b["score"] for b in score.blocks] == pytest.approx([0.9 * 20 + 2 * math.log2(23), 2 * math.log2(23)])


def test_r11_rehabs_itr_clause_touches_only_the_itr_shown():
    """当正确率 P 小于 1/M 时，当前次提交对应的 ITR 强制为 0."""
    codes = {k * 8000: 1 for k in range(5)}
    score = judged(REHAB, [(40000, codes)], *[report(1, 1, k * 8000 + 1040, "3") for k in range(5)])
    assert score.metrics["itr"] == 0
    assert score.score == 5 * 50


def test_r12_chance_is_strict_and_itr_never_negative():
    """当正确率 P 小于 1/N 时，ITR 强制为 0."""
    assert itr(1 / 3, 3, 1.0) == pytest.approx(0.0, abs=1e-12)
    assert itr(0.33, 3, 1.0) == 0.0
    assert itr(1.0, 3, 1.5) == pytest.approx(60 * math.log2(3) / 1.5)
    assert itr(0.0, 2, 1.0) == 0.0
    assert all(itr(p / 100, m, 1.0) >= 0 for p in range(101) for m in (2, 3, 4, 7, 23, 40))


@pytest.mark.parametrize("code", range(101, 142))
def test_r13_every_code_from_101_to_141_is_a_still_trial(code):
    """不闪刺激标签序号范围为 101-141."""
    (trial,) = judged(SPELLER, [(1000, {0: code})]).trials
    assert (trial.truth, trial.status, trial.correct) == (str(code), "quiet", True)


def test_r15_a_trial_without_data_of_its_own_is_missing():
    """A trial in the block's last packet, or in one packet with the next trial's code, can get no report."""
    first, second = judged(IMAGERY, [(1000, {2: 201, 7: 202})], report(1, 1, 260, 202)).trials
    assert (first.status, second.correct) == ("missing", True)
    first, second = judged(IMAGERY, [(1000, {0: 201, 995: 202})], report(1, 1, 1000, 202)).trials
    assert (first.answer, second.status, second.length_s) == ("202", "missing", 4.0)


@pytest.mark.parametrize(
    ("book", "code", "value", "valid"),
    [
        (IMAGERY, 202, 202, True), (IMAGERY, 202, 202.0, True), (IMAGERY, 202, "202", False),
        (IMAGERY, 202, {"other": "True"}, False), (IMAGERY, 202, 204, False), (IMAGERY, 202, 202.5, False),
        (REHAB, 3, "3", True), (REHAB, 3, 3, True), (REHAB, 3, 3.0, False), (REHAB, 3, " 3", False),
        (LIVENESS, 129, "100001", True), (LIVENESS, 129, "100000", False), (LIVENESS, 129, "111000", False),
        (LIVENESS, 129, 100001, False), (SPELLER, 7, 7, True), (SPELLER, 7, 0, False), (SPELLER, 7, 41, False),
    ],
)  # fmt: skip
def test_r16_answers(book, code, value, valid):
    """An invalid answer is wrong in every respect, uses up the report, and is shown as given."""
    codes = {0: code} | ({9000: 241} if book is LIVENESS else {})
    score = judged(book, [(10000, codes)], report(1, 1, 10 * book.packet_n, value))
    (trial,) = score.trials
    assert trial.correct == valid
    assert trial.status == "in_time"
    assert any("not a valid answer" in note for note in score.notes) != valid


def test_r16_invalid_answer_uses_up_the_report():
    score = judged(IMAGERY, [(2000, {0: 202})], report(1, 1, 100, {"other": "None"}), report(1, 1, 200, 202))
    assert (score.trials[0].answer, score.trials[0].correct) == ("None", False)


def test_r18_run_may_return_early_and_an_exception_before_the_end_is_a_crash():
    """What was not answered is missing; the reports made stand."""

    class Early:
        def run(self, packets):
            for packet in packets:
                if packet.start >= 100:
                    yield 201
                    return

    class Crashes(Early):
        def run(self, packets):
            yield from super().run(packets)
            raise ValueError("no model")

    class CrashesAfterwards:
        def run(self, packets):
            for _ in packets:
                pass
            yield 202
            raise ValueError("too late to matter")

    data = make_recording(IMAGERY, [(3000, {0: 201, 1500: 202})])
    early, crashed, afterwards = (run_match(IMAGERY, data, InProcess(c())) for c in (Early, Crashes, CrashesAfterwards))
    assert (early["verdict"], [t["answer"] for t in early["trials"]]) == ("ok", ["201", None])
    assert (crashed["verdict"], [t["answer"] for t in crashed["trials"]]) == ("crashed", ["201", None])
    assert "ValueError: no model" in crashed["reason"]
    assert (afterwards["verdict"], [t["answer"] for t in afterwards["trials"]]) == ("ok", [None, "202"])
    assert any("too late to matter" in note for note in afterwards["notes"])


def test_r19_subject_scores_are_means_over_blocks_and_sums_in_rehab():
    one = (2000, {0: 201})
    score = judged(IMAGERY, [one, one], report(1, 1, 260, 201))
    assert score.subjects == [{"subject": 1, "score": sum(b["score"] for b in score.blocks) / 2}]
    score = judged(REHAB, [(9000, {0: 1}), (9000, {0: 2})], report(1, 1, 80, "1"), report(1, 2, 80, "4"))
    assert score.subjects == [{"subject": 1, "score": 150}]


@pytest.mark.parametrize("behaviour", [0, 10, 15])
def test_r21_a_reserved_behaviour_in_scored_turing_data_is_a_data_error(behaviour):
    """机器人行为 1-9，其余为系统预留."""
    code = behaviour << 3 | 2
    block = make_block(TURING, 3000, {500: 9, 2003: code})
    with pytest.raises(BadInput, match=rf"^{block.source}: .*code {code} at sample 2003 is reserved"):
        trial_spans(TURING, block)


def test_r21_in_training_the_task_is_bits_2_to_0_whatever_the_behaviour():
    codes = {behaviour << 3 | task: str(task) for behaviour in range(16) for task in range(1, 8)}
    assert {code: TURING.truth[code] for code in codes} == codes


def test_reports_before_the_first_trial_are_ignored_and_noted():
    score = judged(IMAGERY, [(2000, {500: 201})], report(1, 1, 510, 201), report(1, 1, 0, 201))
    assert score.trials[0].status == "missing"
    assert sum("belongs to no trial" in note for note in score.notes) == 2


def test_an_invalid_trial_is_shown_with_its_answer_and_scored_nowhere():
    block = replace(make_block(IMAGERY, 6000, {0: 201, 2000: 202, 4000: 203}), invalid={2000: "samples were lost"})
    reports = [report(1, 1, 260, 201), report(1, 1, 2260, 203), report(1, 1, 2300, 202), report(1, 1, 4260, 203)]
    truth = Truth.of(IMAGERY, Recording((Subject("S01", (block,)),)))
    score = judge(IMAGERY, truth, reports)
    shown = [(t.trial, t.status, t.answer, t.correct, t.length_n) for t in score.trials]
    assert shown[1] == (2, "invalid", "203", False, None)
    assert score.metrics == {"accuracy": 1.0, "mean_length_s": 1.0}
    assert score.notes == ["subject 1 block 1 trial 2 is invalid and left out: samples were lost"]
    assert judge(IMAGERY, truth, []).trials[1].answer is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rate": 500}, "field srate: 500 Hz; imagery/1 is played at 250 Hz"),
        ({"channels": IMAGERY.channels[:-1]}, "63 channels and a trigger row; imagery/1 has 64"),
        ({"channels": ("X", *IMAGERY.channels[1:])}, f"row 0 is X; imagery/1 has {IMAGERY.channels[0]} there"),
    ],
)
def test_data_of_another_form_is_refused(change, said):
    block = make_block(IMAGERY, 1000, {0: 201})
    block = replace(block, eeg=block.eeg[: len(change.get("channels", IMAGERY.channels))], **change)
    with pytest.raises(BadInput, match=said):
        Truth.of(IMAGERY, Recording((Subject("S01", (block,)),)))


@pytest.mark.parametrize(
    ("book", "codes", "said"),
    [
        (IMAGERY, {0: 201, 500: 249}, "code 249 at sample 500 stands where the truth was taken out"),
        (IMAGERY, {0: 242}, "no trial in this block"),
        (LIVENESS, {0: 129, 500: 130, 700: 241}, "trial 1, opened by code 129 at sample 0, has no 241"),
    ],
)
def test_data_without_its_truth_is_refused(book, codes, said):
    with pytest.raises(BadInput, match=said):
        trial_spans(book, make_block(book, 1000, codes))


def test_over_budget_makes_the_run_invalid_but_keeps_its_trials():
    """若算法复杂度过高导致系统运行超时，则该算法比赛成绩将被视为无效."""
    import time

    class Slow:
        def step(self, packet):
            time.sleep(0.02)
            return 201

    result = play(Slow(), "imagery", make_recording(IMAGERY, [(3000, {0: 201})]), budget_s=0.2)
    assert (result["verdict"], result["score"]) == ("over_budget", 0.0)
    assert result["trials"][0]["answer"] == "201"


def test_spans_meet_and_packets_end_on_borders():
    block = make_block(IMAGERY, 1234, {5: 201, 99: 202, 100: 203})
    spans = trial_spans(IMAGERY, block)
    assert [(s.data_start, s.stop) for s in spans] == [(10, 100), (100, 110), (110, 1234)]
    assert packet_end(IMAGERY, 1233, 1234) == 1234
