"""Asynchronous 40-target SSVEP speller: name the key, and stay quiet when nothing flickers."""

from __future__ import annotations

from fractions import Fraction
from math import pi

from bciarena.contests.rulebook import Rule, build, mask
from bciarena.contests.speller.score import SpellerScore
from bciarena.recording.montages import CAP64

KEYS = 40
FREQUENCY_HZ = tuple(round(8 + 0.2 * index, 1) for index in range(KEYS))
"""Flicker frequency of key i + 1."""
PHASE_RAD = tuple(0.5 * pi * (index % 4) for index in range(KEYS))
"""Flicker phase of key i + 1 at onset."""
LUMINANCE = (0.361, 0.5)
"""Grey of a key's grid, off-type: darker than its background of 0.5 (亮度范围：0.361-0.5)."""
STILL = range(101, 142)
"""Opening codes of trials that do not flicker (R13: every code of the range)."""

RULINGS = {
    "R8": ("a report in a non-flicker trial", "a false positive, until the next trial's data begins"),
    "R9": (
        "computing time in the speller",
        "virtual clock: a packet is there at its last sample, computing takes its time",
    ),
    "R13": ("codes 101-141", "all mean a non-flicker trial"),
}
"""Where the text is silent or ambiguous: what about, and the reading."""

RULEBOOK = build(
    Rule("id", "speller/1", "SSVEP 赛题"),
    Rule("title", "Asynchronous 40-target SSVEP speller", "异步控制场景…多目标脑-机接口键盘拼写"),
    Rule("title_zh", "异步 40 目标 SSVEP 拼写", "异步控制场景…多目标脑-机接口键盘拼写"),
    Rule("channels", CAP64, "表 2 导联序号-名称对照表；第 65 导联为 trigger 信息"),
    Rule("rate", 250, "数据原始采样率为 1000Hz，降采样到 250Hz"),
    Rule("packet_n", 10, "数据包中包含 40ms 的实验 EEG 数据（最后一个数据包长度可能小于 40ms）"),
    Rule(
        "truth",
        {code: str(code) for code in (*range(1, KEYS + 1), *STILL)},
        "标签 1-40（表 1）；不闪刺激标签序号范围为 101-141; R13",
    ),
    Rule("idle", frozenset(STILL), "其余试次不闪，用于检测虚警"),
    Rule(
        "mask",
        mask({c: 0 for c in range(256) if c not in (242, 243)}),
        "测试数据仅包含 block 开始和 block 结束标签",
    ),
    Rule(
        "masked",
        frozenset(),
        "a masked stream has no trial codes at all: it is refused as a block without trials",
    ),
    Rule(
        "vocabulary",
        {str(i + 1): f"{FREQUENCY_HZ[i]:.1f} Hz, {i % 4 * 0.5:g} pi" for i in range(KEYS)},
        "表 1 标签、刺激频率、相位对照表",
    ),
    Rule("answers", "integer", "参赛者应参考表中标签进行结果反馈; R16"),
    Rule("limit_s", 5.0, "单一试次最长检测时间需小于 5 秒; R2"),
    Rule(
        "limit_covers_thinking",
        True,
        "5 秒的反馈时间限制包括了算法的计算时间（计算 itr 时以数据长度为准）; R9",
    ),
    Rule("missing_s", 5.0, "未反馈结果，则该试次时长将被记录为 5 秒，同时…误判"),
    Rule("closing", None, "a trial lasts until the next trial's data or the block's end; R8"),
    Rule("decides", "first", "多次反馈结果，则仅按照第一次反馈的时间及结果进行记录"),
    Rule(
        "scoring", SpellerScore(), "ITR 仅针对闪烁试次…不包含模拟休息时长; 平均的 FPR 超过 10%，ITR 记为 0; R8, R9, R19"
    ),
    Rule("unit", "bits/min", "ITR 的单位是 bits/min"),
    Rule("shard", "subject", "ITR per block, FPR per subject, then means"),
    Rule("names_subject", True, "personID: 当前数据来源受试者序号"),
    Rule("finish", "flag", "所有实验数据发送完毕后，finishedFlag 将被置为 1; R14"),
    Rule("dialect", "B", "ProblemInterface: getData, report"),
    Rule("python", "3.8", "需提交基于 python 3.8.7 版本的扩展名为.pyc 的文件"),
    Rule(
        "classes",
        ("AlgorithmImplement_SSVEP", "AlgorithmImplementSSVEP", "AlgorithmImplement"),
        "the class a contestant writes",
    ),
    Rule("fpr_limit", Fraction(1, 10), "平均的 FPR 超过 10%，ITR 记为 0"),
    Rule(
        "formerly",
        frozenset({"a1336e43c402faad5984d223e2282d0c0018099c6030124fbef900152c758bb2"}),
        "the digest before it covered the score",
    ),
)
