"""The entry that arena wrap writes: cuts windows, asks the model, and answers by the stopping rule. Runs in the box.

The same code cuts the windows for fitting and for playing, from samples that had been handed out by then.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.decoders.stopping import StoppingPolicy
from bciarena.wrapping.models import Estimator, Model, open_model, plain

Array = NDArray[np.float64]
ABOUT, LEARNT, POSTERIORS, FITTED = "wrap.json", "learnt.pkl", "posteriors.npz", "fitted.json"
MARGIN_S = 1.0  # before a window, for the filter to settle on
LOOKS = 24  # most decision times of a trial
WINDOWS_S = (0.5, 1.0, 1.5, 2.0, 3.0)
FOLDS = 5
COMMON = 0
"""The model for people whom training did not see."""


class Cutter:
    """Windows as the model was trained on them: rows, unit, band and rate; ``about`` is the content of wrap.json."""

    def __init__(self, about: dict[str, Any]) -> None:
        names = about["info"]["channels"]
        self.rate: int = about["info"]["rate"]
        self.rows = [names.index(name) for name in about["channels"]] if about["channels"] else list(range(len(names)))
        self.scale: float = about["scale"]
        self.to_rate: int = about["rate"] or self.rate
        self.sos = None
        self.margin_n = 0
        if about["band"]:
            from scipy.signal import butter

            self.sos = butter(4, about["band"], "bandpass", fs=self.rate, output="sos")
            self.margin_n = round(MARGIN_S * self.rate)

    def __call__(self, eeg: Array, length_n: int) -> Array:
        """The last ``length_n`` samples of what has been handed out, (channels, samples), as the model wants them."""
        part = eeg[self.rows, max(0, eeg.shape[1] - length_n - self.margin_n) :] * self.scale
        if self.sos is not None:
            from scipy.signal import sosfiltfilt

            part = sosfiltfilt(self.sos, part, axis=1, padlen=min(part.shape[1] - 1, self.rate // 4))
        part = part[:, -length_n:]
        if self.to_rate != self.rate:
            from scipy.signal import resample_poly

            part = resample_poly(part, self.to_rate, self.rate, axis=1)
        return np.ascontiguousarray(part)


def times_of(length_n: int, last_n: int, packet_n: int) -> list[int]:
    """When to look: samples since the trial's first packet, from the first whole window to the last allowed."""
    first = -(-length_n // packet_n) * packet_n
    every = range(first, last_n + 1, packet_n)
    step = -(-len(every) // LOOKS) or 1
    return list(every[::step]) if len(every) else []


class Wrapped:
    """A model as an entry of the plain form; a subclass says in which folder its files are."""

    root: Path

    def __init__(self) -> None:
        self.about: dict[str, Any] = json.loads((self.root / ABOUT).read_text("utf-8"))
        self.cut = Cutter(self.about)

    def open(self) -> Model:
        """The model as it was brought."""
        about = self.about
        return open_model(about["kind"], self.root / about["file"], about["module"], about["arguments"])

    # Playing

    def start(self, info: dict[str, Any]) -> None:
        if "policy" not in self.about:
            raise ValueError("the stopping rule was not fitted: arena wrap --data TRAIN does it")
        self.info = info
        self.policy = StoppingPolicy.from_dict(self.about["policy"])
        self.looks = set(self.about["times_n"])
        self.models: dict[int, Model] = {}
        if (self.root / LEARNT).is_file():
            with open(self.root / LEARNT, "rb") as file:
                self.models = {person: Estimator(one) for person, one in pickle.load(file).items()}
            for model in self.models.values():
                model.flat = self.about["flat"]  # type: ignore[attr-defined]
        else:
            self.models = {COMMON: self.open()}
        self.held = np.zeros((len(info["channels"]), 0))
        self.count_n = -1

    def step(self, packet: Any) -> Any:
        if packet.start == 0:
            self.held, self.count_n = self.held[:, :0], -1
        keep = self.about["length_n"] + self.cut.margin_n
        self.held = np.concatenate([self.held, packet.data[:-1]], axis=1)[:, -keep:]
        answer = self._look(packet) if self.count_n >= 0 else None
        if np.isin(packet.data[-1], self.info["marks"]).any():  # counting begins with the packet after this one
            self.count_n, self.logs = 0, list[Array]()
        return answer

    def _look(self, packet: Any) -> Any:
        self.count_n += packet.data.shape[1]
        if self.count_n not in self.looks:
            return None
        model = self.models.get(packet.subject) or self.models[COMMON]
        found = model.proba(self.cut(self.held, self.about["length_n"])[None])[0]
        self.logs.append(np.log(found[self._columns(model, len(found))]))
        evidence = np.mean(self.logs, axis=0) if self.about["pooled"] else self.logs[-1]
        index = self.policy.decide(softmax(evidence), self.count_n / self.info["rate"])
        if index is None:
            return None
        self.count_n = -1
        text = self.about["answers"][index]
        return int(text) if self.info["integer"] else text

    # Fitting: everything but the choice of the rule, which is made outside with the contest's own score

    def fit(self, recordings: list[Any]) -> Wrapped:
        about, model = self.about, self.open()
        trials = self._trials(recordings)
        answers = about["answers"]
        self.found: dict[str, Array] = {
            "truth": np.array([answers.index(trial[2]) for trial in trials]),
            "subject": np.array([trial[0] for trial in trials]),
            "block": np.array([trial[1] for trial in trials]),
        }
        if not trials:
            raise ValueError("no trial in the training data is long enough")
        last_n = min(trial[3].shape[1] for trial in trials) - trials[0][4]
        packet_n, rate = about["info"]["packet_n"], about["info"]["rate"]
        if about["info"]["limit_s"]:
            last_n = min(last_n, round(about["info"]["limit_s"] * rate) - packet_n)
        lengths = [round(s * rate) for s in (about["window_s"] or WINDOWS_S)]
        if model.samples:
            lengths = [round(model.samples * rate / self.cut.to_rate)]
        self.times: dict[int, list[int]] = {}
        self.learnt: dict[int, dict[int, Any]] = {}
        self.flat = False
        for length_n in lengths:
            times = times_of(length_n, last_n, packet_n)
            if times:
                self._try(model, trials, length_n, times)
        if not self.times:
            raise ValueError(f"no window of {lengths} samples ends before the last answer at {last_n} samples")
        return self

    def _trials(self, recordings: list[Any]) -> list[tuple[int, int, str, Array, int]]:
        """(subject, block, answer, samples from the margin to the trial's end, margin in samples)."""
        info, found = self.about["info"], []
        truth = {int(code): text for code, text in info["truth"].items() if int(code) not in info["idle"]}
        packet_n = info["packet_n"]
        for recording in recordings:
            data = recording.data
            codes = data[-1].astype(int)
            opened = [int(at) for at in np.flatnonzero(np.isin(codes, list(truth)))]
            limit_n = round((info["limit_s"] or 60.0) * info["rate"])
            for at, after in zip(opened, [*opened[1:], data.shape[1]], strict=True):
                begin = (at // packet_n + 1) * packet_n
                closing = np.flatnonzero(codes[at + 1 : after])
                end = min(begin + limit_n, after if info["limit_s"] or not len(closing) else at + 1 + int(closing[0]))
                margin = min(begin, self.cut.margin_n)
                if end - begin >= min(limit_n, info["rate"]) and margin == self.cut.margin_n:
                    samples = data[:-1, begin - margin : end]
                    found.append((recording.subject, recording.block, truth[codes[at]], samples, margin))
        return found

    def _windows(self, trial: tuple[int, int, str, Array, int], length_n: int, times: list[int]) -> Array:
        return np.stack([self.cut(trial[3][:, : trial[4] + t], length_n) for t in times])

    def _try(self, model: Model, trials: list[Any], length_n: int, times: list[int]) -> None:
        """Posteriors (trials, times, classes) for one length of window; out of fold where the model learns here."""
        every = [self._windows(trial, length_n, times) for trial in trials]
        if self.about["fit"]:
            assert isinstance(model, Estimator)
            table, self.learnt[length_n] = self._learn(model, trials, every)
        else:
            table = np.stack([model.proba(one) for one in every])
            table = table[:, :, self._columns(model, table.shape[2])]
        self.found[f"p_{length_n}"] = table
        self.times[length_n] = times

    def _columns(self, model: Model, count: int) -> list[int]:
        """The model's column of every answer."""
        answers = self.about["answers"]
        if self.about["classes"]:
            labels = self.about["classes"]
        elif model.labels and set(model.labels) <= set(answers):
            labels = model.labels
        else:
            labels = answers
        if len(labels) != count or set(labels) != set(answers):
            raise ValueError(
                f"the model has {count} classes ({', '.join(model.labels or labels)}), the challenge {len(answers)} "
                f"answers ({', '.join(answers[:8])}): say with --classes what its columns stand for"
            )
        return [labels.index(answer) for answer in answers]

    def _learn(self, model: Estimator, trials: list[Any], every: list[Array]) -> tuple[Array, dict[int, Any]]:
        """Fit per person and for all; probabilities of every trial come from a fit without it."""
        people = sorted({trial[0] for trial in trials})
        table = np.zeros((len(trials), len(every[0]), len(self.about["answers"])))
        learnt: dict[int, Any] = {}
        for person in [COMMON, *(people if self.about["info"]["names_subject"] and len(people) > 1 else [])]:
            own = [n for n, trial in enumerate(trials) if person in (COMMON, trial[0])]
            fitted = self._fit(model, trials, every, own)
            learnt[person], self.flat = fitted.inner, fitted.flat
            if person == COMMON and self.about["info"]["names_subject"] and len(people) > 1:
                continue  # people are known by their own models
            for fold in folds([trials[n][1] if person else trials[n][:2] for n in own]):
                rest = [n for n in own if n not in {own[k] for k in fold}]
                part = self._fit(model, trials, every, rest)
                for n in (own[k] for k in fold):
                    found = part.proba(every[n])
                    table[n] = found[:, self._columns(part, found.shape[1])]
        return table, learnt

    def _fit(self, model: Estimator, trials: list[Any], every: list[Array], own: list[int]) -> Estimator:
        """On the first, middle and last window of every trial."""
        count = len(every[0])
        picks = sorted({0, count // 2, count - 1})
        labels = [trials[n][2] for n in own for _ in picks]
        integer = self.about["info"]["integer"]
        fitted = model.fit(np.concatenate([every[n][picks] for n in own]), [int(x) if integer else x for x in labels])
        fitted.labels = [plain(one) for one in getattr(fitted.inner, "classes_", [])] or None
        return fitted

    def save(self, folder: str) -> None:
        place = Path(folder)
        np.savez(place / POSTERIORS, **self.found)  # type: ignore[arg-type]
        (place / FITTED).write_text(json.dumps({"times": self.times, "flat": self.flat}), "utf-8")
        for length_n, people in self.learnt.items():
            with open(place / f"{length_n}.pkl", "wb") as file:
                pickle.dump(people, file)


def folds(blocks: list[Any]) -> list[list[int]]:
    """Trials left out together: whole blocks where there are several, else every fifth trial."""
    kinds = list(dict.fromkeys(blocks))
    if len(kinds) > 1:
        count = min(FOLDS, len(kinds))
        return [[n for n, block in enumerate(blocks) if kinds.index(block) % count == k] for k in range(count)]
    return [list(range(k, len(blocks), FOLDS)) for k in range(min(FOLDS, len(blocks)))]


def softmax(scores: Array) -> Array:
    """Probabilities from logarithms."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
