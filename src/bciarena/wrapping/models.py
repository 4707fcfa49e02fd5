"""Models of every kind behind one face: windows in, probabilities out. Runs in the box; numpy, and what a kind needs.

Nothing here is imported by the platform's own process with a model in hand: opening a pickle runs code.
"""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SURE = 1e-6


class Model:
    """A model that turns windows (windows, channels, samples) into probabilities (windows, classes).

    Attributes
    ----------
    labels : list of str, or None
        What its columns stand for, where the model knows.
    samples : int or None
        The only length of window it takes, where that is fixed.
    can_fit : bool
        Whether it can learn from windows.
    """

    labels: list[str] | None = None
    samples: int | None = None
    can_fit = False

    def proba(self, windows: Array) -> Array:
        """Probabilities, each row summing to 1."""
        return as_probabilities(self.raw(windows))

    def raw(self, windows: Array) -> Any:
        raise NotImplementedError


def as_probabilities(found: Any) -> Array:
    """Probabilities as they are; anything else is taken as scores whose exponentials compare.

    A row with numbers that are not finite says nothing: all classes are equally likely.
    """
    table = np.asarray(found, dtype=np.float64)
    table = table.reshape(len(table), -1)
    if table.shape[1] == 1:  # a binary decision: one column of scores
        table = np.hstack([-table / 2, table / 2])
    table = np.where(np.isfinite(table).all(axis=1, keepdims=True), table, 1 / table.shape[1])  # says nothing
    if (table >= -SURE).all() and np.allclose(table.sum(axis=1), 1, atol=1e-3):
        return np.asarray(np.clip(table, SURE, 1))
    table = np.exp(table - table.max(axis=1, keepdims=True))
    return np.asarray(np.clip(table / table.sum(axis=1, keepdims=True), SURE, 1))


class Onnx(Model):
    """An ONNX file: its first input takes the windows, in three dimensions, in four (one plane), or flat."""

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime
        except ImportError:  # said in the box, where nobody else can tell which extra brings it
            raise ImportError("an ONNX model needs onnxruntime: pip install 'bciarena[onnx]'") from None

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        first = self.session.get_inputs()[0]
        self.name, self.dims = first.name, first.shape
        self.kind = np.float64 if "double" in first.type else np.float32
        if len(self.dims) in (3, 4) and isinstance(self.dims[-1], int):
            self.samples = self.dims[-1]

    def raw(self, windows: Array) -> Any:
        shape = {2: (len(windows), -1), 4: (len(windows), 1, *windows.shape[1:])}.get(len(self.dims), windows.shape)
        given = np.ascontiguousarray(windows.reshape(shape), dtype=self.kind)
        outputs = self.session.run(None, {self.name: given})
        for found in reversed(outputs):  # converters put labels first and probabilities last
            if isinstance(found, list) and found and isinstance(found[0], dict):
                self.labels = [str(key) for key in found[0]]
                return [list(row.values()) for row in found]
            if isinstance(found, np.ndarray) and found.ndim >= 2 and found.dtype.kind == "f":
                return found
        raise ValueError("the ONNX file has no output with a number for every class")


class Torch(Model):
    """A state_dict and the class that takes it."""

    def __init__(self, path: Path, module: str, arguments: dict[str, Any]) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch = torch
        self.net = named(module)(**arguments)
        state = torch.load(path, map_location="cpu", weights_only=True)
        self.net.load_state_dict(state.get("state_dict", state) if isinstance(state, dict) else state)
        self.net.eval()
        self.planes = False

    def raw(self, windows: Array) -> Any:
        given = self.torch.as_tensor(np.ascontiguousarray(windows), dtype=self.torch.float32)
        with self.torch.no_grad():
            if not self.planes:
                try:
                    return self.net(given).numpy()
                except (RuntimeError, ValueError):
                    self.planes = True  # many networks want (windows, 1, channels, samples)
            return self.net(given[:, None]).numpy()


class Estimator(Model):
    """Anything with predict_proba, or decision_function; flattened windows where it takes no others."""

    can_fit = True

    def __init__(self, inner: Any) -> None:
        self.inner, self.flat = inner, False

    def raw(self, windows: Array) -> Any:
        call = getattr(self.inner, "predict_proba", None) or getattr(self.inner, "decision_function", None)
        if call is None:
            raise TypeError(f"{type(self.inner).__name__} has neither predict_proba nor decision_function")
        found = self._given(call, windows)
        classes = getattr(self.inner, "classes_", None)
        self.labels = None if classes is None else [plain(one) for one in classes]
        return found

    def fit(self, windows: Array, labels: Sequence[Any]) -> Estimator:
        """A fresh copy, fitted."""
        from sklearn.base import clone

        fresh = Estimator(clone(self.inner, safe=False))
        fresh._given(fresh.inner.fit, windows, np.asarray(labels))
        return fresh

    def _given(self, call: Any, windows: Array, *more: Any) -> Any:
        flat = windows.reshape(len(windows), -1)
        if self.flat:
            return call(flat, *more)
        try:
            return call(windows, *more)
        except ValueError as error:
            try:
                found = call(flat, *more)
            except ValueError:
                raise error from None
            self.flat = True
            return found


def plain(label: Any) -> str:
    """A label as a text: 201, 201.0 and "201" are the same."""
    number = isinstance(label, (int, float, np.integer, np.floating)) and float(label).is_integer()
    return str(int(label)) if number else str(label)


def named(where: str) -> Any:
    """``module:Class``, or ``file.py:Class`` beside the entry."""
    module, _, name = where.rpartition(":")
    return getattr(importlib.import_module(module.removesuffix(".py")), name)


def open_model(kind: str, path: Path, module: str, arguments: dict[str, Any]) -> Model:
    """The model of an entry's folder."""
    if kind == "onnx":
        return Onnx(path)
    if kind == "torch":
        return Torch(path, module, arguments)
    if kind == "class":
        return Estimator(named(module)(**arguments))
    if kind == "yaml":
        from bciarena.wrapping.pipelines import pipeline_of

        return Estimator(pipeline_of(path.read_text("utf-8")))
    try:
        import joblib

        return Estimator(joblib.load(path))
    except ImportError:
        return Estimator(pickle.loads(path.read_bytes()))
