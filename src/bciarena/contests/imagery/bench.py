"""Tracks and peers of three-class imagery."""

from __future__ import annotations

from typing import Any

from bciarena.bench.peers import Bench, CspLda, RealTrack, TangentSpace, Windowed
from bciarena.contests.imagery.layouts import cue_before, cue_cut_out
from bciarena.contests.imagery.rules import CLASSES, RELEASED


class _Hands(Windowed):
    codes, mark = tuple(CLASSES), RELEASED


class HandsCspLda(_Hands, CspLda):
    """CSP (MNE) and a linear discriminant."""


class HandsTangentSpace(_Hands, TangentSpace):
    """Riemannian tangent space (pyriemann) and logistic regression."""


class AugmentedCovariance(_Hands):
    """Augmented covariance, tangent space and SVM, as in MOABB's benchmark (Carrara & Papadopoulo 2024)."""

    def pipeline(self) -> Any:
        from moabb.pipelines.features import AugmentedDataset
        from pyriemann.estimation import Covariances
        from pyriemann.tangentspace import TangentSpace as Tangent
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import SVC

        return make_pipeline(AugmentedDataset(order=2, lag=8), Covariances("oas"), Tangent(), SVC(kernel="linear"))


BENCH = Bench(
    people=4,
    real=(
        RealTrack("real", "imagery/train", "imagery/test"),
        RealTrack("real, cue 2 s before the onset", "imagery/train", "imagery/test", layout=cue_before),
        RealTrack("real, cue cut out", "imagery/train", "imagery/test", layout=cue_cut_out),
    ),
    peers={
        "CSP + LDA (MNE)": HandsCspLda,
        "tangent space + LR (pyriemann)": HandsTangentSpace,
        "augmented covariance + SVM (MOABB)": AugmentedCovariance,
    },
)
