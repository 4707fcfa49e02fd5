"""Names of a package that are imported on first use, so that nobody waits for what is not used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """A module-level ``__getattr__`` for ``package``.

    Parameters
    ----------
    where : mapping
        The module, below ``package``, of each name. Type checkers read imports under ``if TYPE_CHECKING`` instead.
    """

    def find(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{where[name]}"), name)

    return find
