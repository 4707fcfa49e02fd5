"""Simulated subjects: EEG from a head model, for every set of every challenge.

>>> from bciarena.simulator import Order, make
>>> make(Order("imagery", "train", subjects=1, seed=7), Path("data"))  # doctest: +SKIP
"""

from bciarena.simulator.conditions import Conditions
from bciarena.simulator.make import Order, Summary, make, recordings, simulate

__all__ = ["Conditions", "Order", "Summary", "make", "recordings", "simulate"]
