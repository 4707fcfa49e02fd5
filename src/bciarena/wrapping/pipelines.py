"""scikit-learn pipelines as MOABB writes them in YAML: a list of steps, each a class with its module and parameters."""

from __future__ import annotations

import importlib
from typing import Any

import yaml


def pipeline_of(text: str) -> Any:
    """The pipeline that a file describes under ``pipeline``; importing its classes runs their modules."""
    from sklearn.pipeline import make_pipeline

    said = yaml.safe_load(text)
    steps = said.get("pipeline") if isinstance(said, dict) else None
    if not isinstance(steps, list) or not steps:
        raise ValueError("the file has no list of steps under 'pipeline:'")
    return make_pipeline(*(_step(one) for one in steps))


def _step(one: Any) -> Any:
    if not isinstance(one, dict) or not {"name", "from"} <= one.keys():
        raise ValueError(f"a step needs 'name' and 'from', and may have 'parameters': {one!r}")
    kind = getattr(importlib.import_module(one["from"]), one["name"])
    return kind(**{key: _value(value) for key, value in (one.get("parameters") or {}).items()})


def _value(value: Any) -> Any:
    """A parameter; one that is itself a step or a list of steps is made into an object."""
    if isinstance(value, dict) and {"name", "from"} <= value.keys():
        return _step(value)
    if isinstance(value, list) and value and all(isinstance(v, dict) and {"name", "from"} <= v.keys() for v in value):
        from sklearn.pipeline import make_pipeline

        return make_pipeline(*map(_step, value))
    return value
