"""The words of the report, English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

Said = dict[str, str]
"""The same in every language."""

EN = {
    "title": "Run report", "at_a_glance": "At a glance", "figures": "Figures", "replay": "Replay", "trials": "trials",
    "trial_table": "Trials", "block_table": "Blocks", "notes": "Notes", "printed": "What the entry printed",
    "missing_parts": "Missing from this run", "provenance": "Where this comes from", "score": "score", "rank": "rank",
    "of_known": "of the known runs on this data", "interval": "95 % interval", "drawn": "drawn again",
    "where_lost": "Where the points went", "own": "this run", "best_fixed": "always at its best fixed time",
    "perfect": "all answers right, at its own times",
    "no_wrong": "no wrong answers in time", "no_silence": "late and missing answers right, at its usual time",
    "no_alarms": "no false alarms", "no_wrong_side": "no wrong side",
    "no_wrong_action": "no wrong action on the right side",
    "no_wrong_real": "real or generated always right", "no_wrong_person": "the person always right",
    "sooner": "the same answers, none later than its median time",
    "hint_no_wrong": "Most would be gained by fewer wrong answers.",
    "hint_no_silence": "Most would be gained by answering in time: too much was late or not answered.",
    "hint_no_alarms": "Most would be gained by staying silent while no key flickers.",
    "hint_no_wrong_side": "Most would be gained by telling left from right.",
    "hint_no_wrong_action": "Most would be gained by telling flexion from fist.",
    "hint_no_wrong_real": "Most would be gained by telling real from generated.",
    "hint_no_wrong_person": "Most would be gained by telling whose it is.",
    "hint_sooner": "Most would be gained by answering sooner.",
    "hint_none": "None of these changes would raise the score.",
    "hint_void": "The run is void, whatever its answers were: see the verdict.",
    "gain": "score", "in_words": "In words",
    "say_outcomes": "Of {n} trials: {counts}.",
    "say_people": "Best {best} ({best_p:.2f} right), worst {worst} ({worst_p:.2f} right).",
    "say_mistake": "The commonest mistake: {truth} taken for {answer}, {n} times.",
    "say_alarms": "{n} of {m} trials without flicker were answered; above 10 % (mean over people) the score is 0.",
    "say_target": "{n} of {m} blocks reached 80 %; the others count 0.",
    "say_real": "{n} of {m} real trials were taken for generated, {k} of {j} generated ones for real.",
    "say_generator": "Hardest to tell: {name}, {p:.2f} told rightly.",
    "say_person": "The person was wrong in {n} of {m} trials.",
    "say_sides": "Side wrong in {n} of {m} trials; side right and action wrong in {k}.",
    "say_slow": "{n} of {m} packets took longer to compute than they last ({ms:g} ms).",
    "alt_diagonal": "{right} of {n} on the diagonal", "alt_median": "median {s:.2f} s",
    "alt_fixed": "best fixed time {best_s:.2f} s: {best:.2f}; this run {own:.2f}",
    "alt_thinking": "half of the packets within {p50:.3f} ms, 99 % within {p99:.3f} ms; a packet lasts {ms:g} ms",
    "alt_course": "from {first:.2f} to {last:.2f}",
    "alt_keys": "lowest hit rate {rate:.2f} at key {key}; {n} false alarms",
    "alt_alarms": "{n} false alarms", "alt_target": "{n} of {m} blocks reached 80 %",
    "parametric": "parametric", "spectral": "spectral", "deep": "deep", "person": "person",
    "person_right": "person right", "real_right": "real or generated right",
    "time_s": "time, s", "canvas": "EEG traces as handed out, with codes and reports",
    "fixed_explained": "Answers known by then, given exactly then; later ones count as wrong.",
    "verdict": "verdict", "metric": "metric", "value": "value", "subject": "subject", "block": "block",
    "trial": "trial", "truth": "truth", "answer": "answer", "status": "status", "length_s": "length, s",
    "correct": "right?", "right": "right", "wrong": "wrong", "late": "late", "missing": "missing",
    "false_positive": "false alarm", "quiet": "quiet", "after_target": "after the target", "in_time": "in time",
    "time_in_block_s": "time in block, s", "answer_time_s": "answer time, s", "accuracy": "accuracy",
    "fixed_time": "at one fixed time", "this_run": "this run", "real_time": "real time", "data_s": "data, s",
    "worst_packet": "slowest packet", "median_packet": "median packet", "think_ms": "computing per packet, ms",
    "running_score": "200 N / L so far", "generated": "generated", "real": "real", "told_rightly": "told rightly",
    "exact": "exact", "side_only": "right side only", "wrong_side": "wrong side", "no_answer": "no answer in time",
    "fig_timeline": "Every trial at its place", "fig_confusion": "Truth against answer",
    "fig_score_against_time": "Score against answer time", "fig_by_subject": "Accuracy by subject",
    "fig_answer_times": "Answer times", "fig_thinking": "Computing time against real time",
    "fig_cumulative": "Score through the contest", "fig_key_map": "Keys: hit rate and false alarms",
    "fig_turing_trace": "Score trace to the 80 % stop", "fig_detection": "Real and generated",
    "fig_identity": "Whose: truth against answer", "fig_sides": "Sides and actions",
    "play": "play", "pause": "pause", "next_report": "next report", "prev_report": "previous report",
    "no_replay": "No replay", "replay_note": "EEG as handed out: masked, averaged down, a few channels.",
    "unsandboxed": "This run was not boxed: it cannot be ranked.", "unit_blocks": "blocks",
    "codes": "codes", "reports": "reports",
    "blocks within subjects": "blocks within subjects", "blocks": "blocks", "trials_drawn": "trials",
    "itr": "ITR", "itr_real": "ITR, real or generated", "itr_subject": "ITR, whose", "fpr": "false alarm rate (FPR)",
    "accuracy_real": "accuracy, real or generated", "accuracy_subject": "accuracy, whose", "total": "total",
    "mean_length_s": "mean length, s", "mean_points": "points a trial", "side_accuracy": "accuracy, side",
    "blocks_passed": "blocks passed", "flicker": "flicker trials", "passed": "passed",
    "nothing": "too little data for an interval", "language": "中文",
}  # fmt: skip

ZH = {
    "title": "运行报告", "at_a_glance": "概览", "figures": "图表", "replay": "回放", "trials": "试次数",
    "trial_table": "试次", "block_table": "Block", "notes": "备注", "printed": "算法输出",
    "missing_parts": "本次运行缺少的内容", "provenance": "来源", "score": "得分", "rank": "排名",
    "of_known": "（同一数据上的已知运行）", "interval": "95 % 区间", "drawn": "重抽样单位",
    "where_lost": "分数丢在哪里", "own": "本次运行", "best_fixed": "总在最佳固定时刻作答",
    "perfect": "按自己的时刻、全部答对",
    "no_wrong": "按时的答案无一误判", "no_silence": "超时和未反馈的试次以通常用时答对",
    "no_alarms": "没有虚警", "no_wrong_side": "侧别无误", "no_wrong_action": "侧别正确时动作无误",
    "no_wrong_real": "真伪全部判对", "no_wrong_person": "身份全部判对",
    "sooner": "同样的答案，均不晚于其中位用时",
    "hint_no_wrong": "减少误判收益最大。",
    "hint_no_silence": "按时作答收益最大：超时或未反馈过多。",
    "hint_no_alarms": "无闪烁时保持静默收益最大。",
    "hint_no_wrong_side": "分清左右收益最大。",
    "hint_no_wrong_action": "分清屈肘与握拳收益最大。",
    "hint_no_wrong_real": "分清真实与生成收益最大。",
    "hint_no_wrong_person": "认出是谁收益最大。",
    "hint_sooner": "更早作答收益最大。",
    "hint_none": "以上改变都不会提高得分。",
    "hint_void": "无论答案如何，本次运行无效：见裁定。",
    "gain": "得分", "in_words": "文字说明",
    "say_outcomes": "共 {n} 个试次：{counts}。",
    "say_people": "最好 {best}（正确率 {best_p:.2f}），最差 {worst}（正确率 {worst_p:.2f}）。",
    "say_mistake": "最常见的误判：{truth} 判为 {answer}，{n} 次。",
    "say_alarms": "{m} 个无闪烁试次中有 {n} 个被作答；被试平均超过 10 % 时得分为 0。",
    "say_target": "{m} 个 block 中有 {n} 个达到 80 %；其余记 0 分。",
    "say_real": "{m} 个真实试次中有 {n} 个被判为生成，{j} 个生成试次中有 {k} 个被判为真实。",
    "say_generator": "最难分辨：{name}，判断正确率 {p:.2f}。",
    "say_person": "{m} 个试次中有 {n} 个身份判错。",
    "say_sides": "{m} 个试次中侧别错 {n} 个；侧别对而动作错 {k} 个。",
    "say_slow": "{m} 个数据包中有 {n} 个的计算时间超过其时长（{ms:g} 毫秒）。",
    "alt_diagonal": "{n} 个中有 {right} 个在对角线上", "alt_median": "中位数 {s:.2f} 秒",
    "alt_fixed": "最佳固定时刻 {best_s:.2f} 秒：{best:.2f}；本次运行 {own:.2f}",
    "alt_thinking": "半数数据包在 {p50:.3f} 毫秒内，99 % 在 {p99:.3f} 毫秒内；每包时长 {ms:g} 毫秒",
    "alt_course": "从 {first:.2f} 到 {last:.2f}", "alt_keys": "命中率最低 {rate:.2f}，按键 {key}；虚警 {n} 次",
    "alt_alarms": "虚警 {n} 次", "alt_target": "{m} 个 block 中有 {n} 个达到 80 %",
    "parametric": "参数模型", "spectral": "频谱替代", "deep": "深度模型", "person": "个体",
    "person_right": "身份正确", "real_right": "真伪正确",
    "time_s": "时间（秒）", "canvas": "发出的脑电波形、标签与报告",
    "fixed_explained": "到该时刻已知的答案在该时刻给出，之后的记为误判。",
    "verdict": "裁定", "metric": "指标", "value": "数值", "subject": "被试", "block": "block",
    "trial": "试次", "truth": "真值", "answer": "答案", "status": "状态", "length_s": "时长（秒）",
    "correct": "正确？", "right": "正确", "wrong": "误判", "late": "超时", "missing": "未反馈",
    "false_positive": "虚警", "quiet": "静默", "after_target": "达标之后", "in_time": "按时",
    "time_in_block_s": "block 内时间（秒）", "answer_time_s": "作答时间（秒）", "accuracy": "正确率",
    "fixed_time": "固定时刻", "this_run": "本次运行", "real_time": "实时", "data_s": "数据（秒）",
    "worst_packet": "最慢的数据包", "median_packet": "数据包中位数", "think_ms": "每包计算时间（毫秒）",
    "running_score": "当前 200 N / L", "generated": "生成", "real": "真实", "told_rightly": "判断正确率",
    "exact": "完全正确", "side_only": "仅侧别正确", "wrong_side": "侧别错误", "no_answer": "未按时作答",
    "fig_timeline": "每个试次的位置", "fig_confusion": "真值与答案",
    "fig_score_against_time": "得分与作答时间", "fig_by_subject": "各被试正确率",
    "fig_answer_times": "作答时间分布", "fig_thinking": "计算时间与实时",
    "fig_cumulative": "比赛过程中的得分", "fig_key_map": "按键：命中率与虚警",
    "fig_turing_trace": "到 80 % 停止的得分轨迹", "fig_detection": "真实与生成",
    "fig_identity": "身份：真值与答案", "fig_sides": "侧别与动作",
    "play": "播放", "pause": "暂停", "next_report": "下一次报告", "prev_report": "上一次报告",
    "no_replay": "无法回放", "replay_note": "发出的脑电（已屏蔽标签），降采样，部分导联。",
    "unsandboxed": "本次运行未在沙箱中进行，不能参加排名。", "unit_blocks": "block",
    "codes": "标签", "reports": "报告",
    "blocks within subjects": "被试内的 block", "blocks": "block", "trials_drawn": "试次",
    "itr": "ITR", "itr_real": "ITR（真伪）", "itr_subject": "ITR（身份）", "fpr": "虚警率（FPR）",
    "accuracy_real": "正确率（真伪）", "accuracy_subject": "正确率（身份）", "total": "总分",
    "mean_length_s": "平均时长（秒）", "mean_points": "每试次得分", "side_accuracy": "侧别正确率",
    "blocks_passed": "达标 block 数", "flicker": "闪烁试次", "passed": "达标",
    "nothing": "数据太少，无法给出区间", "language": "English",
}  # fmt: skip

WORDS = {"en": EN, "zh": ZH}


def said(key: str, /, **values: object) -> Said:
    """A sentence in every language; values that differ between languages are themselves such dictionaries."""
    return {
        code: words[key].format(**{k: v[code] if isinstance(v, dict) else v for k, v in values.items()})
        for code, words in WORDS.items()
    }


def listed(parts: Mapping[str, object]) -> Said:
    """ "right 3, wrong 2": names that are keys of the words are put into each language."""
    commas = {"en": ", ", "zh": "，"}
    return {
        code: commas[code].join(f"{words.get(name.lstrip('@'), name)} {value}".strip() for name, value in parts.items())
        for code, words in WORDS.items()
    }
