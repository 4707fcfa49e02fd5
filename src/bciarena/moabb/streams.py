"""From a data set's raw recordings to blocks that can be played: a code where a trial begins, another where it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.moabb.rules import REST, pseudo_rules
from bciarena.recording import Block

Floats = NDArray[np.float64]


def codes_of(events: list[str]) -> dict[int, str]:
    """A code for every class, from 1 in the order of their names."""
    if len(events) >= REST:
        raise BadInput(f"{len(events)} classes: at most {REST - 1} are taken")
    return dict(enumerate(sorted(events), 1))


def rules_of(dataset: Any, paradigm: Any, raw: Any, name: str) -> Rulebook:
    """The rulebook under which recordings like ``raw`` are played."""
    start, stop = interval_of(dataset, paradigm)
    rate = raw.info["sfreq"]
    if rate != int(rate):
        raise BadInput(f"{dataset.code}: {rate:g} samples per second; only whole numbers can be played")
    channels = tuple(channels_of(raw, paradigm))
    classes = codes_of(list(paradigm.used_events(dataset)))
    return pseudo_rules(name, dataset.code, channels, int(rate), classes, stop - start)


def interval_of(dataset: Any, paradigm: Any) -> tuple[float, float]:
    """Where a trial begins and ends, seconds after its event."""
    begin = dataset.interval[0]
    return begin + paradigm.tmin, dataset.interval[1] if paradigm.tmax is None else begin + paradigm.tmax


def channels_of(raw: Any, paradigm: Any) -> list[str]:
    """The EEG channels that the paradigm takes."""
    import mne

    found = [raw.ch_names[pick] for pick in mne.pick_types(raw.info, eeg=True, stim=False)]
    return found if paradigm.channels is None else [name for name in paradigm.channels if name in found]


def block_of(raw: Any, dataset: Any, paradigm: Any, book: Rulebook, source: str) -> Block:
    """A run as a block, in microvolts; a trial cut short by the end of the recording is left out."""
    start, stop = (round(second * book.rate) for second in interval_of(dataset, paradigm))
    names = {text: code for code, text in codes_of(list(paradigm.used_events(dataset))).items()}
    events = paradigm.used_events(dataset)
    samples = raw.n_times
    trigger = np.zeros(samples)
    opened = sorted(
        (at - raw.first_samp + start, names[name])
        for name, wanted in events.items()
        for at, code in _events(raw, dataset)
        if code == wanted and at - raw.first_samp + stop <= samples
    )
    if opened and opened[0][0] > 0:
        trigger[0] = REST
    for at, _ in opened:
        end = at + stop - start
        if end < samples and not any(at < other < end for other, _ in opened):
            trigger[end] = REST
    for at, code in opened:
        trigger[at] = code
    eeg = raw.get_data(picks=list(book.channels)) * 1e6
    return Block(eeg.astype(np.float32), trigger, book.rate, book.channels, source)


def _events(raw: Any, dataset: Any) -> list[tuple[int, int]]:
    import mne

    if len(mne.pick_types(raw.info, eeg=False, stim=True)):
        found = mne.find_events(raw, shortest_event=0, verbose=False)
    else:
        known = {key: value for key, value in dataset.event_id.items() if key in set(raw.annotations.description)}
        found, _ = mne.events_from_annotations(raw, event_id=known, verbose=False)
    return [(int(row[0]), int(row[2])) for row in found]


class Windowed:
    """A pipeline as an entry that slides a window: each window is filtered and resampled by itself, so that no sample
    is used before it was handed out.

    Parameters
    ----------
    bands : list of (low, high)
        Of the paradigm; with several, windows have a last axis of bands, as MOABB's filter banks have.
    rate, to_rate : int
        Of the stream, and what the pipeline wants.
    window_n : int
        Length of a window in samples of the stream.
    """

    def __init__(self, inner: Any, bands: list[tuple[float, float]], rate: int, to_rate: int, window_n: int) -> None:
        self.inner, self.bands, self.rate, self.to_rate, self.window_n = inner, bands, rate, to_rate, window_n
        self.window_s = (0.0, window_n / rate)

    def prepared(self, windows: Floats) -> Floats:
        """Windows (windows, channels, samples) as the pipeline wants them."""
        from scipy.signal import butter, resample_poly, sosfiltfilt

        found = []
        for low, high in self.bands:
            sos = butter(4, (low, min(high, 0.49 * self.rate)), "bandpass", fs=self.rate, output="sos")
            part = sosfiltfilt(sos, windows, axis=-1, padlen=min(self.rate // 2, windows.shape[-1] - 1))
            found.append(part if self.to_rate == self.rate else resample_poly(part, self.to_rate, self.rate, axis=-1))
        return np.asarray(found[0] if len(found) == 1 else np.stack(found, axis=-1))

    def cut(self, blocks: list[Block], book: Rulebook) -> tuple[Floats, NDArray[np.int64]]:
        """Training windows of trials and of rests, each half a window after the last, and their classes (0: rest)."""
        windows, labels = [], []
        for block in blocks:
            opened = np.flatnonzero(block.trigger)
            for at, after in zip(opened, [*opened[1:], block.samples], strict=True):
                label = 0 if block.trigger[at] == REST else int(block.trigger[at])
                for start in range(int(at), int(after) - self.window_n + 1, max(1, self.window_n // 2)):
                    windows.append(np.asarray(block.eeg[:, start : start + self.window_n], dtype=float))
                    labels.append(label)
        y = np.array(labels, dtype=np.int64)
        rest = np.flatnonzero(y == 0)
        most = len(y) - len(rest)  # no more rest than all classes together, evenly taken
        if len(rest) > most:
            rest = rest[np.linspace(0, len(rest) - 1, most).astype(int)]
        keep = np.union1d(np.flatnonzero(y), rest)
        if not len(keep):
            raise BadInput(f"no window of {self.window_n} samples fits into a trial: choose a shorter one")
        return np.stack([windows[n] for n in keep]), y[keep]

    def fit(self, blocks: list[Block], book: Rulebook) -> int:
        """Train on whole blocks; returns the number of windows."""
        X, y = self.cut(blocks, book)
        self.inner.fit(self.prepared(X), y)
        return len(y)

    def predict(self, windows: Floats) -> Any:
        return self.inner.predict(self.prepared(windows))
