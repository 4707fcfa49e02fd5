"""MOABB both ways: its pipelines and data sets played as packet streams, our decoders as its pipelines.

``ArenaEvaluation`` and ``benchmark`` need MOABB: ``pip install 'bciarena[moabb]'``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from bciarena.lazy import lazy

if TYPE_CHECKING:
    from bciarena.moabb.evaluation import ArenaEvaluation, benchmark
else:
    __getattr__ = lazy(__name__, {"ArenaEvaluation": "evaluation", "benchmark": "evaluation"})

PIPELINES = str(Path(__file__).parent / "pipelines")
"""A folder of pipelines with our decoders, for ``moabb.benchmark(pipelines=PIPELINES)``."""

__all__ = ["PIPELINES", "ArenaEvaluation", "benchmark"]
