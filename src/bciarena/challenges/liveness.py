"""Is this EEG real or generated, and whose is it?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bciarena.challenges.itr import itr
from bciarena.challenges.rulebook import Rule, build, mask
from bciarena.challenges.trial import Score, Trial, accuracy, by_block, mean_length_s
from bciarena.recording.montages import FIVE

SUBJECTS = 23
SPLITS = ("cali_train", "cali_A", "cali_B", "eval_train", "eval_A", "eval_B")
EYES_OPEN, EYES_CLOSED, GENERATED = 128, 192, 0
"""Added to the subject's number they make the trial codes."""
WEIGHT_REAL, WEIGHT_SUBJECT = 0.9, 0.1


def _answer(real: bool, subject: int) -> str:
    return f"{int(real)}{subject:05b}"


TRUTH = {
    base + subject: _answer(base != GENERATED, subject)
    for base in (EYES_OPEN, EYES_CLOSED, GENERATED)
    for subject in range(1, SUBJECTS + 1)
}
VOCABULARY = {
    _answer(real, subject): f"{'real' if real else 'generated'}, subject {subject}"
    for real in (False, True)
    for subject in range(1, SUBJECTS + 1)
}


def real_right(trial: Trial) -> bool:
    """Whether real/generated is right, in time."""
    return _part_right(trial, slice(0, 1))


def subject_right(trial: Trial) -> bool:
    """Whether the subject is right, in time."""
    return _part_right(trial, slice(1, None))


def _part_right(trial: Trial, part: slice) -> bool:
    # An invalid answer is wrong in every respect, so only the vocabulary is looked at (R16).
    valid = trial.status == "in_time" and trial.answer in VOCABULARY
    return valid and trial.answer is not None and trial.answer[part] == trial.truth[part]


def _rate(trials: Sequence[Trial]) -> tuple[float, dict[str, float | int]]:
    """The pooled formula (R10b), for any group of trials."""
    p_real = sum(map(real_right, trials)) / len(trials) if trials else 0.0
    p_subject = sum(map(subject_right, trials)) / len(trials) if trials else 0.0
    used_s = mean_length_s(trials)
    itr_real, itr_subject = itr(p_real, 2, used_s), itr(p_subject, SUBJECTS, used_s)
    metrics: dict[str, float | int] = {
        "itr_real": itr_real,
        "itr_subject": itr_subject,
        "accuracy_real": p_real,
        "accuracy_subject": p_subject,
        "mean_length_s": used_s,
    }
    return WEIGHT_REAL * itr_real + WEIGHT_SUBJECT * itr_subject, metrics


def score(trials: Sequence[Trial]) -> Score:
    """0.9 ITR(real or generated) + 0.1 ITR(whose), over all trials together."""
    total, metrics = _rate(trials)
    blocks = []
    for subject, block, own in by_block(trials):
        value, parts = _rate(own)
        blocks.append({"subject": subject, "block": block, "score": value, "accuracy": accuracy(own)} | parts)
    subjects = []
    for subject, group in groupby(trials, key=lambda trial: trial.subject):
        subjects.append({"subject": subject, "score": _rate(list(group))[0]})
    return Score(total, metrics, subjects, blocks, list(trials), [])


RULEBOOK = build(
    Rule("id", "liveness/1", "面向元宇宙的脑电信号离体生成和检测技术赛题说明"),
    Rule("title", "Generated or real EEG, and whose", "在线鉴别数据真伪及识别其中的个体身份信息"),
    Rule("title_zh", "脑电真伪检测与身份识别", "在线鉴别数据真伪及识别其中的个体身份信息"),
    Rule("channels", FIVE, "表 1: Fz, Cz, Oz, C3, C4; 5 导 EEG 数据+1 导 Trigger 信号"),
    Rule("rate", 250, "之后降采样至 250Hz，重参考到共同平均参考"),
    Rule("packet_n", 50, "在 250Hz 采样率下，单次获取的 data 为 6*50 个点"),
    Rule("truth", TRUTH, "129-151 真实睁眼, 193-215 真实闭眼, 1-23 模拟（表 3）"),
    Rule("idle", frozenset(), "every trial asks for an answer"),
    Rule("mask", mask(dict.fromkeys(TRUTH, 240)), "比赛数据集…Trial 开始标 240、Trial 结束标 241"),
    Rule("masked", frozenset({240}), "Trial 开始标 240: no truth is left"),
    Rule("vocabulary", VOCABULARY, "表 4: 100001-110111 真实, 000001-010111 模拟"),
    Rule("answers", "text", "预测结果用六位二进制数表示; R16"),
    Rule("limit_s", None, "最多采集到当前试次的 Trigger 结束信号点的 EEG 数据（包含…）"),
    Rule(
        "limit_covers_thinking",
        False,
        "若参赛算法…使用了超过结束 Trigger 信号的数据包: packets, not computing",
    ),
    Rule("missing_s", None, "所用时长记为…试次起始 Trigger 信号到结束 Trigger 的时间长度"),
    Rule("floor_s", 3.0, "当参赛者提交结果的单次试次时长小于 3s 时，统一计为 3s"),
    Rule("late_answer", None, "a late answer is shown as given"),
    Rule("closing", 241, "在接收到成绩提交点 Trigger 前进行反馈报告; R10a"),
    Rule(
        "decides",
        "last",
        "成绩总是由最后一次有效提交的时间以及结果决定…如果有多次提交则仅其中第一个提交为有效提交",
    ),
    Rule("repeat_is_violation", False, "repeats are allowed: each packet gives a new chance"),
    Rule("score", score, "ITR_3 = 0.9 × ITR_1 + 0.1 × ITR_2; R10b pooled"),
    Rule("unit", "bits/min", "ITR 的单位是 bits/min"),
    Rule("shard", None, "P and T are pooled over all trials, and a block mixes people"),
    Rule("names_subject", False, "personID: 注意该数据在本赛题中属于无效信号"),
    Rule("finish", "object", "Endflag = 1 时，意味着所有实验数据均已发送完毕; an object without data; R14"),
    Rule("dialect", "C", "await get_data, await report"),
    Rule("python", "3.10", "需提交基于 python 3.10 版本的扩展名为.pyc 的文件"),
)
