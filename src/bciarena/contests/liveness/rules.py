"""Is this EEG real or generated, and whose is it?"""

from __future__ import annotations

from bciarena.contests.liveness.score import LivenessScore
from bciarena.contests.rulebook import Rule, build, mask
from bciarena.recording.montages import FIVE

SUBJECTS = 23
SPLITS = ("cali_train", "cali_A", "cali_B", "eval_train", "eval_A", "eval_B")
EYES_OPEN, EYES_CLOSED, GENERATED = 128, 192, 0
"""Added to the subject's number they make the trial codes."""


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

RULINGS = {
    "R10a": ("length of a late liveness answer", "the data used"),
    "R10b": ("P and T in liveness", "pooled over all trials; blocks and subjects by the same formula"),
}
"""Where the text is silent or ambiguous: what about, and the reading."""

RULEBOOK = build(
    Rule("id", "liveness/1", "面向元宇宙的脑电信号离体生成和检测技术赛题说明"),
    Rule("title", "Generated or real EEG, and whose", "在线鉴别数据真伪及识别其中的个体身份信息"),
    Rule("title_zh", "脑电真伪检测与身份识别", "在线鉴别数据真伪及识别其中的个体身份信息"),
    Rule("channels", FIVE, "表 1: Fz, Cz, Oz, C3, C4; 5 导 EEG 数据+1 导 Trigger 信号"),
    Rule("rate", 250, "之后降采样至 250Hz，重参考到共同平均参考"),
    Rule("packet_n", 50, "在 250Hz 采样率下，单次获取的 data 为 6*50 个点"),
    Rule("truth", TRUTH, "129-151 真实睁眼, 193-215 真实闭眼, 1-23 模拟（表 3）"),
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
    Rule("closing", 241, "在接收到成绩提交点 Trigger 前进行反馈报告; R10a"),
    Rule(
        "decides",
        "last",
        "成绩总是由最后一次有效提交的时间以及结果决定…如果有多次提交则仅其中第一个提交为有效提交",
    ),
    Rule("repeat_is_violation", False, "repeats are allowed: each packet gives a new chance"),
    Rule("scoring", LivenessScore(), "ITR_3 = 0.9 × ITR_1 + 0.1 × ITR_2; R10b pooled"),
    Rule("unit", "bits/min", "ITR 的单位是 bits/min"),
    Rule("shard", None, "P and T are pooled over all trials, and a block mixes people"),
    Rule("names_subject", False, "personID: 注意该数据在本赛题中属于无效信号"),
    Rule("finish", "object", "Endflag = 1 时，意味着所有实验数据均已发送完毕; an object without data; R14"),
    Rule("dialect", "C", "await get_data, await report"),
    Rule("python", "3.10", "需提交基于 python 3.10 版本的扩展名为.pyc 的文件"),
    Rule("classes", ("AlgorithmImplement",), "the class a contestant writes"),
    Rule("people", SUBJECTS, "表 3: 23 名被试"),
    Rule("weight_real", 0.9, "ITR_3 = 0.9 × ITR_1 + 0.1 × ITR_2"),
    Rule("weight_subject", 0.1, "ITR_3 = 0.9 × ITR_1 + 0.1 × ITR_2"),
    Rule(
        "formerly",
        frozenset({"11ae1c0ee12c9b599ed018862c551f5fa495944b32b77965140aea622b16072a"}),
        "the digest before it covered the score",
    ),
)
