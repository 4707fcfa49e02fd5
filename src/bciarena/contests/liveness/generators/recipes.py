"""Which generators, with which settings, make the fakes of each scored set.

The text asks for sets with different generator settings. eval_A changes every setting of eval_train a little; eval_B
goes further and mixes: switching states, blended runs, bent spectra.
"""

from __future__ import annotations

from collections.abc import Callable

from bciarena.contests.liveness.generators.base import Generator
from bciarena.contests.liveness.generators.deep import DeepGenerator, DeepSettings, deep_available
from bciarena.contests.liveness.generators.parametric import ParametricGenerator, ParametricSettings
from bciarena.contests.liveness.generators.spectral import SpectralGenerator, SpectralSettings
from bciarena.errors import BadInput

Settings = ParametricSettings | SpectralSettings | DeepSettings

_RECIPES: dict[str, tuple[ParametricSettings, SpectralSettings, DeepSettings]] = {
    "eval_train": (
        ParametricSettings(order=20),
        SpectralSettings(smoothing_hz=0.0, rounds=10),
        DeepSettings(temperature=1.0),
    ),
    "eval_A": (
        ParametricSettings(order=12, innovations="student"),
        SpectralSettings(smoothing_hz=0.0, rounds=25, temperature=0.05),
        DeepSettings(temperature=0.95),
    ),
    "eval_B": (
        ParametricSettings(order=16, states=4, dwell_s=0.8, innovations="resampled", temperature=0.1),
        SpectralSettings(smoothing_hz=0.5, rounds=5, envelope=0.4, mixture=0.2, temperature=0.1),
        DeepSettings(temperature=1.05, steps=32),
    ),
}


def settings_for(split: str) -> tuple[ParametricSettings, SpectralSettings, DeepSettings]:
    """Return the settings of the three generators for ``eval_train``, ``eval_A`` or ``eval_B``."""
    if split not in _RECIPES:
        raise BadInput(f"generators: no fakes in the set {split!r} (sets with fakes: {', '.join(_RECIPES)})")
    return _RECIPES[split]


def generators_for(
    split: str, deep: bool | None = None, say: Callable[[str], None] | None = None
) -> tuple[dict[str, Generator], str]:
    """Return the unfitted generators of a set by name, and a note on what is missing ("" if nothing).

    Parameters
    ----------
    split : str
        eval_train, eval_A or eval_B.
    deep : bool, optional
        Whether to use the deep generator; None uses it where PyTorch is installed.
    say : callable, optional
        Receives the progress of training, instead of a progress bar.
    """
    parametric, spectral, net = settings_for(split)
    generators: dict[str, Generator] = {
        "parametric": ParametricGenerator(parametric),
        "spectral": SpectralGenerator(spectral),
    }
    if deep or (deep is None and deep_available()):
        generators["deep"] = DeepGenerator(net, say)
        return generators, ""
    return generators, (
        "fakes are made by two of the three generators (parametric, spectral): the deep one is left out"
        + ("" if deep_available() else ", it needs pip install 'bciarena[deep]'")
    )
