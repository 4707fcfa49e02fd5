"""Plays an estimator with fit(X, y) and predict(X) on windows of the stream.

Where the stream marks trials, one window per trial is classified and answered at its end. Where it does not (the
speller), a window slides; class 0 means "nothing", two equal answers in a row are reported, and then nothing until
class 0 has come back. The window is the estimator's attribute ``window_s = (start, stop)`` in seconds from the first
packet after the trigger packet, by default (0.5, 2.5).
"""

import numpy as np

WINDOW_S = (0.5, 2.5)
STRIDE_S = 0.2


def window_n(entry, info):
    """The window in samples, cut down where the challenge's limit is shorter."""
    start, stop = getattr(entry, "window_s", WINDOW_S)
    if info["limit_s"]:
        stop = min(stop, info["limit_s"] - info["packet_n"] / info["rate"])
    return int(round(start * info["rate"])), int(round(stop * info["rate"]))


def play_estimator(entry, client, packets):
    if client.info["marks"]:
        _marked(entry, client, packets)
    else:
        _sliding(entry, client, packets)


def _answer(entry, window, info):
    label = entry.predict(window[None])[0]
    return int(label) if info["integer"] else str(label)


def _marked(entry, client, packets):
    info = client.info
    start, stop = window_n(entry, info)
    marks = np.array(info["marks"])
    held, count = None, 0
    for packet in packets:
        if packet.start == 0:
            held = None
        if held is not None:
            held.append(packet.data[:-1])
            count += packet.data.shape[1]
            if count >= stop:
                client.report(_answer(entry, np.concatenate(held, axis=1)[:, start:stop], info))
                held = None
        if np.isin(packet.data[-1], marks).any():  # counting begins with the packet after this one
            held, count = [], 0


def _sliding(entry, client, packets):
    info = client.info
    start, stop = window_n(entry, info)
    length, stride = stop - start, max(1, int(round(STRIDE_S * info["rate"] / info["packet_n"])))
    held, before, quiet = np.zeros((len(info["channels"]), 0)), 0, True
    for number, packet in enumerate(packets):
        if packet.start == 0:
            held = held[:, :0]
        held = np.concatenate([held, packet.data[:-1]], axis=1)[:, -length:]
        if held.shape[1] < length or number % stride:
            continue
        label = _answer(entry, held, info)
        if label and label == before and quiet:
            client.report(label)
            quiet = False
        quiet = quiet or not label
        before = label


def cut_windows(entry, blocks, info):
    """Training windows, cut as in a match.

    Parameters
    ----------
    blocks : list of TrainingBlock
    info : dict
        As in a match, with ``truth`` (code to answer) and ``idle`` (codes of trials without an answer).

    Returns
    -------
    X : ndarray, shape (trials, channels, samples)
    y : ndarray, shape (trials,)
        Answers, integers or texts as the challenge asks; 0 where nothing must be reported.
    """
    start, stop = window_n(entry, info)
    truth = {int(code): text for code, text in info["truth"].items()}
    idle, packet_n = set(info["idle"]), info["packet_n"]
    windows, labels = [], []
    for block in blocks:
        data = block.data
        codes = data[-1].astype(int)
        for sample in np.flatnonzero(codes):
            code = int(codes[sample])
            data_start = (int(sample) // packet_n + 1) * packet_n
            if code not in truth or data_start + stop > data.shape[1]:
                continue
            windows.append(data[:-1, data_start + start : data_start + stop])
            text = "0" if code in idle else truth[code]
            labels.append(int(text) if info["integer"] else text)
    if not windows:
        raise ValueError("no trial in the training data is long enough for the window of %d samples" % stop)
    return np.stack(windows), np.array(labels)
