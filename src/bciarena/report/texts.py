"""The words of the report that every contest shares, English and Chinese; a contest's own are in its folder."""

from __future__ import annotations

from collections.abc import Mapping

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook

Said = dict[str, str]
"""The same in every language."""

EN = {
    "title": "Run report", "at_a_glance": "At a glance", "figures": "Figures", "replay": "Replay", "trials": "trials",
    "trial_table": "Trials", "block_table": "Blocks", "notes": "Notes", "printed": "What the entry printed",
    "missing_parts": "Missing from this run", "provenance": "Where this comes from", "score": "score", "rank": "rank",
    "of_known": "of the known runs on this data", "interval": "95 % interval, same people",
    "interval_new": "95 % interval, new people",
    "means_blocks_within_subjects": "The interval for the same people holds for new blocks of these people.",
    "means_blocks": "Every person has one block, so how a person's blocks differ was not measured: the interval "
    "for the same people takes it to be no more than how people differ.",
    "means_trials": "With fewer than three blocks only the chance of the trials was measured. How blocks of a person "
    "differ is not included but for an assumed 0.35 in log odds; nor are other days or other people.",
    "means_people": "The interval for new people holds for others like those recorded here.",
    "means_no_people": "With fewer than three people nothing is said about new ones.",
    "say_bias": "Of this score about {excess:.2f} is expected from having few trials a block: "
    "chance raises such a score on average.",
    "say_guess": "Guessing at the same times would score {guess:.2f} on average.",
    "where_lost": "Where the points went", "own": "this run", "best_fixed": "always at its best fixed time",
    "perfect": "all answers right, at its own times",
    "no_wrong": "no wrong answers in time", "no_silence": "late and missing answers right, at its usual time",
    "no_alarms": "no false alarms",
    "sooner": "the same answers, none later than its median time",
    "hint_no_wrong": "Most would be gained by fewer wrong answers.",
    "hint_no_silence": "Most would be gained by answering in time: too much was late or not answered.",
    "hint_no_alarms": "Most would be gained by staying silent where nothing is to be answered.",
    "hint_sooner": "Most would be gained by answering sooner.",
    "hint_other": "Most would be gained by: {what}.",
    "hint_none": "None of these changes would raise the score.",
    "hint_void": "The run is void, whatever its answers were: see the verdict.",
    "gain": "score", "in_words": "In words",
    "say_outcomes": "Of {n} trials: {counts}.",
    "say_people": "Best {best} ({best_p:.2f} right), worst {worst} ({worst_p:.2f} right).",
    "say_mistake": "The commonest mistake: {truth} taken for {answer}, {n} times.",
    "say_slow": "{n} of {m} packets took longer to compute than they last ({ms:g} ms).",
    "alt_diagonal": "{right} of {n} on the diagonal", "alt_median": "median {s:.2f} s",
    "alt_fixed": "best fixed time {best_s:.2f} s: {best:.2f}; this run {own:.2f}",
    "alt_thinking": "half of the packets within {p50:.3f} ms, 99 % within {p99:.3f} ms; a packet lasts {ms:g} ms",
    "alt_course": "from {first:.2f} to {last:.2f}",
    "time_s": "time, s", "canvas": "EEG traces as handed out, with codes and reports",
    "fixed_explained": "Answers known by then, given exactly then; later ones count as wrong.",
    "verdict": "verdict", "metric": "metric", "value": "value", "subject": "subject", "block": "block",
    "trial": "trial", "truth": "truth", "answer": "answer", "status": "status", "length_s": "length, s",
    "correct": "right?", "right": "right", "wrong": "wrong", "late": "late", "missing": "missing",
    "false_positive": "false alarm", "quiet": "quiet", "after_target": "after the target", "in_time": "in time",
    "time_in_block_s": "time in block, s", "answer_time_s": "answer time, s", "accuracy": "accuracy",
    "fixed_time": "at one fixed time", "this_run": "this run", "real_time": "real time", "data_s": "data, s",
    "worst_packet": "slowest packet", "median_packet": "median packet", "think_ms": "computing per packet, ms",
    "fig_timeline": "Every trial at its place", "fig_confusion": "Truth against answer",
    "fig_score_against_time": "Score against answer time", "fig_by_subject": "Accuracy by subject",
    "fig_answer_times": "Answer times", "fig_thinking": "Computing time against real time",
    "fig_cumulative": "Score through the contest",
    "play": "play", "pause": "pause", "next_report": "next report", "prev_report": "previous report",
    "no_replay": "No replay", "replay_note": "EEG as handed out: masked, averaged down, a few channels.",
    "unsandboxed": "This run was not boxed: it cannot be ranked.",
    "codes": "codes", "reports": "reports",
    "itr": "ITR",
    "mean_length_s": "mean length, s",
    "nothing": "too little data for an interval", "language": "中文",
}  # fmt: skip

ZH = {
    "title": "运行报告", "at_a_glance": "概览", "figures": "图表", "replay": "回放", "trials": "试次数",
    "trial_table": "试次", "block_table": "Block", "notes": "备注", "printed": "算法输出",
    "missing_parts": "本次运行缺少的内容", "provenance": "来源", "score": "得分", "rank": "排名",
    "of_known": "（同一数据上的已知运行）", "interval": "95 % 区间（同一批受试者）",
    "interval_new": "95 % 区间（新受试者）",
    "means_blocks_within_subjects": "“同一批受试者”的区间适用于这些受试者的新 block。",
    "means_blocks": "每人只有一个 block，无法测量同一人各 block 之间的差异：区间假定它不大于人与人之间的差异。",
    "means_trials": "block 少于三个，只测得试次的偶然性。"
    "同一人各 block 之间的差异只按对数几率 0.35 的假定计入，不同日期和其他人均未计入。",
    "means_people": "“新受试者”的区间适用于与他们类似的其他人。",
    "means_no_people": "受试者少于三人，无法推断新受试者。",
    "say_bias": "得分中约有 {excess:.2f} 来自每个 block 试次少：偶然性平均会抬高这类得分。",
    "say_guess": "在同样的时刻随机作答，平均得分为 {guess:.2f}。",
    "where_lost": "分数丢在哪里", "own": "本次运行", "best_fixed": "总在最佳固定时刻作答",
    "perfect": "按自己的时刻、全部答对",
    "no_wrong": "按时的答案无一误判", "no_silence": "超时和未反馈的试次以通常用时答对",
    "no_alarms": "没有虚警",
    "sooner": "同样的答案，均不晚于其中位用时",
    "hint_no_wrong": "减少误判收益最大。",
    "hint_no_silence": "按时作答收益最大：超时或未反馈过多。",
    "hint_no_alarms": "无需作答时保持静默收益最大。",
    "hint_sooner": "更早作答收益最大。",
    "hint_other": "收益最大的是：{what}。",
    "hint_none": "以上改变都不会提高得分。",
    "hint_void": "无论答案如何，本次运行无效：见裁定。",
    "gain": "得分", "in_words": "文字说明",
    "say_outcomes": "共 {n} 个试次：{counts}。",
    "say_people": "最好 {best}（正确率 {best_p:.2f}），最差 {worst}（正确率 {worst_p:.2f}）。",
    "say_mistake": "最常见的误判：{truth} 判为 {answer}，{n} 次。",
    "say_slow": "{m} 个数据包中有 {n} 个的计算时间超过其时长（{ms:g} 毫秒）。",
    "alt_diagonal": "{n} 个中有 {right} 个在对角线上", "alt_median": "中位数 {s:.2f} 秒",
    "alt_fixed": "最佳固定时刻 {best_s:.2f} 秒：{best:.2f}；本次运行 {own:.2f}",
    "alt_thinking": "半数数据包在 {p50:.3f} 毫秒内，99 % 在 {p99:.3f} 毫秒内；每包时长 {ms:g} 毫秒",
    "alt_course": "从 {first:.2f} 到 {last:.2f}",
    "time_s": "时间（秒）", "canvas": "发出的脑电波形、标签与报告",
    "fixed_explained": "到该时刻已知的答案在该时刻给出，之后的记为误判。",
    "verdict": "裁定", "metric": "指标", "value": "数值", "subject": "被试", "block": "block",
    "trial": "试次", "truth": "真值", "answer": "答案", "status": "状态", "length_s": "时长（秒）",
    "correct": "正确？", "right": "正确", "wrong": "误判", "late": "超时", "missing": "未反馈",
    "false_positive": "虚警", "quiet": "静默", "after_target": "达标之后", "in_time": "按时",
    "time_in_block_s": "block 内时间（秒）", "answer_time_s": "作答时间（秒）", "accuracy": "正确率",
    "fixed_time": "固定时刻", "this_run": "本次运行", "real_time": "实时", "data_s": "数据（秒）",
    "worst_packet": "最慢的数据包", "median_packet": "数据包中位数", "think_ms": "每包计算时间（毫秒）",
    "fig_timeline": "每个试次的位置", "fig_confusion": "真值与答案",
    "fig_score_against_time": "得分与作答时间", "fig_by_subject": "各被试正确率",
    "fig_answer_times": "作答时间分布", "fig_thinking": "计算时间与实时",
    "fig_cumulative": "比赛过程中的得分",
    "play": "播放", "pause": "暂停", "next_report": "下一次报告", "prev_report": "上一次报告",
    "no_replay": "无法回放", "replay_note": "发出的脑电（已屏蔽标签），降采样，部分导联。",
    "unsandboxed": "本次运行未在沙箱中进行，不能参加排名。",
    "codes": "标签", "reports": "报告",
    "itr": "ITR",
    "mean_length_s": "平均时长（秒）",
    "nothing": "数据太少，无法给出区间", "language": "English",
}  # fmt: skip

WORDS = {"en": EN, "zh": ZH}
COMMAS = {"en": ", ", "zh": "，"}


def words_of(book: Rulebook) -> dict[str, Said]:
    """Every word of a contest's report by language: the shared ones, and its tables ``report`` and ``metrics``."""
    own = contest(book).words
    return {
        code: {**words, **own[code].get("report", {}), **own[code].get("metrics", {})} for code, words in WORDS.items()
    }


def worded(words: Mapping[str, str], key: str) -> str:
    """The word of a key; where a contest has none, the key made readable."""
    if key in words:
        return words[key]
    if key.startswith("hint_"):
        return words["hint_other"].format(what=worded(words, key.removeprefix("hint_")))
    return key.removeprefix("fig_").replace("_", " ")


def said(book: Rulebook, key: str, /, **values: object) -> Said:
    """A sentence in every language; values that differ between languages are themselves such dictionaries."""
    found = {}
    for code, words in words_of(book).items():
        own = {name: value[code] if isinstance(value, dict) else value for name, value in values.items()}
        if key in words:
            found[code] = words[key].format(**own)
        else:  # a contest without words: the key and its values
            shown = COMMAS[code].join(f"{name} {value}" for name, value in own.items())
            found[code] = f"{worded(words, key.removeprefix('say_').removeprefix('alt_'))}: {shown}"
    return found


def listed(book: Rulebook, parts: Mapping[str, object]) -> Said:
    """ "right 3, wrong 2": names that are keys of the words are put into each language."""
    return {
        code: COMMAS[code].join(
            f"{words.get(name.lstrip('@'), name.lstrip('@'))} {value}".strip() for name, value in parts.items()
        )
        for code, words in words_of(book).items()
    }
