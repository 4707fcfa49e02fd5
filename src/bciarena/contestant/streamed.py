"""Plays submissions to streamed competitions: windows one at a time and in order, a fresh model for each stream.

A submission's ``Solver`` has ``load_model(meta)``, which returns an object with ``predict(X)`` for X of shape (1,
channels, samples). Every block is a stream: it is played to a copy of that object as it was loaded, whose
``reset_state()``, if it has one, is called first. A packet is a window; the packet before it says that it counts (its
trigger row has a mark).
"""

import copy
import os
import sys
from pathlib import Path

import numpy as np

from .faces.streamed import to_numpy


def play_streamed(solver, client, packets):
    """Play a Solver to its end."""
    info = client.info
    model = solver.load_model(_meta(solver, info))
    own, counts = model, False
    for packet in packets:
        if packet.start == 0:
            own, counts = _fresh(model), False
        window = packet.data[:-1]
        if counts and window.shape[1] == info["packet_n"]:
            client.report(_answer(own.predict(_given(window)), info))
        counts = bool(np.isin(packet.data[-1], info["marks"]).any())


def _meta(solver, info):
    file = getattr(sys.modules.get(type(solver).__module__), "__file__", None)
    folder = Path(file).resolve().parent if file else Path.cwd()
    os.environ["COMPET_SUBMISSION_DIR"] = str(folder)
    channels = list(info["channels"])
    return {
        "sfreq": float(info["rate"]),
        "ch_names": channels,
        "chs_info": [{"ch_name": name} for name in channels],
        "n_chans": len(channels),
        "n_times": info["packet_n"],
        "n_classes": len(info["answers"]),
        "n_outputs": len(info["answers"]),
        "device": "cpu",
        "submission_dir": folder,
    }


def _fresh(model):
    own = copy.deepcopy(model)
    reset = getattr(own, "reset_state", None)
    if callable(reset):
        reset()
    return own


def _given(window):
    """The window as a batch of one: a tensor, as the competitions hand it out, if the submission has loaded torch."""
    batch = np.ascontiguousarray(window[None], dtype=np.float32)
    torch = sys.modules.get("torch")
    return batch if torch is None else torch.from_numpy(batch)


def _answer(found, info):
    """The answer of a class's number, or of scores for all classes; a number that is none is reported as it is."""
    values = np.asarray(to_numpy(found))
    if values.ndim == 0 or values.shape[0] != 1:
        raise ValueError("predict(X) must return one prediction per window; got the shape %s for one" % (values.shape,))
    number = values[0].argmax() if values[0].ndim else values[0]
    if float(number) != int(number) or not 0 <= int(number) < len(info["answers"]):
        return float(number)
    text = info["answers"][int(number)]
    return int(text) if info["integer"] else text
