"""Three-class motor imagery: left hand, right hand, feet."""

from __future__ import annotations

from bciarena.contests.imagery.score import ImageryScore
from bciarena.contests.rulebook import Rule, build, mask
from bciarena.recording.montages import CAP64

CLASSES = {201: "left hand", 202: "right hand", 203: "feet"}
RELEASED = 249
"""What 201-203 become in the released stream: a reserved code (the text does not say; the 2022 contest did)."""

RULEBOOK = build(
    Rule("id", "imagery/1", "运动想象赛题说明"),
    Rule("title", "Three-class motor imagery", "运动想象赛题说明"),
    Rule("title_zh", "三分类运动想象", "运动想象赛题说明"),
    Rule("channels", CAP64, "表 2 导联序号-导联名称；第 65 导联为 trigger 信息"),
    Rule("rate", 250, "原始采样率为 1000Hz，数据集中降采样到 250Hz"),
    Rule("packet_n", 10, "数据包中包含 40ms 的实验 EEG 数据(最后一个数据包长度可能小于 40ms)"),
    Rule("truth", {code: str(code) for code in CLASSES}, "想象任务标 201~203; a trial opens at MI onset"),
    Rule(
        "mask",
        mask(dict.fromkeys(CLASSES, RELEASED)),
        "其余为系统预留标; the text does not say: 249, as in 2022",
    ),
    Rule("masked", frozenset({RELEASED}), "the reserved code that stands for 201-203"),
    Rule("vocabulary", {str(k): v for k, v in CLASSES.items()}, "表 1 Trigger 定义: 201, 202, 203"),
    Rule("answers", "integer", "表 1 Trigger 号; R16"),
    Rule("limit_s", 4.0, "最多采集 4 秒的 EEG 数据（不含 4 秒）; R2"),
    Rule("limit_covers_thinking", False, "已经获取了超过 4 秒的 EEG 数据: data, not computing"),
    Rule("missing_s", 4.0, "未反馈结果，则该试次时长将被记录为 4 秒，同时…误判"),
    Rule("closing", None, "最迟在接收到下一 trigger 时进行反馈报告; R3"),
    Rule("decides", "first", "多次反馈结果，则仅按照第一次反馈的时间及结果进行记录"),
    Rule("scoring", ImageryScore(), "ITR…平均试次时间包含 0.5 秒的模拟休息时长; 当 P 小于 1/N 时为 0; R12, R19"),
    Rule("unit", "bits/min", "ITR 的单位是 bits/min"),
    Rule("shard", "subject", "ITR is computed per block and averaged"),
    Rule("names_subject", True, "subject_id: 当前数据来源受试者序号"),
    Rule("finish", "flag", "所有实验数据发送完毕后，finish_flag 将被置为 True; R14"),
    Rule("dialect", "A", "TaskInterface: get_data, report"),
    Rule("python", "3.8", "需提交基于 python 3.8 版本的扩展名为 .pyc 的文件"),
    Rule(
        "classes",
        ("AlgorithmImplementMI", "AlgorithmImplement_MI", "AlgorithmImplement"),
        "the class a contestant writes",
    ),
    Rule("rest_s", 0.5, "平均试次时间包含 0.5 秒的模拟休息时长"),
    Rule(
        "formerly",
        frozenset({"871900e537c48ceea6dfaecd784afa700ce3514d11d00b4abda881139e4c89be"}),
        "the digest before it covered the score",
    ),
)
