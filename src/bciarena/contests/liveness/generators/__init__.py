"""Three generators of fake EEG for the liveness contest.

All three share one small interface::

    from bciarena.contests.liveness.generators import SpectralGenerator, SpectralSettings

    real = {7: [eyes_open, eyes_closed]}        # subject -> runs, each (channels, n) at 250 Hz
    generator = SpectralGenerator(SpectralSettings(smoothing_hz=1.0)).fit(real)
    fake = generator.sample(7, 6.4, np.random.default_rng(1))      # (channels, 1600)
    fake = generator.sample(7, 6.4, np.random.default_rng(1), run=0)   # made from the first run only

- ``ParametricGenerator(ParametricSettings(...))``: vector autoregression, with switching states;
- ``SpectralGenerator(SpectralSettings(...))``: surrogates with the person's spectra, cross-spectra and
  amplitude distribution;
- ``DeepGenerator(DeepSettings(...))``: a small conditional diffusion net, needs the extra ``[deep]``;
  ``deep_available()`` tells whether it can be used, ``fit`` shows a progress bar and takes minutes.

Each array handed to ``fit`` is taken as one run (one state of the person: eyes open, eyes closed, ...) and
gets its own model, or its own condition; ``sample`` draws one of the runs unless ``run`` names it. A run
should be 10 s or longer. The sample's unit is that of the real data. A sample depends on ``rng`` alone: the
same seed gives the same bytes. A generated trial has the length asked for, rounded to whole samples.

Settings are frozen dataclasses, so that sets of trials differ by data and not by code;
``settings_for(split)`` returns those of the contest's eval_train, eval_A and eval_B: a different mixture for each.
"""

from bciarena.contests.liveness.generators.base import SRATE, Generator, Real
from bciarena.contests.liveness.generators.deep import DeepGenerator, DeepSettings, deep_available
from bciarena.contests.liveness.generators.parametric import ParametricGenerator, ParametricSettings
from bciarena.contests.liveness.generators.recipes import generators_for, settings_for
from bciarena.contests.liveness.generators.spectral import SpectralGenerator, SpectralSettings

__all__ = [
    "SRATE",
    "DeepGenerator",
    "DeepSettings",
    "Generator",
    "ParametricGenerator",
    "ParametricSettings",
    "Real",
    "SpectralGenerator",
    "SpectralSettings",
    "deep_available",
    "generators_for",
    "settings_for",
]
