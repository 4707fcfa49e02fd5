"""What submissions to streamed competitions import: the class they derive from, and one helper."""

import numpy as np


class CompetSolver:
    """Base of a submission's Solver: ``load_model(meta)`` returns an object with ``predict(X)``."""

    name = "solver"
    requirements = []
    sampling_strategy = "run_once"

    def load_model(self, meta):
        raise NotImplementedError("a submission's Solver must have load_model(meta)")

    def fit(self, model, train_loader):
        """Never called: a match is inference only."""

    def save_model(self, model, path):
        """Never called: a match is inference only."""


def to_numpy(values):
    """An array of whatever is given, a tensor included."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return values.numpy() if hasattr(values, "numpy") else np.asarray(values)
